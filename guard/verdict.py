"""From graded trials to a case's verdict, and from all verdicts to an exit code.

The order and the codes are those of docs/verdicts.md; a report is judged from its contents
alone, so that every command and every hook ends in the same code for the same facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from guard import model
from guard.errors import ExitCode, worst
from guard.model import Case, Policy, Violation
from guard.results import CaseResult, ProofResult, Report, Side, TrialResult
from guard.running.gates import decide_policy, planned_trials, trials_to_decision
from guard.trials.baseline import found_passing
from guard.wording.reasons import group_reasons, trial_reason
from guard.wording.units import count

#: Trials that count towards the rate.
GRADED: Final = (model.PASS, model.FAIL, model.XFAIL)
#: What one trial alone makes of the case, the stronger first.
DECIDED_BY_ONE_TRIAL: Final = (
    model.ERROR,
    model.UNGRADED,
    model.BLOCKED,
    model.SKIP,
    model.STALE,
)
#: Case verdicts and their exit codes. NOT_TESTED: asked for, never started, so not established.
CASE_CODES: Final[Mapping[str, ExitCode]] = {
    model.PASS: ExitCode.OK,
    model.XFAIL: ExitCode.OK,
    model.FAIL: ExitCode.REGRESSION,
    model.XPASS: ExitCode.REGRESSION,
    model.ERROR: ExitCode.NOT_ESTABLISHED,
    model.TAINTED: ExitCode.NOT_ESTABLISHED,
    model.UNGRADED: ExitCode.NOT_ESTABLISHED,
    model.INCONCLUSIVE: ExitCode.NOT_ESTABLISHED,
    model.NOT_TESTED: ExitCode.NOT_ESTABLISHED,
    model.SKIP: ExitCode.OK,
    model.BLOCKED: ExitCode.OK,
    model.STALE: ExitCode.OK,
    model.OWED: ExitCode.OK,
}
#: Case verdicts that only --strict turns into "could not be established".
STRICT_CASES: Final = (model.SKIP, model.BLOCKED, model.STALE, model.OWED)
PROOF_CODES: Final[Mapping[str, ExitCode]] = {
    model.PROVEN: ExitCode.OK,
    model.RETIRED: ExitCode.OK,
    model.PENDING: ExitCode.OK,
    model.SKIP: ExitCode.OK,
    model.VACUOUS: ExitCode.REGRESSION,
    model.WRONG_REASON: ExitCode.REGRESSION,
    model.BROKEN_NOW: ExitCode.REGRESSION,
    model.DEGENERATE: ExitCode.REGRESSION,
    model.UNPROTECTED: ExitCode.REGRESSION,
    model.INCONCLUSIVE: ExitCode.NOT_ESTABLISHED,
    model.STALE: ExitCode.NOT_ESTABLISHED,
    model.BLOCKED: ExitCode.NOT_ESTABLISHED,
}
STRICT_PROOFS: Final = (model.PENDING, model.SKIP)
#: Warnings that --strict turns into a broken rule.
STRICT_RULES: Final = ("near-miss-header",)


class Judgement(NamedTuple):
    """A verdict, and why in words."""

    verdict: str
    reason: str = ""


def judge_case(
    case: Case,
    trials: Sequence[TrialResult],
    policy: Policy,
    *,
    deterministic: bool = False,
    owed: bool = False,
) -> Judgement:
    """Judge one case over its trials, given in any order.

    ``owed``: a budget ended before the policy was satisfied.
    """
    ordered = sort_trials(trials, deterministic=deterministic)
    tainted = _first(ordered, model.TAINTED)
    if tainted:
        return tainted
    outcomes = outcomes_of(ordered)
    decision = decide_policy(policy, outcomes, deterministic=deterministic)
    if decision == model.FAIL:
        return Judgement(model.FAIL, _describe_failures(ordered))
    for verdict in DECIDED_BY_ONE_TRIAL:
        if found := _first(ordered, verdict):
            return found
    if decision == model.PASS:
        return _judge_passing(case, ordered)
    if decision is None:
        return _judge_unfinished(ordered, policy, deterministic=deterministic, owed=owed)
    return Judgement(model.INCONCLUSIVE, _describe_undecided(outcomes, policy))


def sort_trials(
    trials: Sequence[TrialResult],
    *,
    deterministic: bool = False,
    earlier: Mapping[str, str] = {},
) -> tuple[TrialResult, ...]:
    """Order trials by number; the later of two with the same response id becomes an ERROR.

    An id may stand several times in one trial: clients log one response in pieces. Equal answers
    of a deterministic target are what it promises. ``earlier``: see `responses_of`.
    """
    ordered = sorted(trials, key=lambda trial: trial.number)
    return tuple(ordered) if deterministic else _void_repeated(ordered, earlier)


def responses_of(trials: Sequence[TrialResult], when: str = "") -> dict[str, str]:
    """Return response id → the trial that got it first, in words; ``when`` tells of which run."""
    found: dict[str, str] = {}
    for trial in trials:
        for response in trial.observation.response_ids:
            found.setdefault(response, f"trial {trial.number}{when}")
    return found


def _void_repeated(
    ordered: Sequence[TrialResult], earlier: Mapping[str, str]
) -> tuple[TrialResult, ...]:
    seen = dict(earlier)
    kept: list[TrialResult] = []
    for trial in ordered:
        again = [i for i in trial.observation.response_ids if i in seen]
        for response, where in responses_of([trial]).items():
            seen.setdefault(response, where)
        if again and trial.verdict in GRADED:
            reason = f"the same response id as in {seen[again[0]]}: a cache answered"
            trial = trial._replace(verdict=model.ERROR, reason=f"{reason} ({again[0]})")
        kept.append(trial)
    return tuple(kept)


def shared_response(first: Sequence[TrialResult], second: Sequence[TrialResult]) -> str:
    """Return a response id that trials on two different trees have both; empty where none."""
    known = responses_of(first)
    return next((i for i in responses_of(second) if i in known), "")


def outcomes_of(trials: Sequence[TrialResult]) -> list[bool]:
    """Return whether each graded trial passed; an excused failure counts as a pass."""
    return [trial.verdict != model.FAIL for trial in trials if trial.verdict in GRADED]


def next_trials(
    policy: Policy, outcomes: Sequence[bool], *, deterministic: bool = False, jobs: int = 1
) -> int:
    """Return how many trials to start now, at most ``jobs``; 0 once it is decided.

    All that are left of fixed trials, which are planned from the start. Of a gate only those that
    it needs whatever the others give: none is paid for and then ignored.
    """

    def undecided(seen: Sequence[bool]) -> bool:
        return decide_policy(policy, seen, deterministic=deterministic) is None

    if not undecided(outcomes):
        return 0
    left = planned_trials(policy, deterministic=deterministic) - len(outcomes)
    if policy.gate is None and policy.trials is not None:
        return min(jobs, left)
    return min(jobs, trials_to_decision(undecided, outcomes, left))


def confirm(first: CaseResult, second: CaseResult) -> CaseResult:
    """Join a FAIL by a gate with a second, fresh gate: it stands only if both fail.

    A second gate that decided nothing confirms nothing, so the FAIL is INCONCLUSIVE then too.
    """
    repeated = Side(second.passed, second.graded_count)
    joined = first._replace(
        repeated=repeated,
        seconds=first.seconds + second.seconds,
        cost_usd=_add(first.cost_usd, second.cost_usd),
    )
    if second.verdict == model.TAINTED:
        return joined._replace(verdict=model.TAINTED, reason=second.reason)
    if second.verdict == model.FAIL:
        return joined._replace(confirmed=True)
    again = f"{repeated.passed} of {repeated.trials} passed when repeated ({second.verdict})"
    return joined._replace(
        verdict=model.INCONCLUSIVE,
        reason=f"{first.passed} of {first.graded_count} passed, then {again}",
    )


def _add(first: float | None, second: float | None) -> float | None:
    return None if first is None and second is None else (first or 0.0) + (second or 0.0)


def _first(ordered: Sequence[TrialResult], verdict: str) -> Judgement | None:
    found = [trial for trial in ordered if trial.verdict == verdict]
    if not found:
        return None
    reason = trial_reason(found[0])
    return Judgement(verdict, f"{reason} (trial {found[0].number})" if reason else "")


def _describe_failures(ordered: Sequence[TrialResult]) -> str:
    outcomes = outcomes_of(ordered)
    groups = group_reasons(trial for trial in ordered if trial.verdict == model.FAIL)
    told = "; ".join(group.reason for group in groups[:3])
    return f"{sum(outcomes)} of {len(outcomes)} passed; {told}"


def _describe_undecided(outcomes: Sequence[bool], policy: Policy) -> str:
    said = f"{sum(outcomes)} of {count(len(outcomes), 'trial')} passed"
    if policy.gate is None and policy.trials is None and len(outcomes) == 2:
        return f"{said}: the target is declared deterministic, and its trials disagree"
    return f"{said}: not enough to tell a good rate from a bad one"


def _judge_unfinished(
    ordered: Sequence[TrialResult], policy: Policy, *, deterministic: bool, owed: bool
) -> Judgement:
    done, outcomes = len(ordered), outcomes_of(ordered)
    most = planned_trials(policy, deterministic=deterministic)
    if owed:
        stopped = f"a budget ended after {done} of at most {count(most, 'trial')}"
        return Judgement(model.OWED, stopped if done else "not started")
    if not done:
        return Judgement(model.NOT_TESTED, "nothing of it was started")
    passed = f"{sum(outcomes)} of {len(outcomes)} passed"
    return Judgement(model.INCONCLUSIVE, f"stopped early: {passed}, at most {most} were planned")


def _judge_passing(case: Case, ordered: Sequence[TrialResult]) -> Judgement:
    graded = [trial for trial in ordered if trial.verdict in GRADED]
    passing = [_keys_found_passing(case, trial) for trial in graded]
    if passing and all(passing):
        return Judgement(model.XPASS, _describe_fixed(passing))
    excused = [trial for trial in graded if trial.verdict == model.XFAIL]
    if excused:
        told = ", ".join(sorted({key for trial in excused for key in trial.excused}))
        return Judgement(
            model.XFAIL, f"{count(len(excused), 'trial')} failed on {told}, as expected"
        )
    return Judgement(model.PASS)


def _keys_found_passing(case: Case, trial: TrialResult) -> frozenset[str]:
    scores = ((score.key, score.value) for score in trial.scores)
    return found_passing(case.expected_baseline, scores, trial.observation.facts)


def _describe_fixed(passing: Sequence[frozenset[str]]) -> str:
    always = passing[0].intersection(*passing)
    told = ", ".join(sorted(always or passing[0].union(*passing)))
    some = "" if always else "one of "
    return f"{some}{told} passed in every trial: the recorded defect seems fixed, so take it out"


def case_code(result: CaseResult, *, strict: bool = False) -> ExitCode:
    """Return the exit code that one case asks for."""
    if result.advisory and result.verdict == model.UNGRADED:
        return ExitCode.OK
    if strict and result.verdict in STRICT_CASES:
        return ExitCode.NOT_ESTABLISHED
    return CASE_CODES.get(result.verdict, ExitCode.NOT_ESTABLISHED)


def proof_code(result: ProofResult, *, strict: bool = False) -> ExitCode:
    """Return the exit code that one proof asks for."""
    if strict and result.verdict in STRICT_PROOFS:
        return ExitCode.NOT_ESTABLISHED
    return PROOF_CODES.get(result.verdict, ExitCode.NOT_ESTABLISHED)


def rule_code(violation: Violation, *, strict: bool = False) -> ExitCode:
    """Return the exit code that one finding of a rule asks for."""
    if violation.warning and not (strict and violation.rule in STRICT_RULES):
        return ExitCode.OK
    return ExitCode.REGRESSION


def plain_code(report: Report) -> int:
    """Return what the report amounts to, before ``--report-only`` has its say.

    A code that the report carries already (usage, a bug, an interrupt, a manifest that isn't
    READY) takes part.
    """
    return worst(
        report.exit_code,
        *(case_code(case, strict=report.strict) for case in report.cases),
        *(proof_code(proof, strict=report.strict) for proof in report.regressions),
        *(rule_code(rule, strict=report.strict) for rule in report.rules),
    )


def established_code(report: Report) -> int:
    """Return what the report amounts to where nothing but what is known may count as holding.

    So that what was skipped is no pass in its one word, whatever the command ends in.
    """
    code = plain_code(report)
    if code != ExitCode.OK:
        return code
    cases = (case_code(case, strict=True) for case in report.cases)
    return worst(*cases, *(proof_code(proof, strict=True) for proof in report.regressions))


def exit_code(report: Report) -> int:
    """Return the code that the command ends in."""
    code = plain_code(report)
    if report.report_only and code in (ExitCode.REGRESSION, ExitCode.NOT_ESTABLISHED):
        return ExitCode.OK
    return code
