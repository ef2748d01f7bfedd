"""One attempt of the target at a case: on a thread of its own, in time, its programs kept.

The time-out is the engine's, not the target's: programs are ended when it is over, and a
target that hangs without one is left behind.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, cast

from guard.errors import TargetError
from guard.model import Case
from guard.plugin.api import Finished, Trial
from guard.plugin.exits import count_unheard, note_heard
from guard.process import run
from guard.results import Observation
from guard.trials import stopping
from guard.trials.observed import checked
from guard.trials.stage import Slot, Stage

#: Seconds that a target gets to return once its programs are being killed.
SLACK: Final = 15.0
#: The same for one that runs no program: it won't notice anyway.
SHORT_SLACK: Final = 0.1
PLACEHOLDER: Final = re.compile(r"\{(utterance|workspace|repo|input\.[^{}]+)\}")


class Outcome(NamedTuple):
    """How the target ended."""

    observation: Observation
    error: BaseException | None = None
    timed_out: bool = False
    stdout: str = ""
    """All that its programs printed, whatever it made of that."""
    signal: int | None = None
    """What ended its last program, other than the time-out."""
    sandboxed: bool = False
    """Whether it ran programs, in the sandbox; what runs in guard itself is in none."""
    elsewhere: str = ""
    """A file of the agent's own that wasn't loaded from the workspace, in words."""


class Attempt:
    """The target's side of one trial; used once."""

    def __init__(
        self,
        stage: Stage,
        case: Case,
        number: int,
        slot: Slot,
        workspace: str,
        env: Mapping[str, str],
    ) -> None:
        self._stage = stage
        self._case = case
        self._number = number
        self._slot = slot
        self._workspace = workspace
        self._env = env
        self._deadline = 0.0
        self._timed_out = False
        self._closed = False
        self._stdout: list[str] = []
        self._last = Observation()
        self._signal: int | None = None
        self._found: Observation | None = None
        self._error: BaseException | None = None
        self._programs = threading.Lock()
        self._done = threading.Event()

    def run(self) -> Outcome:
        """Run the target; return what it observed, or what went wrong."""
        timeout = self._case.policy.timeout
        self._deadline = time.monotonic() + timeout
        stopping.watch(self)
        try:
            threading.Thread(target=self._call, daemon=True, name="target").start()
            late = not self._done.wait(timeout)
            if late:
                busy = self._programs.locked() or self._timed_out
                self._done.wait(SLACK if busy else SHORT_SLACK)
        finally:
            stopping.forget(self)
            self._closed = True
        stopping.check()
        observation = self._found or self._last
        if not observation.argv:
            observation = observation._replace(argv=self._last.argv)
        timed_out = late or self._timed_out
        said = "".join(self._stdout)
        sandboxed = bool(self._last.argv)
        return Outcome(observation, self._error, timed_out, said, self._signal, sandboxed)

    def stop(self) -> None:
        """Wait no longer: guard is being stopped."""
        self._done.set()

    def _call(self) -> None:
        note_heard()
        unheard = count_unheard()
        try:
            found = cast("object", self._stage.target.run(self._trial()))
            if count_unheard() > unheard:
                raise TargetError("a thread tried to end guard while the target ran")
            self._found = checked(found)
        except BaseException as error:  # a target is anyone's code; whatever it raises is named
            self._error = error
        finally:
            self._done.set()

    def _trial(self) -> Trial:
        return Trial(
            agent=self._stage.agent.name,
            case=self._case.id,
            number=self._number,
            workspace=self._workspace,
            utterance=self._case.utterance,
            input=self._case.input,
            turns=self._case.turns,
            options=self._stage.options,
            env=self._env,
            timeout=self._case.policy.timeout,
            run_program=self._run_program,
            fill=self._fill,
            python=self._stage.python,
            given=tuple(self._case.given),
            doubles=self._stage.doubles,
        )

    def _run_program(
        self,
        argv: Sequence[str],
        input: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Finished:
        with self._programs:
            remaining = self._deadline - time.monotonic()
            if self._closed or remaining <= 0:
                self._timed_out = True
                raise TargetError("the trial's time is over")
            self._last = Observation(argv=tuple(argv))
            starter = self._slot.sandbox.starter
            variables = self._stage.imports.with_stated(self._env, env or {}, self._workspace)
            ended = run(starter, argv, self._workspace, variables, remaining, input)
            self._timed_out = self._timed_out or ended.timed_out
            self._keep(ended.finished)
            return ended.finished

    def _keep(self, finished: Finished) -> None:
        self._stdout.append(finished.stdout)
        self._signal = finished.signal
        self._last = self._last._replace(
            stdout=finished.stdout, stderr=finished.stderr, exit_status=finished.exit_status
        )

    def _fill(self, text: str) -> str:
        return PLACEHOLDER.sub(lambda match: self._value(match[1]), text)

    def _value(self, name: str) -> str:
        if name == "utterance":
            if not (self._case.utterance or self._case.input or self._case.turns):
                raise TargetError(
                    f"the case {self._case.id} says nothing to the agent: "
                    f"add `utterance:` to {self._case.path}"
                )
            return self._case.utterance
        if name == "workspace":
            return self._workspace
        if name == "repo":
            return self._stage.target_repo.filled()
        key = name.removeprefix("input.")
        if key not in self._case.input:
            raise TargetError(f"the case {self._case.id} has no input {key}")
        value = self._case.input[key]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
