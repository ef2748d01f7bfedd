"""From results to a report: who made it, when, of what; written, and turned into a code."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from guard.commands.options import RunOptions
from guard.drift.noting import with_drift
from guard.errors import GuardError, UsageError, worst
from guard.failures import report_error
from guard.plugin.blame import blamed_on
from guard.plugin.reports import probe_of
from guard.project import Project
from guard.results import Report
from guard.trials.filters import BY_FILTER
from guard.verdict import exit_code
from guard.workspace import is_fallback


def now() -> str:
    """Return the time, in UTC, as ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def start_report(project: Project, command: str, at: str, options: RunOptions) -> Report:
    """Return a report that names what is under test and holds no result yet."""
    _check_reports(project, options)
    repo = project.repo
    done = repo.run("symbolic-ref", "--quiet", "--short", "HEAD", ok=None)
    return Report(
        command=command,
        run_id=os.urandom(8).hex(),
        started=now(),
        sha=repo.resolve("HEAD") or "",
        ref=done.out.decode("utf-8", "replace").strip(),
        tree=project.tree.oid,
        at=at,
        strict=options.strict,
        report_only=options.report_only,
    )


def finish_report(
    project: Project, report: Report, options: RunOptions, text: str = "", *, keep: bool = True
) -> int:
    """Tell the plugins, write what was asked for, and return the exit code.

    ``text`` is a command's own report for people, in place of the usual one; ``keep``: whether
    its verdicts count as the last ones of the cases.
    """
    told = _isolation(report)
    unknown = (
        *report.not_established,
        *(p for p in told if "not controlled" in p or BY_FILTER in p),
    )
    report = report._replace(notes=(*report.notes, *filter(is_fallback, told)))
    report = with_drift(report, project.store)
    report = report._replace(finished=now(), not_established=unknown)
    report = report._replace(exit_code=exit_code(report))
    tell_plugins(project, report)
    codes = _write(project, report, options, text)
    if keep:
        project.store.put_run(report)
    return worst(report.exit_code, *codes)


def _isolation(report: Report) -> list[str]:
    """Return how trials were kept apart, and what of this machine they were made of."""
    halves = [
        half for proof in report.regressions for half in (proof.before_result, proof.after_result)
    ]
    cases = [*report.cases, *(half for half in halves if half)]
    return sorted({p for c in cases for trial in c.trials for p in trial.isolation.split(" + ")})


def tell_plugins(project: Project, report: Report) -> None:
    """Call ``guard_run_finished``; what a reporter does wrong is told, and changes nothing."""
    plugins = project.plugins_with("guard_run_finished")
    if plugins is None:
        return
    for error in plugins.tell("guard_run_finished", set(), report=report):
        report_error(error)


def _write(project: Project, report: Report, options: RunOptions, text: str) -> list[int]:
    """Write all that was asked for; return the exit codes of what a plugin could not write."""
    from guard.output import LOOK, out, printable, write_file
    from guard.reports import write_report

    files = options.files()
    if not any(path == "-" for _, path in files):
        if text:
            out("\n".join((*(f"{LOOK} drift: {printable(d)}" for d in report.drift), text)))
        else:
            write_report("text", report, "-")
    theirs = options.plugin_reports()
    for name, path in files[: len(files) - len(theirs)]:
        write_report(name, report, path)
    codes: list[int] = []
    for name, path in theirs:
        try:
            with blamed_on(f"--report {name}: its writer"):
                written = project.plugins.report_writers()[name](report)
            write_file(path, written)
        except GuardError as error:
            report_error(error)
            codes.append(error.exit_code)
    return codes


def _check_reports(project: Project, options: RunOptions) -> None:
    """Refuse a report that nothing writes, or can deliver, before anything is run for it."""
    for name, _ in options.plugin_reports():
        writers = project.plugins.report_writers()
        if name not in writers:
            known = ", ".join(sorted(writers)) or "none"
            raise UsageError(f"--report {name}: no plugin writes it (there are: {known})")
        probe = probe_of(writers[name])
        if probe is not None:
            with blamed_on(f"--report {name}: its probe"):
                probe()
