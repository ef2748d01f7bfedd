"""Files that a filter stands behind: what git would make of them is not in their blob.

A file in Git LFS is taken from the store that git-lfs keeps, by its SHA-256: the same bytes on
every machine, without git-lfs and without a network. Any other filter is a program that this
machine configures. It is run, and must end well; one that isn't configured here leaves the file
unreadable. The blob in its place would be an agent that nobody has.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from guard.git import Completed, ObjectError, Repo, said_by_git, text_of
from guard.owngit import OwnGit
from guard.tree import Entry, Tree

LFS: Final = "lfs"
ATTRIBUTES: Final = b".gitattributes"
_NAMED: Final = re.compile(rb"\sfilter=(\S+)")
#: A pointer is smaller than this.
POINTER_BYTES: Final = 1024
_POINTER: Final = re.compile(
    rb"version https://(?:git-lfs\.github|hawser\.github)\.com/spec/v1\n"
    rb"(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n"
)
#: Nothing of the user's configuration but filters decides what a filtered file holds.
SETTINGS: Final = (
    *("-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.symlinks=true"),
    *("-c", "core.attributesFile=/dev/null", "-c", "core.splitIndex=false"),
    *("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "index.sparse=false"),
    *("-c", "core.sparseCheckout=false", "-c", "core.safecrlf=false"),
)


#: What a report says of a workspace that isn't made of git's objects alone.
BY_FILTER: Final = "workspace written by a filter that this machine configures"


class Lacking(NamedTuple):
    """A file that can't be had here."""

    path: bytes
    why: str
    """Goes on where its name ends."""
    hint: str = ""


class Written(NamedTuple):
    """What came of writing files."""

    lacking: tuple[Lacking, ...] = ()
    filters: frozenset[str] = frozenset()
    """The programs of this machine that had a part in it, by their names in .gitattributes."""


class Checkout(NamedTuple):
    """Where files are written, and by which index."""

    repo: Repo
    git_dir: str
    index_file: str
    work: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which git writes there."""
        return {"GIT_INDEX_FILE": self.index_file, "GIT_WORK_TREE": self.work}

    def place(self, path: bytes) -> bytes:
        """Return where a file is written."""
        return os.path.join(os.fsencode(self.work), path)

    def run(self, *args: str, input: bytes | None = None) -> Completed:
        """Run git in the repository itself, where filters are configured."""
        env = {**self.environment, "GIT_DIR": self.git_dir, "GIT_ATTR_NOSYSTEM": "1"}
        return self.repo.run(*SETTINGS, *args, input=input, env=env, ok=None)


# Which files -------------------------------------------------------------------------------


def find_filtered(
    own: OwnGit, checkout: Checkout, files: Sequence[bytes], attributes: Mapping[bytes, Entry]
) -> dict[bytes, str]:
    """Return file → name of its filter, by the committed attributes alone."""
    if not attributes:
        return {}
    _need_all(own, attributes)
    names = b"".join(path + b"\0" for path in files)
    call = ("check-attr", "--cached", "-z", "--stdin", "filter")
    fields = own.run(*call, input=names, env=checkout.environment).out.split(b"\0")
    values = zip(fields[0::3], fields[2::3], strict=False)
    return {
        path: text_of(value)
        for path, value in values
        if value not in (b"unspecified", b"unset", b"set", b"")
    }


def _need_all(own: OwnGit, attributes: Mapping[bytes, Entry]) -> None:
    """Raise where an attribute file is missing: git would go on as if it said nothing."""
    # Not through the repository's one reader: files are written from several threads.
    asked = "".join(f"{entry.oid}\n" for entry in attributes.values()).encode()
    told = own.run("cat-file", "--batch-check", input=asked).out.splitlines()
    for (path, entry), line in zip(attributes.items(), told, strict=True):
        if line.endswith(b" missing"):
            raise ObjectError(entry.oid).of_file(path)


def filter_facts(tree: Tree, folder: bytes) -> dict[str, dict[str, str]]:
    """Return filter → its settings here, of those that attributes name for files of a folder.

    ``folder`` has a slash at its end; empty for the whole tree. Files in Git LFS don't count:
    what they hold is in the tree.
    """
    listed = {
        entry.oid: path
        for path, entry in tree.entries().items()
        if path.rpartition(b"/")[2] == ATTRIBUTES and _may_apply(path, folder)
    }
    texts = tree.read_blobs(listed).values() if listed else ()
    names = {text_of(name) for text in texts for name in _NAMED.findall(text)} - {LFS}
    return {name: settings_of(tree.repo, tree.repo.git_dir, name) for name in sorted(names)}


def _may_apply(attributes: bytes, folder: bytes) -> bool:
    above = attributes.removesuffix(ATTRIBUTES)
    return above.startswith(folder) or folder.startswith(above)


# What they hold ----------------------------------------------------------------------------


def apply_filters(checkout: Checkout, filtered: Mapping[bytes, str]) -> Written:
    """Write the files behind filters.

    Files in LFS lie there as pointers already, the others don't yet.
    """
    lacking: list[Lacking] = []
    ran: set[str] = set()
    for name in sorted(set(filtered.values())):
        files = [path for path, behind in filtered.items() if behind == name]
        if name == LFS:
            lacking += _fill_pointers(checkout, files)
            continue
        settings = settings_of(checkout.repo, checkout.git_dir, name)
        if not settings:
            why = f"needs the filter {name}, which is not configured on this machine"
            hint = f"git config filter.{name}.smudge COMMAND"
            lacking += [Lacking(path, why, hint) for path in files]
            continue
        # One with a `clean` alone leaves what it reads as it is.
        if settings.get("smudge") or settings.get("process"):
            settings["required"] = "true"
            ran.add(name)
        lacking += _run_filter(checkout, name, files, settings)
    return Written(tuple(lacking), frozenset(ran))


def settings_of(repo: Repo, git_dir: str, name: str) -> dict[str, str]:
    """Return what a machine configures of a filter: nothing where it doesn't know it."""
    listed = repo.run("config", "-z", "--list", env={"GIT_DIR": git_dir}).out.split(b"\0")
    pairs = (text_of(item).partition("\n") for item in listed)
    found = ((key.rpartition("."), value) for key, _, value in pairs)
    return {last: value for (section, _, last), value in found if section == f"filter.{name}"}


def _run_filter(
    checkout: Checkout, name: str, files: Sequence[bytes], settings: Mapping[str, str]
) -> list[Lacking]:
    # Where it may fail, git takes what it was given instead, and says nothing.
    required = ("-c", f"filter.{name}.required={settings.get('required', 'false')}")
    names = b"".join(path + b"\0" for path in files)
    done = checkout.run(*required, "checkout-index", "-q", "-z", "--stdin", input=names)
    missing = [path for path in files if not os.path.lexists(checkout.place(path))]
    if not done.code and not missing:
        return []
    said = said_by_git(done.err) or f"git ended in {done.code}"
    return [
        Lacking(path, f"needs the filter {name}, which failed ({said})")
        for path in missing or files
    ]


# Git LFS -----------------------------------------------------------------------------------


def _fill_pointers(checkout: Checkout, files: Sequence[bytes]) -> list[Lacking]:
    pointers = {path: oid for path in files if (oid := pointer_of(checkout.place(path)))}
    if not pointers:
        return []
    stores = _lfs_stores(checkout)
    lacking: list[Lacking] = []
    for path, oid in pointers.items():
        if not any(_copy_large(store, oid, checkout.place(path)) for store in stores):
            hint = f"git lfs fetch --include={text_of(path)}"
            lacking.append(Lacking(path, "is in Git LFS, and its content is not here", hint))
    return lacking


def pointer_of(place: bytes) -> str:
    """Return the SHA-256 that a file names as an LFS pointer; empty where it is none."""
    if os.path.islink(place) or os.lstat(place).st_size >= POINTER_BYTES:
        return ""
    with open(place, "rb") as file:
        found = _POINTER.match(file.read())
    return found[1].decode() if found else ""


def _lfs_stores(checkout: Checkout) -> list[str]:
    given = text_of(checkout.run("config", "lfs.storage").out).removesuffix("\n")
    common = checkout.run("rev-parse", "--path-format=absolute", "--git-common-dir").out
    folders = dict.fromkeys((text_of(common).removesuffix("\n"), checkout.repo.common_dir))
    return [os.path.join(folder, given or "lfs", "objects") for folder in folders]


def _copy_large(store: str, oid: str, place: bytes) -> bool:
    """Replace a pointer by its content, where the store holds it undamaged."""
    try:
        kept = open(os.path.join(store, oid[:2], oid[2:4], oid), "rb")  # noqa: SIM115
    except FileNotFoundError:
        return False
    digest, fresh = hashlib.sha256(), place + b".fresh"
    with kept as source, open(fresh, "xb") as target:
        while part := source.read(1 << 20):
            digest.update(part)
            target.write(part)
    if digest.hexdigest() != oid:
        os.unlink(fresh)
        return False
    os.chmod(fresh, os.lstat(place).st_mode & 0o777)
    os.replace(fresh, place)
    return True
