"""The command line as a whole: where it stands, what it refuses, which stream it writes to."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from guard import __version__
from guard.cli import COMMANDS, TO_COME, main
from guard.schemas import schema_text
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, cases, clerk, config

# Where it is called --------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["run", "affected", "status"])
def test_without_guard_yaml_it_says_how_to_begin(
    repo: ScratchRepo, guard: GuardCommand, command: str
) -> None:
    guard(command).refuses("there is no guard.yaml here", "guard init")  # nothing committed yet
    repo.commit("feat: something", {"readme.md": "x\n"})
    guard(command).refuses("there is no guard.yaml here", "guard init")


@pytest.mark.parametrize("command", ["run", "affected", "status", "show x"])
def test_outside_a_repository_it_refuses(tmp_path: Path, command: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    GuardCommand(ScratchRepo(outside))(*command.split()).refuses("not", "git")


@pytest.mark.parametrize("command", ["run", "affected", "status"])
def test_a_bare_repository_has_no_working_tree(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path, command: str
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    bare = GuardCommand(ScratchRepo(tmp_path / "bare"))
    bare(command).refuses("a bare repository has no working tree", "--at")
    bare(command, "--at", "HEAD").ends_in(0)


def test_a_bare_repository_runs_a_revision(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    bare = GuardCommand(ScratchRepo(tmp_path / "bare"))
    assert bare.verdicts("--at", "HEAD") == {"one": "PASS"}
    bare("show", "one").ends_in(0).says("one#1 PASS")
    assert bare.verdicts("evals/*.md", "--at", "HEAD") == {"one": "PASS"}


def test_without_git_it_says_so(repo: ScratchRepo, guard: GuardCommand, tmp_path: Path) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    guard("run", env={"PATH": str(tmp_path)}).refuses("git")


def test_in_a_linked_worktree_and_in_a_folder_below(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    assert guard.verdicts(folder="agent") == {"one": "PASS"}
    repo.git("worktree", "add", "--quiet", "../linked", "-b", "other")
    linked = ScratchRepo(repo.root.parent / "linked")
    linked.write({"agent/rules.md": "Be stern.\n"})
    assert GuardCommand(linked).report()["repo"]["ref"] == "other"


def test_a_package_named_guard_in_the_users_repository_is_not_ours(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    files = {"guard/__init__.py": "raise SystemExit(7)\n", "guard/__main__.py": ""}
    repo.commit("feat: clerk", {**config(), **files, **case(trials=1)})
    assert guard.verdicts() == {"one": "PASS"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"guard.yaml": "version: 1\nagents: [\n"}, ("guard.yaml:",)),
        ({"guard.yaml": "version: 1\nagnets: {}\n"}, ("guard.yaml:2: agnets", "`agents`")),
        ({"guard.yaml": "version: 1\nagents: {}\nagents: {}\n"}, ("guard.yaml:3", "agents")),
        ({"guard.yaml": b"\xff\xfe"}, ("guard.yaml",)),
        ({"guard.yaml": "version: 1\n"}, ("no case",)),
        ({"evals/one.md": "---\nid: one\nutterence: x\n---\n"}, ("evals/one.md:3", "`utterance`")),
        ({"evals/one.md": "no front matter\n"}, ("evals/one.md:1",)),
        ({"evals/two.md": str(case()["evals/one.md"])}, ("two.md", "one", "too")),
        ({"evals/one.md": case("x", {"no_changed": True})["evals/one.md"]}, ("no_c",)),
        (config(clerk(target="comand")), ("'comand'", "`command`")),
        (config(clerk(options={"argv": "sh"})), ("guard.yaml:", "options.argv: must be a list")),
        (config(clerk(options={"argv": ["sh"], "args": 1})), ("options.args", "`argv`")),
        (config(clerk(options={})), ("options.argv", "is missing")),
        (config(clerk(evaluators=["evals/no.py:x"])), ("evals/no.py", "not in the tree")),
        (config(plugins=["no/plugin.py"]), ("no/plugin.py", "not in the tree")),
        ({"regressions.json": "{"}, ("regressions.json",)),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_line(
    repo: ScratchRepo,
    guard: GuardCommand,
    files: Mapping[str, str | bytes | None],
    said: tuple[str, ...],
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1), **files})
    guard("run").refuses(*said)


# What it is asked -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["nosuch"],
        ["run", "--nosuch"],
        ["run", "--trials", "0"],
        ["run", "--trials", "many"],
        ["run", "--jobs", "0"],
        ["run", "--timeout", "0"],
        ["run", "--timeout", "nan"],
        ["run", "--timeout", "inf"],
        ["run", "--max-seconds", "-1"],
        ["run", "--at"],
        ["run", "--stric"],
        ["--color", "blue", "run"],
        ["show"],
        ["affected", "a", "b"],
    ],
)
def test_a_call_that_is_wrong_ends_in_2(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1].startswith("guard")


@pytest.mark.parametrize("command", TO_COME)
def test_what_is_not_there_yet_is_one_line(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--whatever"]) == 2
    assert f"`guard {command}` is not there yet" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--executor=dask", "--shard=1/2"])
def test_options_that_are_not_there_yet_are_refused(
    repo: ScratchRepo, guard: GuardCommand, option: str
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    guard("run", option).refuses(f"{option.partition('=')[0]} is not there yet")


def test_help_lists_every_command_and_hides_what_is_not_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    listed = capsys.readouterr().out
    assert [name for name in COMMANDS if f"    {name} " not in listed] == []
    # What git calls comes last, behind what people do.
    assert listed.index("every day:") < listed.index("for the team:") < listed.index("    hook ")
    assert "exit codes: 0" in listed
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    said = capsys.readouterr().out
    for option in ("--affected", "--owed", "--check-only", "--resume", "--html", "--if-changed"):
        assert option in said
    for option in ("--executor", "--shard"):
        assert option not in said


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("hook", ("pre-push", 'guard hook pre-push "$@"')),
        ("install", (".guard-kept", "core.hooksPath", "called first")),
        ("ci", ("exit codes: 0", "GUARD_PR_TITLE", "guard ci --base", "--max-seconds")),
        ("regressions", ("[ACTION] [ID ...]",)),
    ],
)
def test_help_tells_what_there_is_to_know(
    command: str, told: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert [text for text in told if text not in said] == []


def test_an_action_that_is_not_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["regressions"]) == 2
    assert "takes an action: show, audit, verify" in capsys.readouterr().err
    assert main(["hook", "no-such-stage"]) == 2


@pytest.mark.parametrize("argv", [["--version"], ["-V"]])
def test_the_version(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 0
    assert capsys.readouterr().out == f"guard {__version__}\n"


def test_every_command_is_a_function_of_its_modules_name() -> None:
    from importlib import import_module

    for name in COMMANDS:
        if name == "hook":
            continue
        home = "guard_hooks" if name in ("install", "uninstall") else "guard.commands"
        module = import_module(f"{home}.{name.replace('-', '_')}")
        assert callable(getattr(module, name.replace("-", "_")))
        assert callable(module.add_arguments)


def test_a_bug_of_ours_is_one_line_with_a_report_to_paste(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """No bug is known that could be run, so one is put in."""

    def broken(**values: object) -> int:
        raise RuntimeError("the kettle\nboiled over")

    monkeypatch.setattr("guard.commands.status.status", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["status"]) == 4
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("guard: a bug in guard: RuntimeError: the kettle")
    (report,) = tmp_path.iterdir()
    assert str(report) in lines[1]
    text = report.read_text()
    assert f"guard {__version__}" in text
    assert "Traceback" in text


def test_code_that_quits_is_no_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All code of others that is known to be called is named; this is the net below it."""

    def quitting(**values: object) -> int:
        raise SystemExit(0)

    monkeypatch.setattr("guard.commands.status.status", quitting)
    assert main(["status"]) == 2
    assert "ended it (sys.exit(0))" in capsys.readouterr().err


# Plugins switched off ------------------------------------------------------------------------

OWN = """\
from guard.plugin import Prerequisite, hookimpl


@hookimpl
def guard_prerequisites():
    return [Prerequisite("kettle", lambda wanted: None)]
"""


@pytest.mark.parametrize("way", ["before", "after", "variable"])
def test_a_plugin_is_switched_off(repo: ScratchRepo, guard: GuardCommand, way: str) -> None:
    files = {"plugins/own.py": OWN, **case(trials=1, prerequisites=["kettle:hot"])}
    repo.commit("feat: clerk", {**config(plugins=["plugins/own.py"]), **files})
    assert guard.verdicts() == {"one": "PASS"}
    calls = {
        "before": guard("-p", "no:plugins/own.py", "run", "--no-cache"),
        "after": guard("run", "--no-cache", "-p", "no:plugins/own.py"),
        "variable": guard("run", "--no-cache", env={"GUARD_DISABLED_PLUGINS": "x, plugins/own.py"}),
    }
    calls[way].refuses("'kettle:hot' is not known")


def test_without_its_target_an_agent_cant_run(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    guard("run", "-p", "no:command").refuses("guard.yaml:", "no plugin offers the target 'command'")
    guard("run", env={"GUARD_DISABLED_PLUGINS": ","}).ends_in(0)
    guard("run", "-p", "command").ends_in(2)


def test_a_plugin_that_does_not_load_is_named_with_the_way_out(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    files = {"plugins/own.py": "import no_such_module\n", **case(trials=1)}
    repo.commit("feat: clerk", {**config(plugins=["plugins/own.py"]), **files})
    outcome = guard("run")
    outcome.refuses("plugins/own.py does not load", "no_such_module", "(line 1)")
    assert "GUARD_DISABLED_PLUGINS=plugins/own.py" in outcome.err
    guard("run", env={"GUARD_DISABLED_PLUGINS": "plugins/own.py"}).ends_in(0)


# Reports --------------------------------------------------------------------------------------


@pytest.fixture
def mixed(repo: ScratchRepo) -> ScratchRepo:
    """Cases of four verdicts."""
    scripts = {"bad": "echo no", "good": "echo hello", "odd": "exit 9"}
    skipped = case(id="skipped", prerequisites=["env:NOT_SET_HERE"])
    repo.commit("feat: clerk", {**config(), **cases(scripts, trials=2), **skipped})
    return repo


def test_the_json_report_has_every_key_and_fits_its_schema(
    mixed: ScratchRepo, guard: GuardCommand
) -> None:
    outcome = guard("run", "--json", "-").ends_in(1)
    assert outcome.err == ""
    report = json.loads(outcome.out)
    validator: Any = Draft202012Validator(json.loads(schema_text("report")))
    validator.validate(report)
    assert " ".join(report) == (
        "schema run_id command started finished live repo at strict verdict exit_code counts "
        "cases regressions rules exempt_evidence not_established"
    )
    assert set(report["repo"]) == {"sha", "ref", "tree"}
    assert " ".join(report["cases"][0]) == (
        "id agent verdict passed trials interval scores reason affected_by cost_usd seconds "
        "receipt evidence_class evidence_disqualifiers runs"
    )
    assert " ".join(report["cases"][0]["runs"][0]) == (
        "trial_id verdict argv exit_status stdout stderr reply changes artifacts "
        "orphan_pids_after_teardown execution_provenance"
    )
    assert (report["schema"], report["command"], report["at"]) == (
        "guard.report.v1",
        "run",
        "worktree",
    )
    assert (report["verdict"], report["strict"], report["live"]) == ("FAIL", False, True)
    assert report["repo"]["sha"] == mixed.git("rev-parse", "HEAD").strip()
    assert report["repo"]["tree"] == mixed.git("rev-parse", "HEAD^{tree}").strip()
    counts = {name: number for name, number in report["counts"].items() if number}
    assert counts == {"FAIL": 1, "PASS": 1, "ERROR": 1, "SKIP": 1}


def test_files_are_written_beside_the_text(mixed: ScratchRepo, guard: GuardCommand) -> None:
    names = ["json", "junit", "html", "markdown"]
    options = [part for name in names for part in (f"--{name}", f"../report.{name}")]
    guard("run", *options).ends_in(1).says("✗ bad FAIL", "✓ good PASS")
    reports = {name: (mixed.root.parent / f"report.{name}").read_text() for name in names}
    assert json.loads(reports["json"])["exit_code"] == 1
    assert ElementTree.fromstring(reports["junit"]).tag == "testsuites"
    assert "<html" in reports["html"]
    assert "bad" in reports["markdown"]
    assert mixed.git("status", "--porcelain") == ""


def test_stdout_is_for_one_report_alone(mixed: ScratchRepo, guard: GuardCommand) -> None:
    for name, start in (("junit", "<?xml"), ("markdown", ""), ("html", "<!")):
        outcome = guard("run", "good", f"--{name}", "-").ends_in(0)
        assert outcome.out.startswith(start)
        outcome.says_not("1 of 1 case holds (2 of 2 trials passed)\n✓")
    guard("run", "--json", "-", "--junit", "-").refuses("two reports")


def test_a_report_that_cannot_be_written_is_2(mixed: ScratchRepo, guard: GuardCommand) -> None:
    outcome = guard("run", "good", "--json", "no/such/folder/r.json").ends_in(2)
    assert "can't be written" in outcome.err


def test_a_plugins_report_is_asked_for_by_name(repo: ScratchRepo, guard: GuardCommand) -> None:
    own = (
        "from guard.plugin import hookimpl\n\n\n@hookimpl\ndef guard_reports():\n"
        "    return {'ids': lambda r: ' '.join(c.case for c in r.cases),"
        " 'broken': lambda r: r.nothing}\n"
    )
    repo.commit(
        "feat: clerk",
        {**config(plugins=["plugins/own.py"]), "plugins/own.py": own, **case(trials=1)},
    )
    guard("run", "--report", "ids=../ids.txt").ends_in(0)
    assert (repo.root.parent / "ids.txt").read_text() == "one"
    assert guard("run", "--report", "ids=-").ends_in(0).out == "one"
    outcome = guard("run", "--no-cache", "--report", "idz=../x")
    outcome.refuses("no plugin writes it (there are: broken, ids, langsmith)")
    outcome = guard("run", "--report", "broken=../x").ends_in(2)
    assert "--report broken: its writer raised AttributeError" in outcome.err
    guard("run", "--report", "ids").refuses("takes NAME=FILE")


# Streams --------------------------------------------------------------------------------------


def on_a_terminal(repo: ScratchRepo, *argv: str, **env: str) -> tuple[int, bytes]:
    """Run guard with stdout and stderr on a terminal; return the exit code and what it shows."""
    master, slave = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "guard", *argv],
        cwd=repo.root,
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        env={**kept, "TERM": "xterm", **env},
    )
    os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 4096):
            shown += part
    except OSError:  # Linux says EIO once the other end is closed
        pass
    os.close(master)
    return child.wait(), shown


def test_a_terminal_gets_a_bar_and_colours(repo: ScratchRepo) -> None:
    repo.commit("feat: clerk", {**config(), **case("sleep .3; echo hello", trials=2)})
    code, shown = on_a_terminal(repo, "run")
    assert code == 0
    assert b"\x1b[32m\xe2\x9c\x93\x1b[0m one" in shown
    assert b"/1" in shown or b"/2" in shown


def test_no_color_and_color_never_take_the_colours_and_leave_the_bar(repo: ScratchRepo) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    for argv, env in ((["run"], {"NO_COLOR": "1"}), (["--color", "never", "run"], {})):
        code, shown = on_a_terminal(repo, *argv, **env)
        assert code == 0
        assert b"\xe2\x9c\x93 one" in shown
        assert b"\x1b[32m" not in shown


def test_a_pipe_gets_neither(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    outcome = guard("run", env={"NO_COLOR": ""}).ends_in(0)
    assert outcome.err == ""
    assert "\x1b" not in outcome.out
    assert "\x1b[32m" in guard("--color", "always", "run").ends_in(0).out


@pytest.mark.parametrize("argv", [["run"], ["status"], ["show", "one"], ["run", "--json", "-"]])
def test_a_reader_that_leaves_early_breaks_nothing(
    repo: ScratchRepo, guard: GuardCommand, argv: list[str]
) -> None:
    big = "head -c 300000 /dev/zero | tr '\\0' x; echo hello"
    repo.commit("feat: clerk", {**config(), **case(big, trials=1)})
    guard("run").ends_in(0)
    command = f"{sys.executable} -P -m guard {' '.join(argv)} | true; echo ${{PIPESTATUS[0]}}"
    done = repo.run("bash", "-c", command)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("run >&-", 0),
        ("run 2>&-", 0),
        ("run <&-", 0),
        ("run >&- 2>&- <&-", 0),
        ("run nosuch 2>&-", 2),
        ("run --json - >&-", 3),
        ("run >/dev/full", 3),
        ("run --json - >/dev/full", 3),
        ("run --json /dev/full", 2),
        ("run --json /dev/null", 0),
    ],
)
def test_streams_that_are_closed_or_full_are_no_bug(
    repo: ScratchRepo, guard: GuardCommand, call: str, code: int
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    guard("run").ends_in(0)
    done = repo.run("sh", "-c", f"{sys.executable} -P -m guard {call}")
    assert done.returncode == code, done.stderr
    assert "a bug in guard" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_without_our_marks_gets_others(
    repo: ScratchRepo, guard: GuardCommand, encoding: str
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    guard("run", env=env).ends_in(0).says("+ one PASS")
