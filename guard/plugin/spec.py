"""Every hook of the plugin API, in the order in which they are called.

Nothing here is ever called directly: `guard.plugin.manager` registers this module with
pluggy. A parameter that an implementation doesn't need may be left out of its signature.
What a hook is given belongs to guard: do not mutate it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.plugin.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from guard.change import Change
    from guard.model import Agent, Case
    from guard.plugin.api import Commit, Evaluator, Prerequisite, Project, Served, Target
    from guard.plugin.doubles import StorageDouble
    from guard.plugin.judges import Judge
    from guard.plugin.syncs import Sync
    from guard.results import Report, TrialResult

# Registration -----------------------------------------------------------------------------


@hookspec
def guard_agents(project: Project) -> Iterable[Agent]:
    """Contribute agents. Called first, once for each tree that is judged.

    The protocol of a run, in order:

    1. ``guard_agents`` says what is guarded; guard.yaml overrides it key by key;
    2. ``guard_targets``, ``guard_evaluators`` and ``guard_prerequisites`` name what agents
       and cases may use, ``guard_judges`` and ``guard_storage_doubles`` where one is named, and
       ``guard_reports`` the writers where ``--report`` asks for one;
    3. ``guard_load_cases`` reads each case file that a built-in format doesn't claim;
    4. ``guard_is_fix`` may call a commit a fix (in the commit hooks, and on every range);
    5. ``guard_affected`` may add a reason to run a case;
    6. ``guard_trial_finished`` is told of each trial, ``guard_run_finished`` of the report,
       before it is handed to a writer.

    :param project: the files of the tree under test; read-only.
    :returns: agents; an empty list where the repository has none of yours. Two plugins that
        give the same name are an error; an agent of that name in guard.yaml wins key by key.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError


@hookspec
def guard_served_agents(project: Project) -> Iterable[Served] | None:
    """Say what the deploy manifests of ``served`` serve. Called where that is checked.

    :param project: the files of the tree under test; ``project.served`` names the manifests.
    :returns: an entry for each agent of each manifest whose format is yours, None where none is.
        A manifest that no plugin reads is an error, exit 2. A manifest that serves nothing is
        read by an entry without a name. Raise `TargetError` for one that can't be read.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError


@hookspec
def guard_targets() -> Iterable[Target]:
    """Name the targets that an agent's ``target`` may choose. Called once a run.

    :returns: targets. Two of the same name are an error, exit 2.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError


@hookspec
def guard_evaluators() -> Iterable[Evaluator]:
    """Name evaluators: those whose keys a case states are run. Called once a run.

    :returns: evaluators. One that reads a key which another one reads is an error, exit 2.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError


@hookspec
def guard_prerequisites() -> Iterable[Prerequisite]:
    """Name conditions on the machine that ``prerequisites`` may ask for. Called once a run.

    :returns: prerequisites; a case that asks for one which is missing is SKIP, with its words.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError


@hookspec
def guard_judges() -> Iterable[Judge]:
    """Name providers of models that judge. Called where a case states ``judge``.

    :returns: judges. Two of the same name are an error, exit 2.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError


@hookspec
def guard_storage_doubles() -> Iterable[StorageDouble]:
    """Name stand-ins for storage, for a target's ``doubles`` option. Called where one is named.

    :returns: doubles. Two of the same name are an error, exit 2.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError


# Collection -------------------------------------------------------------------------------


@hookspec(firstresult=True)
def guard_load_cases(path: str, text: str) -> Sequence[Mapping[str, Any]] | None:
    """Read the cases of one file. Called for every case file whose text is new to guard.

    :param path: the file, from the repository's root.
    :param text: its content.
    :returns: the keys of each case as in Markdown's front matter (they are checked by the
        same table), or None where the format isn't yours. The first result that isn't None
        is used; the built-in formats come last.

    An exception ends the command with exit 2, naming the plugin and the file.
    """
    raise AssertionError


@hookspec(firstresult=True)
def guard_is_fix(commit: Commit) -> str | None:
    """Say why a commit is a fix. Called for each commit whose message doesn't say so.

    Called in the commit-msg hook too: import nothing slow at the top of your module.

    :param commit: its message, changed paths and, in a range, its id.
    :returns: the reason, in a few words, or None where you can't tell. The first result that
        isn't None is used.

    An exception refuses the commit with exit 2, naming the plugin.
    """
    raise AssertionError


@hookspec
def guard_affected(change: Change, agent: Agent, case: Case) -> str | None:
    """Give a further reason to run a case. Called for each case of the tree under test.

    :param change: the two trees, and the paths that differ.
    :param agent: the case's agent.
    :param case: the case.
    :returns: anything that isn't None runs the case; its ``affected_by`` says
        ``plugin:NAME``.

    Say by ``@watch("data/**")`` which paths it looks at: a commit that changes none of them,
    and nothing else that is guarded, then starts no Python. Without it every commit asks.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError


# Reporting --------------------------------------------------------------------------------


@hookspec
def guard_trial_finished(result: TrialResult) -> None:
    """Hear of a trial as it ends. Called on the main thread, once a trial.

    :param result: the trial, graded; secrets are removed.
    :returns: nothing.

    An exception is shown in one line and changes no verdict. All implementations are called.
    """
    raise AssertionError


@hookspec
def guard_run_finished(report: Report) -> None:
    """Hear of the whole report. Called once, before it is written.

    :param report: everything the command established.
    :returns: nothing.

    An exception is shown in one line and changes no verdict. All implementations are called.
    """
    raise AssertionError


@hookspec
def guard_reports() -> Mapping[str, Callable[[Report], str]]:
    """Name report writers, for ``--report NAME=FILE``. Called once, where one is asked for.

    That is before anything is run, so that a wrong name costs nothing.

    :returns: name → function from the report to its text. Two of the same name are an
        error, exit 2. What a function declares by `guard.plugin.probe` is tried before anything
        is run; where it raises as it writes, the command ends with exit 3 (2 for a bug in it)
        unless there is worse.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError


@hookspec
def guard_syncs() -> Iterable[Sync]:
    """Name remote copies that ``guard sync NAME`` rebuilds. Called by that command alone.

    :returns: syncs. Two of the same name are an error, exit 2.

    An exception ends the command with exit 2, naming the plugin. All results are used.
    """
    raise AssertionError
