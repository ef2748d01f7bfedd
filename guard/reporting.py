"""From results to a report: who made it, when, of what; written, and turned into a code."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from guard.commands.options import FORMATS, RunOptions
from guard.errors import GuardError, UsageError
from guard.failures import report_error
from guard.model import Report
from guard.project import Project
from guard.verdict import exit_code


def now() -> str:
    """Return the time, in UTC, as ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def start_report(project: Project, command: str, at: str, options: RunOptions) -> Report:
    """Return a report that names what is under test and holds no result yet."""
    repo = project.repo
    done = repo.run("symbolic-ref", "--quiet", "--short", "HEAD", ok=None)
    return Report(
        command=command,
        run_id=secrets.token_hex(8),
        started=now(),
        sha=repo.resolve("HEAD") or "",
        ref=done.out.decode("utf-8", "replace").strip(),
        tree=project.tree.oid,
        at=at,
        strict=options.strict,
        report_only=options.report_only,
    )


def finish_report(project: Project, report: Report, options: RunOptions) -> int:
    """Tell the plugins, write what was asked for, and return the exit code."""
    report = report._replace(finished=now())
    report = report._replace(exit_code=exit_code(report))
    tell_plugins(project, report)
    _write(project, report, options)
    project.store.put_run(report)
    return report.exit_code


def tell_plugins(project: Project, report: Report) -> None:
    """Call ``guard_run_finished``; what a reporter does wrong is told, and changes nothing."""
    plugins = project.plugins_with("guard_run_finished")
    if plugins is None:
        return
    try:
        plugins.call("guard_run_finished", report=report)
    except GuardError as error:
        report_error(error)


def _write(project: Project, report: Report, options: RunOptions) -> None:
    from guard.reports import write_report

    asked = {name: getattr(options, name) for name in FORMATS}
    files = [(name, path) for name, path in asked.items() if path]
    if not any(path == "-" for _, path in files):
        write_report("text", report, "-")
    for name, path in files:
        write_report(name, report, path)
    _write_with_plugins(project, report, options.report)


def _write_with_plugins(project: Project, report: Report, asked: Sequence[str]) -> None:
    for request in asked:
        name, equals, path = request.partition("=")
        writers = project.plugins.report_writers()
        if not equals or name not in writers:
            known = ", ".join(sorted(writers)) or "none"
            raise UsageError(f"--report {request}: takes NAME=FILE; plugins offer: {known}")
        from guard.output import write_file

        write_file(path, writers[name](report))
