"""Where the programs of trials run: out of sight of the user's checkout, where that can be had.

A `Launcher` is one process in its own mount namespace (`guard.trials.launcher`). What it may see is
a `Layout`. Without namespaces it still adopts and finds every process of a trial; without
Linux, `guard.trials.children` stands in. `isolation` says in words which of them it was.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from guard.errors import TargetError
from guard.trials import stopping
from guard.trials.children import DirectStarter
from guard.trials.environment import virtual_environment
from guard.trials.launching import LauncherProcess
from guard.trials.private import PrivateFolders

CONTROLLED = "repository hidden, {repo} read-only"
NOT_CONTROLLED = "repository and HOME: not controlled"
BY_TAG_ONLY = NOT_CONTROLLED + "; processes found by tag only"
#: Seconds to answer in, beyond what was asked for: a machine may be very busy.
ANSWER_SECONDS = 60.0
GONE = "the process that starts the programs of trials was killed"


class Layout(NamedTuple):
    """What trials of one slot see of the machine."""

    hidden: tuple[str, ...]
    """Folders that are empty there."""
    kept: tuple[tuple[str, bool], ...]
    """Folders inside the hidden ones that stay; True: read-only."""
    private: PrivateFolders = PrivateFolders()
    """Folders that the slot has for itself."""


def plan_hidden(folders: Iterable[str], home: str) -> tuple[str, ...] | None:
    """Return the folders to hide, or None where hiding them would take too much away."""
    hidden = tuple(dict.fromkeys(os.path.realpath(folder) for folder in folders if folder))
    homes = {os.path.realpath(home), os.path.realpath(os.path.expanduser("~"))}
    if any(folder == "/" or _is_inside(h, folder) for folder in hidden for h in homes):
        return None
    return hidden


def plan_kept(hidden: Sequence[str], path: str, python: str) -> tuple[tuple[str, bool], ...]:
    """Return the environments inside hidden folders that programs need: read-only.

    Those of the agent's own interpreter, and virtual environments and ``node_modules`` that
    the user has on PATH. The rest of PATH inside the checkout is the repository's own code.
    """
    wanted = _environment_of(python) if python else []
    for entry in path.split(os.pathsep):
        if entry.endswith("/node_modules/.bin"):
            wanted.append(os.path.dirname(entry))
        elif entry.startswith("/"):
            wanted += _environment_of(os.path.join(entry, "python"))
    inside = [
        folder
        for folder in dict.fromkeys(map(os.path.normpath, wanted))
        if os.path.isdir(folder) and any(_is_inside(folder, h) and folder != h for h in hidden)
    ]
    return tuple((folder, True) for folder in inside)


def _environment_of(python: str) -> list[str]:
    """Return the virtual environment of an interpreter, and where its base was installed."""
    venv = virtual_environment(python)
    if not venv:
        return []
    base = os.path.dirname(os.path.dirname(os.path.realpath(python)))
    return [venv, base]


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class Launcher:
    """What starts programs in a place of their own; the process that does it may be replaced."""

    def __init__(self, layout: Layout | None) -> None:
        self._layout = layout
        self._by_tag = DirectStarter()
        self.usable = True
        self._process = LauncherProcess()
        stopping.watch(self)
        try:
            self.namespace_problem = self._take_place(layout)
            """Why there is no namespace; empty where there is one."""
        except BaseException:
            self.close()
            raise

    def _take_place(self, layout: Layout | None) -> str:
        """Enter the namespace, and wait until the launcher is ready; say why there is none."""
        try:
            return self._placed(layout)
        except TargetError:
            # It has ended before it was asked, and is of no use: no trial's fault.
            return GONE

    def _placed(self, layout: Layout | None) -> str:
        if layout is None:
            self._call("clean", 0.0)
            self._process.note_state()
            return "not asked for"
        hidden = [os.fsencode(path) for path in layout.hidden]
        kept = [(os.fsencode(path), read_only) for path, read_only in layout.kept]
        private = [
            (os.fsencode(own.path), os.fsencode(own.backing), sorted(map(os.fsencode, own.seen)))
            for own in layout.private.made
        ]
        line = self._call("place", hidden, kept, private)
        self._process.note_state()
        return line.removeprefix("ready").strip() if line else GONE

    def start(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], stdio: Sequence[int]
    ) -> LaunchedProgram:
        """Start a program in a session of its own. Raises `TargetError` where it can't be."""
        words = [os.fsencode(word) for word in argv]
        variables = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        # It may start the program, and die before it can say so.
        self._by_tag.remember_tag(env)
        answer = self._ask("start", os.fsencode(cwd), words, variables, fds=stdio)
        try:
            pid = _started(self._read_line(answer), argv[0])
        except BaseException:
            os.close(answer)
            raise
        self._by_tag.remember(pid, env)
        return LaunchedProgram(self, pid, answer)

    def send_signal(self, pid: int, number: int) -> None:
        """Send a signal to the process group of a program that was started here."""
        self._process.wake()
        os.close(self._ask("kill", pid, int(number)))

    def news(self, notice: int) -> str | None:
        """Return what is told of a program, nothing where nobody can any more; None: no news."""
        if not _is_readable(notice, 0) and self._process.wake():
            return None
        return self._read_line(notice)

    def clean(self, grace: float) -> tuple[int, ...]:
        """Kill what was left behind; return the pids still alive after ``grace`` seconds.

        A launcher that isn't as it was when it began is replaced: nothing of what it has become
        is passed on to the next program.
        """
        try:
            words = self._call("clean", float(grace), more=grace).split()
        except TargetError:
            words = []
        if words[:1] != ["cleaned"]:
            self.usable = False
            return tuple({*self._process.killed, *self._by_tag.clean(grace)})
        self._by_tag.forget_all()
        if self._process.is_changed():
            self._replace()
        return tuple(int(word) for word in words[1:])

    def _replace(self) -> None:
        """Go on with a launcher process that no program has touched."""
        self._process.end()
        self._process = LauncherProcess()
        self.usable &= self._take_place(self._layout) == self.namespace_problem

    def stop(self) -> None:
        """Have the launcher kill all that is below it, and end."""
        self.usable = False
        self._process.hang_up()

    def close(self) -> None:
        """End the launcher."""
        stopping.forget(self)
        self.usable = False
        self._process.end()
        if self._process.killed:
            self._by_tag.close()

    def _call(self, *message: Any, more: float = 0) -> str:
        """Send a message; return the line that answers it, nothing where none does."""
        answer = self._ask(*message)
        try:
            return self._read_line(answer, more)
        finally:
            os.close(answer)

    def _read_line(self, answer: int, more: float = 0) -> str:
        line = self._process.read_line(answer, ANSWER_SECONDS + more)
        if not line:
            self.usable = False
        return line

    def _ask(self, *message: Any, fds: Sequence[int] = ()) -> int:
        """Send a message; return where its answer can be read."""
        try:
            return self._process.send(message, fds, ANSWER_SECONDS)
        except OSError as error:
            self.usable = False
            stopping.check()
            raise TargetError(GONE) from error


class LaunchedProgram:
    """A program that a launcher started."""

    def __init__(self, launcher: Launcher, pid: int, notice: int) -> None:
        self._launcher = launcher
        self._pid = pid
        self._code: int | None = None
        self.notice = notice

    def ended(self) -> int | None:
        """Return the exit status, negative for a signal; None while it runs."""
        if self._code is None:
            news = self._launcher.news(self.notice)
            if news is not None:
                self._code = _ended(news)
        return self._code

    def signal_group(self, number: int) -> None:
        """Send a signal to the program's process group."""
        if self._code is None:
            self._launcher.send_signal(self._pid, number)

    def close(self) -> None:
        """Let go of descriptors; a program that still runs is killed."""
        if self._code is None and self._launcher.usable:
            self.signal_group(signal.SIGKILL)
        os.close(self.notice)


class Sandbox(NamedTuple):
    """What starts the programs of one slot's trials, and how far it keeps them apart."""

    starter: Launcher | DirectStarter
    controlled: bool
    """Whether the user's checkout is hidden and ``{repo}`` read-only."""
    private: PrivateFolders = PrivateFolders()
    """Folders that each trial has for itself."""

    def clean(self) -> bool:
        """Empty the folders that trials have for themselves; tell whether that could be done."""
        try:
            for folder in self.private.made:
                folder.clean()
        except OSError:
            return False
        return True

    @property
    def isolation(self) -> str:
        """Say for the report how trials are kept apart."""
        if self.controlled:
            shared = ", ".join(self.private.shared)
            return f"{CONTROLLED} + {shared}: not controlled" if shared else CONTROLLED
        return NOT_CONTROLLED if isinstance(self.starter, Launcher) else BY_TAG_ONLY


#: Why this machine has no namespaces, once that is known.
_no_namespaces = ""


def open_sandbox(layout: Layout | None) -> Sandbox:
    """Open the best sandbox that is to be had here; None: hiding was ruled out."""
    global _no_namespaces
    if not sys.platform.startswith("linux") or not sys.executable:
        return Sandbox(DirectStarter(), False)
    if layout is not None and not _no_namespaces:
        box = _open_namespace(layout)
        if isinstance(box, Sandbox):
            return box
        # One that was killed says nothing of those to come.
        _no_namespaces = "" if box == GONE else box
    launcher = Launcher(None)
    if launcher.usable:
        return Sandbox(launcher, False)
    launcher.close()
    return Sandbox(DirectStarter(), False)


def _open_namespace(layout: Layout) -> Sandbox | str:
    """Open a sandbox with a namespace of its own, or say why there is none."""
    launcher = Launcher(layout)
    if not launcher.namespace_problem:
        return Sandbox(launcher, True, layout.private)
    launcher.close()
    made, shared = layout.private
    if not made:
        return launcher.namespace_problem
    without = PrivateFolders((), (*shared, *(folder.path for folder in made)))
    return _open_namespace(layout._replace(private=without))


def probe_namespaces() -> str:
    """Return why trials can't be given a mount namespace on this machine, or nothing."""
    if not sys.platform.startswith("linux"):
        return "only Linux has them"
    launcher = Launcher(Layout((), ()))
    launcher.close()
    return launcher.namespace_problem


def _started(line: str, name: str) -> int:
    match line.split():
        case ["started", pid] if pid.isdecimal():
            return int(pid)
        case ["failed", number] if number.isdecimal():
            raise TargetError(f"{name} can't be started: {os.strerror(int(number))}")
        case _:
            stopping.check()
            raise TargetError(GONE)


def _ended(line: str) -> int:
    word, _, code = line.strip().partition(" ")
    if word != "ended" or not code.removeprefix("-").isdecimal():
        stopping.check()
        raise TargetError(GONE)
    return int(code)


def _is_readable(fd: int, timeout: float) -> bool:
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    return bool(poller.poll(timeout * 1000))
