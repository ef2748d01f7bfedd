"""``guard run``: run cases, several times each, on fresh copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from guard import model
from guard.affected import Selected, affected_cases
from guard.change import change_of_trees
from guard.commands.options import RunOptions, add_at_option, add_run_options
from guard.drift.unchanged import Standing, Suite
from guard.engine import Engine
from guard.errors import UsageError
from guard.model import Case, Violation
from guard.output import shell_path
from guard.project import Project
from guard.proofs.owed import Paid, pay_owed
from guard.reporting import finish_report, start_report
from guard.results import Report
from guard.rules.agent_without_case import without_case
from guard.rules.case_texts import broken_by_results
from guard.running.listener import TrialListener
from guard.running.selection import select_cases
from guard.session import Session

if TYPE_CHECKING:
    import argparse

HELP = "run cases, several times each, on fresh copies"
NOTHING_TESTED = "nothing was tested: what the cases need is not there on this machine"
OPTIONAL_VALUES = {"--affected": "HEAD"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard run``."""
    parser.add_argument(
        "selectors", nargs="*", metavar="SELECTOR", help="id, glob, path, or agent:NAME"
    )
    parser.add_argument(
        "--affected",
        metavar="BASE",
        help="what differs from BASE affects (only as --affected=BASE)",
    )
    parser.add_argument("--owed", action="store_true", help="what has no evidence yet, proofs too")
    add_at_option(parser)
    parser.add_argument("--check-only", metavar="DIR", help="grade DIR; run no target")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument(
        "--if-changed",
        action="store_true",
        help="only where model, program or files aren't those that held, or evidence is too old",
    )
    add_run_options(parser, trials=True)


def run(
    *,
    selectors: Sequence[str] = (),
    affected: str | None = None,
    owed: bool = False,
    at: str = "worktree",
    check_only: str | None = None,
    resume: bool = False,
    if_changed: bool = False,
    disabled: frozenset[str] = frozenset(),
    **values: Any,
) -> int:
    """Run the cases that are asked for; return the exit code of what they established."""
    options = RunOptions.of(values)
    if if_changed and (owed or check_only or affected is not None):
        raise UsageError("--if-changed is about all that is selected: no --owed, --affected, …")
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project(at)
        project.ask_for_offers()
        report = start_report(project, "run", at, options)
        missing = () if selectors or affected or owed or check_only else without_case(project)
        selection = _selection(session, project, selectors, affected)
        if not selection and affected is not None:
            report = report._replace(notes=(f"nothing is affected since {affected}",))
            return finish_report(project, report, options)
        nothing_retained = selectors or not (owed and project.records)
        if not selection and not missing and nothing_retained:
            raise UsageError("there is no case to run", "guard new-case ID --agent AGENT")
        if check_only is not None:
            report = _checked(project, selection, check_only, report)
            return finish_report(project, report, options, keep=False)
        with (
            TrialListener(project, len(selection)) as listener,
            Engine(project, options.limits(), options.budget(), listener, report.run_id) as engine,
        ):
            if if_changed:
                standing = Suite(engine, selection).standing()
                report = report._replace(notes=(standing.line,))
                if standing.cases:
                    return _unchanged(project, report, standing, missing, options)
                engine.answers.anew = standing.anew
            cases = [s.case for s in selection]
            if owed:
                selection = [s for s in selection if engine.is_owed(s.case)]
            # What is owed was mostly begun before: paying goes on where it was stopped.
            results = engine.run(selection, resume=resume or owed)
            report = report._replace(live=engine.is_live(results))
            if owed:
                report = _with_proofs(report, pay_owed(engine, at, cases), nothing=not results)
        if results and all(one.verdict in (model.SKIP, model.BLOCKED) for one in results):
            report = report._replace(notes=(*report.notes, NOTHING_TESTED))
        rules = (*missing, *broken_by_results(project, results))
        report = report._replace(cases=tuple(results), rules=rules)
        return finish_report(project, report, options)


def _with_proofs(report: Report, paid: Paid, *, nothing: bool) -> Report:
    return report._replace(
        nothing_owed=nothing and not paid.proofs and not paid.not_established,
        regressions=paid.proofs,
        not_established=(*report.not_established, *paid.not_established),
    )


def _unchanged(
    project: Project,
    report: Report,
    standing: Standing,
    missing: Sequence[Violation],
    options: RunOptions,
) -> int:
    """Say in one line what is unchanged since when; what else is asked for still counts."""
    rules = (*missing, *broken_by_results(project, standing.cases))
    report = report._replace(cases=standing.cases, rules=rules)
    text = "" if rules else standing.line
    return finish_report(project, report, options, text, keep=False)


def _checked(
    project: Project, selection: Sequence[Selected], folder: str, report: Report
) -> Report:
    from guard.running.check_only import check_only

    results = check_only(project, [chosen.case for chosen in selection], folder, report.run_id)
    said = f"graded {folder} as it is; no target was run"
    return report._replace(cases=tuple(results), notes=(said,))


def _named(session: Session, project: Project, selectors: Sequence[str]) -> list[Case]:
    """Return the cases named beside --affected; a revision there was meant as its value."""
    try:
        return select_cases(project, selectors)
    except UsageError as error:
        for word in selectors:
            if error.message.startswith(f"{word} ") and session.repo.resolve(f"{word}^{{commit}}"):
                error.hint = f"guard run --affected={shell_path(word)}"
        raise


def _selection(
    session: Session, project: Project, selectors: Sequence[str], affected: str | None
) -> list[Selected]:
    if affected is None:
        return [Selected(case) for case in select_cases(project, selectors)]
    cases = _named(session, project, selectors)
    base = session.base_project(affected)
    change = change_of_trees(session.repo, base.tree, project.tree)
    chosen = {case.id for case in cases}
    found = affected_cases(project, base, change, session.store.last_verdicts())
    return [selected for selected in found if selected.case.id in chosen]
