"""``guard agents``: what is guarded, how it is run, and its last verdict."""

from __future__ import annotations

import re
from pathlib import Path

from tests.commands.calling import call_guard, start_guard
from tests.conftest import ScratchRepo

CONFIG = """\
version: 1
agents:
  echo ü:
    paths: [echo.py]
    target: command
    options: {argv: [python3, echo.py, "{utterance}"], deterministic: true}
    cases: [evals/*.md]
    prerequisites: [program:python3]
    paid: false
  other:
    paths: [other/**]
    target: claude-code
"""
ECHO = "import sys\nprint(sys.argv[1])\n"


def case(name: str, wanted: str) -> str:
    expected = f"expected: {{reply_contains: [{wanted}]}}"
    return f"---\nid: {name}\nagent: echo ü\nutterance: hello\n{expected}\n---\nWhy.\n"


def write(repo: ScratchRepo) -> None:
    cases = {"evals/good.md": case("good", "hello"), "evals/bad.md": case("bad", "goodbye")}
    repo.commit("feat: begin", {"guard.yaml": CONFIG, "echo.py": ECHO, **cases})


def cells_of(out: str, name: str) -> list[str]:
    (line,) = (line for line in out.splitlines() if line.startswith(name))
    return re.split(r" {2,}", line)


def test_a_row_for_each(repo: ScratchRepo) -> None:
    write(repo)
    code, out, err = call_guard(repo.root, "agents")
    assert (code, err) == (0, "")
    assert cells_of(out, "echo ü")[:2] == ["echo ü", "command"]
    assert cells_of(out, "echo ü")[-3:] == ["built-in", "2", "not run yet"]
    assert cells_of(out, "other")[-1] == "none"
    assert out.splitlines()[-1] == "2 agents, 2 cases"


def test_the_last_verdict_is_the_worst_of_its_cases(repo: ScratchRepo) -> None:
    write(repo)
    assert call_guard(repo.root, "run", "good").code == 0
    _, out, _ = call_guard(repo.root, "agents")
    assert cells_of(out, "echo ü")[-1] == "✓ PASS (1 of 2)"
    assert call_guard(repo.root, "run").code == 1
    _, out, _ = call_guard(repo.root, "agents")
    assert cells_of(out, "echo ü")[-1] == "✗ FAIL (1 of 2)"


def test_what_is_real(repo: ScratchRepo) -> None:
    write(repo)
    code, out, _ = call_guard(repo.root, "agents", "--real")
    assert code == 0
    assert "echo ü\n  target       command\n  real         the program that options.argv" in out
    assert "  needs        program:python3" in out
    assert "are free" in out


def test_a_plugins_target_and_what_it_substitutes(repo: ScratchRepo) -> None:
    plugin = """\
from guard.plugin import Observation, Substitute, Target, hookimpl

@hookimpl
def guard_targets():
    store = Substitute("the ledger's storage", "a trial must not write to it")
    return [Target("ledger", lambda trial: Observation(), real="the compiled graph",
                   substitutes=(store,), paid=True, live=False, deterministic=True)]
"""
    config = "version: 1\nplugins: [p.py]\nagents: {books: {paths: [a], target: ledger}}\n"
    repo.write({"guard.yaml": config, "p.py": plugin, "a": "x\n"})
    _, out, _ = call_guard(repo.root, "agents")
    wanted = "the compiled graph; not the ledger's storage; not the provider's endpoint"
    assert wanted in cells_of(out, "books")
    _, out, _ = call_guard(repo.root, "agents", "--real")
    assert "  substituted  the ledger's storage: a trial must not write to it" in out
    assert "cost money" in out
    assert "no evidence of a live class" in out


def test_a_target_that_nobody_offers_is_shown_and_refused_where_it_matters(
    repo: ScratchRepo,
) -> None:
    repo.write({"guard.yaml": "version: 1\nagents: {a: {paths: [a], target: comand}}\n"})
    code, out, _ = call_guard(repo.root, "agents")
    assert code == 0
    assert cells_of(out, "a ")[2] == "no such target"
    code, _, err = call_guard(repo.root, "agents", "--real")
    assert code == 2
    assert "did you mean `command`?" in err


def test_on_a_terminal_with_colour_it_is_the_same_table(repo: ScratchRepo) -> None:
    write(repo)
    _, out, _ = call_guard(repo.root, "--color", "always", "agents")
    assert "\x1b[1m" in out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert cells_of(plain, "echo ü")[:2] == ["echo ü", "command"]


def test_a_revision_and_the_index(repo: ScratchRepo) -> None:
    write(repo)
    repo.write({"guard.yaml": "version: 1\nagents: {}\n"})
    assert "2 agents" in call_guard(repo.root, "agents", "--at", "HEAD").out
    assert "2 agents" in call_guard(repo.root, "agents", "--at", "index").out
    assert "declares no agent" in call_guard(repo.root, "agents").out


def test_nothing_to_list(repo: ScratchRepo, tmp_path: Path) -> None:
    code, _, err = call_guard(repo.root, "agents")
    assert code == 2
    assert "there is no guard.yaml here" in err
    outside = tmp_path / "outside"
    outside.mkdir()
    assert call_guard(outside, "agents").code == 2
    assert start_guard(repo, "agents", env={"PATH": "/nonexistent"}).code == 2
