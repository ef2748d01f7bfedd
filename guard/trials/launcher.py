"""Starts the programs of trials: one small process per slot, which `guard.trials.sandbox` talks to.

A process of its own, because it can live in a mount namespace of its own, and because all
that a trial starts is then its descendant: a daemon that detaches and drops its environment
is adopted by it, so what a trial leaves behind is known for sure. When guard dies, even by
SIGKILL, the socket closes and everything below is killed. Starting programs from inside also
saves the millisecond that an ``nsenter`` costs each time.

Run as ``python -I -S launcher.py``: the standard library only, nothing of ours, nothing that
is imported late (the interpreter may be out of sight by then).

Messages come over the socket on standard input, each a length and a marshalled tuple, with
file descriptors beside it. Answers are lines, written to the last descriptor of their message.

    ("place", hidden, kept, private)    → "ready [why there is no namespace]"
    ("start", cwd, argv, environment)   → "started PID", later "ended CODE"; or "failed ERRNO"
    ("kill", pid, signal)
    ("clean", grace)                    → "cleaned [PID...]": what was left
"""

from __future__ import annotations

import _socket
import array
import ctypes
import errno
import marshal
import os
import select
import signal
import sys
import time
from typing import Any

LENGTH_BYTES = 4
ENOUGH_DESCRIPTORS = 16
#: Seconds for which leftovers are killed again and again, should they fork on.
KILLING_SECONDS = 5.0
OUTLIVED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
#: Python ignores them; the programs it starts shall not.
RESTORED = (signal.SIGPIPE, signal.SIGXFSZ)

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWIPC = 0x08000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_NOATIME, MS_NODIRATIME, MS_BIND = 32, 1024, 2048, 4096
MS_REC, MS_SLAVE, MS_RELATIME = 16384, 1 << 19, 1 << 21
#: Flags that a bind mount keeps; a remount that drops one is refused in a namespace.
KEPT_FLAGS = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME
ST_RELATIME = 4096

libc = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    """Serve until the socket closes, then kill everything below."""
    for number in OUTLIVED:
        # A handler, since what is ignored stays ignored in the programs that are started.
        signal.signal(number, lambda number, frame: None)
    os.close(os.pidfd_open(os.getpid()))
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        return 1
    wake_when_orphaned()
    os.chdir("/")
    server = Server(_socket.socket(fileno=0))
    try:
        server.serve()
    finally:
        server.clean(0)
    return 0


def wake_when_orphaned() -> None:
    """Go on when guard dies, should a program have stopped us: else we wouldn't see it, and end."""
    libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGCONT), 0, 0, 0)


class Server:
    """The programs that were started, and the loop that answers."""

    def __init__(self, control: _socket.socket) -> None:
        self.control = control
        self.poller = select.poll()
        self.poller.register(control.fileno(), select.POLLIN)
        self.start_process = choose_spawn()
        self.apart = False
        """Whether we are in namespaces of our own."""
        self.running: dict[int, tuple[int, int]] = {}
        """pid → its pidfd, and where its end is reported."""

    def serve(self) -> None:
        """Answer messages and report ends until the socket closes."""
        while True:
            events = self.poller.poll()
            self.reap()
            if any(fd == self.control.fileno() for fd, _ in events):
                received = receive(self.control)
                if received is None:
                    return
                self.answer(*received)

    def answer(self, message: tuple[Any, ...], fds: list[int]) -> None:
        """Do what one message asks for."""
        if message[0] == "start":
            self.start(message[1], message[2], message[3], fds)
            fds = fds[:-1]
        elif message[0] == "kill":
            self.kill(message[1], message[2])
        elif message[0] == "clean":
            report(fds[-1], "cleaned", *self.clean(message[1]))
        elif message[0] == "place":
            refused = enter_namespace(*message[1:])
            self.apart = not refused
            self.renew_queues()
            report(fds[-1], "ready", refused)
            # A change of who we are may have undone it.
            wake_when_orphaned()
        for fd in fds:
            os.close(fd)

    def start(self, cwd: bytes, argv: list[bytes], env: dict[bytes, bytes], fds: list[int]) -> None:
        """Start a program on the first three descriptors; its end goes to the last."""
        try:
            os.chdir(cwd)
            path = find_program(argv[0], env.get(b"PATH", b""))
            pid = self.start_process(path, argv, env, fds[:3])
        except OSError as error:
            report(fds[-1], "failed", error.errno or 0)
            os.close(fds[-1])
            return
        finally:
            os.chdir("/")
        watch = os.pidfd_open(pid)
        self.poller.register(watch, select.POLLIN)
        self.running[pid] = (watch, fds[-1])
        report(fds[-1], "started", pid)

    def kill(self, pid: int, number: int) -> None:
        """Send a signal to the process group of a program that hasn't been reaped yet."""
        if pid in self.running:
            send_signal(os.killpg, pid, number)

    def reap(self) -> bool:
        """Collect what has ended, and report it; tell whether children are left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid in self.running:
                watch, answer_to = self.running.pop(pid)
                self.poller.unregister(watch)
                report(answer_to, "ended", os.waitstatus_to_exitcode(status))
                os.close(watch)
                os.close(answer_to)

    def clean(self, grace: float) -> list[int]:
        """Kill all that is below; return what was still there after ``grace`` seconds."""
        self._wait_for_end(grace)
        left = descendants(os.getpid()) if self.reap() else []
        deadline = time.monotonic() + KILLING_SECONDS
        while self.reap() and time.monotonic() < deadline:
            for pid in descendants(os.getpid()):
                send_signal(os.kill, pid, signal.SIGKILL)
            time.sleep(0.001)
        self.renew_queues()
        return left

    def renew_queues(self) -> None:
        """Give the next trial queues, semaphores and shared segments of its own, where we can."""
        if self.apart:
            libc.unshare(CLONE_NEWIPC)

    def _wait_for_end(self, grace: float) -> None:
        deadline = time.monotonic() + grace
        while self.reap() and time.monotonic() < deadline:
            time.sleep(0.005)


def receive(control: _socket.socket) -> tuple[tuple[Any, ...], list[int]] | None:
    """Read one message and its descriptors; None where the other end is gone."""
    room = _socket.CMSG_SPACE(ENOUGH_DESCRIPTORS * 4)
    head, ancillary, _, _ = control.recvmsg(LENGTH_BYTES, room, _socket.MSG_CMSG_CLOEXEC)
    fds = array.array("i")
    for _, _, data in ancillary:
        fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    if len(head) < LENGTH_BYTES:
        return None
    body = bytearray()
    size = int.from_bytes(head, "big")
    while len(body) < size:
        part = control.recv(size - len(body))
        if not part:
            return None
        body += part
    return marshal.loads(bytes(body)), list(fds)


def report(fd: int, *words: object) -> None:
    """Write one line; nobody may be waiting for it any more."""
    try:
        os.write(fd, " ".join(map(str, words)).encode() + b"\n")
    except OSError:
        return


def send_signal(send: Any, pid: int, number: int) -> None:
    """Send a signal to what may be gone, or another user's."""
    try:
        send(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def spawn(path: bytes, argv: list[bytes], env: dict[bytes, bytes], stdio: list[int]) -> int:
    """Start a program in a session of its own; return its pid."""
    files = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(stdio)]
    return os.posix_spawn(path, argv, env, file_actions=files, setsid=True, setsigdef=RESTORED)


def spawn_slowly(path: bytes, argv: list[bytes], env: dict[bytes, bytes], stdio: list[int]) -> int:
    """Do the same with a Python that was built for a C library older than the call."""
    import subprocess

    stdin, stdout, stderr = stdio
    process = subprocess.Popen(
        argv,
        executable=path,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    # The launcher reaps it itself.
    process.returncode = 0
    return process.pid


def choose_spawn() -> Any:
    """Return what can start programs here (builds for glibc 2.17 know no ``setsid``)."""
    try:
        os.posix_spawn(b"/", [b"/"], {}, setsid=True)
    except NotImplementedError:
        # Now: later on, the interpreter's own library may be out of sight.
        __import__("subprocess")
        return spawn_slowly
    except OSError:
        pass
    return spawn


def find_program(name: bytes, path: bytes) -> bytes:
    """Return the program's path as the trial sees it. Raises OSError where there is none."""
    if b"/" in name:
        return name
    for folder in path.split(b":"):
        place = os.path.join(folder or b".", name)
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    raise FileNotFoundError(errno.ENOENT, "not on PATH")


def descendants(top: int) -> list[int]:
    """Return all living processes below one, children before their own children."""
    found: list[int] = []
    waiting = [top]
    while waiting:
        children = children_of(waiting.pop())
        waiting += children
        found += [pid for pid in children if state_of(pid)[:1] not in (b"Z", b"X", b"")]
    return found


def children_of(pid: int) -> list[int]:
    """Return the direct children of a process."""
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    except FileNotFoundError:
        # Gone meanwhile, or a kernel that was built without this file.
        return [other for other in all_processes() if state_of(other).split()[1:2] == [b"%d" % pid]]
    except OSError:
        return children
    return children


def all_processes() -> list[int]:
    """Return every process of the machine."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def state_of(pid: int) -> bytes:
    """Return the process's state letter and what follows it in its stat file, or nothing."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2]
    except OSError:
        return b""


def enter_namespace(
    hidden: list[bytes],
    kept: list[tuple[bytes, bool]],
    private: list[tuple[bytes, bytes, list[bytes]]],
) -> str:
    """Hide folders, keep some of what is in them (True: read-only); say why it can't be.

    ``private`` folders are replaced by one of the slot's own, less the entries that are named.
    """
    uid, gid = os.getuid(), os.getgid()
    try:
        become_root(uid, gid)
        # What guard mounts later, as a trial's workspace, is seen; nothing gets out.
        call(libc.mount, b"none", b"/", None, MS_REC | MS_SLAVE, None)
        opened = [(os.open(path, os.O_PATH | os.O_DIRECTORY), path, ro) for path, ro in kept]
        own = [(path, os.open(backing, os.O_PATH), names) for path, backing, names in private]
        covers = [path for path in sorted(hidden) if os.path.isdir(path) and cover(path)]
        for fd, path, read_only in opened:
            bring_back(fd, path, read_only)
        for path in covers:
            flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV
            call(libc.mount, b"none", path, None, flags, None)
        for path, backing, names in own:
            replace(path, backing, names)
        lock_mounts(uid, gid)
    except OSError as error:
        return f"{error.strerror}"
    return ""


def become_root(uid: int, gid: int) -> None:
    """Enter a user and a mount namespace, as root there."""
    call(libc.unshare, CLONE_NEWUSER | CLONE_NEWNS)
    write_maps(f"0 {uid} 1", f"0 {gid} 1")


def lock_mounts(uid: int, gid: int) -> None:
    """Enter a second pair of namespaces as the user himself: no mount made so far can be undone."""
    call(libc.unshare, CLONE_NEWUSER | CLONE_NEWNS)
    write_maps(f"{uid} 0 1", f"{gid} 0 1")


def write_maps(users: str, groups: str) -> None:
    """Say who is who in the user namespace just entered."""
    for name, content in (("setgroups", "deny"), ("uid_map", users), ("gid_map", groups)):
        with open(f"/proc/self/{name}", "wb") as file:
            file.write(content.encode())


def cover(path: bytes) -> bool:
    """Mount an empty folder over a folder."""
    call(libc.mount, b"guard", path, b"tmpfs", MS_NOSUID | MS_NODEV, b"size=256k,mode=0755")
    return True


def bring_back(fd: int, path: bytes, read_only: bool) -> None:
    """Mount a folder, opened before it was covered, where it was."""
    os.makedirs(path, exist_ok=True)
    call(libc.mount, b"/proc/self/fd/%d" % fd, path, None, MS_BIND | MS_REC, None)
    if read_only:
        now = os.statvfs(path).f_flag
        flags = (now & KEPT_FLAGS) | (MS_RELATIME if now & ST_RELATIME else 0)
        call(libc.mount, b"none", path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, None)
    os.close(fd)


def replace(path: bytes, backing: int, names: list[bytes]) -> None:
    """Mount a folder, opened before, over another one; of that one keep some entries."""
    real = os.open(path, os.O_PATH)
    call(libc.mount, b"/proc/self/fd/%d" % backing, path, None, MS_BIND, None)
    for name in names:
        source, place = b"/proc/self/fd/%d/%s" % (real, name), os.path.join(path, name)
        try:
            call(libc.mount, source, place, None, MS_BIND | MS_REC, None)
        except FileNotFoundError:
            continue  # gone since they were listed
    os.close(real)
    os.close(backing)


def call(function: Any, *arguments: Any) -> None:
    """Call into the C library. Raises OSError."""
    if function(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    sys.exit(main())
