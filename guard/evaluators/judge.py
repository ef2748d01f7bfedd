"""`judge`: a model judges the reply by a rubric; the one place where a model does.

The value is checked here, offline. Who is asked is known where a project's plugins are: see
`guard.judges.binding`.
"""

from __future__ import annotations

from collections.abc import Iterable

from guard.errors import TargetError
from guard.evaluators.shapes import sentence_of
from guard.judges.stated import check_judge
from guard.plugin.api import Evaluator, Expectations
from guard.results import Observation, Score

KEY = "judge"


def ask_nobody(observation: Observation, expectations: Expectations) -> Iterable[Score]:
    """Refuse to score: where no plugins are, there is no judge."""
    if KEY in expectations:
        raise TargetError("there is no judge here to be asked")
    return ()


EVALUATORS = (
    Evaluator(
        name=KEY,
        evaluate=ask_nobody,
        reads=(KEY,),
        writes=(KEY,),
        judge=True,
        check=sentence_of(check_judge),
        source="built-in",
    ),
)
