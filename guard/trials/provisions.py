"""What a trial's prerequisites set up for it: entered before the target, taken away in any case.

Each belongs to one trial alone, so that many can run at once. It is code that isn't guard's: what
it raises is a verdict that names the prerequisite, never a crash and never a pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from guard.errors import Blocked, GuardError, Skip, TargetError
from guard.model import Agent, Case
from guard.plugin.api import Prerequisite
from guard.plugin.provisions import Ground, Provided
from guard.trials.grading import Grade, grade_of_error
from guard.trials.one_thread import OneThread

if TYPE_CHECKING:
    from guard.trials.stage import Stage

#: Seconds for setting up: the first trial may have to start a server.
SET_UP: Final = 300.0
OBSERVE: Final = 60.0
TAKE_AWAY: Final = 20.0
#: Characters that an observation of one prerequisite may have, as JSON.
LIMIT: Final = 1 << 20


class Wanted(NamedTuple):
    """One prerequisite of a case that sets something up."""

    name: str
    argument: str
    prerequisite: Prerequisite

    @property
    def label(self) -> str:
        """How it is asked for."""
        return f"{self.name}:{self.argument}"


def wanted_of(
    agent: Agent, case: Case, offered: Mapping[str, Prerequisite], of_target: Sequence[str] = ()
) -> list[Wanted]:
    """Return what is to be set up for a case, in the order in which it is asked for."""
    found: list[Wanted] = []
    for stated in dict.fromkeys((*of_target, *agent.prerequisites, *case.prerequisites)):
        name, _, argument = stated.partition(":")
        if name in offered and offered[name].provide is not None:
            found.append(Wanted(name, argument, offered[name]))
    return found


class ProvisionError(Exception):
    """Why nothing can be set up or seen, as the trial's verdict."""

    def __init__(self, grade: Grade) -> None:
        super().__init__(grade.reason)
        self.grade = grade


class Provisions:
    """What is set up for one trial; used once."""

    def __init__(self, stage: Stage, case: Case, number: int) -> None:
        self._stage = stage
        self._case = case
        self._number = number
        self._thread = OneThread("prerequisites")
        self._open: list[tuple[Wanted, AbstractContextManager[Provided], Provided]] = []
        self._used: Wanted | None = None
        self._env: dict[str, str] = {}
        self.secrets: list[tuple[str, str]] = []
        """Name and text of what must be shown nowhere."""

    def set_up(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """Set up all that the case asks for; return the trial's environment with it.

        Raises `ProvisionError`; `close` is due then too.
        """
        self._env = dict(env)
        wanted = wanted_of(
            self._stage.agent,
            self._case,
            self._stage.prerequisites,
            self._stage.target.prerequisites,
        )
        for each in wanted:
            self._used = each
            self._ask(each, partial(self._enter, each), SET_UP)
        return self._env

    def observe(self, expected: Mapping[str, Any]) -> dict[str, Any]:
        """Return name → what is there now, as JSON values. Raises `ProvisionError`."""
        found: dict[str, Any] = {}
        for wanted, _, provided in self._open:
            seen = self._ask(wanted, partial(_seen, provided, expected), OBSERVE)
            if seen is not None:
                found[wanted.name] = seen
        return found

    def close(self) -> Grade | None:
        """Take all of it away, the last first; return the verdict where that fails."""
        if self._used is None:
            return None
        try:
            # On its thread: what is only now being set up is waited for, and taken away too.
            return self._thread.call(self._take_away, TAKE_AWAY, always=True)
        except TargetError as error:
            return _grade_of(self._used, error, " can't be taken away")
        finally:
            self._thread.close()

    def _take_away(self) -> Grade | None:
        failed: Grade | None = None
        while self._open:
            wanted, manager, _ = self._open.pop()
            try:
                manager.__exit__(None, None, None)
            except BaseException as error:  # anyone's code; whatever it raises is named
                failed = _grade_of(wanted, error, " can't be taken away")
        return failed

    def _enter(self, wanted: Wanted) -> None:
        assert wanted.prerequisite.provide is not None
        manager = wanted.prerequisite.provide(wanted.argument, self._ground(wanted.name))
        provided = manager.__enter__()
        self._open.append((wanted, manager, provided))
        _check(provided)
        self._env.update(provided.env)
        self.secrets += [(wanted.name, secret) for secret in provided.secrets]

    def _ground(self, name: str) -> Ground:
        return Ground(
            agent=self._stage.agent.name,
            case=self._case.id,
            number=self._number,
            given=self._case.provisions.get(name),
            read=self._stage.read,
            files=self._stage.files,
            lay=self._stage.lay_files,
            env=dict(self._env),
            python=self._stage.python,
        )

    def _ask(self, wanted: Wanted, function: Callable[[], Any], seconds: float) -> Any:
        try:
            return self._thread.call(function, seconds)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # anyone's code; whatever it raises is named
            raise ProvisionError(_grade_of(wanted, error)) from error


def _grade_of(wanted: Wanted, error: BaseException, failing: str = "") -> Grade:
    who = f"prerequisite {wanted.label}{failing}"
    is_outcome = isinstance(error, (Skip, Blocked)) and not failing
    if isinstance(error, GuardError) and not is_outcome:
        error = TargetError(f"{who}: {error.message}")
    return grade_of_error(error, who, _code(wanted))


def _code(wanted: Wanted) -> object:
    # A context manager made of a generator function wraps what its author wrote.
    provide = wanted.prerequisite.provide
    return getattr(provide, "__wrapped__", provide)


def _check(found: object) -> None:
    """Raise TypeError where what was set up is something else."""
    if not isinstance(found, Provided):
        raise TypeError(f"it provides {type(found).__name__}, not Provided")
    texts = (*found.env, *found.env.values(), *found.secrets)
    if isinstance(found.secrets, str) or not all(map(_is_text, texts)):
        raise TypeError("what it provides has an `env` or `secrets` that are no texts")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _seen(provided: Provided, expected: Mapping[str, Any]) -> Any:
    """Return what it observes, as JSON has it. Raises TypeError or ValueError where it is none."""
    value = provided.observe(expected)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(text) > LIMIT:
        raise ValueError(f"what it observed has more than {LIMIT >> 20} MiB as JSON")
    return json.loads(text)
