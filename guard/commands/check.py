"""``guard check``: everything that needs no run. No target is started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.change import change_of_trees
from guard.commands.options import RunOptions, add_at_option, add_run_options
from guard.errors import UsageError
from guard.judging.judge import Judgement, cosmetic_count, joined, judge_commit
from guard.judging.ranges import judge_range, own_commits
from guard.judging.unguarded import without_files
from guard.messages.message import clean_message, parse_message
from guard.model import Violation
from guard.output import LOOK
from guard.project import Project
from guard.reporting import finish_report, start_report
from guard.rules.agent_without_case import without_case
from guard.rules.counter_example import accepted_counter_examples
from guard.rules.record_invalid import invalid_records
from guard.rules.unbound_evaluator import unbound_evaluators
from guard.running.expectations import check_expectations
from guard.session import Session
from guard.trials.options import checked_options
from guard.wording.units import count

if TYPE_CHECKING:
    import argparse

HELP = "check everything that needs no run"
#: Listed by the design, owned by a later version.
TO_COME = ("null", "run_checkers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard check``."""
    import argparse

    parser.add_argument("--base", metavar="REV", help="judge the commits since REV by the rules")
    parser.add_argument(
        "--message", metavar="F", help="judge what isn't committed as a commit of this message"
    )
    for name in TO_COME:
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(flag, action="store_true", help=argparse.SUPPRESS)
    add_at_option(parser)
    add_run_options(parser)


def check(
    *,
    base: str | None = None,
    message: str | None = None,
    at: str = "worktree",
    disabled: frozenset[str],
    **values: Any,
) -> int:
    """Check configuration, cases, records and rules; return the exit code."""
    for name in TO_COME:
        if values.pop(name, False):
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"guard check {flag} is not there yet", "guard check --help")
    options = RunOptions.of(values)
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project(at)
        report = start_report(project, "check", at, options)
        rules = check_tree(project, everything=base is None)
        judged = _judge_commits(session, project, base, message)
        counted = cosmetic_count(judged.cosmetic)
        report = report._replace(
            rules=(*rules, *judged.violations),
            notes=(*judged.notes, *counted, *_unguarded(project), _what_was_checked(project)),
            exempt=judged.exempt,
        )
        return finish_report(project, report, options)


def check_tree(project: Project, *, everything: bool) -> tuple[Violation, ...]:
    """Check the tree itself; an agent without a case counts where no base is named."""
    for agent in project.agents.values():
        checked_options(project, agent)
    check_expectations(project, project.cases.values())
    return (
        *(without_case(project) if everything else ()),
        *invalid_records(project),
        *unbound_evaluators(project),
        *accepted_counter_examples(project),
    )


def _judge_commits(
    session: Session, project: Project, base: str | None, message: str | None
) -> Judgement:
    judged: list[Judgement] = []
    if base is not None:
        start = session.repo.resolve(f"{base}^{{commit}}")
        tip = session.repo.resolve("HEAD")
        if start is None:
            raise UsageError(f"--base {base} names no commit", "git log --oneline -5")
        commits = own_commits(session.repo, [tip] if tip else [], [start])
        judged.append(judge_range(session.repo, commits, session.store, session.disabled))
    if message is not None:
        judged.append(_judge_uncommitted(session, project, message))
    return joined(judged)


def _judge_uncommitted(session: Session, project: Project, path: str) -> Judgement:
    try:
        with open(path, "rb") as stream:
            raw = stream.read()
    except OSError as error:
        raise UsageError(f"--message {path}: {error.strerror}") from error
    text = clean_message(raw, mode="strip", comment_char="#", verbose_scissors=True)
    before = session.head_project()
    change = change_of_trees(session.repo, before.tree, project.tree)
    return judge_commit(before, project, change, parse_message(text))


def _unguarded(project: Project) -> list[str]:
    found = without_files(project)
    return [f"{LOOK} no file matches the paths of {', '.join(found)}"] if found else []


def _what_was_checked(project: Project) -> str:
    agents, cases = count(len(project.agents), "agent"), count(len(project.cases), "case")
    return f"{agents}, {cases}, {count(len(project.records), 'record')} checked; nothing was run"
