"""``guard explain``: a word, a rule, a verdict or a key, in a few lines with an example."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from guard.errors import GuardError, UsageError
from guard.explanations import KINDS, Explanation, all_explanations, find_explanations
from guard.output import out, printable
from guard.plugin.api import Target
from guard.plugin.inventory import load_installed
from guard.schemas import described_keys
from guard.session import Session

if TYPE_CHECKING:
    import argparse

HELP = "explain a word, a rule or a key"
#: Lists every expectation key; refusals point here.
EXPECTED = "expected"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument of ``guard explain``."""
    parser.add_argument(
        "word",
        nargs="?",
        metavar="WORD|RULE|KEY",
        help="such as case, VACUOUS, fix-needs-case; `expected` lists the expectation keys",
    )


def explain(*, word: str | None = None, disabled: frozenset[str] = frozenset()) -> int:
    """Explain one name; list all names where none is given."""
    if word is None:
        out("\n".join(_index()))
        return 0
    told = _expectation_keys() if word == EXPECTED else []
    told += [_told(item) for item in find_explanations(word)]
    told += [_told_target(target) for target in _targets_named(word, disabled)]
    told = told or [_told_key(*found) for found in _keys_named(word)]
    if not told:
        raise UsageError(f"nothing is known as {word!r}{_nearest(word)}", "guard explain")
    out("\n\n".join(told))
    return 0


def _told(item: Explanation) -> str:
    return f"{item.name} ({KINDS[item.kind]})\n{item.text}"


def _told_key(where: str, key: str, description: str) -> str:
    return f"{key} (a key of {where})\n{description}"


def _targets_named(word: str, disabled: frozenset[str]) -> list[Target]:
    """Return the target of that name: an installed plugin's, else the repository's own."""
    if any(item.name == word and item.kind != "expectations" for item in all_explanations()):
        return []  # no plugin need be loaded to explain a word of guard's own
    try:
        offered = load_installed(disabled)[0].targets()
        if word not in offered:
            with Session.open(disabled=disabled) as session:
                offered = session.project().plugins.targets()
    except GuardError:  # no repository, or one whose files are not in order
        return []
    return [offered[word]] if word in offered else []


def _told_target(target: Target) -> str:
    lines = [f"{printable(target.name)} (a target)", f"Runs for real: {printable(target.real)}."]
    for option in target.options:
        stated = json.dumps(option.default, default=str)
        default = "required" if option.required else f"default {stated}"
        told = f"{option.kind}, {default}{'; ' * bool(option.help)}{option.help}"
        lines.append(f"    options.{option.name}: {printable(told)}")
    return "\n".join(lines)


def _keys_named(word: str) -> list[tuple[str, str, str]]:
    return [found for found in described_keys() if found[1] == word and found[2]]


def _expectation_keys() -> list[str]:
    keys = [item for item in all_explanations() if item.kind == "expectations"]
    width = max(len(item.name) for item in keys)
    lines = [f"  {item.name:{width}}  {item.summary}" for item in keys]
    return [
        "expected (a key of a case): what must hold after the trial; each key is one score\n"
        + "\n".join(lines)
        + "\nmore: guard explain KEY"
    ]


def _index() -> list[str]:
    lines = ["guard explain NAME explains one of these, or a key of guard.yaml or of a case"]
    for kind in KINDS:
        names = [item.name for item in all_explanations() if item.kind == kind]
        lines += ["", f"{kind}:", *_wrapped(", ".join(names))]
    return lines


def _wrapped(text: str) -> list[str]:
    import textwrap

    # Names hold hyphens; a break in one would make it another word.
    return [f"  {line}" for line in textwrap.wrap(text, 94, break_on_hyphens=False)]


def _nearest(word: str) -> str:
    from guard.schema import nearest

    names = [item.name for item in all_explanations()]
    names += [key for _, key, _ in described_keys()]
    by_fold = {name.lower(): name for name in names}
    near = nearest(word.lower(), by_fold)
    found = near.split("`")[1] if near else ""
    return f"; did you mean `{by_fold[found]}`?" if found else ""
