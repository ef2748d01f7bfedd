"""The repository: its configuration, plugins, targets, store, history and last run."""

from __future__ import annotations

import os
from collections.abc import Iterator

from guard import config as config_file
from guard.doctor import Finding, broken, holds, look, unknown
from guard.errors import GuardError
from guard.judging.unguarded import without_files
from guard.model import Agent, Case
from guard.output import path_from_here, printable, shell_path
from guard.plugin.inventory import load_all
from guard.project import Project
from guard.rules.agent_without_case import without_case
from guard.running.prerequisites import find_missing
from guard.session import INDEX, Session
from guard.trials.options import checked_options
from guard.wording.units import count

#: Names that one line shows.
SHOWN = 5
_PROBE = "doctor-1"


def check_config(session: Session, project: Project) -> Iterator[Finding]:
    """Check guard.yaml, the cases and regressions.json."""
    if not project.has_config:
        yield broken("there is no guard.yaml: nothing is guarded", "guard init")
        return
    try:
        agents, cases, records = project.agents, project.cases, project.records
    except GuardError as error:
        yield broken(error.message, error.hint)
        return
    counts = (count(len(agents), "agent"), count(len(cases), "case"))
    yield holds(f"guard.yaml: {', '.join(counts)}, {count(len(records), 'record')}")
    if not session.project(INDEX).has_config:
        path = config_file.FILE
        hint = f"git add {path_from_here(project.repo.root, path)}"
        yield look(f"{path} isn't staged or committed, and hooks judge no other", hint)
    missing = [violation.agent for violation in without_case(project)]
    if missing:
        hint = f"guard new-case ID --agent {shell_path(missing[0])}"
        yield look(f"no case, so nothing can fail: {_some(missing)}", hint)
    empty = without_files(project)
    if empty:
        yield look(f"no file matches the paths of {_some(empty)}: no change of it is seen")


def check_plugins(project: Project) -> Iterator[Finding]:
    """Check that every plugin loads."""
    loaded, failed = load_all(project)
    if loaded.distributions:
        yield holds(f"plugins: {_some(list(loaded.distributions))}")
    for error in failed:
        yield broken(error.message, error.hint)
    if project.disabled:
        yield look(f"switched off: {_some(sorted(project.disabled))}")


def check_targets(project: Project) -> Iterator[Finding]:
    """Check that each agent's target is there, takes its options, and has what it needs."""
    ready: list[str] = []
    for agent in project.agents.values():
        found = _check_agent(project, agent)
        if found is None:
            ready.append(agent.name)
        else:
            yield found
    if ready:
        yield holds(f"targets and their prerequisites are there; none was run: {_some(ready)}")


def _check_agent(project: Project, agent: Agent) -> Finding | None:
    try:
        target = project.target_of(agent)
        checked_options(project, agent)
        project.evaluators_of(agent)
        wanted = agent._replace(prerequisites=(*target.prerequisites, *agent.prerequisites))
        offered = project.plugins.prerequisites()
        cases = [case for case in project.cases.values() if case.agent == agent.name]
        # What only some cases ask for is theirs to say when they are run.
        shared = [c.prerequisites for c in cases]
        common = tuple(p for p in (shared[0] if shared else ()) if all(p in s for s in shared))
        asked = Case("", agent.name, config_file.FILE, prerequisites=common)
        missing = find_missing(wanted, asked, project.repo.root, offered)
    except GuardError as error:
        return broken(error.message, error.hint)
    if missing:
        return unknown(f"agent {printable(agent.name)} is SKIP on this machine: {missing}")
    return None


def check_store(session: Session) -> Finding:
    """Check that results are kept, by keeping one."""
    store = session.store
    store.put_parsed(_PROBE, {_PROBE: True})
    kept = store.get_parsed(_PROBE, _PROBE)
    if store.problem:
        return broken(store.problem)
    if kept is not True:
        return broken(f"the store {printable(store.folder)} does not keep what is put into it")
    return holds(f"store: {printable(store.folder)}")


def check_history(session: Session) -> Iterator[Finding]:
    """Check that the history is there which a proof may have to go back to."""
    if os.path.exists(os.path.join(session.repo.common_dir, "shallow")):
        yield look("this clone is shallow: a proof may be BLOCKED", "git fetch --unshallow")


def check_last_run(session: Session) -> Finding:
    """Say how the last run ended."""
    runs = session.store.get_runs(1)
    if not runs:
        return look("nothing was run yet", "guard run")
    last = runs[0]
    when = str(last["finished"])[:16].replace("T", " ")
    told = f"last run: guard {last['command']}, {when} UTC, exit {last['exit_code']}"
    return holds(told) if last["exit_code"] == 0 else look(told, "guard status")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return printable(", ".join(names[:SHOWN])) + more
