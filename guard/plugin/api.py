"""What plugins hand to guard and get from it: targets, evaluators, prerequisites, trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from guard.model import Agent
from guard.plugin.doubles import StorageDouble
from guard.plugin.provisions import Ground, Provided
from guard.results import Fingerprint, Observation, Score


class Project(NamedTuple):
    """The files of the tree under test, as a plugin sees them: read-only."""

    root: str
    """The user's work tree, for messages only: what is judged may differ from it."""
    read: Callable[[str], bytes | None]
    """Content of a path from the repository's root, or None."""
    paths: Callable[[], Sequence[str]]
    """Every path of the tree."""
    served: tuple[str, ...] = ()
    """The deploy manifests that guard.yaml names under ``served``."""


class Commit(NamedTuple):
    """One commit, as ``guard_is_fix`` sees it."""

    message: str
    """Cleaned as git stores it."""
    paths: tuple[str, ...]
    """What it changes."""
    id: str = ""
    """Full id; empty in the commit-msg hook."""


class Option(NamedTuple):
    """One key of an agent's ``options`` that a target understands."""

    name: str
    kind: str
    """text, integer, number, boolean, texts (a list), mapping, or any."""
    default: Any = None
    help: str = ""
    required: bool = False


class Substitute(NamedTuple):
    """Something a target doesn't run for real, and why. Only storage may be substituted."""

    what: str
    why: str
    kind: str = "storage"
    """What it is a side effect on; any other kind is refused."""


class Served(NamedTuple):
    """One agent that a deploy manifest says production serves."""

    name: str
    manifest: str
    """The manifest, from the repository's root."""
    entry: str = ""
    """What stands there for it, such as ``./ledger/graphs.py:bookkeeper``."""


class Finished(NamedTuple):
    """A program that `Trial.run_program` ran to its end."""

    exit_status: int | None
    """None where a signal or the time-out ended it."""
    stdout: str
    stderr: str
    signal: int | None = None


class Trial(NamedTuple):
    """One trial, as the target sees it: never the expectations. Do not mutate."""

    agent: str
    case: str
    number: int
    """From 1."""
    workspace: str
    """The trial's own copy of the agent's folder, and its working folder."""
    utterance: str
    input: Mapping[str, Any]
    turns: tuple[str, ...]
    options: Mapping[str, Any]
    """Validated, defaults filled in."""
    env: Mapping[str, str]
    """The allow-listed environment; HOME and TMPDIR are the trial's own."""
    timeout: float
    """Seconds for the whole trial; the engine ends it then."""
    run_program: Callable[..., Finished]
    """``run_program(argv, input=None, env={})``: start a program in the workspace, in the
    trial's process group and sandbox, and wait for it. Raises `TargetError` where it can't
    be started."""
    fill: Callable[[str], str]
    """Fill in ``{utterance} {workspace} {repo} {input.KEY}``."""
    python: tuple[str, ...] = ()
    """The argv of the agent's own Python; empty where it names none."""
    given: tuple[str, ...] = ()
    """Paths that the case laid into the workspace, over what stood there."""
    doubles: tuple[StorageDouble, ...] = ()
    """Those that the option ``doubles`` names."""


class Host(NamedTuple):
    """What of this machine an agent's trials are given."""

    python: tuple[str, ...] = ()
    """The argv of the agent's own Python; empty where it names none."""
    env: Mapping[str, str] = {}
    """The variables that the agent asks for by name."""


class Target(NamedTuple):
    """How an agent is run. Always the real agent."""

    name: str
    run: Callable[[Trial], Observation]
    """Runs one trial. Raises `Skip`, `Blocked` or `TargetError`; anything else is ERROR."""
    real: str
    """What is run for real, in words."""
    options: tuple[Option, ...] = ()
    substitutes: tuple[Substitute, ...] = ()
    deterministic: bool = False
    """The same input gives the same outcome; an option or the agent may say otherwise."""
    paid: bool = False
    """A trial costs money."""
    live: bool = True
    """False for an endpoint that isn't the provider's own."""
    prerequisites: tuple[str, ...] = ()
    fingerprint: Callable[..., Fingerprint] = lambda *_: Fingerprint()
    """Given the agent's options, and the `Host` where it takes a parameter ``host``. Must not
    run the agent."""
    verify: Callable[[Agent, Mapping[str, Any], Project], str | None] = (
        lambda agent, options, project: None
    )
    """Given the agent, its options and the tree's files: what it would run that isn't the real
    agent, in words, or None. Cheap: it reads files, and runs and imports nothing of the agent."""


class Expectations(Mapping[str, Any]):
    """A case's expectations, handed to an evaluator; notes which keys are read."""

    def __init__(
        self,
        values: Mapping[str, Any],
        inputs: Mapping[str, Any] = {},
        turns: tuple[str, ...] = (),
    ) -> None:
        self._values = dict(values)
        self.inputs = inputs
        """What the case asked: its ``input``, and its ``utterance`` where it has one."""
        self.turns = turns
        """The user's further messages."""
        self.read: set[str] = set()

    def states(self, keys: Iterable[str]) -> bool:
        """Tell whether any of the keys is stated; notes none as read."""
        return any(key in self._values for key in keys)

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        self.read.update(self._values)
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str) and key in self._values:
            self.read.add(key)
        return key in self._values


Evaluation = Callable[[Observation, Expectations], Iterable[Score]]


class Evaluator(NamedTuple):
    """Reads one observation and the expectations; returns zero or more scores."""

    name: str
    evaluate: Evaluation
    """No score means: does not apply here."""
    reads: tuple[str, ...] = ()
    """Expectation keys it reads; empty with ``declared`` False: not known beforehand."""
    writes: tuple[str, ...] = ()
    """Score keys it writes."""
    declared: bool = True
    """False for a plain function, which declares nothing."""
    judge: bool = False
    """Whether a model does the judging."""
    never_excuse: tuple[str, ...] = ()
    check: Callable[[str, Any], str | None] = lambda key, value: None
    """Validates the value of an expectation: what is wrong with it, or None."""
    source: str = ""
    """Where it comes from: built-in, a plugin's name, or file.py:function."""
    needs: tuple[str, ...] = ()
    """Names of prerequisites without which there is nothing to read: a case that states one of
    its keys and asks for none of them is refused."""


class Prerequisite(NamedTuple):
    """A named condition on the machine, asked for as NAME:ARG."""

    name: str
    missing: Callable[[str], str | None]
    """Given ARG: what is missing, in words, or None where all is there."""
    provide: Callable[[str, Ground], AbstractContextManager[Provided]] | None = None
    """Given ARG: sets up what one trial gets of it, and takes it away again. Raises `Skip`,
    `Blocked` or `TargetError`."""
    check_given: Callable[[Any], str | None] = lambda value: "it takes nothing under `given`"
    """What is wrong with a case's ``given: {NAME: ...}``, in words, or None."""
    depends: Callable[[str, Callable[[str], bytes | None]], Iterable[str]] = lambda arg, read: ()
    """Given ARG and what reads a file of the tree: globs of the files that what it sets up is made
    of. A change there re-runs the cases that ask for it."""


def evaluator(
    *, reads: tuple[str, ...], writes: tuple[str, ...] = (), never_excuse: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare what a plain function reads and writes, so that guard can check it beforehand."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.guard_evaluator = {  # type: ignore[attr-defined]  # a mark, read by the loader
            "reads": tuple(reads),
            "writes": tuple(writes) or tuple(reads),
            "never_excuse": tuple(never_excuse),
        }
        return function

    return mark


def watch(*globs: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the paths that a ``guard_affected`` hook looks at, so that others cost nothing.

    It is then called only where a changed path matches one of the globs, or something else of
    the commit is guarded.
    """

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.watch = globs  # type: ignore[attr-defined]  # a mark, read by the manager
        return function

    return mark
