"""Judge a push once its tips are known: rules first, for they cost nothing; then the suites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from guard.affected import Selected, affected_cases
from guard.change import change_of_trees
from guard.engine import Engine
from guard.errors import ExitCode, GuardError, worst
from guard.git import Repo
from guard.hookruns.checks import push_refusal, rules_refusal, tell_checks
from guard.hookruns.heartbeat import heartbeat
from guard.hookruns.lines import (
    drift_lines,
    holding_lines,
    owed_lines,
    prose_lines,
    unclear_lines,
)
from guard.hookruns.pushes import ANY_REMOTE, Tip
from guard.hookruns.refusals import push_text
from guard.hookruns.run import HookRun, budget_of, run_in_hook
from guard.hookruns.standing import at_push
from guard.judging.in_force import by_accepted_baselines
from guard.judging.judge import readable
from guard.judging.range_refusal import range_refusal
from guard.judging.ranges import SHORT, CommitInfo
from guard.output import printable, say, warn
from guard.plugin.switches import disabled_plugins
from guard.project import Project
from guard.proof import Prover
from guard.results import ProofResult
from guard.rules.case_texts import broken_texts
from guard.rules.grader_proof import any_checker, prove_graders
from guard.running.budget import Budget
from guard.store import Store
from guard.wording.units import count
from guard_hooks.pushed_commits import (
    Own,
    Push,
    is_guarded,
    judge_commits,
    own_of_tips,
    tell_notes,
)
from guard_hooks.served_tips import served_refusal

STAGE = "pre-push"


def judge_push(repo: Repo, tips: Sequence[Tip], not_in: Sequence[str]) -> int:
    """Judge all tips less what the other side has; return the code that outranks the others."""
    store = Store.open(repo.common_dir)
    push = Push(repo, store, disabled_plugins(), tips, not_in)
    if not is_guarded(push):
        warn("no guard.yaml, nothing is guarded")
        return ExitCode.OK
    if ANY_REMOTE in not_in:
        warn("no remote here has this URL: what any other one has counts as published")
    with heartbeat(lambda: "still judging commits by the rules"):
        own = own_of_tips(push)
        judged = judge_commits(push, own)
    if judged.blocking:
        commit = next(iter(own)) if own else tips[0]
        tip = push.project(commit.tree)
        say(range_refusal(judged.blocking, repo, tip, "not pushed"))
        return ExitCode.REGRESSION
    tips_of = ((tip, push.project(tip.tree)) for tip in push.tips)
    if refused := served_refusal(tips_of):
        say(refused)
        return ExitCode.REGRESSION
    code = judge_trees(push, own)
    if code == ExitCode.OK:
        tell_notes(judged)
    return code


def judge_trees(push: Push, own: Own) -> int:
    """Run the suite and the proofs of each pushed tree, equal ones once, on one budget."""
    codes: list[int] = []
    budget: Budget | None = None
    for tip in {tip.tree: tip for tip in reversed(push.tips)}.values():
        project = push.project(tip.tree)
        try:
            if not (project.has_config and (project.cases or project.records)):
                continue
            budget = budget or budget_of(project.config.hooks[STAGE])
            codes.append(judge_tree(push, tip, project, own.get(tip, ()), budget))
        except GuardError as error:
            error.message = f"{name_of(tip)}: {error.message}"
            raise
    return worst(*codes)


def judge_tree(
    push: Push, tip: Tip, project: Project, own: Sequence[CommitInfo], budget: Budget
) -> int:
    """Run what receipts don't answer of one tip's tree; say what came of it."""
    new = count(len(own), "commit") if own else "nothing new"
    cases = count(len(project.cases), "case")
    warn(f"{name_of(tip)}: {new}, {cases}, {count(len(project.records), 'regression')}")
    checks = prove_graders(project, any_checker)
    if refused_for := push_refusal(checks, name_of(tip), push.repo):
        say(refused_for)
        return ExitCode.REGRESSION if checks.violations else ExitCode.NOT_ESTABLISHED
    tell_checks(checks)
    if broken := broken_texts(project, project.cases.values()):
        say(rules_refusal(broken, name_of(tip)))
        return ExitCode.REGRESSION
    base = base_of(push, tip, own)
    if own:
        project, baselines = by_accepted_baselines(base, project, "what is there already")
        for line in baselines:
            warn(line)
    selection = suite(project, base)
    run = run_in_hook(
        project,
        selection,
        STAGE,
        at=tip.commit,
        verify=lambda engine: prove(engine, tip),
        budget=budget,
    )
    refused = at_push(str(project.config.hooks[STAGE]["owed"]))
    code = run.standing.code(refused)
    if run.rules and code != ExitCode.REGRESSION:
        say(rules_refusal(run.rules, name_of(tip)))
        return ExitCode.REGRESSION
    if code:
        say(push_text(run, refused, name_of(tip), at_option(push.repo, tip)))
    else:
        tell(run)
    return code


def name_of(tip: Tip) -> str:
    """Return the refs and the commit, as people know them."""
    shown = [printable(name) for name in tip.title.split(", ")[:2]]
    more = f" and {len(tip.names) - 2} more" if len(tip.names) > 2 else ""
    return f"{', '.join(shown)}{more} at {tip.commit[:SHORT]}"


def base_of(push: Push, tip: Tip, own: Sequence[CommitInfo]) -> Project:
    """Return what the tip is compared with, to say what is new of it: what is there already."""
    start = tip.known[0] if tip.known else next((p for c in own for p in c.parents[:1]), "")
    tree = push.repo.resolve(f"{start}^{{tree}}") if start else None
    nothing = push.project(push.repo.empty_tree)
    return (readable(push.project(tree)) if tree else None) or nothing


def suite(project: Project, base: Project) -> list[Selected]:
    """Return all cases; those that the push affects with their reasons."""
    change = change_of_trees(project.repo, base.tree, project.tree)
    affected = affected_cases(project, base, change, project.store.last_verdicts())
    reasons = {one.case.id: one.affected_by for one in affected}
    return [Selected(case, reasons.get(name, ())) for name, case in sorted(project.cases.items())]


def prove(engine: Engine, tip: Tip) -> list[ProofResult]:
    """Prove the records of the tip, from receipts where they hold."""
    records = engine.project.records.values()
    if not records:
        return []
    with Prover(engine, (tip.commit,)) as prover:
        return prover.prove(records)


def at_option(repo: Repo, tip: Tip) -> str:
    """Return how guard is told to run what is pushed; nothing where that is on disk."""
    from guard.snapshot import worktree_tree

    try:
        on_disk = worktree_tree(repo).oid == tip.tree
    except GuardError:
        on_disk = False
    return "" if on_disk else f" --at {tip.commit[:SHORT]}"


def tell(run: HookRun) -> None:
    """Say what was established of a tip that may be pushed."""
    lines: Iterable[str] = (
        *drift_lines(run),
        *holding_lines(run),
        *unclear_lines(run),
        *owed_lines(run),
        *prose_lines(run),
    )
    for line in lines:
        say(line)
