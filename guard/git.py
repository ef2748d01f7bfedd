"""All talk with git: one environment, bytes in, bytes out, errors that name the call.

Plumbing only, so that no configuration of the user's (colour, pagers, external diffs,
replace refs) changes what is read. The environment is GIT-CASES' rule 2: what git gave a
hook (index, quarantine) is kept; nothing here writes to the user's index, refs or objects.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, NamedTuple

from guard.closing import Closing
from guard.errors import UnreadableError, UsageError

MINIMUM_VERSION = (2, 31)

PLUMBING_ENV = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
#: Object format → ids of the empty tree and the empty file. A test asks git for them; hashing
#: them here would have every commit import OpenSSL.
EMPTY_OBJECTS = {
    "sha1": (
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    ),
    "sha256": (
        "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    ),
}
#: Objects asked for in one go: their names fit into a pipe, so neither side waits for the other.
AT_ONCE = 200
#: They contradict GIT_LITERAL_PATHSPECS, and git refuses to start with both.
PATHSPEC_VARIABLES = ("GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS")


def text_of(path: bytes) -> str:
    """Return a path of git's as text, reversibly."""
    return path.decode("utf-8", "surrogateescape")


def bytes_of(path: str) -> bytes:
    """Return the bytes that `text_of` made this text from."""
    return path.encode("utf-8", "surrogateescape")


class Completed(NamedTuple):
    """A finished call of git."""

    code: int
    out: bytes
    err: bytes


class GitObject(NamedTuple):
    """One object of the repository."""

    oid: str
    kind: str
    data: bytes


class ObjectReader:
    """Reads objects through one ``git cat-file --batch`` that stays open."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._process: subprocess.Popen[bytes] | None = None

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            self._process = self._repo.start("cat-file", "--batch")
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        return stdin, stdout

    def open(self) -> None:
        """Start the process behind the reader before it is needed, beside something else."""
        self._pipes()

    def read(self, spec: bytes | str) -> GitObject | None:
        """Return the object that ``spec`` names (an id, ``REV:path``, ``:path``), or None."""
        name = spec if isinstance(spec, bytes) else spec.encode()
        if b"\n" in name:
            return None
        stdin, stdout = self._pipes()
        try:
            stdin.write(name + b"\n")
            stdin.flush()
            header = stdout.readline()
            return _object_after(header, stdout, name)
        except (BrokenPipeError, OSError) as error:
            raise UnreadableError(f"git cat-file ended while reading {text_of(name)}") from error

    def read_many(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Return id → content of the blobs named; raises where one is missing."""
        wanted = list(dict.fromkeys(oids))
        found: dict[str, bytes] = {}
        for start in range(0, len(wanted), AT_ONCE):
            found.update(self._read_chunk(wanted[start : start + AT_ONCE]))
        return found

    def _read_chunk(self, oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Ask for several at once: waiting for each answer takes longer than the answers."""
        stdin, stdout = self._pipes()
        try:
            stdin.write("".join(f"{oid}\n" for oid in oids).encode())
            stdin.flush()
            items = [_object_after(stdout.readline(), stdout, oid.encode()) for oid in oids]
        except (BrokenPipeError, OSError) as error:
            raise UnreadableError(f"git cat-file ended while reading {oids[0]}") from error
        for oid, item in zip(oids, items, strict=True):
            if item is None:
                raise missing_object(oid)
            yield oid, item.data

    def close(self) -> None:
        """End the process behind the reader."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.wait()


def missing_object(name: str) -> UnreadableError:
    """Return the error for an object that git doesn't have, and that nothing fetches unasked."""
    said = f"object {name} is missing (a partial or shallow clone?)"
    return UnreadableError(said, "git fetch --refetch --no-filter")


def _object_after(header: bytes, stdout: IO[bytes], name: bytes) -> GitObject | None:
    if header.endswith((b" missing\n", b" ambiguous\n")):
        return None
    parts = header.split()
    if not parts:
        raise missing_object(text_of(name))
    if len(parts) != 3:
        raise UnreadableError(f"git cannot read {text_of(name)}: {text_of(header.strip())}")
    data = stdout.read(int(parts[2]))
    stdout.read(1)
    return GitObject(parts[0].decode(), parts[1].decode(), data)


class Repo(Closing):
    """One repository, as found once at the start; every path is absolute."""

    def __init__(self, root: str, git_dir: str, common_dir: str, object_format: str) -> None:
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.object_format = object_format
        self.objects = ObjectReader(self)
        self._scratch = ""
        self._env = {k: v for k, v in os.environ.items() if k not in PATHSPEC_VARIABLES}
        self._env.update(PLUMBING_ENV, GIT_DIR=git_dir)
        if root:
            self._env["GIT_WORK_TREE"] = root
        if "GIT_INDEX_FILE" in self._env:
            self._env["GIT_INDEX_FILE"] = os.path.abspath(self._env["GIT_INDEX_FILE"])

    @property
    def empty_tree(self) -> str:
        """Id of the empty tree in this repository's object format."""
        return EMPTY_OBJECTS[self.object_format][0]

    @property
    def empty_blob(self) -> str:
        """Id of the empty file in this repository's object format."""
        return EMPTY_OBJECTS[self.object_format][1]

    @property
    def zero(self) -> str:
        """The id that git gives for 'no object'."""
        return "0" * (64 if self.object_format == "sha256" else 40)

    @property
    def index_file(self) -> str:
        """The index that git gave the hook, else the repository's own."""
        return self._env.get("GIT_INDEX_FILE") or os.path.join(self.git_dir, "index")

    @property
    def object_stores(self) -> Mapping[str, str]:
        """The variables that say where objects are written and read, as far as they are set."""
        names = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
        return {name: self._env[name] for name in names if name in self._env}

    def run(
        self,
        *args: str | bytes,
        input: bytes | None = None,
        env: Mapping[str, str] | None = None,
        ok: tuple[int, ...] | None = (0,),
    ) -> Completed:
        """Run git to its end. Raises `UnreadableError` where its code isn't in ``ok``."""
        try:
            done = subprocess.run(
                ("git", *args),
                input=input,
                stdin=subprocess.DEVNULL if input is None else None,
                capture_output=True,
                env={**self._env, **env} if env else self._env,
                cwd=self.root or self.git_dir,
                check=False,
            )
        except FileNotFoundError as error:
            raise UsageError("git is not on PATH", "install git 2.31 or newer") from error
        if ok is not None and done.returncode not in ok:
            raise UnreadableError(_failure(args, done.returncode, done.stderr))
        return Completed(done.returncode, done.stdout, done.stderr)

    def out(
        self,
        *args: str | bytes,
        input: bytes | None = None,
        env: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run git and return what it printed."""
        return self.run(*args, input=input, env=env).out

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        """Start a git process that is talked to through its pipes."""
        return subprocess.Popen(
            ("git", *args),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._env,
            cwd=self.root or self.git_dir,
        )

    def begin(self, *args: str, ok: tuple[int, ...] = (0,)) -> Callable[[], bytes]:
        """Start git and go on; what is returned waits for what it prints.

        Raises `UnreadableError` then, where its code isn't in ``ok``.
        """
        process = self.start(*args)

        def finish() -> bytes:
            out, _ = process.communicate()
            if process.returncode not in ok:
                raise UnreadableError(_failure(args, process.returncode, b""))
            return out

        return finish

    def resolve(self, rev: str) -> str | None:
        """Return the full id that ``rev`` names, or None."""
        done = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", rev, ok=None)
        return done.out.decode().strip() if done.code == 0 else None

    def use_scratch(self) -> None:
        """From here on write objects to a scratch store, with the repository's as alternate.

        A snapshot then leaves nothing behind in the user's store (RECIPES: Snapshot).
        """
        if self._scratch:
            return
        from guard.leftovers import make_folder

        self.objects.close()
        real = self._env.get("GIT_OBJECT_DIRECTORY") or os.path.join(self.common_dir, "objects")
        others = self._env.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")
        self._scratch = make_folder("objects")
        self._env["GIT_OBJECT_DIRECTORY"] = self._scratch
        self._env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(
            [_quoted_store(os.path.abspath(real)), *([others] if others else [])]
        )

    def close(self) -> None:
        """End helper processes and remove the scratch store."""
        self.objects.close()
        if self._scratch:
            from guard.leftovers import remove_folder

            remove_folder(self._scratch)
            self._scratch = ""


def _quoted_store(path: str) -> str:
    if os.pathsep not in path and not path.startswith('"'):
        return path
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _failure(args: tuple[str | bytes, ...], code: int, stderr: bytes) -> str:
    call = " ".join(a if isinstance(a, str) else text_of(a) for a in args[:6])
    said = text_of(stderr.strip()).splitlines()
    return f"git {call} ended in {code}: {said[-1] if said else 'it said nothing'}"


def find_repo(start: str | None = None) -> Repo:
    """Find the repository around ``start`` (default: the working folder).

    Raises `UsageError` outside a repository, where git refuses it, or without git.
    """
    call = ["git", "rev-parse", "--show-object-format", "--is-bare-repository"]
    # In a bare repository the last one fails, after the others have been told.
    call += ["--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel"]
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(call, capture_output=True, cwd=start, env=env, check=False)
    except FileNotFoundError as error:
        raise UsageError("git is not on PATH", "install git 2.31 or newer") from error
    except NotADirectoryError as error:
        raise UsageError(f"{start} is not a folder") from error
    lines = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    bare = lines[1:2] == ["true"]
    if len(lines) != (4 if bare else 5) or (done.returncode and not bare):
        raise _no_repository(done.stderr, start)
    object_format, _, git_dir, common_dir = lines[:4]
    if not bare and not os.path.isdir(lines[4]):
        raise UsageError(f"the working tree {lines[4]} is not there", "git config core.worktree")
    return Repo("" if bare else lines[4], git_dir, common_dir, object_format)


def _no_repository(stderr: bytes, start: str | None) -> UsageError:
    said = text_of(stderr.strip())
    if "not a git repository" in said:
        return UsageError(f"{start or os.getcwd()} is not in a git repository", "git init")
    if "path-format" in said or "show-object-format" in said:
        return UsageError("this git is too old: guard needs git 2.31 or newer", "git --version")
    if not said:
        return UsageError("this repository's path holds a line break: guard can't work there")
    first, *rest = said.splitlines()
    way_out = next((line.strip() for line in rest if line.strip().startswith("git ")), "")
    return UsageError(f"git refuses this repository: {first}", way_out)


def apply_patch(patch: bytes, folder: str) -> None:
    """Apply a patch to a folder that is no repository. Raises `UsageError` where it can't be."""
    call = ["git", "apply", "--whitespace=nowarn", "-"]
    # Nothing of a hook's or the user's: no repository around the folder may be found.
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
    env |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    env["GIT_CEILING_DIRECTORIES"] = os.path.dirname(os.path.realpath(folder))
    try:
        done = subprocess.run(
            call, input=patch, capture_output=True, cwd=folder, env=env, check=False
        )
    except FileNotFoundError as error:
        raise UsageError("git is not on PATH", "install git 2.31 or newer") from error
    if done.returncode:
        said = text_of(done.stderr.strip()).splitlines()
        raise UsageError(f"the patch doesn't apply: {said[0] if said else 'git says nothing'}")
