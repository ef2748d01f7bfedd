"""An agent as it was: renamed since, declared elsewhere, or not there at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from guard.git import Repo, find_repo
from tests.clerk import (
    BASE,
    BROKEN,
    CONFIG,
    FIXED,
    SKILL_PATH,
    case,
    fix,
    record,
    regressions,
)
from tests.conftest import ScratchRepo
from tests.rungs import read, rungs_of, told


@pytest.fixture
def opened(repo: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(repo.root)) as found:
        yield found


MOVED = CONFIG.replace("skills/clerk", "skills/cashier")
NEW_PATH = "agent/skills/cashier/SKILL.md"


@pytest.mark.parametrize(
    ("text", "states"),
    [
        (FIXED, ["live built"]),
        (FIXED.replace("Ask which", "Always ask which"), ["live void", "pinned built"]),
    ],
    ids=["as it was", "reworded too"],
)
def test_the_skills_folder_is_renamed_later(
    repo: ScratchRepo, opened: Repo, text: str, states: list[str]
) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    files = {SKILL_PATH: None, NEW_PATH: text, "guard.yaml": MOVED}
    repo.commit("rename", files)
    rungs = rungs_of(opened)
    assert told(rungs) == states
    assert read(rungs[-1], NEW_PATH) == BROKEN
    assert rungs[-1].tree is not None
    assert rungs[-1].tree.read(SKILL_PATH) is None


def test_a_folder_renamed_within_the_agents_globs(repo: ScratchRepo, opened: Repo) -> None:
    config = CONFIG.replace("agent/skills/clerk/**", "agent/skills/**")
    repo.commit("start", {**BASE, "guard.yaml": config, "agent/skills/clerk/how/to.md": "a\nb\n"})
    repo.commit("fix: taxi", fix())
    repo.git("mv", "agent/skills/clerk", "agent/skills/cashier")
    repo.commit("rename", {NEW_PATH: FIXED.replace("Ask which", "Always ask which")})
    pinned = rungs_of(opened)[-1]
    assert pinned.state == "pinned"
    assert read(pinned, NEW_PATH) == BROKEN
    assert read(pinned, "agent/skills/cashier/how/to.md") == "a\nb\n"


def test_a_file_that_lies_where_it_lay_is_not_moved(repo: ScratchRepo, opened: Repo) -> None:
    one, two, three = (f"agent/skills/{name}/SKILL.md" for name in ("one", "two", "three"))
    paths = "agent/skills/clerk/**"
    before = CONFIG.replace(paths, "agent/skills/one/**, agent/skills/two/**")
    now = CONFIG.replace(paths, "agent/skills/two/**, agent/skills/three/**")
    start = {k: v for k, v in BASE.items() if k != SKILL_PATH}
    repo.commit("start", {**start, "guard.yaml": before, one: "first\n", two: BROKEN})
    repo.commit("fix: taxi", {**fix(), SKILL_PATH: "elsewhere", two: FIXED})
    reworded = FIXED.replace("Ask which", "Always ask which")
    repo.commit("rename", {"guard.yaml": now, one: None, two: reworded, three: "third\n"})
    assert read(rungs_of(opened)[-1], two) == BROKEN


def test_the_agent_is_renamed_in_guard_yaml(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit(
        "rename",
        {
            "guard.yaml": MOVED.replace("  clerk:", "  cashier:"),
            SKILL_PATH: None,
            NEW_PATH: FIXED.replace("Ask which", "Always ask which"),
            "regressions.json": regressions(taxi=record(agent="cashier")),
        },
    )
    assert read(rungs_of(opened)[-1], NEW_PATH) == BROKEN


EACH = """\
version: 1
agents:
  skills:
    each: "agent/skills/*"
    workspace: agent
    target: command
    options: {argv: [python3, clerk.py]}
    cases: ["{dir}/evals/*.md"]
"""


def test_an_agent_of_a_pattern_is_renamed_with_its_folder(repo: ScratchRepo, opened: Repo) -> None:
    old, new = "agent/skills/clerk/evals/taxi.md", "agent/skills/cashier/evals/taxi.md"
    start = {**BASE, "guard.yaml": EACH, "agent/skills/clerk/reference.md": "a\nb\nc\n"}
    repo.commit("start", start)
    files = {SKILL_PATH: FIXED, old: case(), "regressions.json": regressions(taxi=record(case=old))}
    repo.commit("fix: taxi", files)
    repo.git("mv", "agent/skills/clerk", "agent/skills/cashier")
    moved = regressions(taxi=record(agent="cashier", case=new))
    rewritten = FIXED.replace("Ask which", "Always ask which")
    repo.commit("rename", {"regressions.json": moved, NEW_PATH: rewritten})
    live, pinned = rungs_of(opened)
    assert (live.tree, pinned.state) == (None, "pinned")
    assert read(pinned, NEW_PATH) == BROKEN
    assert read(pinned, new) == case()


def test_guard_itself_came_with_the_fix(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", {k: v for k, v in BASE.items() if k != "guard.yaml"})
    repo.commit("fix: taxi", {**fix(), "guard.yaml": CONFIG})
    live = rungs_of(opened)[0]
    assert (live.state, read(live)) == ("live", BROKEN)
    assert live.tree is not None
    assert live.tree.read("guard.yaml") == CONFIG.encode()


@pytest.mark.parametrize(
    ("start", "lacks"),
    [
        ({k: v for k, v in BASE.items() if k != SKILL_PATH}, "none of its own paths"),
        ({**BASE, SKILL_PATH: None, "agent/skills/clerk/notes.md": "n"}, "no agent/skills/clerk/S"),
        ({**BASE, SKILL_PATH: ""}, f"no {SKILL_PATH} with anything in it"),
        ({**BASE, SKILL_PATH: "\ufeff \n\n", "agent/skills/clerk/notes.md": "n"}, "with anything"),
    ],
    ids=["no own path", "no entry file", "an empty one", "a blank one beside notes"],
)
def test_there_was_no_agent_before(
    repo: ScratchRepo, opened: Repo, start: Mapping[str, str | None], lacks: str
) -> None:
    repo.commit("start", {k: v for k, v in start.items() if v is not None})
    repo.commit("fix: taxi", fix())
    rungs = rungs_of(opened)
    assert all(rung.tree is None and not rung.same for rung in rungs)
    assert lacks in rungs[0].reason


PROSE = CONFIG.replace("skills/clerk/**", "prompts/*.txt")
PROMPT = "agent/prompts/a.txt"


@pytest.mark.parametrize(
    ("before", "other", "built"),
    [("\n", "", False), ("\n", "Be kind.\n", True), ("Book.\n", "", True)],
    ids=["nothing written at all", "another file says something", "something to mend"],
)
def test_own_files_without_an_entry_file_must_say_something(
    repo: ScratchRepo, opened: Repo, before: str, other: str, built: bool
) -> None:
    start = {k: v for k, v in BASE.items() if k != SKILL_PATH}
    texts = {PROMPT: before, "agent/prompts/b.txt": other}
    repo.commit("start", {**start, "guard.yaml": PROSE, **texts})
    files = {k: v for k, v in fix().items() if k != SKILL_PATH}
    repo.commit("fix: taxi", {**files, PROMPT: "Ask which currency.\n"})
    rungs = rungs_of(opened)
    assert bool(rungs[0].tree) == built, rungs[0].reason
    assert built or "nothing is written in its own files" in rungs[0].reason


def test_a_file_that_is_as_empty_today_is_no_lack(repo: ScratchRepo, opened: Repo) -> None:
    config = CONFIG.replace("[agent/skills/clerk/**]", "[agent/skills/clerk/**, agent/clerk.py]")
    repo.commit("start", {**BASE, "guard.yaml": config, "agent/clerk.py": ""})
    repo.commit("fix: taxi", fix())
    assert told(rungs_of(opened)) == ["live built"]


EMPTIED = f"""\
--- a/{SKILL_PATH}
+++ b/{SKILL_PATH}
@@ -1,{len(FIXED.splitlines())} +0,0 @@
""" + "".join(f"-{line}\n" for line in FIXED.splitlines())


def test_a_patch_that_empties_the_entry_file(repo: ScratchRepo, opened: Repo) -> None:
    before = {"kind": "patch", "path": "evals/empty.patch"}
    kept = {"regressions.json": regressions(taxi=record(before=before))}
    repo.commit("start", {**BASE, **fix(), **kept, "evals/empty.patch": EMPTIED})
    (rung,) = rungs_of(opened)
    assert rung.tree is None
    assert "there was no agent before" in rung.reason
    # Another patch of the same file, which leaves all but the fix, is one.
    cut = (
        f"--- a/{SKILL_PATH}\n+++ b/{SKILL_PATH}\n@@ -9,3 +9,1 @@\n-Ask which currency before you "
    )
    repo.write({"evals/empty.patch": cut + "convert.\n-\n Keep the budget in order.\n"})
    (rung,) = rungs_of(opened)
    assert rung.tree is not None, rung.reason


def test_a_root_commit_has_no_agent_before(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", {**BASE, **fix()})
    assert "there was no agent before" in rungs_of(opened)[0].reason


def test_a_program_that_the_options_start_must_have_been_there(
    repo: ScratchRepo, opened: Repo
) -> None:
    config = CONFIG.replace("[agent/skills/clerk/**]", "[agent/skills/clerk/**, agent/clerk.py]")
    start = {k: v for k, v in BASE.items() if k != "agent/clerk.py"}
    repo.commit("start", {**start, "guard.yaml": config})
    repo.commit("fix: taxi", {**fix(), "agent/clerk.py": BASE["agent/clerk.py"]})
    assert "no agent/clerk.py" in rungs_of(opened)[0].reason


def test_cases_inside_the_agents_folder_stay_as_they_are_today(
    repo: ScratchRepo, opened: Repo
) -> None:
    config = CONFIG.replace("evals/*.md", "agent/skills/clerk/evals/*.md")
    inside = "agent/skills/clerk/evals/taxi.md"
    records = regressions(taxi=record(case=inside))
    repo.commit("start", {**BASE, "guard.yaml": config, inside: case(more="trials: 3\n")})
    repo.commit("fix: taxi", {SKILL_PATH: FIXED, inside: case(), "regressions.json": records})
    (live,) = rungs_of(opened)
    assert read(live, inside) == case()


def test_an_old_guard_yaml_that_is_wrong_today_is_no_obstacle(
    repo: ScratchRepo, opened: Repo
) -> None:
    repo.commit("start", {**BASE, "guard.yaml": "version: 1\nagents: [wrong\n"})
    repo.commit("fix: taxi", {**fix(), "guard.yaml": CONFIG})
    assert read(rungs_of(opened)[0]) == BROKEN
