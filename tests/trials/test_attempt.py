from __future__ import annotations

import re
import threading
import time

import pytest

from guard.errors import Blocked, ConfigError, Skip, TargetError
from guard.model import BLOCKED, ERROR, FAIL, PASS, SKIP, Agent
from guard.plugin.api import Trial
from guard.results import Observation
from guard.trials.options import fill_options
from tests.conftest import ScratchRepo
from tests.staging import (
    FILES,
    case_of,
    is_alive,
    run_argv,
    run_script,
    staged,
    target_of,
)

# Time -------------------------------------------------------------------------------------


def test_a_hang_fails_on_its_time_out_and_nothing_is_left(repo: ScratchRepo) -> None:
    script = "echo $$; sleep 60 & echo $!; setsid sleep 60 & echo $!; sleep 60"
    result = run_script(repo, script, case_of(timeout=0.5))
    assert (result.verdict, result.failing) == (FAIL, ("timeout",))
    assert result.reason == "timeout: not done within 0.5 s"
    pids = [int(line) for line in result.observation.stdout.split()]
    assert len(pids) == 3
    assert not any(map(is_alive, pids))
    assert result.orphan_pids == ()


def test_ignoring_sigterm_is_of_no_use(repo: ScratchRepo) -> None:
    began = time.monotonic()
    result = run_script(repo, "trap '' TERM; echo $$; while :; do sleep 1; done", case_of(0.3))
    assert (result.verdict, result.failing) == (FAIL, ("timeout",))
    assert not is_alive(int(result.observation.stdout))
    assert time.monotonic() - began < 10


def test_a_target_that_hangs_without_a_program_is_left_behind(repo: ScratchRepo) -> None:
    release = threading.Event()

    def hang(trial: Trial) -> Observation:
        release.wait(30)
        return Observation()

    began = time.monotonic()
    result = run_script(repo, "", case_of(timeout=0.3), run=hang)
    release.set()
    assert (result.verdict, result.failing) == (FAIL, ("timeout",))
    assert time.monotonic() - began < 10


def test_a_program_that_ends_in_time_passes(repo: ScratchRepo) -> None:
    assert run_script(repo, "sleep 0.2", case_of(timeout=10)).verdict == PASS


def test_no_program_is_started_once_the_time_is_over(repo: ScratchRepo) -> None:
    seen: list[str] = []

    def twice(trial: Trial) -> Observation:
        trial.run_program(["sleep", "60"])
        try:
            trial.run_program(["true"])
        except TargetError as error:
            seen.append(error.message)
        return Observation()

    assert run_script(repo, "", case_of(timeout=0.3), run=twice).failing == ("timeout",)
    assert seen == ["the trial's time is over"]


# Programs that break ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 127", "the program can't be started (127)"),
        ("exit 126", "the program can't be started (126)"),
        ("kill -SEGV $$", "the program was ended by signal 11"),
        ("echo oops >&2; exit 3", "the program ended in 3, and the case states no exit_code: oops"),
    ],
)
def test_a_broken_program_is_an_error(repo: ScratchRepo, script: str, said: str) -> None:
    result = run_script(repo, script)
    assert (result.verdict, result.blame) == (ERROR, "target")
    assert result.reason.startswith(said)


def test_an_exit_code_that_the_case_states_is_graded(repo: ScratchRepo) -> None:
    case = case_of(expected={"exit_code": 3})
    assert run_script(repo, "exit 3", case).verdict == PASS
    assert run_script(repo, "exit 4", case).verdict == FAIL
    assert run_script(repo, "exit 127", case_of(expected={"exit_code": 127})).verdict == ERROR


def test_a_program_that_is_not_there_is_an_error(repo: ScratchRepo) -> None:
    def start(trial: Trial) -> Observation:
        trial.run_program(["no-such-program-of-ours"])
        return Observation()

    result = run_script(repo, "", run=start)
    assert result.verdict == ERROR
    assert result.reason == "no-such-program-of-ours can't be started: No such file or directory"


@pytest.mark.parametrize(
    ("error", "verdict"),
    [(Skip("no key"), SKIP), (Blocked("quota"), BLOCKED), (TargetError("broke"), ERROR)],
)
def test_what_a_target_raises_is_its_verdict(
    repo: ScratchRepo, error: Exception, verdict: str
) -> None:
    def fail(trial: Trial) -> Observation:
        raise error

    result = run_script(repo, "", run=fail)
    assert (result.verdict, result.reason) == (verdict, str(error))


def test_any_other_exception_is_named_with_its_line(repo: ScratchRepo) -> None:
    def fail(trial: Trial) -> Observation:
        raise KeyError("price")

    result = run_script(repo, "", run=fail)
    assert result.verdict == ERROR
    assert re.fullmatch(
        r"target test-target raised KeyError: 'price' \(test_attempt.py:\d+\)", result.reason
    )


def test_an_agent_that_was_not_loaded_is_an_error(repo: ScratchRepo) -> None:
    def unloaded(trial: Trial) -> Observation:
        return Observation(loaded=False)

    result = run_script(repo, "", run=unloaded)
    assert result.verdict == ERROR
    assert result.reason.startswith("agent_not_loaded")


def test_an_external_condition_that_the_case_declares_blocks(repo: ScratchRepo) -> None:
    case = case_of(blocked_when_stdout_contains=("rate limit",))
    blocked = run_script(repo, "echo rate limit reached; exit 1", case)
    assert (blocked.verdict, blocked.reason) == (BLOCKED, 'it said "rate limit"')
    assert run_script(repo, "echo fine", case).verdict == PASS


def test_a_variable_that_is_missing_skips(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Agent("expense", workspace="agent", env=("MY_KEY",))
    missing = run_script(repo, "true", agent=agent)
    assert (missing.verdict, missing.reason) == (SKIP, "the variable MY_KEY is not set")
    monkeypatch.setenv("MY_KEY", "s3cret-value")
    assert run_script(repo, "true", agent=agent).verdict == PASS


def test_secrets_are_redacted_from_all_that_is_kept(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret-value")
    agent = Agent("expense", workspace="agent", env=("MY_KEY",))
    script = "echo $MY_KEY; echo $MY_KEY >&2; echo $MY_KEY >note"
    case = case_of(expected={"stdout_excludes": ["s3cret"], "no_changes": True})
    result = run_script(repo, script, case, agent=agent)
    assert set(result.failing) == {
        "stdout_excludes",
        "no_changes",
    }
    assert result.observation.stdout == "[redacted MY_KEY]\n"
    assert "+[redacted MY_KEY]" in result.diff
    assert "s3cret-value" not in repr(result)


# The target's view ------------------------------------------------------------------------


def test_placeholders_are_filled_in_once(repo: ScratchRepo) -> None:
    seen: list[str] = []

    def run(trial: Trial) -> Observation:
        seen.append(trial.fill("{utterance}|{input.n}|{input.o}|{workspace}|{other}"))
        seen.append(trial.workspace)
        with pytest.raises(TargetError, match="no input missing"):
            trial.fill("{input.missing}")
        return Observation()

    case = case_of(utterance="say {workspace}", input={"n": 3, "o": "{repo}"})
    assert run_script(repo, "", case, run=run).verdict == PASS
    assert seen[0] == f"say {{workspace}}|3|{{repo}}|{seen[1]}|{{other}}"


def test_the_environment_is_an_allow_list(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "x")
    monkeypatch.setenv("GIT_DIR", str(repo.root / ".git"))
    monkeypatch.setenv("MY_OWN", "x")
    result = run_script(repo, "env")
    names = {line.partition("=")[0] for line in result.observation.stdout.splitlines()}
    assert {"HOME", "PATH", "TMPDIR", "GUARD_TRIAL", "GUARD_TRIAL_TAG"} <= names
    assert not names & {"GIT_DIR", "GIT_AUTHOR_NAME", "MY_OWN"}
    assert "TERM=dumb" in result.observation.stdout


def test_an_option_that_the_target_does_not_know_is_refused(repo: ScratchRepo) -> None:
    agent = Agent("expense", workspace="agent", origin="guard.yaml")
    repo.write(FILES)
    with staged(repo, "true", agent=agent) as stage:
        assert stage.options["argv"][0] == "sh"
    refused: list[tuple[dict[str, object], str]] = [
        ({"arg": "x"}, "did you mean `argv`"),
        ({"argv": "x"}, "a list of texts"),
    ]
    for options, said in refused:
        with pytest.raises(ConfigError, match=said):
            fill_options(target_of(run_argv), agent._replace(options=options))
