"""The ``command`` target: any program as the agent, run for real."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from guard_command import fingerprint, guard_targets
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, clerk, config


def options(*argv: str, **more: Any) -> dict[str, Mapping[str, Any]]:
    return clerk(options={"argv": list(argv), **more})


def the_run(guard: GuardCommand, ends_in: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = guard.report("--no-cache", ends_in=ends_in)["cases"][0]["runs"][0]
    return found


def test_it_leaves_alone_what_it_cannot_start(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**config(options("./not-there")), **case(trials=1)})
    run = the_run(guard, ends_in=3)
    assert run["verdict"] == "ERROR"
    assert run["exit_status"] is None


def test_it_runs_the_program_in_the_workspace(repo: ScratchRepo, guard: GuardCommand) -> None:
    agent = '#!/bin/sh\necho "hello $1 from $(cat rules.md)"; echo oops >&2\n'
    repo.write({**config(options("./agent.sh", "{utterance}")), **case("you", trials=1)})
    repo.write({"agent/agent.sh": agent})
    (repo.root / "agent/agent.sh").chmod(0o755)
    run = the_run(guard)
    assert run["reply"] == run["stdout"] == "hello you from Be kind.\n"
    assert (run["stderr"], run["exit_status"]) == ("oops\n", 0)
    assert run["argv"] == ["./agent.sh", "you"]
    assert run["execution_provenance"]["program"] == "agent.sh"


def test_placeholders_are_filled_in_everywhere_and_only_once(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    script = 'echo hello; echo "$1"; echo "$2"; echo "$3"; echo "$WHERE"; cat; cat "$4/more.txt"'
    argv = ("sh", "-c", script, "x", "{utterance}", "{input.cup}", "{input.list}", "{repo}")
    agents = options(*argv, env={"WHERE": "in {workspace}"}, stdin="{utterance} again\n")
    keys = {"input": {"cup": "blue {repo}", "list": [1, "é"]}, "trials": 1}
    repo.write({**config(agents), "more.txt": "more\n", **case("say {workspace}", **keys)})
    lines = the_run(guard)["reply"].splitlines()
    assert lines[:4] == ["hello", "say {workspace}", "blue {repo}", '[1, "é"]']
    assert lines[4].startswith("in /")
    assert lines[5:] == ["say {workspace} again", "more"]


def test_no_shell_is_between(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**config(options("echo", "hello", "$HOME; ls *")), **case(trials=1)})
    assert the_run(guard)["reply"] == "hello $HOME; ls *\n"


def test_an_input_that_is_missing_is_an_error(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**config(options("echo", "{input.cup}")), **case(trials=1)})
    run = the_run(guard, ends_in=3)
    assert "the case one has no input cup" in run["execution_provenance"]["reason"]


def test_a_case_that_says_nothing_is_an_error_where_it_has_to(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    silent = {
        path: text.replace("utterance:", "# utterance:") for path, text in case(trials=1).items()
    }
    repo.write({**config(options("echo", "{utterance}")), **silent})
    run = the_run(guard, ends_in=3)
    assert (
        "the case one says nothing to the agent: add `utterance:` to "
        in (run["execution_provenance"]["reason"])
    )
    repo.write(config(options("echo", "hello")))
    the_run(guard)


@pytest.mark.parametrize(
    ("printed", "pointer", "holds"),
    [
        ('{"total": 4}', "/total", True),
        (' {"total": 4}\n\n', "/total", True),
        ('{"total": 5}', "/total", False),
        ('the total: {"total": 4}', "/total", False),
        ('{"total": 4} {"total": 4}', "/total", False),
        ("[" * 100_000, "/total", False),
        ("", "/total", False),
    ],
)
def test_one_json_document_is_the_structured_output(
    repo: ScratchRepo, guard: GuardCommand, printed: str, pointer: str, holds: bool
) -> None:
    expected = {"output": [{"pointer": pointer, "equals": 4}]}
    agents = options("cat", "printed")
    repo.write({**config(agents), "agent/printed": printed, **case("x", expected, trials=1)})
    run = the_run(guard, ends_in=0 if holds else 1)
    assert run["verdict"] == ("PASS" if holds else "FAIL")


def test_turns_that_would_never_be_said_are_no_pass(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**config(), **case(trials=1, turns=["and then?"])})
    run = the_run(guard, ends_in=3)
    assert run["verdict"] == "ERROR"
    assert "turns" in run["execution_provenance"]["reason"]


def test_each_trial_knows_its_number(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**config(), **case("echo hello $GUARD_TRIAL", trials=3)})
    runs = guard.report("--jobs", "3")["cases"][0]["runs"]
    assert [run["reply"] for run in runs] == ["hello 1\n", "hello 2\n", "hello 3\n"]


def test_it_may_be_declared_deterministic(repo: ScratchRepo, guard: GuardCommand) -> None:
    agents = options("sh", "-c", "{utterance}", deterministic=True)
    repo.write({**config(agents), **case()})
    assert guard.report()["cases"][0]["trials"] == 2


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({}, "options.argv: is missing"),
        ({"argv": []}, "options.argv: is missing"),
        ({"argv": None}, "options.argv: is missing"),
        ({"argv": "sh"}, "options.argv: must be a list of texts"),
        ({"argv": ["sh", 1]}, "options.argv: must be a list of texts"),
        ({"argv": ["sh"], "env": ["A=1"]}, "options.env: must be a mapping"),
        ({"argv": ["sh"], "stdin": 3}, "options.stdin: must be a text"),
        ({"argv": ["sh"], "deterministic": "yes"}, "options.deterministic: must be true or false"),
        ({"argv": ["sh"], "environment": {}}, "options.environment: command knows no such option"),
    ],
)
def test_options_are_checked(
    repo: ScratchRepo, guard: GuardCommand, stated: dict[str, Any], said: str
) -> None:
    repo.write({**config(clerk(options=stated)), **case(trials=1)})
    guard("run").refuses("guard.yaml:", "agents.clerk.", said)


def test_null_leaves_an_option_as_it_is(repo: ScratchRepo, guard: GuardCommand) -> None:
    agents = options("echo", "hello", env=None, stdin=None)
    repo.write({**config(agents), **case(trials=1)})
    assert the_run(guard)["verdict"] == "PASS"


# Its fingerprint ------------------------------------------------------------------------------


def write_program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_new_build_is_another_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = write_program(tmp_path / "bin" / "brew")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    before = fingerprint({"argv": ["brew", "{utterance}"]})
    assert fingerprint({"argv": ["brew", "x"]}) == before
    assert fingerprint({"argv": [str(program)]}) == before
    link = tmp_path / "bin" / "linked"
    link.symlink_to(program)
    assert fingerprint({"argv": ["linked"]}).program == before.program.replace("brew", "linked")
    assert str(tmp_path) not in before.program
    write_program(tmp_path / "other" / "brew")
    monkeypatch.setenv("PATH", f"{tmp_path / 'other'}:{os.environ['PATH']}")
    assert fingerprint({"argv": ["brew"]}) == before
    status = program.stat()
    os.utime(program, (1, 1))
    assert fingerprint({"argv": [str(program)]}) == before
    write_program(program, "#!/bin/ls\n")
    os.utime(program, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fingerprint({"argv": [str(program)]}) != before
    write_program(tmp_path / "other" / "brew", "#!/bin/sh\nexit 1\n")
    assert fingerprint({"argv": ["brew"]}) != before


def test_a_script_outside_the_repository_is_another_agent_too(tmp_path: Path) -> None:
    script = write_program(tmp_path / "agent.py", "print(1)\n")
    argv = [sys.executable, "-P", str(script), "{utterance}"]
    before = fingerprint({"argv": argv})
    interpreter, _, named = before.program.partition("; ")
    assert interpreter == fingerprint({"argv": argv[:1]}).program
    assert named.startswith("agent.py sha256:")
    # What it is told to write to is no part of it.
    log = write_program(tmp_path / "log.txt")
    assert fingerprint({"argv": [*argv, str(log)]}) == before
    assert fingerprint({"argv": [sys.executable, "agent.py", str(log)]}).program == interpreter
    write_program(script, "print(2) \n")
    assert fingerprint({"argv": argv}) != before
    script.unlink()
    assert fingerprint({"argv": argv}).program == f"{interpreter}; agent.py"


def test_a_program_of_the_workspace_is_named_as_it_stands(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(repo.root / "agent.sh")
    monkeypatch.chdir(repo.root)
    inside = fingerprint({"argv": ["./agent.sh"]})
    monkeypatch.chdir(repo.root.parent)
    assert fingerprint({"argv": ["./agent.sh"]}) == inside
    assert inside.program == "./agent.sh"
    assert fingerprint({"argv": ["no-such-program"]}).program == "no-such-program"


def test_a_hook_managers_environment_changes_no_receipt(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    """pre-commit puts its own environment first on PATH; trials don't get it."""
    venv = tmp_path / "py_env-default"
    write_program(venv / "bin" / "sh", "#!/bin/sh\necho other\n")
    repo.write({**config(), **case(trials=1)})
    guard.report()
    env = {"VIRTUAL_ENV": str(venv), "PATH": f"{venv / 'bin'}:{os.environ['PATH']}"}
    answered = guard.report(env=env)["cases"][0]
    assert (answered["verdict"], answered["runs"]) == ("PASS", [])
    assert guard.verdicts("--no-cache", env=env) == {"one": "PASS"}
    own = {"PATH": env["PATH"]}
    assert guard.verdicts(ends_in=1, env=own) == {"one": "FAIL"}


def test_what_it_declares() -> None:
    (target,) = guard_targets()
    assert (target.name, target.paid, target.live, target.deterministic) == (
        "command",
        False,
        True,
        False,
    )
    assert target.substitutes == ()
    assert target.real


def reason_of(guard: GuardCommand) -> str:
    found = guard.report("--no-cache", ends_in=3)["cases"][0]
    assert found["verdict"] == "ERROR"
    return str(found["reason"])


def test_a_program_that_is_not_there_is_named(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**config(options("no-such-agent", "{utterance}")), **case(trials=1)})
    reason = reason_of(guard)
    assert reason.startswith("no-such-agent can't be started: No such file or directory")
    assert "mend `options.argv` in guard.yaml" in reason
    repo.write(config(options(".venv/bin/python", "{utterance}")))
    mends = "name it by the agent's key `python: .venv/bin/python`, and `python` in `options.argv`"
    assert mends in reason_of(guard)


def test_a_script_that_is_not_there_is_named(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**config(options("sh", "gone.sh", "{utterance}")), **case(trials=1)})
    assert reason_of(guard).startswith("gone.sh, which `argv` names, isn't in the workspace")
    repo.write({"agent/gone.sh": "exit 3\n"})  # there, it fails by itself
    assert "isn't in the workspace" not in reason_of(guard)
