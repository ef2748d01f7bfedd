"""Evaluators are asked on a thread of their own, in time; guard's own need none."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable

import pytest

from guard.errors import TargetError, UnreadableError
from guard.model import ERROR, PASS
from guard.plugin.api import Evaluator, Expectations
from guard.process import run_checker
from guard.results import Observation, Score
from guard.running import counter_examples
from guard.trials import asking
from tests.conftest import ScratchRepo
from tests.staging import case_of, run_script

Evaluate = Callable[[Observation, Expectations], Iterable[Score]]
#: What lets a thread that was left behind come to its end.
OVER = threading.Event()


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> Iterable[None]:
    monkeypatch.setattr(asking, "LEAST", 0.3)
    OVER.clear()
    yield
    OVER.set()


def foreign(evaluate: Evaluate, name: str = "mine") -> Evaluator:
    return Evaluator(name, evaluate, reads=(), writes=("mine",), source="plugin")


def hangs(observation: Observation, expected: Expectations) -> Iterable[Score]:
    OVER.wait(60)
    return [Score("mine", 0.0)]


def passes(observation: Observation, expected: Expectations) -> Iterable[Score]:
    return [Score("mine", 1.0, threading.current_thread().name)]


def test_one_that_is_not_done_in_time_is_an_error_by_name(repo: ScratchRepo) -> None:
    case = case_of(timeout=0.5)
    late = run_script(repo, "true", case, evaluators=[foreign(hangs)])
    assert (late.verdict, late.scores) == (ERROR, ())
    assert late.reason == "evaluator mine was not done within 0.5 s"
    quick = run_script(repo, "true", case, evaluators=[foreign(passes)])
    assert quick.verdict == PASS
    assert [score.reason for score in quick.scores if score.key == "mine"] == ["evaluators"]


def test_each_evaluator_has_the_time_for_itself(repo: ScratchRepo) -> None:
    def slow(observation: Observation, expected: Expectations) -> Iterable[Score]:
        time.sleep(0.6)
        return [Score("mine", 1.0)]

    three = [foreign(slow, name) for name in ("one", "two", "three")]
    assert run_script(repo, "true", case_of(timeout=1), evaluators=three).verdict == PASS


def test_a_checker_has_a_bound_of_its_own(repo: ScratchRepo) -> None:
    def checks(observation: Observation, expected: Expectations) -> Iterable[Score]:
        done = run_checker(["sleep", "1"], observation.workspace)
        return [Score("mine", float(done.exit_status == 0))]

    case = case_of(timeout=0.5)
    assert run_script(repo, "true", case, evaluators=[foreign(checks)]).verdict == PASS


@pytest.mark.parametrize("error", [GeneratorExit, KeyboardInterrupt, BaseException])
def test_whatever_is_raised_is_the_evaluators_own(
    repo: ScratchRepo, error: type[BaseException]
) -> None:
    def raises(observation: Observation, expected: Expectations) -> Iterable[Score]:
        raise error

    found = run_script(repo, "true", evaluators=[foreign(raises)])
    assert found.verdict == ERROR
    assert found.reason.startswith(f"evaluator mine raised {error.__name__} (test_asking.py:")


def test_one_that_nobody_waits_for_starts_no_checker() -> None:
    said: list[str] = []

    def late() -> bool:
        OVER.wait(60)
        try:
            run_checker(["true"], "/")
        except TargetError as error:
            said.append(error.message)
        return True

    waiting: asking.Asking[bool] = asking.Asking(0.1, apart=True)
    assert waiting.run(late) is None
    OVER.set()
    deadline = time.monotonic() + 20
    while not said and time.monotonic() < deadline:
        time.sleep(0.01)
    assert said == ["the evaluator's time is over"]


def test_guards_own_evaluators_need_no_thread() -> None:
    own: asking.Asking[str] = asking.Asking(1, apart=False)
    assert own.run(lambda: threading.current_thread().name) == threading.current_thread().name
    apart: asking.Asking[str] = asking.Asking(1, apart=True)
    assert apart.run(lambda: threading.current_thread().name) == "evaluators"


def test_counter_examples_are_bounded_too() -> None:
    def interrupts(observation: Observation, expected: Expectations) -> Iterable[Score]:
        raise KeyboardInterrupt

    with pytest.raises(UnreadableError, match=r"evaluator mine was not done within 0\.3 s"):
        counter_examples.grade(Observation(), {}, [foreign(hangs)], seconds=0.1)
    with pytest.raises(UnreadableError, match="evaluator mine raised KeyboardInterrupt"):
        counter_examples.grade(Observation(), {}, [foreign(interrupts)])
    assert counter_examples.grade(Observation(), {}, [foreign(passes)])["mine"].value == 1


LOOPING = """
import signal, sys, threading
# To a thread that begins to wait just then a signal is as to one that blocks it.
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, map(int, sys.argv[1:]))
from guard.trials.asking import Asking
def loop():
    print("loops", flush=True)
    while True:
        pass
try:
    Asking(60, apart=True).run(loop)
except KeyboardInterrupt:
    raise SystemExit(130)
"""


@pytest.mark.parametrize("blocked", [[], ["2", "15"]], ids=["in time", "just then"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_waiting(number: signal.Signals, blocked: list[str]) -> None:
    argv = [sys.executable, "-P", "-c", LOOPING, *blocked]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loops\n"
        process.send_signal(number)
        try:
            assert process.wait(20) == 130
        finally:
            process.kill()
