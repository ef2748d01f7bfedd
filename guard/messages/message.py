"""What a commit message claims: a fix, nearly a fix, an exemption, a weakened case.

The one door to commit messages: cleaning is in cleanup.py, taking apart in parts.py, what only
looks like a fix in near_misses.py. Whether a claim holds is for guard/rules/ to say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from guard.errors import ConfigError
from guard.messages.cleanup import (
    Cleanup,
    clean_message,
    clean_raw,
    decode_message,
    effective_cleanup,
    stored_message,
)
from guard.messages.parts import (
    Message,
    Revert,
    parse_header,
    parse_message,
    short,
    split_prefixes,
)

__all__ = [
    "Cleanup",
    "Exemption",
    "FixSettings",
    "Message",
    "Revert",
    "clean_message",
    "clean_raw",
    "decode_message",
    "effective_cleanup",
    "exemption",
    "fix_reason",
    "fix_settings",
    "near_miss",
    "parse_message",
    "squashed_fixes",
    "stored_message",
    "trailer_problems",
    "weakenings",
]

EXEMPT = "Guard-Exempt"
WEAKENED = "Case-Weakened"
#: Characters that an exemption's reason has at least.
REASON_LENGTH = 10

#: A bullet of a list of commits.
_BULLET = r"[*+\-•]\s+(?=\S)"


class FixSettings(NamedTuple):
    """``fix:`` of guard.yaml, with its defaults."""

    types: tuple[str, ...] = ("fix",)
    patterns: tuple[str, ...] = ()
    """Regular expressions, searched in the header."""
    closing_keywords: bool = True
    trailers: tuple[str, ...] = ("Fixes", "Regression-Case")
    unit: str = "commit"
    """commit, or range: a later commit of the same range may bring the case."""
    cosmetic: str = "allow"


_DEFAULTS = FixSettings()


class Exemption(NamedTuple):
    """A commit's way out of the fix rule; listed in every later report."""

    agents: tuple[str, ...]
    """Whom it excuses; empty for every agent."""
    reason: str


def fix_settings(fix: Mapping[str, Any]) -> FixSettings:
    """Return ``fix:`` as it stands in the loaded guard.yaml."""
    given = {**_DEFAULTS._asdict(), **fix}
    return FixSettings(
        types=tuple(given["types"]),
        patterns=tuple(given["patterns"]),
        closing_keywords=bool(given["closing_keywords"]),
        trailers=tuple(given["trailers"]),
        unit=str(given["unit"]),
        cosmetic=str(given["cosmetic"]),
    )


def fix_reason(message: Message, settings: FixSettings = _DEFAULTS) -> str | None:
    """Say in a sentence why this commit is a fix; None where it is none.

    With an autosquash prefix it is a fix that the caller notes now and judges at push.
    """
    if message.type and message.type in {name.lower() for name in settings.types}:
        return f"its header has the type {message.type}"
    return (
        (_closing_reason(message) if settings.closing_keywords else None)
        or _trailer_reason(message, settings.trailers)
        or _pattern_reason(message, settings.patterns)
        or _replacement_reason(message, settings)
    )


def _closing_reason(message: Message) -> str | None:
    for keyword, reference in message.closing:
        if keyword.startswith("fix") or not message.type:
            return f"it says {keyword} {reference}"
    return None


def _trailer_reason(message: Message, keys: Collection[str]) -> str | None:
    # A "Fixes:" without a value is the heading of a list, not a trailer.
    found = ((key, value) for key in keys for value in message.values(key) if value)
    return next((f"it has the trailer {key}: {short(value)}" for key, value in found), None)


def _pattern_reason(message: Message, patterns: Collection[str]) -> str | None:
    for pattern in patterns:
        try:
            found = re.search(pattern, message.subject)
        except re.error as error:
            raise ConfigError(
                "guard.yaml", 0, "fix.patterns", f"{pattern!r} is no regular expression: {error}"
            ) from error
        if found:
            return f"its header matches {pattern} (fix.patterns)"
    return None


def _replacement_reason(message: Message, settings: FixSettings) -> str | None:
    # An amend! commit carries the message that will replace its target's.
    if "amend" not in message.autosquash or not message.body:
        return None
    reason = fix_reason(parse_message(message.body), settings)
    return f"of the message that it amends to, {reason}" if reason else None


def near_miss(message: Message, types: Collection[str] = ("fix",)) -> str | None:
    """Say in a sentence how a header that is no fix looks like one; None where it doesn't."""
    # Imported here: few commits get that far.
    from guard.messages import near_misses

    return near_misses.near_miss(message, types)


def squashed_fixes(message: Message, types: Collection[str] = ("fix",)) -> tuple[str, ...]:
    """Return the headers of fixes that a squash left in the body.

    GitHub and GitLab list them as ``* fix: …``; ``git merge --squash`` writes a log.
    """
    wanted = {name.lower() for name in types}
    headers = (split_prefixes(line)[1] for line in _squashed_headers(message))
    return tuple(header for header in headers if parse_header(header).type in wanted)


def _squashed_headers(message: Message) -> Iterator[str]:
    log = message.header.startswith("Squashed commit of the following")
    awaited = False
    for line in message.body.split("\n"):
        bullet = re.match(_BULLET, line)
        if bullet:
            yield line[bullet.end() :].strip()
        elif log and re.match(r"commit [0-9a-f]{40}", line):
            awaited = True
        elif awaited and line.startswith("    "):
            awaited = False
            yield line.strip()


def exemption(message: Message, known: Collection[str] = ()) -> Exemption | None:
    """Return what the commit is exempted from by ``Guard-Exempt: [AGENTS --] REASON``.

    Several such trailers are joined. ``known`` are the names of agents: with them, ``--``
    in the middle of a reason is told from a list of agents.
    """
    found = [_exempted(value, known) for value in message.values(EXEMPT)]
    valid = [item for item in found if _says_enough(item.reason)]
    if not valid:
        return None
    everyone = any(not item.agents for item in valid)
    agents = () if everyone else tuple(dict.fromkeys(a for item in valid for a in item.agents))
    return Exemption(agents, "; ".join(item.reason for item in valid))


def _says_enough(reason: str) -> bool:
    """Tell whether a reason is long enough; what can't be seen doesn't count."""
    from guard.messages.near_misses import plain

    said = " ".join(plain(reason).split())
    return len(said) >= REASON_LENGTH and not _is_placeholder(said)


def _is_placeholder(reason: str) -> bool:
    """Tell whether a reason is but the word that stands for one in what a refusal prints."""
    return re.fullmatch(r"(?:REASON\b\W*)+", reason) is not None


def _exempted(value: str, known: Collection[str]) -> Exemption:
    listed, dashes, reason = f" {value} ".partition(" -- ")
    names = tuple(re.split(r"[,\s]+", listed.strip(", "))) if listed.strip(", ") else ()
    if not dashes or not _lists_agents(listed.strip(), names, known):
        return Exemption((), value.removeprefix("-- ").strip())
    return Exemption(names, reason.strip())


def _lists_agents(listed: str, names: tuple[str, ...], known: Collection[str]) -> bool:
    # In doubt it is a list: a misspelt agent must not exempt them all.
    if len(names) == 1 or any(name in known for name in names):
        return True
    if not names or not known:
        return bool(names)
    return re.fullmatch(r"[^\s,]+(?:\s*,\s*[^\s,]+)*", listed) is not None


def weakenings(message: Message) -> dict[str, str]:
    """Return id → reason of each ``Case-Weakened: ID: REASON``."""
    found: dict[str, str] = {}
    for value in message.values(WEAKENED):
        case, reason = _weakened(value)
        if case and reason:
            found[case] = reason
    return found


def _weakened(value: str) -> tuple[str, str]:
    case, _, reason = value.partition(": ")
    said = reason.strip()
    return case.strip(), "" if _is_placeholder(said) else said


def trailer_problems(message: Message) -> tuple[str, ...]:
    """Return a sentence for each of guard's trailers that has no effect as it is written."""
    problems: list[str] = []
    for value in message.values(EXEMPT):
        reason = _exempted(value, ()).reason
        if _is_placeholder(reason):
            problems.append(f"REASON stands for a reason of yours, in `{EXEMPT}: {short(value)}`")
        elif not _says_enough(reason):
            problems.append(
                f'{EXEMPT}: "{reason}" is too short for a reason ({REASON_LENGTH} characters)'
            )
    for value in message.values(WEAKENED):
        if _is_placeholder(value.partition(": ")[2].strip()):
            problems.append(f"REASON stands for a reason of yours, in `{WEAKENED}: {short(value)}`")
        elif not all(_weakened(value)):
            problems.append(f'{WEAKENED}: "{short(value)}" is not ID: and a reason')
    return tuple(problems)
