"""All talk with git: one environment, bytes in, bytes out, errors that name the call.

Plumbing only, so that no configuration of the user's (colour, pagers, external diffs,
replace refs, grafts) changes what is read. What git gave a hook (index, quarantine) is kept;
nothing here writes to the user's index, refs or objects, and nothing is fetched.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from typing import NamedTuple

from guard.closing import Closing
from guard.errors import GuardError, UnreadableError, UsageError
from guard.objects import GitObject, ObjectError, ObjectReader, bytes_of, said_by_git, text_of

__all__ = [
    "MINIMUM_VERSION",
    "NO_GIT",
    "PLUMBING_ENV",
    "Completed",
    "GitObject",
    "ObjectError",
    "ObjectReader",
    "Repo",
    "bytes_of",
    "find_repo",
    "said_by_git",
    "text_of",
]

MINIMUM_VERSION = (2, 31)
NO_GIT = ("git is not on PATH", "install git 2.31 or newer")

PLUMBING_ENV = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    # The same for a git older than 2.45: where no protocol is allowed nothing can be fetched.
    "GIT_ALLOW_PROTOCOL": "",
    # No file can be there: grafts rewrite history as replace refs do.
    "GIT_GRAFT_FILE": f"{os.devnull}/none",
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
#: What is asked of a repository once, at the start.
ASKED = (
    *("--show-object-format", "--is-bare-repository", "--path-format=absolute"),
    *("--git-dir", "--git-common-dir", "--show-toplevel"),
)
#: Where objects are written, and where they are read beside that.
STORE, ALTERNATES = "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"
#: They contradict GIT_LITERAL_PATHSPECS, and git refuses to start with both.
PATHSPEC_VARIABLES = ("GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS")


class Completed(NamedTuple):
    """A finished call of git."""

    code: int
    out: bytes
    err: bytes


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
            # Relative to where git works, wherever in the working tree guard was called.
            given = os.path.join(self.root or git_dir, self._env["GIT_INDEX_FILE"])
            self._env["GIT_INDEX_FILE"] = os.path.abspath(given)

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
        """The variables that say where objects are written and read."""
        given = self._env.get(STORE) or "objects"
        # Relative to the working tree where git gave it, to the git directory by default.
        base = self.root or self.git_dir if STORE in self._env else self.common_dir
        others = self._env.get(ALTERNATES)
        return {STORE: os.path.join(base, given), **({ALTERNATES: others} if others else {})}

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
            raise UsageError(*NO_GIT) from error
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

    def tree_of(self, rev: str) -> str | None:
        """Return the id of a revision's tree, or None where there is no such revision.

        Raises `ObjectError` where there is one and its objects aren't here: that is no empty tree.
        """
        found = self.resolve(f"{rev}^{{tree}}")
        named = self.resolve(rev) if found is None else None
        if named is None:
            return found
        item = self.objects.read(named)
        if item is not None and item.kind == "blob":
            return None
        header = item.data.partition(b"\n")[0] if item else b""
        raise ObjectError(header[5:].decode() if header.startswith(b"tree ") else named)

    def use_scratch(self) -> None:
        """From here on write objects to a scratch store, with the repository's as alternate.

        A snapshot then leaves nothing behind in the user's store.
        """
        if self._scratch:
            return
        from guard.leftovers import make_folder

        self.objects.close()
        real = self.object_stores[STORE]
        self._scratch = make_folder("objects")
        self._env[STORE] = self._scratch
        self._set_alternates(_quoted_store(real), *self._alternates())

    def read_also(self, store: str) -> None:
        """From here on find objects in another store too: a submodule's."""
        known, quoted = self._alternates(), _quoted_store(store)
        if quoted not in known:
            self.objects.close()
            self._set_alternates(*known, quoted)

    def _alternates(self) -> list[str]:
        given = self._env.get(ALTERNATES)
        return [given] if given else []

    def _set_alternates(self, *stores: str) -> None:
        self._env[ALTERNATES] = os.pathsep.join(stores)

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
    return f"git {call} ended in {code}: {said_by_git(stderr) or 'it said nothing'}"


def find_repo(start: str | None = None) -> Repo:
    """Find the repository around ``start`` (default: the working folder).

    Raises `UsageError` outside a repository or without git, `UnreadableError` where git refuses
    the repository.
    """
    # In a bare repository the last one fails, after the others have been told.
    call = ("git", "rev-parse", *ASKED)
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(call, capture_output=True, cwd=start, env=env, check=False)
    except FileNotFoundError as error:
        raise UsageError(*NO_GIT) from error
    except NotADirectoryError as error:
        raise UsageError(f"{start} is not a folder") from error
    lines = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    bare = lines[1:2] == ["true"]
    if len(lines) != (4 if bare else 5) or (done.returncode and not bare):
        raise _no_repository(done, start)
    object_format, _, git_dir, common_dir = lines[:4]
    if not bare and not os.path.isdir(lines[4]):
        raise UsageError(f"the working tree {lines[4]} is not there", "git config core.worktree")
    return Repo("" if bare else lines[4], git_dir, common_dir, object_format)


def _no_repository(done: subprocess.CompletedProcess[bytes], start: str | None) -> GuardError:
    said = text_of(done.stderr.strip())
    # An older git takes what it doesn't know for a name, and repeats it.
    unknown = [name for name in ASKED if name.encode() in done.stdout + done.stderr]
    if unknown:
        feature = f"git rev-parse {unknown[0].partition('=')[0]}"
        return UsageError(
            f"this git has no `{feature}`: guard needs git 2.31 or newer", "git --version"
        )
    if "not a git repository" in said:
        return UsageError(f"{start or os.getcwd()} is not in a git repository", "git init")
    if not said:
        return UsageError("this repository's path holds a line break: guard can't work there")
    if "must be run in a work tree" in said:
        return UsageError(f"{start or os.getcwd()} is in a git directory, not in a working tree")
    first, *rest = said.splitlines()
    way_out = next((line.strip() for line in rest if line.strip().startswith("git ")), "")
    return UnreadableError(f"git refuses this repository: {first}", way_out)
