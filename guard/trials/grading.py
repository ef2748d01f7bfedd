"""From an observation to a trial's verdict: evaluators, scores, baselines."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from guard import model
from guard.errors import Blocked, JudgeError, Skip, TargetError
from guard.model import Case
from guard.plugin.api import Evaluator, Expectations
from guard.plugin.exits import count_unheard
from guard.results import Observation, Score
from guard.trials.asking import Asking
from guard.trials.baseline import excuse

OUTCOMES: tuple[tuple[type[Exception], str], ...] = (
    (Skip, model.SKIP),
    (Blocked, model.BLOCKED),
    (TargetError, model.ERROR),
)


NOT_LOADED: Final = "agent_not_loaded: the client never saw the agent under test"
#: The source of evaluators that say nothing where none of their keys is stated.
BUILT_IN: Final = "built-in"


class Grade(NamedTuple):
    """What came of grading one observation."""

    verdict: str
    reason: str = ""
    scores: tuple[Score, ...] = ()
    failing: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    blame: str = ""
    """What broke, where it is the target or a judge."""
    late: bool = False
    """Whether an evaluator that wasn't done in time may still be at work in the workspace."""
    unread: tuple[str, ...] = ()
    """Expectations that no evaluator read, where all of them were asked."""


def grade_of_error(error: BaseException, who: str, function: object, *, blame: str = "") -> Grade:
    """Return the grade for what a target or an evaluator raised."""
    for kind, verdict in OUTCOMES:
        if isinstance(error, kind):
            return Grade(verdict, str(error), blame=blame if verdict == model.ERROR else "")
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Grade(model.ERROR, f"{who} raised {said} ({_place_of(error, function)})", blame=blame)


def _place_of(error: BaseException, function: object) -> str:
    """Return file:line: the deepest in the function's own file, else the deepest of all."""
    own = getattr(getattr(function, "__code__", None), "co_filename", "")
    place = "no line known"
    trace, in_own = error.__traceback__, False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file == own or not in_own:
            place = f"{os.path.basename(file)}:{trace.tb_lineno}"
            in_own = file == own
        trace = trace.tb_next
    return place


def grade(
    case: Case,
    expected: Mapping[str, Any],
    observation: Observation,
    evaluators: Sequence[Evaluator],
    engine_scores: Iterable[Score] = (),
) -> Grade:
    """Put an observation through all evaluators; ``engine_scores`` are the engine's own."""
    if observation.loaded is False:
        return Grade(model.ERROR, NOT_LOADED)
    to_ask = [e for e in evaluators if not _says_nothing(e, expected)]
    asking: Asking[_Asked] = Asking(case.policy.timeout, apart=not all(map(is_own, to_ask)))
    asked = asking.run(lambda: _ask_all(asking, to_ask, case, expected, observation, engine_scores))
    if asked is None:
        late = Grade(model.ERROR, asking.overdue, blame=_blame(asking.asked), late=True)
        return _zeroed(late, asking.asked)
    if asked.broken is not None:
        return asked.broken
    ungraded = _ungraded(expected, asked.answered)
    weighed = _weigh(case, observation, asked.scores, evaluators, ungraded)
    return weighed._replace(unread=tuple(key for key in expected if key not in asked.read))


def is_own(evaluator: Evaluator) -> bool:
    """Tell whether an evaluator is guard's own: it comes to an end, and leaves guard alone."""
    return evaluator.source == BUILT_IN and not evaluator.judge


def _says_nothing(evaluator: Evaluator, expected: Mapping[str, Any]) -> bool:
    return evaluator.source == BUILT_IN and expected.keys().isdisjoint(evaluator.reads)


def _blame(evaluator: Evaluator | None) -> str:
    return "judge" if evaluator is not None and evaluator.judge else ""


def _zeroed(broken: Grade, evaluator: Evaluator | None, evidence: Mapping[str, Any] = {}) -> Grade:
    """Return the grade with a score of 0 for all that a judge which broke would have scored."""
    if evaluator is None or not evaluator.judge or broken.verdict != model.ERROR:
        return broken
    zeros = (Score(key, 0.0, broken.reason, evidence) for key in evaluator.writes)
    scores = (*broken.scores, *zeros)
    return broken._replace(scores=scores, failing=failing_keys(scores))


class _Asked(NamedTuple):
    scores: tuple[Score, ...] = ()
    answered: frozenset[str] = frozenset()
    """Expectation keys that the scores answer."""
    read: frozenset[str] = frozenset()
    """Expectation keys that an evaluator looked at."""
    broken: Grade | None = None


def _ask_all(
    asking: Asking[_Asked],
    evaluators: Iterable[Evaluator],
    case: Case,
    expected: Mapping[str, Any],
    observation: Observation,
    engine_scores: Iterable[Score],
) -> _Asked:
    scores = list(engine_scores)
    answered: set[str] = set()
    read: set[str] = set()
    for evaluator in evaluators:
        asking.ask(evaluator)
        blame, unheard = _blame(evaluator), count_unheard()
        try:
            found = _evaluate(evaluator, case, expected, observation)
        except asking.anything as error:  # anyone's code; whatever it raises is named
            who = f"evaluator {evaluator.name}"
            broken = grade_of_error(error, who, evaluator.evaluate, blame=blame)
            learnt: Mapping[str, Any] = error.evidence if isinstance(error, JudgeError) else {}
            known = broken._replace(scores=tuple(scores)) if evaluator.judge else broken
            return _Asked(broken=_zeroed(known, evaluator, learnt))
        scores += found.scores
        answered |= found.answered
        read |= found.read
        problem = found.problem
        if count_unheard() > unheard and not is_own(evaluator):
            problem = f"a thread tried to end guard while evaluator {evaluator.name} was asked"
        if problem:
            broken = Grade(model.ERROR, problem, tuple(scores), blame=blame)
            return _Asked(broken=_zeroed(broken, evaluator))
    return _Asked(tuple(scores), frozenset(answered), frozenset(read))


def grade_scores(
    case: Case,
    expected: Mapping[str, Any],
    observation: Observation,
    scores: Sequence[Score],
    evaluators: Sequence[Evaluator],
) -> Grade:
    """Grade by scores that were given earlier: no evaluator is asked.

    What an evaluator read of the expectations isn't known then: all that it may have.
    """
    if model.TIMEOUT_KEY in failing_keys(scores):
        return Grade(model.FAIL, "", tuple(scores), failing_keys(scores))
    if observation.loaded is False:
        return Grade(model.ERROR, NOT_LOADED)
    declared = {key for evaluator in evaluators if evaluator.declared for key in evaluator.writes}
    answered: set[str] = {score.key for score in scores}
    for evaluator in evaluators:
        read = set(evaluator.reads) if evaluator.declared else set(expected)
        own = [s for s in scores if _may_write(evaluator, s.key, declared)]
        answered |= _answered(evaluator, read, own)
    return _weigh(case, observation, tuple(scores), evaluators, _ungraded(expected, answered))


def _may_write(evaluator: Evaluator, key: str, declared: Collection[str]) -> bool:
    if evaluator.declared:
        return key in evaluator.writes
    return key not in declared and key != model.ORPHANS_KEY


def _ungraded(expected: Mapping[str, Any], answered: Collection[str]) -> str:
    if not expected:
        return "the case states no expectation"
    silent = [key for key in expected if key not in answered]
    return f"no score for what is expected: {', '.join(silent)}" if silent else ""


class _Evaluated(NamedTuple):
    scores: tuple[Score, ...] = ()
    answered: frozenset[str] = frozenset()
    """Expectation keys that these scores answer."""
    read: frozenset[str] = frozenset()
    problem: str = ""


def _evaluate(
    evaluator: Evaluator, case: Case, expected: Mapping[str, Any], observation: Observation
) -> _Evaluated:
    inputs = {**case.input, **({"utterance": case.utterance} if case.utterance else {})}
    values = Expectations(expected, inputs, case.turns)
    scores: list[Score] = []
    for found in evaluator.evaluate(observation, values):
        problem = _problem_of(evaluator, found)
        if problem:
            return _Evaluated(problem=f"evaluator {evaluator.name} {problem}")
        scores.append(found._replace(value=float(found.value)))
    undeclared = sorted(values.read - set(evaluator.reads)) if evaluator.declared else []
    if undeclared:
        keys = ", ".join(undeclared)
        return _Evaluated(
            problem=f"evaluator {evaluator.name} read {keys}, which it doesn't declare"
        )
    answered = _answered(evaluator, values.read, scores)
    return _Evaluated(tuple(scores), answered, _read(evaluator, values, expected, scores))


def _read(
    evaluator: Evaluator,
    values: Expectations,
    expected: Mapping[str, Any],
    scores: Iterable[Score],
) -> frozenset[str]:
    """Return what an evaluator read: a plain function's `asks: true`, or 1, is all in its name."""
    by_name = () if evaluator.declared else (score.key for score in scores)
    return frozenset((*values.read, *(key for key in by_name if expected.get(key) == 1)))


def _answered(evaluator: Evaluator, read: set[str], scores: Sequence[Score]) -> frozenset[str]:
    """Return the expectation keys with a score: by name, or as what a score took into account."""
    keys = {score.key for score in scores}
    if not scores:
        return frozenset()
    if not evaluator.declared:
        return frozenset(keys | read)
    return frozenset(keys | {key for key in read if key not in evaluator.writes})


def _problem_of(evaluator: Evaluator, found: object) -> str:
    if not isinstance(found, Score):
        return f"returned {type(found).__name__}, not a score"
    if evaluator.declared and found.key not in evaluator.writes:
        return f"wrote {found.key}, which it doesn't declare"
    value = cast("Any", found.value)
    if not isinstance(value, (int, float)) or not 0 <= value <= 1:
        return f"scored {found.key} with {value}, which is not from 0 to 1"
    return ""


def _weigh(
    case: Case,
    observation: Observation,
    scores: tuple[Score, ...],
    evaluators: Sequence[Evaluator],
    ungraded: str,
) -> Grade:
    failing = failing_keys(scores)
    never = [key for evaluator in evaluators for key in evaluator.never_excuse]
    excused, missing_facts = excuse(case.expected_baseline, failing, observation.facts, never)
    if missing_facts:
        names = ", ".join(missing_facts)
        said = f"the baseline asks for facts that the target never set: {names}"
        return Grade(model.ERROR, said, scores, failing)
    unexcused = [key for key in failing if key not in excused]
    if unexcused:
        return Grade(model.FAIL, reason_of(scores, unexcused), scores, failing, excused)
    if ungraded:
        return Grade(model.UNGRADED, ungraded, scores, failing, excused)
    verdict = model.XFAIL if failing else model.PASS
    return Grade(verdict, reason_of(scores, failing), scores, failing, excused)


def failing_keys(scores: Iterable[Score]) -> tuple[str, ...]:
    """Return the keys with a score below 1."""
    return tuple(dict.fromkeys(score.key for score in scores if score.value < 1))


def reason_of(scores: Iterable[Score], keys: Iterable[str]) -> str:
    """Return the reasons of the failing keys in one line."""
    wanted = set(keys)
    return "; ".join(
        f"{score.key}: {score.reason}" if score.reason else score.key
        for score in scores
        if score.key in wanted and score.value < 1
    )
