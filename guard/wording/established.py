"""The last line of every report: what was established and what was not, in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from guard import model
from guard.errors import ExitCode
from guard.model import Violation
from guard.results import CaseResult, ProofResult, Report
from guard.verdict import case_code, exit_code, plain_code, proof_code, rule_code
from guard.wording.units import count

#: Case verdicts of which it is known that they hold.
HOLDING: Final = (model.PASS, model.XFAIL)
#: Verdicts of trials that ran, and of which nothing is known.
RAN: Final = (model.BLOCKED, model.UNGRADED, model.TAINTED)
#: Names that one part of the sentence lists before it only counts.
NAMED: Final = 3


def established(report: Report) -> str:
    """Say what was established and what was not; never that something unknown holds."""
    holds = _holding(report)
    broken = _broken(report)
    unknown = _unknown(report)
    if not (holds or broken or unknown):
        return _say_nothing(report)
    known = [", ".join(holds), f"broken: {', '.join(broken)}" if broken else ""]
    parts = [part for part in known if part]
    if report.command == "ci" and not (report.cases or report.regressions):
        parts.append("nothing is affected, so nothing is claimed of what an agent does")
    if unknown:
        parts.append(f"not established: {', '.join(unknown)}")
    if report.cases and not any(_was_tested(case) for case in report.cases):
        parts[:0] = [] if report.regressions else [_say_untested(report.cases)]
    return "; ".join([*parts, *_reservations(report)])


def _say_nothing(report: Report) -> str:
    nothing = "nothing was asked of any case, so nothing is claimed"
    if report.nothing_owed:
        nothing = "nothing is owed"
    elif report.command == "check":
        nothing = "what can be told without a run holds; nothing is claimed of what an agent does"
    elif report.command == "ci":
        nothing = "nothing is affected, so nothing is claimed of what an agent does"
    said = "; ".join([nothing, *_reservations(report)])
    code = plain_code(report)
    return said if code == ExitCode.OK else f"{said}; the command itself did not hold ({code})"


def _was_tested(case: CaseResult) -> bool:
    return case.graded_count > 0 or bool(case.reused) or case.verdict == model.ERROR


def _say_untested(cases: Sequence[CaseResult]) -> str:
    ran = sum(any(trial.verdict in RAN for trial in case.trials) for case in cases)
    what = "graded" if ran else "tested"
    return f"nothing was {what}: {ran} of {count(len(cases), 'case')} ran"


def _holding(report: Report) -> list[str]:
    told: list[str] = []
    if report.commits and not any(_is_broken(rule, report) for rule in report.rules):
        told.append(f"the rules hold on {count(report.commits, 'commit')}")
    holding = [case for case in report.cases if case.verdict in HOLDING]
    if holding:
        passed, trials = sum(c.passed for c in holding), sum(c.graded_count for c in holding)
        share = f"{len(holding)} of {count(len(report.cases), 'case')}"
        verb = "holds" if len(report.cases) == 1 else "hold"
        told.append(f"{share} {verb} ({passed} of {count(trials, 'trial')} passed)")
    proven = [proof for proof in report.regressions if proof.verdict == model.PROVEN]
    if proven:
        told.append(f"{len(proven)} of {count(len(report.regressions), 'regression')} proven")
    return told


def _broken(report: Report) -> list[str]:
    cases = [case for case in report.cases if case_code(case) == ExitCode.REGRESSION]
    proofs = [proof for proof in report.regressions if proof_code(proof) == ExitCode.REGRESSION]
    rules = [rule.rule for rule in report.rules if _is_broken(rule, report)]
    return [
        *_name("case", [case.case for case in cases], cases),
        *_name("regression", [proof.id for proof in proofs], proofs),
        *([f"{count(len(rules), 'rule finding')} ({_list(sorted(set(rules)))})"] if rules else []),
    ]


def _is_broken(rule: Violation, report: Report) -> bool:
    return rule_code(rule, strict=report.strict) == ExitCode.REGRESSION


def _unknown(report: Report) -> list[str]:
    cases = [
        case
        for case in report.cases
        if case.verdict not in HOLDING and case_code(case) != ExitCode.REGRESSION
    ]
    proofs = [
        proof
        for proof in report.regressions
        if proof.verdict not in (model.PROVEN, model.RETIRED)
        and proof_code(proof) != ExitCode.REGRESSION
    ]
    return [
        *_name("case", [case.case for case in cases], cases),
        *_name("regression", [proof.id for proof in proofs], proofs),
    ]


def _name(
    noun: str, names: Sequence[str], results: Iterable[CaseResult | ProofResult]
) -> list[str]:
    verdicts = Counter(result.verdict for result in results)
    if not verdicts:
        return []
    if len(names) <= NAMED:
        return [f"{_list(names)} ({', '.join(verdicts)})"]
    split = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    return [f"{count(len(names), noun)} ({split})"]


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"


def _reservations(report: Report) -> list[str]:
    said: list[str] = []
    if not report.live and report.cases:
        said.append(
            "the model's endpoint was not the provider's own, so nothing about the real one"
        )
    if any(case.verdict == model.SKIP for case in report.cases) and exit_code(report) == 0:
        said.append("skipped is not passed: --strict ends in 3")
    if report.report_only and plain_code(report) in (
        ExitCode.REGRESSION,
        ExitCode.NOT_ESTABLISHED,
    ):
        said.append(f"--report-only: exit 0 instead of {plain_code(report)}")
    return said
