"""What the votes of a judge come to: accepted where more than half reach the floor."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

from guard.evaluators.reasons import bounded
from guard.judges.evidence import Evidence
from guard.judges.stated import Stated
from guard.plugin.judges import Vote
from guard.results import Score


def is_accepted(stated: Stated, votes: Sequence[Vote]) -> bool:
    """Tell whether more than half of the votes reach the floor."""
    return _reaching(stated, votes) > stated.votes // 2


def score_of(stated: Stated, evidence: Evidence) -> Score:
    """Return 1 for an answer that is accepted, else what the middle vote gave."""
    votes = evidence.votes
    middle = median_low([float(vote.score) for vote in votes])
    value = 1.0 if is_accepted(stated, votes) else middle
    reason = next(vote.reason for vote in votes if vote.score == middle)
    told = f"{middle:g}" if stated.votes == 1 else _counted(stated, votes)
    if not is_accepted(stated, votes) or stated.votes > 1:
        told += f" (floor {stated.floor:g})"
    return Score("judge", value, bounded(f"{told}: {reason}" if reason else told), evidence.told())


def _reaching(stated: Stated, votes: Sequence[Vote]) -> int:
    return sum(vote.score >= stated.floor for vote in votes)


def _counted(stated: Stated, votes: Sequence[Vote]) -> str:
    return f"{_reaching(stated, votes)} of {stated.votes} votes reached the floor"


def problem_of_canary(stated: Stated, name: str, votes: Sequence[Vote]) -> str:
    """Return what is wrong with what a judge made of a canary; nothing where it held."""
    if is_accepted(stated, votes) is (name == "accept"):
        return ""
    does = "accepts" if name == "reject" else "rejects"
    numbers = ", ".join(f"{vote.score:g}" for vote in votes)
    return f"fails its canaries: it {does} the answer that it must {name} ({numbers})"
