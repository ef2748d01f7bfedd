"""Cases whose only subject is the text of the agent itself: they test wording, not behaviour."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from guard.evaluators.single import as_list
from guard.git import bytes_of
from guard.globs import Matcher
from guard.model import Agent, Case
from guard.project import Project
from guard.trials.kept import named_files

#: Programs that print or search a file, and execute nothing that stands in it.
READERS: Final = frozenset(
    (
        *("cat", "head", "tail", "nl", "tac", "less", "more", "wc", "sort", "strings"),
        *("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "cmp", "diff"),
        *("sha256sum", "sha1sum", "md5sum", "cksum", "test", "["),
    )
)
#: Expectations that each name the files they are about.
_FILES: Final = ("files", "artifacts")
_COMMAND: Final = "command"


def find_own_text_alone(project: Project, case: Case, keys: Collection[str] = ()) -> str:
    """Say why a case reads the agent's own text and nothing it does; empty where it does more.

    ``keys``: the expectations that count; all where none are named.
    """
    agent = project.agents[case.agent]
    if _reads_own(project, agent, _argv_of(agent)):
        return f"the target of {agent.name} only prints the agent's own text"
    stated = {**agent.always, **case.expected}
    expected = {key: stated[key] for key in stated if not keys or key in keys}
    if not _asks_for_text_alone(project, agent, case, expected):
        return ""
    if len(expected) < len(stated):
        return f"{', '.join(expected)} is read in the agent's own files"
    return "all that it expects is read in the agent's own files"


def _asks_for_text_alone(
    project: Project, agent: Agent, case: Case, expected: Mapping[str, Any]
) -> bool:
    if not expected or not expected.keys() <= {*_FILES, _COMMAND}:
        return False
    own, given = project.own_paths(agent), set(case.given)
    files = named_files({key: expected[key] for key in _FILES if key in expected})
    if any(not _is_own(path, agent, own) or path in given for path in files):
        return False
    checkers = as_list(expected.get(_COMMAND, []))
    return all(_reads_own(project, agent, checker["argv"]) for checker in checkers)


def _reads_own(project: Project, agent: Agent, argv: Sequence[Any]) -> bool:
    """Tell whether a command only reads files, and all that it names are the agent's own."""
    words: list[str] = [*map(str, argv)] if argv else []
    if not words or os.path.basename(words[0]) not in READERS:
        return False
    own, tree = project.own_paths(agent), project.tree
    named = [os.path.normpath(word.removeprefix("{workspace}/")) for word in words[1:]]
    there = [path for path in named if tree.get(_in_tree(path, agent)) is not None]
    return bool(there) and all(_is_own(path, agent, own) for path in there)


def _argv_of(agent: Agent) -> Sequence[Any]:
    """Return what a target of programs is called with; another target has no such option."""
    return as_list(agent.options.get("argv", [])) if agent.target == "command" else ()


def _is_own(path: str, agent: Agent, own: Matcher) -> bool:
    return own(_in_tree(path, agent))


def _in_tree(path: str, agent: Agent) -> bytes:
    return bytes_of(f"{agent.workspace}/{path}" if agent.workspace else path)
