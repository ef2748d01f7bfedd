"""``guard ci``: judge what a pull request or a push brings, by the rules and by running it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.ci.accepted import Accepted, accept_evidence
from guard.ci.base_run import beside_base
from guard.ci.guarded import is_guarded
from guard.ci.judged import TITLE, judge_commits, judge_title, without_repetition
from guard.ci.services import Told, told_by
from guard.ci.span import BASE_HINT, Span, find_span
from guard.ci.telling import title_refusal
from guard.ci.work import (
    Work,
    estimate,
    oldest_evidence_first,
    owed_until_started,
    pending,
    work_of,
)
from guard.commands.check import check_production, check_tree
from guard.commands.options import RunOptions, add_run_options
from guard.engine import Engine
from guard.errors import ExitCode, UsageError, worst
from guard.hookruns.heartbeat import heartbeat
from guard.hookruns.lines import costs
from guard.hookruns.run import Pulse
from guard.judging.in_force import by_accepted_baselines
from guard.judging.judge import Judgement, joined
from guard.judging.merges import tree_of
from guard.judging.range_refusal import range_refusal
from guard.judging.ranges import SHORT, CommitInfo
from guard.model import Violation
from guard.output import out, say, warn
from guard.project import Project
from guard.proof import Prover
from guard.proofs.owed import find_owed
from guard.reporting import finish_report, start_report
from guard.results import ProofResult, Report, TrialResult
from guard.rules.agent_without_case import without_case
from guard.rules.case_texts import broken_by_results
from guard.rules.grader_proof import GraderProof, any_checker, prove_graders
from guard.rules.unserved_agent import unserved_agents
from guard.running.listener import TrialListener
from guard.session import Session
from guard.tree import Tree
from guard.wording.units import count, names

if TYPE_CHECKING:
    import argparse

HELP = "judge what a pull request or a push brings"
NOTHING = "no guard.yaml, nothing is guarded"
EPILOG = """\
It is strict: what isn't known is never a pass. Unless --max-seconds or --max-cost say so, neither
time nor money is limited. With `fix: {unit: range}` in guard.yaml the title of the pull request is
judged too; where the service doesn't tell it, put it into GUARD_PR_TITLE, and its text into
GUARD_PR_BODY.

    guard ci --base origin/main --max-seconds 900 --junit guard.xml

exit codes: 0 all of it holds, or nothing is affected; 1 a rule is broken, a case fails, a proof
doesn't hold; 2 no base to judge from, or a file is wrong; 3 not established; 4 a bug in guard"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard ci``."""
    parser.epilog = EPILOG
    parser.add_argument(
        "--base", default="", metavar="REF", help="what was there before; else the service tells"
    )
    parser.add_argument("--all", action="store_true", help="the whole suite and every record")
    parser.add_argument(
        "--oldest-first", action="store_true", help="begin with what has the oldest evidence"
    )
    parser.add_argument("--plan", action="store_true", help="say what would be run; run nothing")
    parser.add_argument(
        "--untrusted-head", action="store_true", help="judge by the base's guard.yaml; run nothing"
    )
    add_run_options(parser)


class Job(NamedTuple):
    """What one job is about."""

    span: Span
    told: Told
    commits: list[CommitInfo]
    start: Project
    """The state that the tip's is compared with."""
    tip: Project
    everything: bool

    @property
    def said(self) -> str:
        """How many commits are judged, and since when."""
        since = self.span.said
        return f"{count(len(self.commits), 'commit')} {since}" if self.span.known else since


def ci(
    *,
    base: str = "",
    all: bool = False,
    oldest_first: bool = False,
    plan: bool = False,
    untrusted_head: bool = False,
    disabled: frozenset[str] = frozenset(),
    **values: Any,
) -> int:
    """Judge the commits since the base, and run what they concern; return the exit code."""
    options = RunOptions.of(values)._replace(strict=True)
    if plan and options.files():
        raise UsageError("--plan judges nothing, so there is nothing to report", "guard ci --plan")
    with Session.open(disabled=disabled) as session:
        told = told_by(os.environ)
        span = find_span(session.repo, base, told, optional=all, untrusted=untrusted_head)
        job = _job(session, span, told, everything=all)
        warn(f"{job.said}; under test is the tree of HEAD ({span.tip[:SHORT]}), no file on disk")
        if not _is_guarded(job):
            return _say_nothing(job, options)
        accepted = accept_evidence(job.start, job.tip, told)
        if plan:
            return _tell_plan(job, accepted, untrusted=untrusted_head)
        if untrusted_head:
            return _judge_untrusted(job, options)
        return _judge(job, options, accepted, oldest=oldest_first)


def _job(session: Session, span: Span, told: Told, *, everything: bool) -> Job:
    repo = session.repo
    trees = [
        tree_of(repo, commit) if commit else Tree(repo, repo.empty_tree)
        for commit in (span.start, span.tip)
    ]
    start, tip = map(session.project_of, trees)
    return Job(span, told, span.commits(repo), start, tip, everything)


def _is_guarded(job: Job) -> bool:
    if not job.commits:
        return job.tip.has_config or job.start.has_config
    return is_guarded(job.start, job.tip, job.span.tip, job.span.not_in)


def _say_nothing(job: Job, options: RunOptions) -> int:
    """Say that nothing is guarded; write the reports that a job waits for."""
    warn(NOTHING)
    if not options.files():
        return ExitCode.OK
    report = start_report(job.tip, "ci", "HEAD", options)
    return finish_report(job.tip, report._replace(notes=(NOTHING,)), options)


def _judge(job: Job, options: RunOptions, accepted: Accepted, *, oldest: bool) -> int:
    """Judge commits, title and tree by the rules; run what is affected; report all of it."""
    tip = job.tip
    report = start_report(tip, "ci", "HEAD", options)
    if tip.has_config:
        tip.ask_for_offers()
    judged = judge_commits(tip, job.commits)
    title = judge_title(job.start, tip, job.told, job.commits, known=judged.judgement)
    rules = joined((judged.judgement, title))
    of_tree: Sequence[Violation] = ()
    if tip.has_config:
        of_tree = check_tree(tip, everything=False, run_checkers=True)
        of_tree = (*of_tree, *check_production(tip))
    checks = prove_graders(tip, any_checker) if tip.has_config else GraderProof()
    job, baselines = _by_accepted_baselines(job)
    work = work_of(job.start, job.tip, everything=job.everything, known=job.span.known)
    report = report._replace(
        rules=(*without_repetition(of_tree, rules), *checks.violations),
        exempt=rules.exempt,
        notes=(job.said, *judged.counts, *_named(job), *baselines, *rules.notes, *checks.lines()),
        not_established=(*(error.message for error in judged.errors), *checks.unknown),
        exit_code=worst(checks.code, *(error.exit_code for error in judged.errors)),
        commits=None if judged.errors else len(job.commits),
    )
    if rules.blocking and not options.report_only:
        _tell_refusal(job, rules)
    if not work.is_nothing:
        report = _run(job, work, report, options, oldest=oldest)
    report = report._replace(notes=(*report.notes, *accepted.lines()))
    return finish_report(tip, report, options)


def _by_accepted_baselines(job: Job) -> tuple[Job, tuple[str, ...]]:
    """Return the job by the baselines that the base has accepted, and what is said of them."""
    if not (job.span.known and job.tip.has_config):
        return job, ()
    project, lines = by_accepted_baselines(job.start, job.tip)
    return job._replace(tip=project), lines


def _tell_refusal(job: Job, rules: Judgement) -> None:
    """Say how the first commit that is refused is mended where it stands; or else the title."""
    found = [violation for violation in rules.blocking if not violation.commit.startswith(TITLE)]
    if found:
        say(range_refusal(found, job.tip.repo, job.tip, "refused"))
    else:
        say(title_refusal(rules.blocking, job.told.title))


def _named(job: Job) -> list[str]:
    """Return what is named and changes nothing: agents without a case, a title nobody told."""
    tip, told = job.tip, job.told
    if not tip.has_config:
        return []
    missing = [violation.agent for violation in without_case(tip)]
    said = [f"no case yet guards {names(missing)}"] if missing else []
    if told.is_pull_request and not told.title and tip.policy.fix["unit"] == "range":
        said.append("the pull request's title isn't told here, so it was not judged")
    return said


def _run(job: Job, work: Work, report: Report, options: RunOptions, *, oldest: bool) -> Report:
    limits = options.limits(confirm=True)
    pulse = Pulse()
    with TrialListener(job.tip, len(work.cases) + len(work.records)) as listener:

        def heard(trial: TrialResult) -> None:
            pulse.heard(trial)
            listener(trial)

        with (
            Engine(job.tip, limits, options.budget(), heard, report.run_id) as engine,
            heartbeat(pulse.describe),
        ):
            if oldest:
                engine.limits = limits._replace(in_order=True)
                work = oldest_evidence_first(engine, work)
            cases = engine.run(work.cases)
            # One proof's red is no reason to leave the others.
            engine.limits = engine.limits._replace(fail_fast=False)
            proofs, unknown = _prove(engine, job, work)
            # Last: it decides nothing, and what does has the budget first.
            cases = beside_base(engine, job.start, job.span.start, cases)
    known = {(rule.rule, rule.message) for rule in report.rules}
    broken = broken_by_results(job.tip, cases)
    return report._replace(
        rules=(*report.rules, *(one for one in broken if (one.rule, one.message) not in known)),
        live=engine.is_live(cases),
        cases=tuple(cases),
        regressions=tuple(proofs),
        not_established=(*report.not_established, *unknown),
    )


def _prove(engine: Engine, job: Job, work: Work) -> tuple[Sequence[ProofResult], tuple[str, ...]]:
    """Prove the records; once the time is over not even their broken states are built."""
    if engine.budget.seconds_left <= 0:
        return pending(work.records, "not run: the time was over first"), ()
    with Prover(engine, (job.span.tip,)) as prover:
        return prover.prove(work.records), prover.not_established


def _tell_plan(job: Job, accepted: Accepted, *, untrusted: bool) -> int:
    """Say what would be judged and run, and what that takes."""
    tip = job.tip
    if untrusted:
        out(f"the rules on {count(len(job.commits), 'commit')}, by the base's guard.yaml and code")
        out("planned only: of an untrusted head nothing would be run either")
        return ExitCode.OK
    job, baselines = _by_accepted_baselines(job)
    tip = job.tip
    work = work_of(job.start, tip, everything=job.everything, known=job.span.known)
    out(f"the rules on {count(len(job.commits), 'commit')}, and what needs no run on HEAD's tree")
    with Engine(tip) as engine, Prover(engine, (job.span.tip,)) as prover:
        owed, needed = estimate(engine, work)
        # Asked before it is said what was not accepted: a job asks the same.
        unproven = find_owed(prover, work.records)
    answered = len(work.cases) - len(owed)
    out(f"{count(len(work.cases), 'case')} to judge, {answered} of them answered by receipts")
    if owed:
        price = costs(needed) or "not known yet what it takes"
        out(f"to run: {names([one.case.id for one in owed])} ({price})")
    for line in (*accepted.lines(), *baselines):
        out(line)
    if work.records:
        listed = names([record.id for record in work.records])
        proven = len(work.records) - len(unproven)
        known = f" ({proven} of them answered by receipts)" if proven else ""
        out(f"{count(len(work.records), 'regression')} to prove: {listed}{known}")
    out("planned only: nothing was judged and nothing was run")
    return ExitCode.OK


def _judge_untrusted(job: Job, options: RunOptions) -> int:
    """Judge the head by the base's guard.yaml and code; what would be run is owed."""
    from guard.judging.asked import ask_by_policy
    from guard.judging.policy import Policy

    span, repo = job.span, job.tip.repo
    if not span.base or not span.known:
        raise UsageError("an untrusted head is judged by its base, and there is none", BASE_HINT)
    where = job.told.target or span.base[:SHORT]
    trusted = job.start.at(tree_of(repo, span.base))
    policy = Policy(trusted, where)
    view = policy.judged if trusted.has_config else policy.as_data
    start, tip = view(job.start.tree), view(job.tip.tree)
    report = start_report(tip, "ci", "HEAD", options)
    judged = policy.judge(job.commits)
    title = judge_title(start, tip, job.told, job.commits, known=judged)
    rules = joined((judged, title))
    of_tree = check_tree(tip, everything=False) if trusted.has_config else ()
    served = unserved_agents(policy.as_data(job.tip.tree), by_data=True)
    # By the base's evaluators, in this process: a checker might run a program of the head's.
    asked = ask_by_policy(policy, job.tip.tree, everything=True)
    checks = asked.proof
    work = work_of(start, tip, everything=job.everything)
    cases, proofs = owed_until_started(work)
    report = report._replace(
        rules=(*without_repetition((*of_tree, *served), rules), *checks.violations),
        exempt=rules.exempt,
        notes=(
            *(job.said, f"judged by guard.yaml and the code of {where}"),
            *(*rules.notes, *checks.lines()),
        ),
        not_established=(*checks.unknown, *asked.left),
        exit_code=ExitCode.NOT_ESTABLISHED if asked.left else checks.code,
        cases=cases,
        regressions=proofs,
        commits=len(job.commits),
    )
    return finish_report(tip, report, options, keep=False)
