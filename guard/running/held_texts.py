"""Bounds the texts of trials that a run holds in memory, however many trials it takes.

The store has each trial whole. In memory a report needs most of what a run of common size
printed; of what comes after that only the beginnings.
"""

from __future__ import annotations

from typing import Final

from guard.results import TrialResult
from guard.storage.records import cut

#: Characters that a run holds in full.
ROOM: Final = 16 << 20
#: Characters of each text that it holds beyond that.
BEGINNING: Final = 400
#: What a text counts at most: a report shows no more of it, and says how much there was.
SHOWN: Final = 1 << 20


class HeldTexts:
    """Counts the texts of one run."""

    def __init__(self, room: int = ROOM) -> None:
        self._left = room
        self._seen: set[tuple[str, str]] = set()

    def held(self, trial: TrialResult) -> TrialResult:
        """Return a trial as it is held: whole while there is room; what is cut says so.

        The first of a case with its verdict keeps its files: its checks may be asked again.
        """
        ended = (trial.case, trial.verdict)
        is_first = ended not in self._seen
        self._seen.add(ended)
        self._left -= _size(trial)
        if self._left >= 0:
            return trial
        seen = trial.observation
        calls = seen.tool_calls and tuple(
            call._replace(result=cut(call.result, BEGINNING)) for call in seen.tool_calls
        )
        return trial._replace(
            diff=cut(trial.diff, BEGINNING),
            files=trial.files if is_first else (),
            observation=seen._replace(
                reply=cut(seen.reply, BEGINNING),
                stdout=cut(seen.stdout, BEGINNING),
                stderr=cut(seen.stderr, BEGINNING),
                tool_calls=calls,
            ),
        )


def _size(trial: TrialResult) -> int:
    """Return about how many characters of a trial a report may show."""
    seen = trial.observation
    texts = [seen.reply, seen.stdout, seen.stderr, trial.diff]
    texts += [file.text or file.base64 or "" for file in trial.files]
    texts += [call.result for call in seen.tool_calls or ()]
    return sum(min(len(text), SHOWN) for text in texts)
