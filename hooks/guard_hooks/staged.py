"""Judge what is staged once it may affect a case: by the rules, then by the cases it affects.

Rules and selection read the index in place, as commit-msg does; the engine is only loaded, and a
snapshot only taken, where a case is to be run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from guard.affected import Selected, affected_cases, readable_before
from guard.change import Change, change_of_trees
from guard.errors import ExitCode
from guard.git import text_of
from guard.hookruns.judged_index import refuse_moved_index, refuse_other_index
from guard.messages.message import parse_message
from guard.model import Violation
from guard.output import say, warn
from guard.project import Project
from guard.rules import agent_without_case, record_invalid, unserved_agent
from guard.rules.commit import JudgedCommit
from guard.tree import Tree
from guard.wording.units import count, names
from guard_hooks.pre_commit import Staged

NO_MESSAGE = parse_message("")


def judge_staged(staged: Staged) -> int:
    """Judge what is staged; return the exit code."""
    has_commit_msg = begin_commit_msg(staged)
    new = staged.new if is_readable_in_place(staged) else with_tree(staged.new, snapshot_of(staged))
    base = readable_before(staged.base)
    change = staged.change._replace(base=base.tree, new=new.tree)
    broken = broken_rules(base, new, change)
    if not has_commit_msg():
        warn("! there is no commit-msg hook, so no fix is asked for its case: guard install")
    if broken:
        refuse_for_rules(staged, new, change, broken)
        return ExitCode.REGRESSION
    before = new.store.last_verdicts()
    selection = affected_cases(new, base, change, before)
    tell_what_changed(base, new, change, selection)
    if selection:
        # It brings the engine, and all that runs a case.
        from guard_hooks.staged_cases import run_cases

        return run_cases(staged, base, change, selection, before)
    if new is not staged.new:
        # A plugin was asked, and took its time.
        refuse_moved_index(staged.repo, staged.change)
    return ExitCode.OK


def is_readable_in_place(staged: Staged) -> bool:
    """Tell whether the index will do as it is: a merge is compared, a plugin shown a whole tree."""
    plugins = staged.new.plugins_with("guard_affected")
    asked = plugins is not None and plugins.implements("guard_affected")
    return not (staged.change.parents or asked)


def snapshot_of(staged: Staged) -> Tree:
    """Return the tree of the index. Raises `UnreadableError` where it isn't what is judged."""
    from guard.snapshot import index_tree

    snapshot = index_tree(staged.repo)
    judged = staged.change
    refuse_other_index(judged, change_of_trees(staged.repo, judged.base, snapshot))
    return snapshot


def with_tree(project: Project, tree: Tree) -> Project:
    """Return the project of another tree of the same repository."""
    return Project(project.repo, tree, project.store, project.disabled)


# Rules ---------------------------------------------------------------------------------


def broken_rules(base: Project, new: Project, change: Change) -> list[Violation]:
    """Return what can be judged without a message; of a merge what it breaks by itself."""
    if len(change.parents) > 1:
        found = broken_by_merge(new, change)
    else:
        commit = JudgedCommit(base, new, change, NO_MESSAGE)
        rules = (record_invalid, agent_without_case, unserved_agent)
        found = [violation for rule in rules for violation in rule.check(commit)]
    return [violation for violation in found if not violation.warning]


def broken_by_merge(new: Project, change: Change) -> list[Violation]:
    """Return what is wrong with a merge and with none of its parents, which are judged alone."""
    from guard.judging.merge_faults import merge_faults
    from guard.judging.merges import parents_of

    return merge_faults(parents_of(new, change), new)


def refuse_for_rules(
    staged: Staged, new: Project, change: Change, broken: Sequence[Violation]
) -> None:
    """Say which rule is broken, and the commands that mend it."""
    from guard.judging.refusal import Refused, refusal

    prefix = os.environ.get("GIT_PREFIX", "")
    say(refusal(broken, Refused(staged.repo, new, change, staged.argv, "", prefix)))


def begin_commit_msg(staged: Staged) -> Callable[[], bool]:
    """Ask where the hook with the fix rule would be; the answer tells whether it is there.

    A framework installs each stage by itself.
    """
    asked = staged.repo.begin("rev-parse", "--path-format=absolute", "--git-path", "hooks")

    def is_there() -> bool:
        folder = os.path.join(staged.repo.root, text_of(asked()).removesuffix("\n"))
        return os.access(os.path.join(folder, "commit-msg"), os.X_OK)

    return is_there


# What it says --------------------------------------------------------------------------


def tell_what_changed(
    base: Project, new: Project, change: Change, selection: Sequence[Selected]
) -> None:
    """Say at once, before any case runs, what is guarded of this commit."""
    touched = JudgedCommit(base, new, change, NO_MESSAGE).touched
    affected = f"{count(len(selection), 'case')} affected"
    without = [
        name for name in touched if name in new.agents and not has_changed_case(name, selection)
    ]
    brings = f" (no case of {names(without, 3)} changed: a fix brings one)" if without else ""
    if touched:
        noun = "agent" if len(touched) == 1 else "agents"
        warn(f"{noun} {names(list(touched), 3)} changed, {affected}{brings}")
    elif selection:
        reasons = dict.fromkeys(reason for one in selection for reason in one.affected_by)
        warn(f"{affected} ({names(list(reasons), 3)})")


def has_changed_case(agent: str, selection: Sequence[Selected]) -> bool:
    """Tell whether a case of the agent changed."""
    return any(one.case.agent == agent and "case" in one.affected_by for one in selection)
