"""Judge what is staged once it may affect a case: rules, then cases as far as they fit."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from guard.affected import Selected, affected_cases
from guard.change import Change, change_of_trees
from guard.errors import ExitCode, GuardError
from guard.git import bytes_of
from guard.hookruns.judged_index import refuse_moved_index
from guard.hookruns.lines import costs, holding_lines, names, owed_lines, prose_lines, unclear_lines
from guard.hookruns.refusals import commit_text
from guard.hookruns.run import HookRun, run_in_hook
from guard.hookruns.standing import AT_COMMIT, BROKEN, OWED, UNCLEAR, Standing
from guard.judging.judge import readable
from guard.judging.left_out import LeftOut, left_out
from guard.judging.merges import parents_of
from guard.messages.message import parse_message
from guard.model import FAIL, PASS, XFAIL, Violation
from guard.output import LOOK, say, warn
from guard.project import Project
from guard.results import CaseResult
from guard.rules import agent_without_case, record_invalid
from guard.rules.commit import JudgedCommit
from guard.snapshot import index_tree
from guard.tree import Tree
from guard.wording.units import count
from guard_hooks.folder import find_folder
from guard_hooks.pre_commit import Staged

STAGE = "pre-commit"
NO_MESSAGE = parse_message("")


def judge_staged(staged: Staged) -> int:
    """Judge a snapshot of the index; return the exit code."""
    snapshot = index_tree(staged.repo)
    new = with_tree(staged.new, snapshot)
    base = readable(staged.base) or with_tree(staged.new, Tree(staged.repo, staged.repo.empty_tree))
    change = staged.change._replace(base=base.tree, new=snapshot)
    warn_without_commit_msg(staged)
    broken = broken_rules(base, new, change)
    if broken:
        refuse_for_rules(staged, new, change, broken)
        return ExitCode.REGRESSION
    before = new.store.last_verdicts()
    selection = affected_cases(new, base, change, before)
    tell_what_changed(base, new, change, selection)
    run = run_in_hook(new, selection, STAGE, at="index") if selection else HookRun(Standing())
    refuse_moved_index(staged.repo, staged.change)
    tell(run, base, change, before)
    return run.standing.code(AT_COMMIT)


def with_tree(project: Project, tree: Tree) -> Project:
    """Return the project of another tree of the same repository."""
    return Project(project.repo, tree, project.store, project.disabled)


# Rules ---------------------------------------------------------------------------------


def broken_rules(base: Project, new: Project, change: Change) -> list[Violation]:
    """Return what can be judged without a message; of a merge what it breaks by itself."""
    if len(change.parents) > 1:
        found = broken_by_merge(new, change)
    else:
        commit = JudgedCommit(base, new, change, NO_MESSAGE)
        found = [*record_invalid.check(commit), *agent_without_case.check(commit)]
    return [violation for violation in found if not violation.warning]


def broken_by_merge(new: Project, change: Change) -> list[Violation]:
    """Return what is wrong with a merge and with none of its parents, which are judged alone."""
    records = record_invalid.invalid_records(new)
    agents: list[Violation] | None = None
    for parent in parents_of(new, change):
        before = readable(parent.project)
        if before is None:
            continue
        known = record_invalid.invalid_records(before)
        records = [violation for violation in records if violation not in known]
        brought = change_of_trees(new.repo, before.tree, new.tree)
        here = list(agent_without_case.check(JudgedCommit(before, new, brought, NO_MESSAGE)))
        agents = here if agents is None else [v for v in agents if v in here]
    return [*records, *(agents or ())]


def refuse_for_rules(
    staged: Staged, new: Project, change: Change, broken: Sequence[Violation]
) -> None:
    """Say which rule is broken, and the commands that mend it."""
    from guard.judging.refusal import Refused, refusal

    prefix = os.environ.get("GIT_PREFIX", "")
    say(refusal(broken, Refused(staged.repo, new, change, staged.argv, "", prefix)))


def warn_without_commit_msg(staged: Staged) -> None:
    """Warn where the hook with the fix rule isn't there: a framework installs each by itself."""
    if not os.access(os.path.join(find_folder(staged.repo), "commit-msg"), os.X_OK):
        warn("! there is no commit-msg hook, so no fix is asked for its case: guard install")


# What it says --------------------------------------------------------------------------


def tell_what_changed(
    base: Project, new: Project, change: Change, selection: Sequence[Selected]
) -> None:
    """Say at once, before any case runs, what is guarded of this commit."""
    touched = JudgedCommit(base, new, change, NO_MESSAGE).touched
    affected = f"{count(len(selection), 'case')} affected"
    if touched:
        noun = "agent" if len(touched) == 1 else "agents"
        warn(f"{noun} {names(list(touched), 3)} changed, {affected}")
    elif selection:
        reasons = dict.fromkeys(reason for one in selection for reason in one.affected_by)
        warn(f"{affected} ({names(list(reasons), 3)})")
    without = [
        name for name in touched if name in new.agents and not has_changed_case(name, selection)
    ]
    if without:
        say(f"{LOOK} no case of {names(without, 3)} changed with it: a fix brings one")


def has_changed_case(agent: str, selection: Sequence[Selected]) -> bool:
    """Tell whether a case of the agent changed."""
    return any(one.case.agent == agent and "case" in one.affected_by for one in selection)


def tell(run: HookRun, base: Project, change: Change, before: dict[str, str]) -> None:
    """Say what came of the cases, and of a refusal why."""
    if run.standing.code(AT_COMMIT):
        failed = {name for name, verdict in before.items() if verdict == FAIL}
        broken = run.standing.cases_that(BROKEN)
        held = known_to_hold(base, [case.case for case in broken])
        say(commit_text(run, (held, failed), left_of(base, change, broken)))
        return
    for line in (*holding_lines(run), *unclear_lines(run), *owed_lines(run), *prose_lines(run)):
        say(line)
    if run.standing.has(OWED, UNCLEAR):
        price = costs(run.estimate)
        command = f"guard run --owed ({price})" if price else "guard run --owed"
        say(f"going on with what is known; before you push: {command}")


def left_of(base: Project, change: Change, broken: Sequence[CaseResult]) -> list[LeftOut]:
    """Return what of the broken cases' agents is on disk and not in the commit."""
    new = with_tree(base, change.new)
    agents = [new.agents[name] for name in dict.fromkeys(case.agent for case in broken)]
    found = left_out(base.repo, change, [glob for agent in agents for glob in agent.paths])
    return [
        one
        for one in found
        if not one.ignored and any(new.own_paths(agent)(bytes_of(one.path)) for agent in agents)
    ]


def known_to_hold(base: Project, ids: Collection[str]) -> set[str]:
    """Return those of the cases that a receipt shows to have held before the change."""
    from guard.engine import Engine

    found: set[str] = set()
    with Engine(base) as engine:
        for name in ids:
            try:
                case = base.cases[name]
                receipt = base.store.find_receipt(engine.receipt_key(case))
            except (KeyError, GuardError):
                continue
            if receipt is not None and receipt.verdict in (PASS, XFAIL):
                found.add(name)
    return found
