"""The judges of one run of guard: who is asked, and what is known of them by now.

A judge that accepts everything would pass every case for ever. So before its scores count it is
shown two answers whose outcome the case knows, its canaries: once in a run for the same judge,
model, rubric and prompt. Whatever is no vote is an error, never a pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from guard.errors import JudgeError, TargetError
from guard.evaluators.reasons import bounded
from guard.judges.evidence import Evidence, digest_of, problem_of
from guard.judges.in_time import ask_in_time
from guard.judges.ruling import problem_of_canary, score_of
from guard.judges.stated import provider_of, stated_of
from guard.plugin.blame import blamed_on
from guard.plugin.judges import Judge, Question, Vote
from guard.results import Score
from guard.schema import nearest
from guard.trials.asking import clock_stopped

#: Seconds that a judge has for one vote.
VOTE_SECONDS: Final = 60.0
#: Characters that a judge is shown. A longer reply isn't cut: it would be judged in part.
MOST_CHARACTERS: Final = 200_000
#: How often canaries are tried where the judge doesn't answer, before it counts as down.
MOST_TRIES: Final = 2


class _Canaries:
    """What became of the canaries of one judge, model, rubric and prompt."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.problem: str | None = None
        """Empty where they held; None while that isn't known."""
        self.told: Mapping[str, Any] = {}
        self.tries = 0


class Panel:
    """Asks judges; safe to use from several trials at once."""

    def __init__(self, offered: Callable[[], Mapping[str, Judge]]) -> None:
        """``offered``: returns the judges that plugins offer; called where a case states one."""
        self._offered = offered
        self._lock = threading.Lock()
        self._canaries: dict[tuple[Any, ...], _Canaries] = {}
        self._responses: set[str] = set()

    # Before anything is run ------------------------------------------------------------

    def unknown(self, value: object) -> str | None:
        """Return what is wrong with the provider that an expectation names, or None."""
        offered, provider = self._offered(), provider_of(value)
        if provider in offered:
            return None
        known = ", ".join(sorted(offered)) or "none"
        near = nearest(provider, offered)
        return f"model: no plugin offers the judge {provider!r}{near} (there are: {known})"

    def missing(self, value: object) -> str | None:
        """Return what this machine lacks to ask a judge, in words, or None."""
        judge = self._named_in(value)
        if judge is None:
            return None
        with blamed_on(f"judge {judge.name}: what is missing for it"):
            found = judge.missing()
        return f"judge {judge.name}: {found}" if found else None

    def is_paid(self, value: object) -> bool:
        """Tell whether the votes of an expectation cost money."""
        judge = self._named_in(value)
        return judge is not None and judge.paid

    def is_live(self, value: object) -> bool:
        """Tell whether a judge, if one is stated, answers at its provider's own endpoint."""
        judge = self._named_in(value)
        return judge is None or not _endpoint_of(judge)

    def identity(self, value: object) -> list[str]:
        """Return what a receipt is bound to beside the expectation itself."""
        judge = self._named_in(value)
        return [digest_of(judge.prompt), _endpoint_of(judge)] if judge else []

    def _named_in(self, value: object) -> Judge | None:
        # Where none is stated, plugins aren't even asked for theirs.
        return self._offered().get(provider_of(value)) if value else None

    # Judging ---------------------------------------------------------------------------

    def judge(self, value: Mapping[str, Any], asked: str, reply: str) -> Score:
        """Return the score of a reply.

        Raises `JudgeError` where none can be had, with what was learnt by then; `Skip` where the
        judge says that this machine lacks something.
        """
        stated, judge = stated_of(value), self._named_in(value)
        if judge is None:
            raise JudgeError(self.unknown(value) or "")
        evidence = Evidence(judge, stated, _endpoint_of(judge))
        try:
            self._rest_on_canaries(judge, evidence)
            evidence.votes = self._votes(judge, evidence, reply, asked)
        except TargetError as error:
            said = f"judge {stated.provider}:{stated.model} {error.message}"
            raise JudgeError(said, evidence.told()) from error
        return score_of(stated, evidence)

    def _rest_on_canaries(self, judge: Judge, evidence: Evidence) -> None:
        """Try the canaries unless they were. Raises `TargetError` where they didn't hold."""
        canaries = self._canaries_of(evidence)
        with clock_stopped():
            # Whoever holds it asks, and each question ends in time.
            canaries.lock.acquire()
        try:
            if canaries.problem is None:
                self._try(canaries, judge, evidence)
        finally:
            canaries.lock.release()
        evidence.canaries = canaries.told
        if canaries.problem:
            raise TargetError(canaries.problem)

    def _canaries_of(self, evidence: Evidence) -> _Canaries:
        # All that the answers rest on; not what a case asked its agent, which canaries aren't told.
        key = (*evidence.stated, evidence.prompt, evidence.endpoint)
        with self._lock:
            return self._canaries.setdefault(key, _Canaries())

    def _try(self, canaries: _Canaries, judge: Judge, evidence: Evidence) -> None:
        stated, told, problem = evidence.stated, dict[str, Any](), ""
        try:
            for name, answer in (("reject", stated.reject), ("accept", stated.accept)):
                votes = self._votes(judge, evidence, answer)
                told[name] = [float(vote.score) for vote in votes]
                told[f"{name}_ids"] = [vote.response_id for vote in votes if vote.response_id]
                problem = problem or problem_of_canary(stated, name, votes)
        except TargetError as error:
            canaries.tries += 1
            if canaries.tries < MOST_TRIES:
                raise
            problem = f"{error.message} ({canaries.tries} times: it is asked no more in this run)"
        canaries.told, canaries.problem = told, problem

    def _votes(self, judge: Judge, evidence: Evidence, answer: str, asked: str = "") -> list[Vote]:
        stated, length = evidence.stated, len(asked) + len(answer)
        if length > MOST_CHARACTERS:
            said = f"is shown at most {MOST_CHARACTERS} characters, and there are {length}"
            raise TargetError(said)
        rubric, prompt = stated.rubric, judge.prompt
        question = Question(stated.model, rubric, asked, answer, VOTE_SECONDS, prompt)
        return [self._vote(judge, question, evidence) for _ in range(stated.votes)]

    def _vote(self, judge: Judge, question: Question, evidence: Evidence) -> Vote:
        try:
            vote = ask_in_time(judge, question)
        except TargetError as error:
            raise TargetError(f"is unavailable: {bounded(error.message)}") from error
        evidence.pay(vote)
        problem = problem_of(vote) or self._repeated(vote.response_id)
        if problem:
            raise TargetError(problem)
        return vote

    def _repeated(self, response: str) -> str:
        if not response:
            return ""
        with self._lock:
            known = response in self._responses
            self._responses.add(response)
        said = bounded(response, 80)
        return f"gave the same response id twice: a cache answered ({said})" if known else ""


def _endpoint_of(judge: Judge) -> str:
    with blamed_on(f"judge {judge.name}: its endpoint"):
        return judge.endpoint()
