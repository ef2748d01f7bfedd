"""``guard bisect``: which commit broke a case."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from guard.bisecting.bisection import Bisection
from guard.bisecting.oracle import Oracle, Tried
from guard.bisecting.search import Search, bases_between, find_commit
from guard.bisecting.text import say_cost, say_end, say_start, say_step
from guard.commands.options import RunOptions, add_effort_options
from guard.engine import Engine
from guard.errors import UnreadableError, UsageError
from guard.git import Repo
from guard.model import Case
from guard.output import out, shell_path
from guard.project import Project
from guard.results import TrialResult
from guard.running.expectations import check_expectations
from guard.running.listener import TrialListener
from guard.running.selection import select_one_case
from guard.session import Session

if TYPE_CHECKING:
    import argparse

HELP = "find the commit that broke a case, by bisection"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard bisect``."""
    parser.add_argument("case", metavar="CASE", help="its id or path")
    parser.add_argument("--good", metavar="REV", required=True, help="a commit at which it passes")
    parser.add_argument("--bad", metavar="REV", required=True, help="a commit at which it fails")
    parser.add_argument(
        "--first-parent", action="store_true", help="of merges follow the first parent alone"
    )
    add_effort_options(parser, trials=True)


def bisect(
    *,
    case: str,
    good: str,
    bad: str,
    first_parent: bool = False,
    disabled: frozenset[str] = frozenset(),
    **values: Any,
) -> int:
    """Halve the commits between good and bad until the first bad one is found."""
    options = RunOptions.of(values)
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project()
        project.ask_for_offers()
        chosen = select_one_case(project, case, "bisect")
        check_expectations(project, [chosen])
        ends = [find_commit(session.repo, rev) for rev in (good, bad)]
        bases = _bases(session.repo, ends, _call(chosen, good=bad, bad=good))
        heard = _Heard(project)
        run_id = secrets.token_hex(8)
        with (
            Engine(project, options.limits(), options.budget(), heard, run_id) as engine,
            Oracle(engine, chosen, heard.watching) as oracle,
        ):
            _refuse_missing(engine, chosen)
            search = Search(session.repo, *ends, first_parent=first_parent)
            out(say_start(oracle, len(search.suspects())))
            found = Bisection(search, oracle, _teller(session.repo), bases).run()
            out("\n".join(say_end(project, oracle, found)))
            out(say_cost(heard.trials, oracle.known_trials, heard.cost))
    return found.code


def _teller(repo: Repo) -> Callable[[Tried], None]:
    return lambda tried: out(say_step(repo, tried))


class _Heard:
    """Counts the trials that are paid for, and shows progress while some are under way."""

    def __init__(self, project: Project) -> None:
        self.trials = 0
        self.cost = 0.0
        self._project = project
        self._listener: TrialListener | None = None

    @contextmanager
    def watching(self, states: int) -> Generator[None]:
        """Show progress on a terminal; between two steps nothing may be in the way of the text."""
        with TrialListener(self._project, states) as self._listener:
            yield

    def __call__(self, result: TrialResult) -> None:
        self.trials += 1
        self.cost += result.cost_usd or 0.0
        if self._listener is not None:
            self._listener(result)


def _bases(repo: Repo, ends: Sequence[str], swapped: str) -> list[str]:
    """Return where good and bad parted; refuse what no bisection can answer, before it is paid."""
    good, bad = ends
    if good == bad:
        raise UsageError("--good and --bad name the same commit", "git log --oneline -5")
    bases = bases_between(repo, good, bad)
    if bad in bases:
        said = "--good comes after --bad: are they swapped? What broke the case is looked for"
        raise UsageError(said, swapped)
    return bases


def _call(case: Case, *, good: str, bad: str) -> str:
    name, passes, fails = map(shell_path, (case.id, good, bad))
    return f"guard bisect {name} --good {passes} --bad {fails}"


def _refuse_missing(engine: Engine, case: Case) -> None:
    missing = engine.missing_for(engine.project.agents[case.agent], case)
    if missing:
        raise UnreadableError(f"{case.id} can't be run on this machine: {missing}", "guard doctor")
