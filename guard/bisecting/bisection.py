"""The search for the commit that broke a case: both ends first, then halving, then once more.

One gate errs now and then, and a search that was led astray once ends at a commit like any
other. So the answer is asked for again: the commit that was found must fail a second, fresh
gate, and the one before it pass one. Where they don't, that commit can't be told good from bad,
and the search goes on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from guard import model
from guard.bisecting.oracle import STOPPED, Oracle, Tried
from guard.bisecting.search import BAD, GOOD, SKIPPED, Search
from guard.errors import ExitCode

#: Told of each commit that was tried, in order.
Listener = Callable[[Tried], None]


class Found(NamedTuple):
    """How a bisection ended."""

    code: ExitCode
    commit: str = ""
    """The first bad commit, where it is known."""
    suspects: tuple[str, ...] = ()
    """The commits among which it is, where it is not."""
    reason: str = ""
    """Why it is not known."""
    stopped: bool = False
    """Whether a budget ended first: the same call goes on."""


class Bisection:
    """One search; used once."""

    def __init__(
        self, search: Search, oracle: Oracle, tell: Listener, bases: Sequence[str] = ()
    ) -> None:
        """Make ready; ``bases``: where good and bad parted, if good is no ancestor of bad."""
        self.search = search
        self.oracle = oracle
        self.tell = tell
        self.bases = bases
        self.bad, self.good = search.marks

    def run(self) -> Found:
        """Search; return what it came to."""
        ended = self._check_ends() or self._check_bases()
        while ended is None:
            ended = self._narrow() or self._conclude()
        return ended

    def _try(self, *commits: str, again: bool = False) -> list[Tried]:
        tried = self.oracle.try_commits(commits, again=again)
        for one in tried:
            self.tell(one)
        return tried

    # Both ends -------------------------------------------------------------------------

    def _check_ends(self) -> Found | None:
        states = [self.oracle.state(commit) for commit in (self.bad, self.good)]
        if states[0] and states[1] and states[0].oid == states[1].oid:
            return _unknown(
                "the agent's own files are the same at --good and --bad: "
                "what broke it is not among them"
            )
        bad, good = self._try(self.bad, self.good)
        if STOPPED in (bad.kind, good.kind):
            return self._stopped()
        for tried, option in ((bad, "--bad"), (good, "--good")):
            if tried.kind == SKIPPED:
                return _unknown(f"whether it holds at {option} is not known ({_said(tried)})")
        if good.kind == BAD:
            return _fails_at_good(bad.kind == GOOD)
        if bad.kind == GOOD:
            return _unknown("it passes at --bad: there is nothing to look for")
        return None

    def _check_bases(self) -> Found | None:
        """Where good is no ancestor of bad: nothing is known unless they parted whole."""
        for base in self.bases:
            (tried,) = self._try(base)
            if tried.kind == STOPPED:
                return self._stopped()
            if tried.kind == BAD:
                return _unknown(
                    f"it fails where --good and --bad parted ({base[:10]}): "
                    "it was mended on the way to the one, not broken on the way to the other"
                )
            self.search.mark(base, tried.kind)
        return None

    # The search ------------------------------------------------------------------------

    def _narrow(self) -> Found | None:
        """Halve the range until nothing is left to try."""
        while (commit := self.search.following()) is not None:
            (tried,) = self._try(commit)
            if tried.kind == STOPPED:
                return self._stopped()
            self.search.mark(commit, tried.kind)
        suspects = tuple(self.search.suspects())
        if len(suspects) > 1:
            reason = "the others can't be told good from bad"
            return Found(ExitCode.NOT_ESTABLISHED, suspects=suspects, reason=reason)
        return None

    def _conclude(self) -> Found | None:
        """Confirm what was found; None where that failed and the search goes on."""
        first = self.search.bad
        parents = self.search.parents(first)
        before = [parent for parent in parents if self.search.marks.get(parent) == GOOD]
        if not before and parents:
            (tried,) = self._try(parents[0])
            if tried.kind == STOPPED:
                return self._stopped()
            if tried.kind != GOOD:
                return _doubtful(first, tried)
            before = [parents[0]]
        if self.oracle.deterministic:
            return Found(ExitCode.OK, first)
        return self._confirm(first, before)

    def _confirm(self, first: str, before: list[str]) -> Found | None:
        wanted = {first: BAD, **dict.fromkeys(before, GOOD)}
        again = self._try(*wanted, again=True)
        if any(tried.kind == STOPPED for tried in again):
            return self._stopped()
        unsteady = [tried for tried in again if tried.kind != wanted[tried.commit]]
        for tried in unsteady:
            if tried.commit in (self.good, self.bad):
                option = "--good" if tried.commit == self.good else "--bad"
                return _unknown(f"at {option} it came out differently when it was run again")
            self.search.mark(tried.commit, SKIPPED)
        return None if unsteady else Found(ExitCode.OK, first)

    def _stopped(self) -> Found:
        return Found(
            ExitCode.NOT_ESTABLISHED,
            suspects=tuple(self.search.suspects()),
            reason="a budget ended first",
            stopped=True,
        )


def _fails_at_good(passes_at_bad: bool) -> Found:
    if passes_at_bad:
        said = "it fails at --good and passes at --bad: are they swapped, or was it mended since?"
    else:
        said = "it fails at --good too: take an older commit, at which it passes"
    return Found(ExitCode.REGRESSION, reason=said)


def _doubtful(first: str, before: Tried) -> Found:
    """Return the end of a search whose commit before is none that was known to be good."""
    known = "it fails before it too" if before.kind == BAD else f"not known: {_said(before)}"
    return Found(
        ExitCode.NOT_ESTABLISHED,
        suspects=(first, before.commit),
        reason=f"what stands before {first[:10]} is not good: {known}",
    )


def _unknown(reason: str) -> Found:
    return Found(ExitCode.NOT_ESTABLISHED, reason=reason)


def _said(tried: Tried) -> str:
    verdict, reason = tried.result.verdict, tried.result.reason
    return f"{verdict}: {reason}" if reason and verdict != model.PASS else verdict
