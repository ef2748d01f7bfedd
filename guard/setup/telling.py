"""What ``guard init`` says: what it found, what the rule would have done, what comes next."""

from __future__ import annotations

from collections.abc import Sequence

from guard import config as config_file
from guard.doctor.hooks import check_hooks
from guard.git import Repo
from guard.output import BROKEN, LOOK, UNKNOWN, out, path_from_here, printable, shell_path
from guard.project import Project
from guard.rules.agent_without_case import without_case
from guard.rules.enforcement import deadline
from guard.setup import workflow
from guard.setup.managers import framework_program, other_manager, uses_framework
from guard.setup.new_config import judges_ranges
from guard.setup.remotes import find_remote
from guard.setup.replay import Replay
from guard.setup.survey import Survey
from guard.wording.units import count

#: Layouts and names that one line shows.
SHOWN = 3


def tell_survey(project: Project, survey: Survey) -> None:
    """Say what was found, and what the fix rule would have done."""
    if project.has_config:
        agents, cases = count(len(project.agents), "agent"), count(len(project.cases), "case")
        out(f"guard.yaml is there and stays as it is: {agents}, {cases}")
    else:
        out(_skills_line(survey))
        for line in _case_lines(survey):
            out(line)
    noun = "agent" if project.has_config else "skill"
    for line in _replay_lines(survey.replay, noun):
        out(line)


def _skills_line(survey: Survey) -> str:
    layouts = dict.fromkeys(entry.layout.glob for entry in survey.declared)
    line = f"found {count(survey.skills, 'skill')} ({printable(_some(list(layouts)))})"
    cases = [fields for place in survey.places for fields in place.found]
    return f"{line}, {count(len(cases), 'case')}" if cases else f"{line}, no case yet"


def _case_lines(survey: Survey) -> list[str]:
    lines: list[str] = []
    cases = [fields for place in survey.places for fields in place.found]
    prose = sum(not fields.get("expected") for fields in cases)
    if prose:
        verb = "says" if prose == 1 else "say"
        lines.append(
            f"{UNKNOWN} {prose} {verb} only in prose what they expect: "
            "UNGRADED, they can't fail yet"
        )
    unread = [glob for place in survey.places for glob in place.depends]
    if unread:
        lines.append(
            f"{LOOK} {printable(_some(unread))}: guard can't read these as cases yet; "
            "they are listed under `depends`"
        )
    if survey.left_out:
        left_out = count(survey.left_out, "skill")
        lines.append(f"{LOOK} {left_out} left out: vendored, a fixture, or an odd name")
    return lines


def _replay_lines(replay: Replay, noun: str) -> list[str]:
    if not replay.commits:
        return ["no commit yet, so no history to learn from"]
    article = "an" if noun == "agent" else "a"
    line = f"your last {count(replay.commits, 'commit')}: "
    if not replay.fixes:
        return [line + f"no fix touched {article} {noun}", *_squash_lines(replay)]
    line += f"{count(replay.fixes, 'fix', 'fixes')} touched {article} {noun}; "
    line += f"{replay.cosmetic} cosmetic, {replay.asked} would have been asked for a case"
    return [line, *_squash_lines(replay)]


def _squash_lines(replay: Replay) -> list[str]:
    if not judges_ranges(replay):
        return []
    share = 100 * replay.squashed // replay.commits
    return [f"{share} % are squash merges: fix.unit is `range`"]


def tell_mode(project: Project) -> None:
    """Say whether the fix rule blocks, or until when it only warns."""
    until = deadline(project.config, "fix-needs-case")
    out(f"mode: warn until {until}, then block" if until else "mode: block")


def tell_next(project: Project, written: Sequence[str]) -> None:
    """Say what to do next, in commands that can be pasted."""
    steps: list[str] = []
    if config_file.FILE in written:
        place = path_from_here(project.repo.root, config_file.FILE)
        steps.append(f"edit {place}     (say how the agent is run: `target`)")
    if written:
        paths = [path_from_here(project.repo.root, path) for path in written]
        steps.append(f"git add {' '.join(paths)}")
    if any(found.mark == BROKEN for found in check_hooks(project.repo)):
        steps += _install_steps(project.repo)
    missing = without_case(project)
    if missing:
        steps.append(f"guard new-case ID --agent {shell_path(missing[0].agent)}")
    if _could_have_workflow(project):
        steps.append("guard init --ci github    # pull requests are judged too")
    steps.append("guard doctor, guard demo (30 s, offline)")
    for position, step in enumerate(steps):
        out(f"{'      ' if position else 'next: '}{step}")


def _could_have_workflow(project: Project) -> bool:
    is_there = project.tree.get(workflow.FILE.encode()) is not None
    return not is_there and find_remote(project.repo).host == "github.com"


def _install_steps(repo: Repo) -> list[str]:
    manager = other_manager(repo.root)
    if manager:
        return [f"guard install    # beside {manager}, whose hooks are called first"]
    program = framework_program()
    if program and uses_framework(repo):
        beside = "guard install    # beside it: the framework shows guard one ref of a push"
        return [f"{program} install", beside]
    program = program or "pip install pre-commit, pre-commit"
    return [f"guard install    # or, with the framework: {program} install"]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
