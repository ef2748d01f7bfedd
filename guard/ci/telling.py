"""What to do about a pull request whose title, and no commit of it, breaks a rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from guard.judging.refusal import trailer_of
from guard.model import Violation
from guard.output import printable
from guard.wording import commands

_FIX_RULES = ("fix-needs-case", "fix-needs-record")


def title_refusal(violations: Sequence[Violation], title: str) -> str:
    """Return the text; the first violation is told in full."""
    first, others = violations[0], violations[1:]
    lines = [
        f"guard: refused: {first.message} ({first.rule})",
        f"  title    {title}",
    ]
    for number, line in enumerate(_to_do(first)):
        lines.append(f"  {'' if number else 'do':<8} {line}")
    if others:
        lines.append(f"  also     {', '.join(dict.fromkeys(one.rule for one in others))}")
    return "\n".join(map(printable, lines))


def _to_do(violation: Violation) -> Iterator[str]:
    trailer = trailer_of(violation)
    if trailer:
        yield f"write into the pull request's text: {trailer}"
    elif violation.rule in _FIX_RULES:
        if violation.rule == "fix-needs-case":
            yield commands.new_case((violation.agents or (violation.agent,))[0])
        yield "guard prove ID    # then commit its case and regressions.json to this branch"
        yield "or, where it fixes nothing, change the title: feat: …"
    else:
        yield from violation.hint or ["change the pull request's title or text"]
