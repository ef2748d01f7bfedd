"""The repository: configuration, plugins, targets, store, history and last run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from guard.doctor import Finding
from guard.doctor.repository import (
    check_config,
    check_history,
    check_last_run,
    check_plugins,
    check_store,
    check_targets,
)
from guard.session import Session
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo

CONFIG = """\
version: 1
agents:
  echo ü:
    paths: [echo.py]
    target: command
    options: {argv: [python3, echo.py]}
    cases: [evals/*.md]
"""
CASE = "---\nid: x\nexpected: {exit_code: 0}\n---\nWhy.\n"
FILES = {"guard.yaml": CONFIG, "echo.py": "print(1)\n", "evals/x.md": CASE}

Check = Callable[[Session], Iterator[Finding]]


def found_by(check: Check, folder: Path, *disabled: str) -> list[Finding]:
    with Session.open(str(folder), frozenset(disabled)) as session:
        return list(check(session))


def config_check(session: Session) -> Iterator[Finding]:
    return check_config(session, session.project())


def targets_check(session: Session) -> Iterator[Finding]:
    return check_targets(session.project())


def plugins_check(session: Session) -> Iterator[Finding]:
    return check_plugins(session.project())


def test_a_configuration_that_is_whole(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", FILES)
    (found,) = found_by(config_check, repo.root)
    assert found == Finding("✓", "guard.yaml: 1 agent, 1 case, 0 records")


def test_no_configuration(repo: ScratchRepo) -> None:
    (found,) = found_by(config_check, repo.root)
    assert (found.mark, found.hint) == ("✗", "guard init")


def test_one_that_git_does_not_know_yet(repo: ScratchRepo) -> None:
    repo.write(FILES)
    assert [f.mark for f in found_by(config_check, repo.root)] == ["✓", "!"]
    repo.git("add", "guard.yaml")
    assert [f.mark for f in found_by(config_check, repo.root)] == ["✓"]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("guard.yaml", "version: 1\nagent: {}\n", "guard.yaml:2: agent: unknown key"),
        ("evals/x.md", "---\nid: x\nexpected: {no_change: true}\n---\n", "evals/x.md:3"),
        ("evals/x.md", "no case\n", "evals/x.md:1"),
        ("regressions.json", "{}", "regressions.json"),
    ],
)
def test_a_file_that_is_wrong(repo: ScratchRepo, file: str, text: str, said: str) -> None:
    repo.commit("feat: begin", {**FILES, file: text})
    found = [f for f in found_by(config_check, repo.root) if f.mark == "✗"]
    # A key that only an evaluator can judge is `guard check`'s to find.
    assert all(said in f.text for f in found)
    assert found or "no_change" in text


def test_an_agent_without_a_case(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {**FILES, "evals/x.md": "---\nid: x\n---\n"})
    repo.commit("feat: none", {"evals/x.md": None})
    found = found_by(config_check, repo.root)[-1]
    assert (found.mark, found.text) == ("!", "no case, so nothing can fail: echo ü")
    assert found.hint == "guard new-case ID --agent 'echo ü'"


def test_an_agent_whose_paths_match_nothing(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {**FILES, "guard.yaml": CONFIG.replace("[echo.py]", "[eco.py]")})
    found = found_by(config_check, repo.root)[-1]
    said = "no file matches the paths of echo ü: no change of it is seen"
    assert (found.mark, found.text) == ("!", said)


def test_plugins(repo: ScratchRepo) -> None:
    repo.write({"guard.yaml": "version: 1\nplugins: [p.py]\n", "p.py": "import no_such_thing\n"})
    found = found_by(plugins_check, repo.root)
    assert [f.mark for f in found] == ["✓", "✗"]
    assert "command" in found[0].text
    assert "p.py does not load" in found[1].text
    assert [f.mark for f in found_by(plugins_check, repo.root, "p.py")] == ["✓", "!"]


def test_a_target_with_all_that_it_needs(repo: ScratchRepo) -> None:
    repo.write(FILES)
    (found,) = found_by(targets_check, repo.root)
    assert found.mark == "✓"
    assert found.text.endswith(": echo ü")


@pytest.mark.parametrize(
    ("line", "mark", "said"),
    [
        ("    prerequisites: [program:no-such-program]\n", "?", "no-such-program is not on PATH"),
        ("    env: [NO_SUCH_VARIABLE_HERE]\n", "?", "NO_SUCH_VARIABLE_HERE is not set"),
        ("    prerequisites: ['printer:x']\n", "✗", "'printer:x' is not known"),
        ("    evaluators: [nobody]\n", "✗", "no plugin offers the evaluator 'nobody'"),
    ],
)
def test_what_is_missing(repo: ScratchRepo, line: str, mark: str, said: str) -> None:
    repo.write({**FILES, "guard.yaml": CONFIG + line})
    (found,) = found_by(targets_check, repo.root)
    assert found.mark == mark
    assert said in found.text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("target: command", "target: comand", "did you mean `command`?"),
        ("argv:", "arg:", "options"),
        ("{argv: [python3, echo.py]}", "{}", "argv"),
    ],
)
def test_a_target_that_is_asked_for_wrongly(
    repo: ScratchRepo, old: str, new: str, said: str
) -> None:
    repo.write({**FILES, "guard.yaml": CONFIG.replace(old, new)})
    (found,) = found_by(targets_check, repo.root)
    assert found.mark == "✗"
    assert said in found.text


def test_the_store(repo: ScratchRepo, capsys: pytest.CaptureFixture[str]) -> None:
    with Session.open(str(repo.root)) as session:
        assert check_store(session).mark == "✓"
        folder = Path(session.store.folder)
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    (folder / "store.sqlite3").write_bytes(b"no database at all" * 99)
    with Session.open(str(repo.root)) as session:
        found = check_store(session)
    assert found.mark == "✗"
    assert "store" in found.text
    assert "store" in capsys.readouterr().err


def test_a_shallow_clone(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("feat: begin", FILES)
    repo.commit("feat: more", {"a": "1"})
    assert found_by(check_history, repo.root) == []
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.root}", str(clone))
    (found,) = found_by(check_history, clone)
    assert (found.mark, found.hint) == ("!", "git fetch --unshallow")


def test_the_last_run(repo: ScratchRepo) -> None:
    repo.write(FILES)
    with Session.open(str(repo.root)) as session:
        assert check_last_run(session).text == "nothing was run yet"
    assert call_guard(repo.root, "run").code == 0
    with Session.open(str(repo.root)) as session:
        found = check_last_run(session)
    assert found.mark == "✓"
    assert found.text.startswith("last run: guard run, ")
    assert found.text.endswith("exit 0")
