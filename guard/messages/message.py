"""What a commit message claims: a fix, nearly a fix, an exemption, a weakened case.

The one door to commit messages: cleaning is in message_cleanup.py, taking apart in
message_parts.py. Whether a claim holds is for guard/rules/ to say.
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
from guard.messages.parts import Message, Revert, parse_header, parse_message, split_prefixes

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

_FIX_WORD = r"(?:bug|hot)?-?fix(?:e[sd]|ing)?(?![\w-])"
_MARKED = r"[\[({<*_:]+\s*" + _FIX_WORD + r"\s*[\])}>*_:]"
#: What people put before a header: an autosquash prefix, a [tag] or (tag), a :gitmoji:,
#: PROJ-123, a version, a bullet or an emoji.
_DECORATION = (
    r"(?:fixup|squash|amend)!\s*|\[[^\]]*\]|\([^)]*\)|:[a-z0-9_+-]+:"
    r"|[A-Z][A-Z0-9]+-\d+\b|v?\d+(?:\.\d+)+\b|[\W_]"
)
#: A ticket or a version where a type would stand.
_NO_TYPE = r"[a-z][a-z0-9]+-\d+|v?\d[\d.]*"
_SEVERAL_TYPES = r"\w+(?:\s*[,&+/|]\s*\w+)+(?=\s*[(!:])"
#: Characters of a header: enough for a near miss, and no work for a megabyte of symbols.
_LOOKED_AT = 200
_SHOWN = 60


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
    return next((f"it has the trailer {key}: {_short(value)}" for key, value in found), None)


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


def near_miss(message: Message) -> str | None:
    """Say in a sentence how a header that is no fix looks like one; None where it doesn't.

    Meant for a message that `fix_reason` finds nothing in.
    """
    if parse_header(message.crowded).type == "fix":
        return (
            f'"{_short(message.crowded)}" stands in the second line and is no header there: '
            "put it first, or a blank line before it"
        )
    if message.type in ("fix", "revert") or not _looks_like_a_fix(message):
        return None
    return (
        f'"{_short(message.header)}" looks like a fix and is not written as one: '
        'a fix begins with "fix: " or "fix(scope): "'
    )


def _looks_like_a_fix(message: Message) -> bool:
    if message.type and not re.fullmatch(_NO_TYPE, message.type):
        return _names_a_fix(message.type)
    line = _plain(message.header[:_LOOKED_AT]).strip()
    while line:
        if re.match(f"{_FIX_WORD}|{_MARKED}", line, re.I):
            return True
        several = re.match(_SEVERAL_TYPES, line)
        if several:
            return _names_a_fix(several[0])
        decoration = re.match(_DECORATION, line)
        if not decoration:
            return False
        line = line[decoration.end() :]
    return False


def _names_a_fix(types: str) -> bool:
    words = re.split(r"[^a-z]+", _plain(types).lower())
    return any(re.fullmatch(_FIX_WORD, word) for word in words)


def _plain(text: str) -> str:
    """Return the text without full-width and invisible look-alikes."""
    if text.isascii():
        return text
    import unicodedata

    folded = unicodedata.normalize("NFKC", text)
    return "".join(char for char in folded if unicodedata.category(char) != "Cf")


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
        if line.startswith(("* ", "- ")):
            yield line[2:].strip()
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
    return len(" ".join(_plain(reason).split())) >= REASON_LENGTH


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
    # The word stands for a reason in the command that a refusal prints.
    said = reason.strip()
    return case.strip(), "" if said == "REASON" else said


def trailer_problems(message: Message) -> tuple[str, ...]:
    """Return a sentence for each of guard's trailers that has no effect as it is written."""
    problems: list[str] = []
    for value in message.values(EXEMPT):
        reason = _exempted(value, ()).reason
        if not _says_enough(reason):
            problems.append(
                f'{EXEMPT}: "{reason}" is too short for a reason ({REASON_LENGTH} characters)'
            )
    for value in message.values(WEAKENED):
        if not all(_weakened(value)):
            problems.append(f'{WEAKENED}: "{_short(value)}" is not ID: and a reason')
    return tuple(problems)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
