"""A commit that is done is mended where it stands: the commands, ready to paste."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from guard.git import find_repo
from guard.judging.range_refusal import range_refusal
from guard.model import Violation
from guard.project import Project
from guard.snapshot import head_tree
from guard.store import Store
from guard.tree import Tree
from tests.conftest import ScratchRepo
from tests.hooks.installed import FILES


@pytest.fixture
def commits(repo: ScratchRepo) -> list[str]:
    """The short ids of three commits, the newest first."""
    repo.commit("feat: all", FILES)
    repo.commit("fix: one", {"a": "1"})
    repo.commit("docs: two", {"a": "2"})
    return repo.git("log", "--format=%H").split()


def text(repo: ScratchRepo, *violations: Violation) -> list[str]:
    with find_repo(str(repo.root)) as found:
        tip = Project(found, head_tree(found), Store.open(found.common_dir))
        return range_refusal(violations, found, tip, "not pushed").splitlines()


def broken(rule: str, commit: str, hint: Sequence[str] = (), **more: object) -> Violation:
    found = Violation(rule, "it is wrong", "talk", ("a",), f"{commit[:10]} the subject")
    return found._replace(hint=tuple(hint), **more)  # type: ignore[arg-type]  # field names


def test_missing_case(repo: ScratchRepo, commits: list[str]) -> None:
    short = commits[1][:10]
    rebase = f"GIT_SEQUENCE_EDITOR=: git rebase -i --autosquash {short}^"
    assert text(repo, broken("fix-needs-case", short)) == [
        "guard: not pushed: it is wrong (fix-needs-case)",
        f"  commit   {short} the subject",
        "  changed  a",
        '  do       guard new-case ID --agent talk --utterance "WHAT WAS SAID"',
        f"           guard prove ID --before {short}^",
        "           git add evals/talk regressions*",
        f"           git commit --fixup={short} && {rebase}",
    ]


@pytest.mark.parametrize("rule", ["fix-needs-case", "fix-needs-record"])
def test_an_agent_that_has_another_name_by_now(
    repo: ScratchRepo, commits: list[str], rule: str
) -> None:
    """Its commands work where it is still called so."""
    short = commits[1][:10]
    config = FILES["guard.yaml"]
    assert isinstance(config, str)
    repo.commit("chore: rename", {"guard.yaml": config.replace("  talk:", "  speak:")})
    told = text(repo, broken(rule, short))
    assert len(told) <= 8
    assert [line[11:] for line in told if line.startswith(("  do", "     "))] == [
        f"git rebase -i {short}^    # edit {short}, and there:",
        *(['guard new-case ID --agent talk --utterance "WHAT WAS SAID"'] if "case" in rule else []),
        "guard prove ID --before HEAD^",
        "git add evals/talk regressions*",
        "git commit --amend --no-edit && git rebase --continue",
    ]


def test_a_first_commit_can_fix_nothing(repo: ScratchRepo, commits: list[str]) -> None:
    first = commits[-1][:10]
    reword = "nothing came before that it could fix"
    assert text(repo, broken("fix-needs-case", first))[3:] == [
        f"  do       git rebase -i --root    # reword {first}: {reword}"
    ]
    repo.git("checkout", "-q", first)
    assert text(repo, broken("fix-needs-record", first))[3:] == [
        f"  do       git commit --amend    # reword it: {reword}"
    ]


def test_a_branch_that_is_older_than_guard_goes_on_from_one_that_has_it(
    repo: ScratchRepo, commits: list[str]
) -> None:
    with find_repo(str(repo.root)) as found:
        tip = Project(found, head_tree(found), Store.open(found.common_dir))
        fix, other = (broken(rule, commits[0]) for rule in ("fix-needs-case", "case-weakened"))
        said = range_refusal([fix], found, tip, "not pushed", older_than="main")
        assert said.splitlines()[2:] == [
            "  because  there is no guard.yaml on this branch: main's judges it",
            "  changed  a",
            "  do       git pull --rebase origin main    # and push again",
        ]
        assert "pull" not in range_refusal([other], found, tip, "not pushed", older_than="main")


def test_missing_cases_of_several_agents_are_one_set_of_commands(
    repo: ScratchRepo, commits: list[str]
) -> None:
    at = commits[0][:10]
    both = broken("fix-needs-case", at, agent="talk, walk", agents=("talk", "walk"))
    assert text(repo, both)[3:] == [
        '  do       guard new-case ID --agent talk --utterance "WHAT WAS SAID"'
        "      # one for each of the 2 agents",
        f"           guard prove ID --before {at}^      # one for each of the 2 agents",
        "           git add evals/talk evals/walk regressions*",
        "           git commit --amend --no-edit",
    ]


def test_missing_record_at_head(repo: ScratchRepo, commits: list[str]) -> None:
    lines = text(repo, broken("fix-needs-record", commits[0]))
    assert "new-case" not in "".join(lines)
    assert lines[-1] == "           git commit --amend --no-edit"


def test_first_commit_is_rebased_from_the_root(repo: ScratchRepo, commits: list[str]) -> None:
    lines = text(repo, broken("record-invalid", commits[2]))
    assert lines[-1].endswith("git rebase -i --autosquash --root")


def test_weakened_case(repo: ScratchRepo, commits: list[str]) -> None:
    trailer = 'Case-Weakened: a: say "why"'
    quoted = 'Case-Weakened: a: say \\"why\\"'
    at_head = text(repo, broken("case-weakened", commits[0], [trailer]))
    assert at_head[-1] == f'  do       git commit --amend --no-edit --trailer "{quoted}"'
    earlier = text(repo, broken("case-weakened", commits[1], [trailer]))
    assert earlier[-1].startswith(f"  do       git rebase -i {commits[1][:10]}^    # reword ")


def test_baseline_that_no_run_shows(repo: ScratchRepo, commits: list[str]) -> None:
    lines = text(repo, broken("case-weakened", commits[0], ["guard run a    # and name it"]))
    assert lines[-3:] == [
        "  do       guard run a    # and name it",
        "           git add a",
        "           git commit --amend --no-edit",
    ]


def test_deleted_case_is_brought_back(repo: ScratchRepo, commits: list[str]) -> None:
    because = "to give it up, retire it"
    lines = text(repo, broken("case-weakened", commits[0], detail=(because,)))
    assert f"  because  {because}" in lines
    assert f"  do       git checkout {commits[0][:10]}^ -- a" in lines


def test_other_rules_name_their_own_command(repo: ScratchRepo, commits: list[str]) -> None:
    lines = text(repo, broken("agent-without-case", commits[0], ["guard new-case ID --agent x"]))
    assert lines[-3:] == [
        "  do       guard new-case ID --agent x",
        "           git add a",
        "           git commit --amend --no-edit",
    ]


def test_others_are_counted_and_all_is_bounded(repo: ScratchRepo, commits: list[str]) -> None:
    many = [broken("fix-needs-case", commit) for commit in commits]
    lines = text(repo, *many)
    assert lines[-1] == f"  also     {commits[1][:10]} the subject: fix-needs-case, and 1 more"
    assert len(lines) <= 8


def test_hostile_names_move_no_cursor(repo: ScratchRepo, commits: list[str]) -> None:
    found = broken("record-invalid", commits[0])._replace(
        paths=("a\x1b[2J",), commit=f"{commits[0][:10]} fix: \x1b]0;x\x07"
    )
    assert "\x1b" not in "".join(text(repo, found))


def test_a_branch_that_is_not_checked_out_is_mended_there(
    repo: ScratchRepo, commits: list[str]
) -> None:
    repo.git("checkout", "-q", "-b", "a$topic", commits[1])
    repo.git("checkout", "-q", "--detach", commits[2])
    lines = text(repo, broken("fix-needs-record", commits[1]))
    assert "  do       git checkout 'a$topic'" in lines
    assert lines[-1] == "           git commit --amend --no-edit"
    with find_repo(str(repo.root)) as found:
        tree = Tree(found, repo.git("rev-parse", "main^{tree}").strip())
        tip = Project(found, tree, Store.open(found.common_dir))
        assert "git checkout main" in range_refusal(
            [broken("fix-needs-record", commits[1])], found, tip, "not pushed"
        )


def test_eight_lines_keep_every_command(repo: ScratchRepo, commits: list[str]) -> None:
    repo.git("checkout", "-q", "--detach", commits[2])
    first = broken("fix-needs-case", commits[1], detail=("why not",))
    lines = text(repo, first, broken("record-invalid", commits[1]))
    assert len(lines) == 8
    assert sum(line.startswith(("  do ", "           ")) for line in lines) == 5
    assert "  because  why not" in lines


def test_what_a_merge_deletes_is_brought_back_from_the_parent_that_has_it(
    repo: ScratchRepo, commits: list[str]
) -> None:
    repo.git("checkout", "-q", "-b", "side", commits[2])
    repo.git("merge", "-q", "--no-ff", "-s", "ours", "-m", "merge", commits[0])
    merge = repo.git("rev-parse", "--short=10", "HEAD").strip()
    lines = text(repo, broken("case-weakened", merge))
    assert f"  do       git checkout {merge}^2 -- a" in lines
