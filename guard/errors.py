"""Everything guard raises on purpose, and the exit codes.

    GuardError
    ├── UsageError            exit 2   the command line or a file is wrong
    │   ├── ConfigError                a key of a file, with its line
    │   └── PluginError                a plugin can't be loaded or breaks its contract
    ├── UnreadableError       exit 3   history, a snapshot or an object can't be read
    └── TrialOutcome                   raised by targets and evaluators, graded by the engine
        ├── Skip                       a prerequisite is missing on this machine
        ├── Blocked                    an external condition, declared by the case, was met
        └── TargetError                the target broke; never the agent's fault
            └── JudgeError             a model that judges gave no vote that counts

Each message says what and where; ``hint`` is the command that mends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """How a command ends, the same everywhere."""

    OK = 0
    #: a case fails, a rule is broken or a proof is refuted
    REGRESSION = 1
    #: the command line or a file of the user's is wrong
    USAGE = 2
    #: what was asked could not be established
    NOT_ESTABLISHED = 3
    #: a bug in guard itself
    BUG = 4
    #: Ctrl-C
    INTERRUPTED = 130


#: The stronger code first: where several apply, the first one found here is used.
PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.BUG,
    ExitCode.USAGE,
    ExitCode.REGRESSION,
    ExitCode.NOT_ESTABLISHED,
    ExitCode.OK,
)


def worst(*codes: int) -> int:
    """Return the code that outranks the others; 0 where there is none.

    A code that isn't ours is a bug of ours, and never an OK.
    """
    known = {code if code in PRECEDENCE else ExitCode.BUG for code in codes}
    return next((int(code) for code in PRECEDENCE if code in known), 0)


class GuardError(Exception):
    """Base of all that guard raises on purpose."""

    exit_code = ExitCode.NOT_ESTABLISHED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GuardError):
    """The command line, or a file of the user's, is wrong."""

    exit_code = ExitCode.USAGE


class ConfigError(UsageError):
    """A key of a file is wrong: ``file:line: key: what``."""

    def __init__(self, file: str, line: int, key: str, message: str, hint: str = "") -> None:
        where = f"{file}:{line}" if line else file
        super().__init__(f"{where}: {key + ': ' if key else ''}{message}", hint)
        self.file = file
        self.line = line
        self.key = key
        self.said = message


class PluginError(UsageError):
    """A plugin can't be loaded, or breaks its contract."""


def quit_by_others(error: SystemExit) -> PluginError:
    """Return what to say of code that ended guard: no code of ours does, and 0 would be a lie."""
    return PluginError(
        f"code that guard called ended it (sys.exit({error.code!r})): a plugin or an evaluator",
        "guard plugins",
    )


class UnreadableError(GuardError):
    """A snapshot, history, an object or a rule's input can't be read."""


class TrialOutcome(GuardError):
    """Base of what a target, an evaluator or a prerequisite may raise."""


class Skip(TrialOutcome):
    """A prerequisite is missing on this machine."""


class Blocked(TrialOutcome):
    """An external condition that the case declares was met at run time."""


class TargetError(TrialOutcome):
    """The target, not the agent, broke."""


class JudgeError(TargetError):
    """A judge is unavailable, off its scale, or failing its canaries: nothing was judged."""

    def __init__(self, message: str, evidence: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.evidence: Mapping[str, Any] = evidence or {}
        """What was learnt by then, and what it cost."""
