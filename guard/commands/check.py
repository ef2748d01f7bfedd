"""``guard check``: everything that needs no run. No target is started."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from guard.change import change_of_trees
from guard.ci.guarded import is_guarded
from guard.ci.named import find_base
from guard.commands.options import RunOptions, add_at_option, add_run_options
from guard.errors import ExitCode, UsageError
from guard.judging.judge import Judgement, cosmetic_count, joined, judge_commit
from guard.judging.led_away import all_links
from guard.judging.merges import tree_of
from guard.judging.ranges import judge_range, own_commits
from guard.judging.unguarded import without_files
from guard.messages.message import clean_message, parse_message
from guard.model import Violation
from guard.output import LOOK
from guard.project import Project
from guard.proofs.graders import OUTDATED
from guard.reporting import finish_report, start_report
from guard.rules.agent_without_case import without_case
from guard.rules.anti_slop import WORDING, NullControl, null_control, wording_cases
from guard.rules.case_texts import known_broken_texts
from guard.rules.case_without_expectation import without_expectation
from guard.rules.counter_example import accepted_counter_examples
from guard.rules.grader_proof import GraderProof, any_checker, no_checker, prove_graders
from guard.rules.record_invalid import invalid_records
from guard.rules.unbound_evaluator import unbound_evaluators
from guard.rules.unread_keys import remarks_of, unread_keys
from guard.rules.unserved_agent import unserved_agents
from guard.rules.unwritten_prose import notes_of
from guard.running.expectations import check_expectations
from guard.running.real_agents import refuse_unreal
from guard.session import Session
from guard.trials.options import checked_options
from guard.wording.units import count

if TYPE_CHECKING:
    import argparse

HELP = "check everything that needs no run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard check``."""
    parser.add_argument("--base", metavar="REV", help="judge the commits since REV by the rules")
    parser.add_argument(
        "--message", metavar="F", help="judge what isn't committed as a commit of this message"
    )
    parser.add_argument(
        "--null", action="store_true", help="name the cases that an agent passes which does nothing"
    )
    parser.add_argument(
        "--run-checkers", action="store_true", help="start the checkers of `command`, too"
    )
    add_at_option(parser)
    add_run_options(parser)


def check(
    *,
    base: str | None = None,
    message: str | None = None,
    null: bool = False,
    run_checkers: bool = False,
    at: str = "worktree",
    disabled: frozenset[str],
    **values: Any,
) -> int:
    """Check configuration, cases, records and rules; return the exit code."""
    options = RunOptions.of(values)
    with Session.open(disabled=disabled) as session:
        start = None if base is None else find_base(session.repo, base)
        project = _project(session, at, start)
        report = start_report(project, "check", at, options)
        judged = _judge_commits(session, project, start, message)
        rules: tuple[Violation, ...] = ()
        proof, control = GraderProof(), NullControl()
        if project.has_config:
            rules = (
                *check_tree(project, everything=base is None, run_checkers=run_checkers),
                *check_production(project),
                *without_expectation(project, _tree_of(session, start)),
            )
            may_run = any_checker if run_checkers else no_checker
            proof = prove_graders(project, may_run)
            control = null_control(project, may_run) if null else control
        counted = cosmetic_count(judged.cosmetic)
        report = report._replace(
            rules=(*rules, *proof.violations, *control.findings, *judged.violations),
            notes=(
                *judged.notes,
                *counted,
                *_unguarded(project),
                *(f"{LOOK} {note}" for note in notes_of(project.cases.values())),
                *(f"{LOOK} {note}" for note in remarks_of(project.cases.values())),
                *proof.lines(by_hand=True),
                *control.notes,
                _what_was_checked(project, programs=run_checkers),
            ),
            exempt=judged.exempt,
            not_established=(*proof.unknown, *unread_keys(project.cases.values())),
            exit_code=_code(proof, control if null else None, rules, strict=report.strict),
        )
        return finish_report(project, report, options)


def check_tree(
    project: Project, *, everything: bool, run_checkers: bool = False
) -> tuple[Violation, ...]:
    """Check the tree itself; an agent without a case counts where no base is named."""
    for agent in project.agents.values():
        checked_options(project, agent)
    check_expectations(project, project.cases.values())
    return (
        *(without_case(project) if everything else ()),
        *invalid_records(project),
        *unbound_evaluators(project),
        *known_broken_texts(project, project.cases.values()),
        *accepted_counter_examples(project, run_checkers=run_checkers),
        *wording_cases(project),
    )


def check_production(project: Project) -> list[Violation]:
    """Check that all that production serves is graded, and would be what is run."""
    refuse_unreal(project, project.agents.values())
    return unserved_agents(project)


def _code(
    proof: GraderProof, control: NullControl | None, rules: Iterable[Violation], *, strict: bool
) -> int:
    """Return 3 where it isn't known of a check that it can fail; of a case if ``strict``."""
    unknown = bool(proof.unknown) or (strict and bool(proof.that(OUTDATED)))
    if strict and control is not None:
        unknown |= bool(control.findings) or control.unknown
        unknown |= any(rule.rule == WORDING for rule in rules)
    return ExitCode.NOT_ESTABLISHED if unknown else ExitCode.OK


def _tree_of(session: Session, start: str | None) -> Project | None:
    """Return what the commits since ``start`` are compared with; None where none is named."""
    return None if start is None else session.project_of(tree_of(session.repo, start))


def _project(session: Session, at: str, start: str | None) -> Project:
    """Return what is checked; it may have no guard.yaml where commits since ``start`` took it."""
    project = session.project(at)
    if project.has_config or (start is not None and _was_guarded(session, start)):
        return project
    return session.guarded_project(at)


def _was_guarded(session: Session, start: str) -> bool:
    """Tell whether guard.yaml was taken away by a commit, and not just on disk."""
    tip = session.repo.resolve("HEAD") or start
    before, head = (session.project_of(tree_of(session.repo, it)) for it in (start, tip))
    return not head.has_config and is_guarded(before, head, tip, [start])


def _judge_commits(
    session: Session, project: Project, start: str | None, message: str | None
) -> Judgement:
    judged: list[Judgement] = []
    if start is not None:
        tip = session.repo.resolve("HEAD")
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
    lacking = [f"{LOOK} no file matches the paths of {', '.join(found)}"] if found else []
    return [*lacking, *(f"{LOOK} {said}" for said in all_links(project))]


def _what_was_checked(project: Project, *, programs: bool) -> str:
    agents, cases = count(len(project.agents), "agent"), count(len(project.cases), "case")
    run = "checkers were run, no agent" if programs else "nothing was run"
    return f"{agents}, {cases}, {count(len(project.records), 'record')} checked; {run}"
