from __future__ import annotations

from collections.abc import Generator

import pytest

from guard.change import staged_change
from guard.git import find_repo
from guard.judging.refusal import LINES, Refused, refusal
from guard.model import Violation
from guard.project import Project
from guard.store import Store
from tests.conftest import ScratchRepo
from tests.guarded_repo import BASE, CASE, CASE_TEXT, FIXED_SKILL, SKILL

MISSING = Violation("fix-needs-case", "this fix brings no case", "expense", (SKILL,))


@pytest.fixture
def refused(repo: ScratchRepo) -> Generator[Refused]:
    repo.commit("feat: base", BASE)
    repo.commit("docs: x", {SKILL: FIXED_SKILL})
    repo.git("reset", "--soft", "--quiet", "HEAD~1")
    with find_repo(str(repo.root)) as opened:
        change = staged_change(opened, "HEAD")
        new = Project(opened, change.new, Store.open(opened.common_dir))
        yield Refused(opened, new, change, ("git", "commit"), ".git/guard/message")


def test_the_whole_text(refused: Refused) -> None:
    assert refusal([MISSING], refused) == (
        "guard: refused: this fix brings no case (fix-needs-case)\n"
        f"  changed  {SKILL}\n"
        '  do       guard new-case ID --agent expense --utterance "WHAT WAS SAID"\n'
        "           guard prove ID\n"
        "           git add evals/cases regressions*\n"
        "           git commit -F .git/guard/message      # your message is kept\n"
        "  more     guard explain fix-needs-case"
    )


def test_it_never_takes_more_than_eight_lines(refused: Refused, repo: ScratchRepo) -> None:
    repo.write({f"evals/cases/{n}.md": CASE_TEXT for n in range(5)})
    paths = tuple(f"skills/expense/{n}.md" for n in range(40))
    many = [MISSING._replace(detail=("why", "and why"), paths=paths)] * 4
    lines = refusal(many, refused).splitlines()
    assert len(lines) == LINES
    assert lines[1].startswith("  likely   evals/cases/0.md exists but is not staged")
    assert "and 37 more" in "".join(lines)
    assert any("git commit -F" in line for line in lines)
    assert any("and 3 more" in line or "also" in line for line in lines) or "also" not in lines


def test_the_cause_is_told_before_the_paths(refused: Refused) -> None:
    lines = refusal([MISSING._replace(detail=("its cases are of agent travel",))], refused)
    assert lines.splitlines()[1] == "  because  its cases are of agent travel"


def test_others_are_counted(refused: Refused) -> None:
    other = Violation("case-weakened", "a case is deleted", "expense", (CASE,))
    weak = MISSING._replace(rule="record-invalid")
    text = refusal([weak, other, other], refused)
    assert "  also     a case is deleted (case-weakened), and 1 more" in text


def test_a_weakening_names_the_trailer_to_write(refused: Refused) -> None:
    trailer = "Case-Weakened: eur-taxi: REASON"
    weaker = Violation("case-weakened", "it gets weaker", "expense", (CASE,), hint=(trailer,))
    text = refusal([weaker], refused)
    command = f'git interpret-trailers --in-place --trailer "{trailer}" .git/guard/message'
    assert f"  do       {command}" in text


def test_without_a_kept_message_the_commit_is_repeated_bare(refused: Refused) -> None:
    text = refusal([MISSING], refused._replace(message_file=""))
    assert "           git commit\n" in text
    assert "kept" not in text


def test_paths_are_quoted_for_the_shell_and_keep_to_their_line(refused: Refused) -> None:
    odd = MISSING._replace(paths=("a b", "line\nbreak", "raw\udcff"))
    text = refusal([odd], refused)
    assert "  changed  'a b', $'line\\012break', $'raw\\377'" in text


def test_the_trailer_command_works(refused: Refused, repo: ScratchRepo) -> None:
    (repo.root / "message").write_text("test: edit\n")
    trailer = ("Case-Weakened: eur-taxi: REASON",)
    weaker = Violation("case-weakened", "it gets weaker", "expense", (CASE,), hint=trailer)
    text = refusal([weaker], refused._replace(message_file="message"))
    line = next(line for line in text.splitlines() if "interpret-trailers" in line)
    assert repo.run("sh", "-c", line[11:]).returncode == 0
    assert (repo.root / "message").read_text() == f"test: edit\n\n{trailer[0]}\n"


def test_what_is_deleted_is_brought_back(refused: Refused, repo: ScratchRepo) -> None:
    repo.git("rm", "-q", "--force", SKILL)
    with find_repo(str(repo.root)) as opened:
        change = staged_change(opened, "HEAD")
        new = Project(opened, change.new, Store.open(opened.common_dir))
        gone = Violation("case-weakened", "it is deleted", "expense", (SKILL,))
        text = refusal([gone], refused._replace(repo=opened, new=new, change=change))
        kept = refusal([gone._replace(paths=("README.md",))], refused)
    assert f"  do       git checkout HEAD -- {SKILL}\n" in text
    assert "git checkout" not in kept


def test_folders_of_very_many_agents_are_named_by_what_holds_them(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = refused.new.agents["expense"]
    globs = {name: (f"evals/{name}/*.md",) for name in ("a", "b", "c")}
    agents = {name: agent._replace(name=name, cases=cases) for name, cases in globs.items()}
    several = MISSING._replace(agent="a, b, c", agents=tuple(agents))
    monkeypatch.setitem(vars(refused.new), "agents", agents)
    assert "git add evals/a evals/b evals/c regressions*" in refusal([several], refused)
    monkeypatch.setattr("guard.judging.refusal.MOST_FOLDERS", 2)
    assert "git add evals regressions*" in refusal([several], refused)


def test_a_baseline_that_no_run_shows_names_the_run_to_make_and_what_to_add(
    refused: Refused,
) -> None:
    run = "guard run eur-taxi    # then write the run that it names into observed_in"
    found = Violation("case-weakened", "no run shows it", "expense", (CASE,), hint=(run,))
    assert refusal([found], refused).splitlines()[2:5] == [
        f"  do       {run}",
        f"           git add {CASE}",
        "           git commit -F .git/guard/message      # your message is kept",
    ]
