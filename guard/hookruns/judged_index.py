"""What pre-commit saw of the index, kept for the commit-msg hook of the same ``git commit``.

Between the two another hook, or another terminal, may stage something else: then what is committed
isn't what was judged. A record of another git, or none, says nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from guard.change import Change, staged_change
from guard.digests import digest_of
from guard.errors import UnreadableError
from guard.git import Repo
from guard.judging.amend import find_git, git_command_line
from guard.judging.started import when_started

#: Below guard's folder in a worktree's git directory.
FILE: Final = "judged"
#: Nothing guarded was staged; the hook's `sh` says so too, and then knows no digest.
QUIET: Final = "quiet"
JUDGED: Final = "judged"


class Seen(NamedTuple):
    """What a pre-commit hook left behind."""

    kind: str
    git: str
    """The git that ran it: its process number, and when it started."""
    digest: str
    """Of the index and what it was compared with; empty where the hook's `sh` wrote it."""


def remember(repo: Repo, change: Change, kind: str, list_id: str = "") -> None:
    """Keep what was judged, for a commit-msg hook under the same git; never fails."""
    git = identify_git()
    if not git:
        return
    path = os.path.join(repo.git_dir, "guard", FILE)
    fresh = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(fresh, "w", encoding="ascii") as stream:
            stream.write(f"{kind} {git} {list_id or '-'}\n{digest_of_index(change)}\n")
        os.replace(fresh, path)
    except OSError:
        return


def recall(repo: Repo) -> Seen | None:
    """Return what the pre-commit hook of the git above us left; None where it left nothing."""
    try:
        with open(os.path.join(repo.git_dir, "guard", FILE), encoding="ascii") as stream:
            lines = stream.read(1000).split("\n")
    except (OSError, ValueError):
        return None
    kind, _, rest = lines[0].partition(" ")
    git = rest.rpartition(" ")[0]
    if kind not in (QUIET, JUDGED) or not git or git != identify_git():
        return None
    return Seen(kind, git, lines[1] if len(lines) > 2 else "")


def moved_since(repo: Repo, change: Change, *, guarded: bool) -> str:
    """Return what isn't as pre-commit saw it, as far as that matters: empty, HEAD or the index.

    ``guarded``: something guarded is staged now. Where nothing is, and nothing was, a formatter may
    stage what it likes.
    """
    seen = recall(repo)
    if seen is None or not (guarded or seen.kind == JUDGED):
        return ""
    if seen.digest == digest_of_index(change):
        return ""
    return "HEAD" if seen.digest and not seen.digest.startswith(change.base.oid) else "the index"


def committed_unjudged(
    what: str, repo: Repo, now: Change, argv: Sequence[str], message_file: str
) -> UnreadableError:
    """Return the error for what moved; ``message_file`` is where the message is kept, if it is."""
    from guard.judging.again import commit_again

    return UnreadableError(
        f"{what} changed after pre-commit judged it: what is committed was not judged",
        f"{commit_again(repo, now, argv, message_file)}    # once what is to go into it is staged",
    )


def refuse_moved_index(repo: Repo, judged: Change) -> None:
    """Raise `UnreadableError` where the index isn't any more what the change was read from."""
    refuse_other_index(judged, staged_change(repo, judged.base.oid))


def refuse_other_index(judged: Change, now: Change) -> None:
    """Raise `UnreadableError` where two changes of the same base aren't the same."""
    if digest_of_index(now) != digest_of_index(judged):
        from guard.judging.again import commit_again

        again = commit_again(judged.new.repo, now, git_command_line(), "")
        raise UnreadableError(
            "the index changed while it was judged: this is not what was judged",
            f"{again}    # what ran is answered by receipts",
        )


def digest_of_index(change: Change) -> str:
    """Return what differs when the staged tree does, behind the id of what it is compared with."""
    return f"{change.base.oid} {digest_of(_parts(change))}"


def _parts(change: Change) -> Iterator[bytes]:
    for path, old, new in change.entries:
        yield path
        for side in (old, new):
            yield b" ".join(map(str.encode, side)) if side else b""


def identify_git() -> str:
    """Return the number and start of the git that runs this hook; empty where it can't be seen."""
    number = find_git()
    began = when_started(number) if number else ""
    return f"{number} {began}" if began else ""
