"""Kind command: a program runs the guard against the broken behaviour, and has to be caught.

Weaker than a rebuilt state, and shown as that: nobody sees what the program breaks. It is red
where it ends in exactly the code that is recorded and prints the text that is; where no code is
recorded, in any but 0, 125 to 127 and a signal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from guard.engine import Engine
from guard.errors import TargetError
from guard.evaluators.reasons import quoted, quoted_end
from guard.model import Case
from guard.plugin.api import Evaluator, Expectations, Option, Target, Trial
from guard.proofs.evidence import BEFORE, Half
from guard.proofs.sides import before_judge, before_more, hits
from guard.results import Observation, Score
from guard.running.prerequisites import agent_python
from guard.running.series import Series

if TYPE_CHECKING:
    from guard.trials.runfolder import RunFolder
    from guard.trials.stage import Stage

#: The key of the score that fails where the command was caught, as it has to be.
CAUGHT: Final = "command"
#: What git bisect's protocol has for "can't be tested".
UNTESTABLE: Final = 125
#: Under which the engine hands the record's expectations over: an exit code is graded by it.
_STATED: Final = "exit_code"


class CommandHalf(Half):
    """The broken side of a record of kind command, on the tree under test."""

    def __init__(self, engine: Engine, case: Case, before: Mapping[str, Any], least: int) -> None:
        judge = before_judge(hits((CAUGHT,)), deterministic=True)
        more = before_more(judge, deterministic=True, least=least)
        super().__init__(engine, case, engine.project.tree, BEFORE, judge, more)
        self.argv = [str(part) for part in before["argv"]]
        wanted = {key: before[key] for key in ("expect_exit", "expect_output") if key in before}
        self.case = _asking(case, wanted)
        told = json.dumps([self.argv, wanted], sort_keys=True)
        self.key = f"command:{hashlib.sha256(told.encode()).hexdigest()}:{self.key}"

    def start(self) -> Series:
        """Return the series that runs what is missing."""
        if self.series is None:
            name = (f"{self.case.agent} {self.argv}", self.tree.oid)
            stage = self.engine.stages.lend(name, self._prepare)
            self.begin(Series(self.case, stage, self.more, self.key, side=self.side))
        assert self.series is not None
        return self.series

    def _prepare(self, run: RunFolder) -> Stage:
        """Return a stage for a program that is no agent: nothing of the tree is hidden from it."""
        from guard.trials.stage import prepare_stage

        repo, agent = self.engine.project.repo, self.engine.project.agents[self.case.agent]
        return prepare_stage(
            repo,
            self.tree,
            agent._replace(always={}),
            TARGET,
            [EVALUATOR],
            {"argv": self.argv},
            run=run,
            hide_from_target=lambda path: False,
            hide_from_workspace=lambda path: False,
            python=agent_python(agent, repo.root),
        )


def _asking(case: Case, wanted: Mapping[str, Any]) -> Case:
    """Return the case as the command is asked: nothing is laid or required for it."""
    return case._replace(
        expected={_STATED: wanted},
        turns=(),
        given={},
        provisions={},
        preconditions=(),
        expected_baseline=(),
        blocked_when_stdout_contains=(),
    )


def say_proven(before: Mapping[str, Any]) -> str:
    """Say what a proof by command shows, and that it is the weaker thing."""
    code = before.get("expect_exit")
    ends = f"ends in {code}" if code is not None else "ends in an error of any code"
    text = before.get("expect_output")
    says = f" and prints {quoted(str(text))}" if text else ""
    return f"its command {ends}{says}, and the case passes now; weak: no broken state was rebuilt"


def _run(trial: Trial) -> Observation:
    argv = [trial.fill(part) for part in trial.options["argv"]]
    done = trial.run_program(argv)
    if done.exit_status == UNTESTABLE:
        raise TargetError(f"the command can't test this (125){_end(done.stderr)}")
    return Observation(
        reply=done.stdout,
        stdout=done.stdout,
        stderr=done.stderr,
        exit_status=done.exit_status,
        argv=tuple(argv),
    )


def _evaluate(observation: Observation, expectations: Expectations) -> Iterator[Score]:
    wanted: Mapping[str, Any] = expectations[_STATED]
    status, code = observation.exit_status, wanted.get("expect_exit")
    text = str(wanted.get("expect_output") or "")
    said = _end(observation.stderr.strip() or observation.stdout)
    if status == 0 and code != 0:
        yield Score(CAUGHT, 1.0, f"it ended in 0: nothing was caught{said}")
    elif code is not None and status != code:
        yield Score("ended", 0.0, f"it ended in {status}, not in {code}{said}")
    elif text not in observation.stdout and text not in observation.stderr:
        yield Score("printed", 0.0, f"it didn't print {quoted(text)}{said}")
    else:
        yield Score(CAUGHT, 0.0, f"it ended in {status}, as it has to{said}")


def _end(text: str) -> str:
    return f": {quoted_end(text.strip())}" if text.strip() else ""


TARGET: Final = Target(
    name="command of a record",
    run=_run,
    real="the program that the record names, in a workspace of the agent",
    options=(Option("argv", "texts", required=True),),
    deterministic=True,
)
EVALUATOR: Final = Evaluator(
    name="command of a record",
    evaluate=_evaluate,
    reads=(_STATED,),
    writes=(CAUGHT, "ended", "printed"),
    source="built-in",
)
