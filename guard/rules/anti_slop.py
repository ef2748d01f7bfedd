"""anti-slop/*: evidence that only looks like evidence. Findings to look at, no broken rules.

``anti-slop/null``: a case that an agent passes which does nothing, without a proof behind it.
``anti-slop/wording``: a case whose only subject is the text of the agent itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from guard.evaluators.single import as_list
from guard.git import bytes_of
from guard.globs import Matcher
from guard.model import Agent, Case, Violation
from guard.output import UNKNOWN
from guard.project import Project
from guard.proofs.graders import Graders
from guard.proofs.known import is_known
from guard.rules.case_weakened import case_of
from guard.running.null_agent import try_null
from guard.trials.kept import named_files
from guard.wording.units import count, names

NULL: Final = "anti-slop/null"
WORDING: Final = "anti-slop/wording"
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


class NullControl(NamedTuple):
    """What became of the cases with an agent that does nothing."""

    findings: tuple[Violation, ...] = ()
    """Of the cases that it passes, and no proof stands behind."""
    notes: tuple[str, ...] = ()


def null_control(project: Project, may_run: Callable[[Case], bool]) -> NullControl:
    """Try every case on an agent that does nothing.

    ``may_run``: whether a case's checkers, which are programs, may be started.
    """
    proven = proven_cases(project)
    with Graders(project, may_run) as graders:
        tried = [*try_null(graders, project.cases.values())]
    findings = [_passes_null(one.case) for one in tried if one.passes and one.case.id not in proven]
    passing = [one for one in tried if one.passes]
    notes = [f"{count(len(tried), 'case')} tried on an agent that does nothing: {_told(passing)}"]
    behind = len(passing) - len(findings)
    if behind:
        verb = "passes" if behind == 1 else "pass"
        notes.append(f"{count(behind, 'case')} rightly {verb} it: proven to fail before its fix")
    reasons = dict.fromkeys(one.reason for one in tried if one.reason)
    for reason in reasons:
        ids = [one.case.id for one in tried if one.reason == reason]
        notes.append(f"{UNKNOWN} {names(ids)}: {reason}")
    return NullControl(tuple(findings), tuple(notes))


def _told(passing: Sequence[object]) -> str:
    return f"{len(passing)} pass" if len(passing) != 1 else "1 passes"


def _passes_null(case: Case) -> Violation:
    keys = ", ".join(case.expected) or "always"
    return Violation(
        rule=NULL,
        message=f"{case.id} passes with an agent that does nothing ({keys}), and no proof that "
        "is known here says that it can fail",
        agent=case.agent,
        paths=(case.path,),
        hint=(f"guard prove {case.id}",),
        warning=True,
    )


def proven_cases(project: Project) -> set[str]:
    """Return the cases of which this machine has seen that they fail before their fix."""
    found: set[str] = set()
    for record in project.records.values():
        case = None if record.retired else case_of(project, record)
        if case is not None and is_known(record, case.id, project.store):
            found.add(case.id)
    return found


# Wording -----------------------------------------------------------------------------------


def wording_cases(project: Project) -> Iterator[Violation]:
    """Yield a finding for each case that reads the agent's own text, and nothing it does."""
    prints_itself = {
        name: _reads_own(project, agent, _argv_of(agent)) for name, agent in project.agents.items()
    }
    for case in project.cases.values():
        agent = project.agents[case.agent]
        if prints_itself[agent.name]:
            yield _wording(case, f"the target of {agent.name} only prints the agent's own text")
        elif _asks_for_text_alone(project, agent, case):
            yield _wording(case, "all that it expects is read in the agent's own files")


def _wording(case: Case, why: str) -> Violation:
    return Violation(
        rule=WORDING,
        message=f"{case.id} tests the wording of {case.agent}, and nothing that it does: {why}",
        agent=case.agent,
        paths=(case.path,),
        hint=(f"guard explain {WORDING}",),
        warning=True,
    )


def _asks_for_text_alone(project: Project, agent: Agent, case: Case) -> bool:
    expected = {**agent.always, **case.expected}
    own = project.own_paths(agent)
    given = set(case.given)
    files = named_files({key: expected[key] for key in _FILES if key in expected})
    if not expected or not expected.keys() <= {*_FILES, _COMMAND}:
        return False
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
