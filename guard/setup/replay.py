"""What the fix rule would have said of the recent history: one walk, nothing checked out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from guard.change import DIFF_OPTIONS, DiffEntry, parse_raw
from guard.git import Repo, text_of
from guard.globs import Matcher, compile_globs
from guard.messages.cosmetic import is_cosmetic
from guard.messages.message import FixSettings, Message, exemption, fix_reason, parse_message
from guard.model import Agent
from guard.tree import EXECUTABLE

COMMITS = 300
#: GitHub and GitLab end the header of a squash merge so.
_SQUASHED = re.compile(r"\([#!]\d+\)$")
_FILES = ("100644", EXECUTABLE)


class PastCommit(NamedTuple):
    """One commit of the history that isn't a merge."""

    message: Message
    entries: tuple[DiffEntry, ...]


class Replay(NamedTuple):
    """What the rule would have done, in numbers of commits."""

    commits: int = 0
    squashed: int = 0
    fixes: int = 0
    """Fixes that touched an agent."""
    cosmetic: int = 0
    """Those of them that only changed what no agent could act on."""
    asked: int = 0
    """Those that brought no case, and would have been asked for one."""


def read_history(repo: Repo, limit: int = COMMITS) -> list[PastCommit]:
    """Return the newest commits that aren't merges, the newest first."""
    if repo.resolve("HEAD") is None:
        return []
    # Plumbing, so that no log.* or diff.* setting has a say.
    ids = repo.out("rev-list", "--no-merges", f"--max-count={limit}", "HEAD", "--")
    # Without --root: before a first commit, or a shallow clone's, there was nothing to fix.
    shown = ("--always", "--encoding=UTF-8", "--format=%x01%B")
    listing = repo.out("diff-tree", "--stdin", "-r", *DIFF_OPTIONS, *shown, input=ids)
    return list(_parsed(listing))


def _parsed(listing: bytes) -> Iterator[PastCommit]:
    message: bytes | None = None
    raw: list[bytes] = []
    tokens = iter(listing.split(b"\0"))
    for token in tokens:
        if token.startswith(b"\x01"):
            if message is not None:
                yield _commit(message, raw)
            message, raw = token[1:], []
        elif token.strip():
            raw += [token.lstrip(b"\n"), next(tokens)]
    if message is not None:
        yield _commit(message, raw)


def _commit(message: bytes, raw: Sequence[bytes]) -> PastCommit:
    text = message.decode("utf-8", "replace")
    return PastCommit(parse_message(text), parse_raw(b"\0".join(raw)))


def replay_rule(
    repo: Repo,
    history: Iterable[PastCommit],
    agents: Mapping[str, Agent],
    settings: FixSettings,
) -> Replay:
    """Return what the fix rule would have done to the commits."""
    watched = [_Watched(agent) for agent in agents.values()]
    counts = dict.fromkeys(Replay._fields, 0)
    for commit in history:
        counts["commits"] += 1
        counts["squashed"] += bool(_SQUASHED.search(commit.message.subject))
        for word in _judge(commit, watched, settings, _cosmetic_test(repo, settings)):
            counts[word] += 1
    return Replay(**counts)


class _Watched:
    """One agent's paths and cases, as tests of a path."""

    def __init__(self, agent: Agent) -> None:
        inside, left_out = compile_globs(agent.paths), compile_globs((*agent.cases, *agent.depends))
        self.owns: Matcher = lambda path: inside(path) and not left_out(path)
        self.is_case = compile_globs(agent.cases)


def _judge(
    commit: PastCommit,
    watched: Iterable[_Watched],
    settings: FixSettings,
    is_cosmetic_entry: Callable[[DiffEntry], bool],
) -> Iterator[str]:
    if fix_reason(commit.message, settings) is None:
        return
    touched = [(w, found) for w in watched if (found := _owned(commit, w))]
    if not touched:
        return
    yield "fixes"
    serious = [w for w, found in touched if not all(map(is_cosmetic_entry, found))]
    if not serious:
        yield "cosmetic"
    elif exemption(commit.message) is None and not all(_brings_case(commit, w) for w in serious):
        yield "asked"


def _owned(commit: PastCommit, watched: _Watched) -> list[DiffEntry]:
    return [entry for entry in commit.entries if watched.owns(entry.path)]


def _brings_case(commit: PastCommit, watched: _Watched) -> bool:
    return any(entry.new is not None and watched.is_case(entry.path) for entry in commit.entries)


def _cosmetic_test(repo: Repo, settings: FixSettings) -> Callable[[DiffEntry], bool]:
    def test(entry: DiffEntry) -> bool:
        old, new = entry.old, entry.new
        if settings.cosmetic == "refuse" or old is None or new is None:
            return False
        if old.mode != new.mode or old.mode not in _FILES:
            return False
        before, after = repo.objects.read(old.oid), repo.objects.read(new.oid)
        if before is None or after is None:  # a partial clone
            return False
        return is_cosmetic(before.data, after.data, text_of(entry.path))

    return test
