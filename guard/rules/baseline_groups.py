"""What a change adds to a case's baseline, and what stays in force while it isn't accepted.

A group that was there may lose keys, get a narrower condition, or become steady: it excuses less.
Anything else is added, and so is a group of which no old one says as much.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from guard.trials.baseline import Group, condition_of, is_intermittent, keys_of, same

#: What a group says for people, and no verdict depends on.
PROSE: Final = ("note", "observed_in")


def added_groups(old: Iterable[Group], new: Iterable[Group]) -> list[Group]:
    """Return the new groups that excuse more than the old ones, or say less of what passes."""
    known = list(old)
    return [group for group in new if not any(_covers(one, group) for one in known)]


def _covers(old: Group, new: Group) -> bool:
    """Tell whether all that one group excuses was excused by another, as steadily at least."""
    wanted = condition_of(new)
    under = condition_of(old).items()
    return (
        keys_of(new) <= keys_of(old)
        and all(name in wanted and same(wanted[name], value) for name, value in under)
        and (is_intermittent(old) or not is_intermittent(new))
    )


def groups_in_force(old: Sequence[Group], new: Sequence[Group]) -> tuple[Group, ...]:
    """Return the baseline by which a change is judged that turns the old one into the new.

    Where it adds anything, that is the old one, less the groups of which it takes out every key.
    """
    if not added_groups(old, new):
        return tuple(new)
    named = frozenset[str]().union(*map(keys_of, new))
    return tuple(group for group in old if keys_of(group) & named)


def without_prose(groups: Iterable[Group]) -> list[dict[str, Any]]:
    """Return the groups without what is said for people alone."""
    return [{key: v for key, v in group.items() if key not in PROSE} for group in groups]


def describe_group(group: Group) -> str:
    """Say what a group excuses: ``fields where n_proposals is 0, now and then``."""
    names = ", ".join(sorted(keys_of(group)))
    facts = [f"{name} is {json.dumps(v)}" for name, v in condition_of(group).items()]
    where = f" where {' and '.join(facts)}" if facts else ""
    return f"{names}{where}{', now and then' if is_intermittent(group) else ''}"
