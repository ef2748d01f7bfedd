"""Commits judged by a trusted tree: what they bring themselves decides nothing and never runs."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from guard.errors import ConfigError, PluginError
from guard.git import Repo, find_repo
from guard.judging.judge import Judgement
from guard.judging.policy import Policy
from guard.judging.ranges import own_commits
from guard.project import Project
from guard.snapshot import revision_tree
from guard.store import Store
from guard.tree import Tree
from tests.conftest import ScratchRepo
from tests.guarded_repo import (
    BASE,
    CASE,
    CASE_TEXT,
    FIX,
    FIXED_SKILL,
    GUARD_YAML,
    RECORDS,
    RETAINED,
    SKILL,
    record,
    records,
)

Files = Mapping[str, str | bytes | None]
FIX_MESSAGE = "fix(expense): ask"
FIX_IT = {SKILL: FIXED_SKILL}
DAY = "2031-01-01"
WEAKENED = "chore: less\n\nCase-Weakened: guard.yaml: for this test"
WARNS = "enforce: {fix-needs-case: {warn, until: 2099-12-31}}\n"


class Trusted:
    """A repository whose branch `base` is trusted; judges what HEAD has beyond it."""

    def __init__(self, repo: ScratchRepo, opened: Repo) -> None:
        self.repo = repo
        self.opened = opened
        self.store = Store.open(opened.common_dir)

    def start(self, files: Files = BASE) -> None:
        self.repo.commit("feat: base", files)
        self.repo.git("branch", "--force", "base")

    @property
    def policy(self) -> Policy:
        tree = revision_tree(self.opened, "base")
        return Policy(Project(self.opened, tree, self.store), "base")

    def tree(self, rev: str = "HEAD") -> Tree:
        return revision_tree(self.opened, rev)

    def judge(self, *, today: str = DAY) -> Judgement:
        commits = own_commits(self.opened, ["HEAD"], ["base"])
        return self.policy.judge(commits, today=today)

    def rules(self) -> list[tuple[str, str]]:
        """Return (rule, subject) of what blocks."""
        return [(v.rule, v.commit.partition(" ")[2]) for v in self.judge().blocking]


@pytest.fixture
def trusted(repo: ScratchRepo) -> Generator[Trusted]:
    repo.commit("docs: nothing yet", {"README.md": "A ledger.\n"})
    with find_repo(str(repo.root)) as opened:
        yield Trusted(repo, opened)


def plugin(mark: Path, body: str = "") -> str:
    """Return a plugin that leaves a mark where it is imported."""
    return (
        "from guard.plugin import hookimpl\n"
        "from pathlib import Path\n"
        f"Path({str(mark)!r}).write_text('imported')\n"
        f"{body or 'def nothing(): pass'}\n"
    )


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file that a plugin writes when it is imported."""
    return tmp_path / "mark"


# The policy decides ---------------------------------------------------------------------------


def test_same_guard_yaml_judges_as_ever(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.commit(FIX_MESSAGE, FIX_IT)
    assert trusted.rules() == [("fix-needs-case", FIX_MESSAGE)]
    assert not trusted.judge().blocking[0].detail


def test_fix_with_its_case_and_record_passes(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.commit(FIX_MESSAGE, FIX)
    assert trusted.rules() == []


@pytest.mark.parametrize(
    "weaker",
    [
        GUARD_YAML + WARNS,
        GUARD_YAML + "fix: {types: []}\n",
        GUARD_YAML + "fix: {unit: range}\n",
        GUARD_YAML.replace("skills/expense/**", "skills/other/**"),
        "version: 1\n",
        GUARD_YAML + "    depends: [skills/**]\n",
        GUARD_YAML.replace("evals/cases/*.md", "skills/**"),
    ],
)
def test_weaker_guard_yaml_counts_only_once_it_is_trusted(trusted: Trusted, weaker: str) -> None:
    trusted.start()
    trusted.repo.commit(WEAKENED, {"guard.yaml": weaker})
    assert trusted.rules() == []
    trusted.repo.commit(FIX_MESSAGE, FIX_IT)
    assert trusted.rules() == [("fix-needs-case", FIX_MESSAGE)]
    trusted.repo.commit(WEAKENED, {"guard.yaml": GUARD_YAML})
    assert ("fix-needs-case", FIX_MESSAGE) in trusted.rules()


def test_what_a_trusted_guard_yaml_allows_is_allowed(trusted: Trusted) -> None:
    trusted.start({**BASE, "guard.yaml": GUARD_YAML + WARNS})
    trusted.repo.commit(FIX_MESSAGE, FIX_IT)
    assert trusted.rules() == []
    assert [v.rule for v in trusted.judge().violations] == ["fix-needs-case"]


def test_violation_by_the_policy_alone_says_so(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.commit(WEAKENED, {"guard.yaml": "version: 1\n"})
    trusted.repo.commit(FIX_MESSAGE, FIX_IT)
    said = trusted.judge().blocking[0].detail[0]
    assert said == "by guard.yaml of base: to change that, push guard.yaml there first"


def test_branch_from_before_the_policy_is_judged_by_it(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.git("checkout", "-q", "-b", "old", "HEAD^")
    trusted.repo.commit(FIX_MESSAGE, {SKILL: FIXED_SKILL})
    assert trusted.rules() == [("fix-needs-case", FIX_MESSAGE)]


# What guard.yaml itself loses -----------------------------------------------------------------


def test_weaker_guard_yaml_needs_its_trailer(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.commit("chore: less", {"guard.yaml": "version: 1\n"})
    assert trusted.rules() == [("case-weakened", "chore: less")]


def test_enforcement_of_a_side_branch_excuses_no_further_loss(trusted: Trusted) -> None:
    trusted.start()
    warns = "enforce: {case-weakened: {warn, until: 2099-12-31}}\n"
    trusted.repo.commit(WEAKENED, {"guard.yaml": GUARD_YAML + warns})
    trusted.repo.commit("chore: nothing", {"guard.yaml": "version: 1\n" + warns})
    assert trusted.rules() == [("case-weakened", "chore: nothing")]


def test_removed_guard_yaml_needs_its_trailer(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.commit("chore: away", {"guard.yaml": None})
    assert trusted.rules() == [("case-weakened", "chore: away")]


def test_broken_guard_yaml_can_not_be_judged(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.commit("chore: oops", {"guard.yaml": "version: 1\nagent: {}\n"})
    with pytest.raises(ConfigError) as caught:
        trusted.judge()
    assert "chore: oops: guard.yaml:2: agent: unknown key" in caught.value.message


def test_guard_yaml_for_a_newer_guard_can_not_be_judged(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.commit("chore: new", {"guard.yaml": "requires: '>=99'\n" + GUARD_YAML})
    with pytest.raises(ConfigError, match="asks for guard >=99"):
        trusted.judge()


def test_retained_case_is_kept_by_the_policy_behind_any_guard_yaml(trusted: Trusted) -> None:
    trusted.start(RETAINED)
    trusted.repo.git("checkout", "-q", "--orphan", "other")
    trusted.repo.commit("feat: again", {**RETAINED, "guard.yaml": "version: 1\n"})
    weak = CASE_TEXT.replace("  no_changes: true\n", "")
    trusted.repo.commit("test: easier", {CASE: weak})
    assert ("case-weakened", "test: easier") in trusted.rules()


# What is new ----------------------------------------------------------------------------------

SECOND = (
    GUARD_YAML
    + """\
  travel:
    paths: [skills/travel/**]
    target: command
    options: {argv: [cat, SKILL.md]}
    cases: [evals/cases/*.md]
"""
)
TRAVEL = "skills/travel/SKILL.md"
TRAVEL_CASE = CASE_TEXT.replace("id: eur-taxi", "id: by-train\nagent: travel")


def test_new_agent_comes_with_its_case_and_record(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.commit(
        "feat: travel",
        {
            "guard.yaml": SECOND,
            TRAVEL: "Go.\n",
            "evals/cases/by-train.md": TRAVEL_CASE,
            RECORDS: records(by_train=record(agent="travel", case="evals/cases/by-train.md")),
        },
    )
    assert trusted.rules() == []


def test_new_agent_is_guarded_from_its_first_commit_on(trusted: Trusted) -> None:
    trusted.start()
    files = {"guard.yaml": SECOND, TRAVEL: "Go.\n", "evals/cases/by-train.md": TRAVEL_CASE}
    trusted.repo.commit("feat: travel", files)
    trusted.repo.commit("fix(travel): by train", {TRAVEL: "Go by train.\n"})
    assert trusted.rules() == [("fix-needs-case", "fix(travel): by train")]


def test_agent_that_is_given_up_takes_its_last_case_along(trusted: Trusted) -> None:
    trusted.start({**BASE, CASE: CASE_TEXT})
    trusted.repo.commit(WEAKENED, {"guard.yaml": "version: 1\n", CASE: None, SKILL: None})
    assert trusted.rules() == []


def test_record_of_nothing_is_refused_below_another_guard_yaml_too(trusted: Trusted) -> None:
    trusted.start()
    trusted.repo.commit(
        "feat: travel",
        {"guard.yaml": SECOND, RECORDS: records(by_train=record(agent="flight"))},
    )
    assert ("record-invalid", "feat: travel") in trusted.rules()


# Nothing of it is imported or run -------------------------------------------------------------

SAYS_FIX = "@hookimpl\ndef guard_is_fix(commit):\n    return 'all are'"
OWN_PLUGIN = GUARD_YAML + "plugins: [evals/plugin.py]\n"


def test_plugin_that_is_pushed_is_not_imported(trusted: Trusted, mark: Path) -> None:
    trusted.start()
    code = plugin(mark, SAYS_FIX)
    trusted.repo.commit("feat: plugin", {"guard.yaml": OWN_PLUGIN, "evals/plugin.py": code})
    trusted.repo.commit("feat: more", FIX_IT)
    assert trusted.rules() == []
    assert not mark.exists()


def test_trusted_plugin_judges_and_its_changed_one_does_not(trusted: Trusted, mark: Path) -> None:
    says = plugin(mark.with_name("trusted"), SAYS_FIX)
    trusted.start({**BASE, "guard.yaml": OWN_PLUGIN, "evals/plugin.py": says})
    trusted.repo.commit("feat: plugin", {"evals/plugin.py": plugin(mark)})
    trusted.repo.commit("feat: more", FIX_IT)
    assert trusted.rules() == [("fix-needs-case", "feat: more")]
    assert mark.with_name("trusted").exists()
    assert not mark.exists()


def test_trusted_plugin_reads_cases_below_another_guard_yaml(trusted: Trusted, mark: Path) -> None:
    reads = (
        "@hookimpl\ndef guard_load_cases(path, text):\n"
        "    if path.endswith('.case'):\n"
        "        return [{'id': text.strip(), 'expected': {'no_changes': True}}]"
    )
    config = OWN_PLUGIN.replace("evals/cases/*.md", "evals/cases/*")
    trusted.start({**BASE, "guard.yaml": config, "evals/plugin.py": plugin(mark, reads)})
    named = record(case="evals/cases/taxi.case")
    trusted.repo.commit(
        FIX_MESSAGE,
        {
            **FIX_IT,
            "guard.yaml": config + "fix: {types: [fix, bug]}\n",
            "evals/cases/taxi.case": "taxi\n",
            RECORDS: records(taxi=named),
        },
    )
    assert trusted.rules() == []


def test_code_and_what_checks_use_come_from_the_trusted_tree(trusted: Trusted, mark: Path) -> None:
    config = GUARD_YAML + (
        "    evaluators: [evals/checks.py:exact]\n"
        "    depends: [evals/**, data/]\n"
        '    always: {command: {argv: [python3, "{repo}/tools/sum.py"]}}\n'
    )
    code = "def exact(observation, expected):\n    return True\n"
    files = {"evals/checks.py": code, "tools/sum.py": "1\n", "data/rates.csv": "1\n"}
    trusted.start({**RETAINED, **files, "guard.yaml": config})
    changed = {name: plugin(mark) for name in files}
    weak = CASE_TEXT.replace("EuroStar", "Other")
    trusted.repo.commit(
        "chore: all", {**changed, **FIX_IT, CASE: weak, "evals/new.py": "1\n", "guard.yaml": None}
    )
    judged = trusted.policy.judged(trusted.tree())
    assert {name: judged.tree.read(name) for name in files} == {
        name: text.encode() for name, text in files.items()
    }
    assert judged.tree.read("evals/new.py") is None
    assert b"evals/new.py" not in judged.tree.entries()
    assert judged.tree.read(SKILL) == FIXED_SKILL.encode()
    assert judged.cases["eur-taxi"].utterance.startswith("Other")
    assert judged.config.agents.keys() == {"expense"}
    names = [one.name for one in judged.evaluators_of(judged.agents["expense"])]
    assert names[-1] == "evals/checks.py:exact"
    assert not mark.exists()


def test_evaluators_of_its_own_guard_yaml_are_never_loaded(trusted: Trusted, mark: Path) -> None:
    trusted.start()
    config = GUARD_YAML + "    evaluators: [evals/checks.py:exact]\n"
    trusted.repo.commit("feat: e", {"guard.yaml": config, "evals/checks.py": plugin(mark)})
    data = trusted.policy.as_data(trusted.tree())
    with pytest.raises(PluginError, match="not in the tree"):
        data.evaluators_of(data.agents["expense"])
    assert not mark.exists()


def test_case_may_call_what_it_called_in_the_trusted_tree(trusted: Trusted) -> None:
    calls = "  command: {argv: [python3, sum.py], exit_code: 0}\n---\n"
    checked = CASE_TEXT.replace("---\nNobody", f"{calls}Nobody")
    trusted.start({**BASE, CASE: checked})
    other = checked.replace("eur-taxi", "other").replace("sum.py", "evil.py")
    trusted.repo.commit(
        "test: more",
        {
            "evals/cases/other.md": other,
            "evals/cases/free.md": CASE_TEXT.replace("eur-taxi", "free"),
        },
    )
    policy = trusted.policy
    cases = policy.judged(trusted.tree()).cases
    assert {name for name, case in cases.items() if policy.may_run(case)} == {"eur-taxi", "free"}
