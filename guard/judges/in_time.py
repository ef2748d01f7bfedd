"""Asks a judge on a thread of its own, in time: it is a plugin's code, and may hang."""

from __future__ import annotations

import threading
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Final

from guard.errors import Skip, TargetError
from guard.plugin.exits import note_heard
from guard.plugin.judges import Judge, Question, Vote
from guard.trials.asking import clock_stopped

#: Seconds that a judge which keeps its deadline may be late.
GRACE: Final = 2.0

_Answer = tuple[object, BaseException | None]


def ask_in_time(judge: Judge, question: Question) -> Vote:
    """Return a judge's vote. Raises `TargetError`, and `Skip` where it says what is missing.

    One that isn't done is left behind on its thread. Its time is its own: the evaluator that
    waits for it spends none.
    """
    answers: SimpleQueue[_Answer] = SimpleQueue()
    inside = copy_context()
    thread = threading.Thread(
        target=inside.run, args=(_call, judge, question, answers), daemon=True, name="judge"
    )
    with clock_stopped():
        thread.start()
        try:
            found, error = answers.get(timeout=question.timeout + GRACE)
        except Empty:
            raise TargetError(f"it was not done within {question.timeout:g} s") from None
    if isinstance(error, (Skip, TargetError)):
        raise error
    if error is not None:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise TargetError(f"it raised {said}") from error
    if not isinstance(found, Vote):
        raise TargetError(f"it returned {type(found).__name__}, not a vote")
    return found


def _call(judge: Judge, question: Question, answers: SimpleQueue[_Answer]) -> None:
    note_heard()
    try:
        answers.put((judge.ask(question), None))
    except BaseException as error:  # raised again, or named, where it is waited for
        answers.put((None, error))
