"""fix-needs-case: a fix that touches an agent brings a case of that agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from guard.errors import UsageError
from guard.model import Agent, Case, Violation
from guard.rules.commit import JudgedCommit
from guard.rules.comparison import compare_cases

RULE: Final = "fix-needs-case"


def check(commit: JudgedCommit) -> Iterator[Violation]:
    """Yield one violation for all agents that the fix touches and brings no case of."""
    lacking = {
        name: paths
        for name, paths in commit.owing.items()
        if not brought_cases(commit, name)
        and not any(brings_case(one, name) for one in commit.followers)
    }
    if lacking:
        yield lack_of(commit, RULE, lacking, ("case", "that fails without it"), _why_not)


def lack_of(
    commit: JudgedCommit,
    rule: str,
    lacking: Mapping[str, tuple[str, ...]],
    what: tuple[str, str],
    why: Callable[[JudgedCommit, str], Iterator[str]],
) -> Violation:
    """Return one violation for all agents that lack something."""
    from guard.wording.units import listed

    names = tuple(lacking)
    alone = len(names) == 1
    reasons = [text if alone else f"{name}: {text}" for name in names for text in why(commit, name)]
    whose = f"agent {names[0]}" if alone else f"agents {listed(names)}"
    missing, kind = what
    of = "" if alone else " of either" if len(names) == 2 else " of any of them"
    return Violation(
        rule=rule,
        message=f"this fix changes {whose} and brings no {missing}{of} {kind}",
        agent=", ".join(names),
        paths=tuple(dict.fromkeys(path for paths in lacking.values() for path in paths)),
        detail=tuple(reasons),
        agents=names,
    )


def brought_cases(commit: JudgedCommit, agent: str) -> list[Case]:
    """Return the agent's cases that the commit adds, or changes and doesn't weaken."""
    found = [case for case in candidates(commit, agent) if objection(commit, case) is None]
    if found:
        # An id that stands elsewhere too is no new case: reading them all says so.
        _ = commit.new.cases
    return found


def brings_case(commit: JudgedCommit, agent: str) -> bool:
    """Tell whether a commit adds or strengthens a case of the agent, as far as it can be read.

    What can't be is that commit's own fault, and no other's.
    """
    try:
        return any(objection(commit, case) is None for case in candidates(commit, agent))
    except UsageError:
        return False


def judged_by_a_model_alone(commit: JudgedCommit, agent: str) -> list[Case]:
    """Return the cases that are accepted although nothing but a judge reads them."""
    owner = commit.new.agents.get(agent)
    if owner is None:
        return []
    return [
        case for case in brought_cases(commit, agent) if set(_expected(case, owner)) == {"judge"}
    ]


def objection(commit: JudgedCommit, case: Case) -> str | None:
    """Say why a changed case file brings nothing to the fix; None where it does."""
    old = commit.old_cases.get(case.id)
    if not _expected(case, commit.new.agents[case.agent]):
        return "it states nothing that it expects"
    if old is None or old.agent != case.agent:
        return None
    compared = compare_cases(old, case)
    if compared.weaker:
        return f"it got weaker: {compared.weaker[0]}"
    return None if compared.changed else "only its prose, order or place changed"


def candidates(commit: JudgedCommit, agent: str) -> list[Case]:
    """Return the agent's cases in the files that the commit changes."""
    if agent not in commit.new.agents:
        return []
    return [case for case in commit.new_cases.values() if case.agent == agent]


def _expected(case: Case, agent: Agent) -> dict[str, object]:
    return {**agent.always, **case.expected}


def _why_not(commit: JudgedCommit, agent: str) -> Iterator[str]:
    if commit.change.base.oid == commit.new.repo.empty_tree:
        yield "no pre-fix tree: before the first commit there was nothing that could fail"
    for case in candidates(commit, agent):
        said = objection(commit, case)
        if said:
            yield f"{case.path} doesn't count: {said}"
    others = {case.agent for case in commit.new_cases.values()} - {agent}
    if others:
        yield f"its cases are of agent {', '.join(sorted(others))}"
