"""``guard agents``: what is guarded, how it is run, and its last verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
    (line,) = (line for line in out.splitlines() if line.startswith(f"{name} "))
    return re.split(r" {2,}", line)


def test_a_row_for_each(repo: ScratchRepo) -> None:
    write(repo)
    code, out, err = call_guard(repo.root, "agents")
    assert (code, err) == (0, "")
    assert cells_of(out, "echo ü")[:2] == ["echo ü", "command"]
    assert cells_of(out, "echo ü")[-3:] == ["reply_contains", "2", "not run yet"]
    assert cells_of(out, "other")[-2:] == ["none", "none"]
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
    what = "the program that options.argv names, as it stands in the workspace"
    assert cells_of(out, "echo ü") == ["echo ü", "command", what, "real"]
    said = "echo ü: trials are free; they give the same outcome for the same input"
    assert f"{said}; they need program:python3\n" in out


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
    assert [re.split(r" {2,}", line)[2:] for line in out.splitlines()[1:3]] == [
        ["the compiled graph", "real"],
        ["the ledger's storage", "substituted", "a trial must not write to it"],
    ]
    assert "cost money" in out
    assert "no evidence of a live class" in out


def test_a_target_that_nobody_offers_is_shown_and_refused_where_it_matters(
    repo: ScratchRepo,
) -> None:
    repo.write({"guard.yaml": "version: 1\nagents: {a: {paths: [a], target: comand}}\n"})
    code, out, _ = call_guard(repo.root, "agents")
    assert code == 0
    assert cells_of(out, "a")[2] == "no such target"
    code, out, _ = call_guard(repo.root, "agents", "--real")
    assert code == 2
    assert cells_of(out, "a")[2:4] == ["nothing", "refused"]
    assert "did you mean `command`?" in out


DOUBLED = """\
from guard.plugin import Observation, Option, StorageDouble, Target, hookimpl


def verify(agent, options, project):
    return None if options["graph"] else f"agent {agent.name} names no graph"


@hookimpl
def guard_targets():
    options = (Option("doubles", "texts", []), Option("graph", "text", ""))
    return [Target("ledger", lambda trial: Observation(), real="the compiled graph",
                   options=options, verify=verify)]


@hookimpl
def guard_storage_doubles():
    return [StorageDouble("outbox", "books.post:Outbox", list, "no letter is sent"),
            StorageDouble("unused", "books.post:Other", list, "nobody names it")]
"""


def doubled(options: str) -> dict[str, str]:
    agents = f"agents: {{books: {{paths: [a], target: ledger, options: {options}}}}}\n"
    return {"guard.yaml": f"version: 1\nplugins: [p.py]\n{agents}", "p.py": DOUBLED, "a": "x\n"}


def test_the_doubles_that_an_agent_names(repo: ScratchRepo) -> None:
    repo.write(doubled("{graph: g, doubles: [outbox]}"))
    code, out, _ = call_guard(repo.root, "agents", "--real")
    assert code == 0
    assert [re.split(r" {2,}", line) for line in out.splitlines()[1:3]] == [
        ["books", "ledger", "the compiled graph", "real"],
        ["books", "ledger", "books.post:Outbox (outbox)", "substituted", "no letter is sent"],
    ]
    assert "unused" not in out
    _, out, _ = call_guard(repo.root, "agents")
    assert "the compiled graph; not books.post:Outbox (outbox)" in cells_of(out, "books")


def test_a_double_that_nobody_offers(repo: ScratchRepo) -> None:
    repo.write(doubled("{graph: g, doubles: [outbax]}"))
    said = (
        "guard.yaml:3: agents.books.options.doubles: no plugin offers the storage double 'outbax'"
    )
    for command in ("check", "agents"):
        code, _, err = call_guard(repo.root, command)
        assert (code, said in err) == (2, True), err
    assert "did you mean `outbox`?" in call_guard(repo.root, "check").err
    code, out, _ = call_guard(repo.root, "agents", "--real")
    assert (code, "did you mean `outbox`?" in out) == (2, True)


def test_a_target_that_would_run_something_else(repo: ScratchRepo) -> None:
    repo.write(doubled("{}"))
    said = "target ledger would not run the real agent: agent books names no graph"
    code, _, err = call_guard(repo.root, "check")
    assert (code, said in err) == (2, True), err
    code, out, _ = call_guard(repo.root, "agents", "--real")
    assert (code, said in out) == (2, True)
    repo.write(
        {**doubled("{}, cases: [c.md]"), "c.md": case("one", "x").replace("echo ü", "books")}
    )
    code, _, err = call_guard(repo.root, "run")
    assert (code, said in err) == (2, True), err


def test_more_than_storage_is_substituted(repo: ScratchRepo) -> None:
    model = DOUBLED.replace("Option, ", "Option, Substitute, ").replace(
        "options=options,", 'options=options, substitutes=(Substitute("m", "dear", "model"),),'
    )
    repo.write({**doubled("{graph: g}"), "p.py": model})
    for command in ("check", "agents", "run"):
        code, _, err = call_guard(repo.root, command)
        assert code == 2
        assert "target ledger (plugin p.py) substitutes 'm', of kind 'model'" in err


# What is served ---------------------------------------------------------------------------


def test_what_each_is_served_as(repo: ScratchRepo) -> None:
    write(repo)
    assert cells_of(call_guard(repo.root, "agents").out, "echo ü")[-1] == "not run yet"
    repo.write({"guard.yaml": CONFIG + "served: [names.txt]\n", "names.txt": "echo ü\n语言\n"})
    code, out, _ = call_guard(repo.root, "agents")
    assert code == 0
    assert cells_of(out, "echo ü")[-1] == "echo ü"
    assert cells_of(out, "other")[-1] == "not served"
    assert "✗ names.txt serves 语言, and no agent serves it (unserved-agent)" in out


def test_a_manifest_that_cant_be_read_hides_no_agent(repo: ScratchRepo) -> None:
    write(repo)
    repo.write({"guard.yaml": CONFIG + "served: [names.json]\n", "names.json": "["})
    code, out, _ = call_guard(repo.root, "agents")
    assert code == 2
    assert "echo ü" in out
    assert "! names.json:1: not valid JSON" in out


def test_a_narrow_terminal_cuts_no_name_off(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repo)
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = call_guard(repo.root, "--color", "always", "agents", "--real")
    assert "…" not in out
    assert all(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) <= 40 for line in out.splitlines()[:6])


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
