"""Run the cases that what is staged affects, as far as they fit, and say what came of them."""

from __future__ import annotations

import gc
from collections.abc import Collection, Mapping, Sequence

from guard.affected import Selected
from guard.change import Change
from guard.errors import ExitCode, GuardError
from guard.git import bytes_of
from guard.hookruns.checks import ask_concerned, tell_checks
from guard.hookruns.judged_index import refuse_moved_index
from guard.hookruns.lines import (
    costs,
    drift_lines,
    holding_lines,
    owed_lines,
    prose_lines,
    unclear_lines,
)
from guard.hookruns.refusals import commit_text
from guard.hookruns.run import HookRun, run_in_hook
from guard.hookruns.standing import AT_COMMIT, BROKEN, OWED, UNCLEAR
from guard.judging.again import as_called
from guard.judging.left_out import LeftOut, left_out
from guard.model import FAIL, PASS, XFAIL
from guard.output import path_from_here, say
from guard.project import Project
from guard.results import CaseResult
from guard.rules.case_texts import broken_texts
from guard_hooks.pre_commit import Staged
from guard_hooks.staged import refuse_for_rules, snapshot_of, with_tree

STAGE = "pre-commit"
#: Files that the command which mends a case names.
MOST_PATHS = 3
COMMIT = "git commit"


def run_cases(
    staged: Staged,
    base: Project,
    change: Change,
    selection: Sequence[Selected],
    before: Mapping[str, str],
) -> int:
    """Run the cases on a snapshot of the index; return the exit code."""
    # It was off for the rules, which take a moment (`guard_hooks.run`).
    gc.enable()
    new = with_tree(staged.new, change.new if change.new.oid else snapshot_of(staged))
    checks = ask_concerned(new, selection, change.paths)
    if broken := checks.violations or broken_texts(new, [one.case for one in selection]):
        refuse_for_rules(staged, new, change, broken)
        return ExitCode.REGRESSION
    tell_checks(checks, unkept=False)
    run = run_in_hook(new, selection, STAGE, at="index")
    refuse_moved_index(staged.repo, staged.change)
    code = run.standing.code(AT_COMMIT)
    if run.rules and code != ExitCode.REGRESSION:
        refuse_for_rules(staged, new, change, run.rules)
        return ExitCode.REGRESSION
    tell(run, base, change._replace(new=new.tree), before, staged.argv)
    return code


def tell(
    run: HookRun,
    base: Project,
    change: Change,
    before: Mapping[str, str],
    argv: Sequence[str] = (),
) -> None:
    """Say what came of the cases, and of a refusal why."""
    if run.standing.code(AT_COMMIT):
        failed = {name for name, verdict in before.items() if verdict == FAIL}
        broken = run.standing.cases_that(BROKEN)
        held = known_to_hold(base, [case.case for case in broken])
        left = left_of(base, change, broken)
        commands = ways_out(base, change, broken, left, argv)
        say(commit_text(run, (held, failed), left, commands))
        return
    for line in (
        *drift_lines(run),
        *holding_lines(run),
        *unclear_lines(run),
        *owed_lines(run),
        *prose_lines(run),
    ):
        say(line)
    if run.standing.has(OWED, UNCLEAR):
        price = costs(run.estimate)
        command = f"guard run --owed ({price})" if price else "guard run --owed"
        say(f"going on with what is known; before you push: {command}")


def ways_out(
    base: Project,
    change: Change,
    broken: Sequence[CaseResult],
    left: Sequence[LeftOut],
    argv: Sequence[str],
) -> list[str]:
    """Return what mends a case that fails, up to the command that repeats the commit."""
    new = with_tree(base, change.new)
    owns = [new.own_paths(new.agents[name]) for name in dict.fromkeys(c.agent for c in broken)]
    staged = [e.name for e in change.entries if e.new and any(own(e.path) for own in owns)]
    paths = ([one.path for one in left] or staged)[:MOST_PATHS]
    if not paths:
        return []
    pasted = " ".join(path_from_here(base.repo.root, path) for path in paths)
    add = f"git add {pasted}"
    return [add if left else f"mend {pasted}, then: {add}", as_called(argv) or COMMIT]


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
