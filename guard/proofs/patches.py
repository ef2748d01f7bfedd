"""A patch that breaks an agent again, made and applied in the scratch store alone.

Applied strictly: context must be as the patch says, lines may only have moved up or down. Where
the blobs it was made from are known, it is merged instead, as the live state is: an edit nearby,
a renamed file or folder don't matter then.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from guard.git import bytes_of, text_of
from guard.proofs.scratch import Scratch
from guard.tree import Entry, Tree

Entries = Mapping[bytes, Entry]
#: Bytes of a patch: what breaks prose again is small.
LARGEST = 8 * 1024 * 1024


class PatchError(Exception):
    """A patch that can't be applied; its text says why."""


def make_patch(scratch: Scratch, old: str, new: str, about: str) -> bytes:
    """Return the patch from one tree to another, ``about`` on its first line.

    As text for reviewers; where tools that tidy text files would spoil it, as encoded binary.
    """
    plain = _diff(scratch, old, new)
    found = plain if _survives_tidying(plain) else _diff(scratch, old, new, binary=True)
    return f"{about}\n\n".encode() + found


def _diff(scratch: Scratch, old: str, new: str, *, binary: bool = False) -> bytes:
    attributes = os.path.join(scratch.folder, "attributes")
    with open(attributes, "w", encoding="utf-8") as file:
        file.write("* -diff\n" if binary else "* !diff\n")
    options = ("-p", "--binary", "--full-index", "--find-renames", "--no-color", "--no-ext-diff")
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    call = ("-c", f"core.attributesFile={attributes}", "diff-tree", "-r")
    return scratch.run(*call, *options, *prefixes, old, new).out


def _survives_tidying(patch: bytes) -> bool:
    """Tell whether the patch stays the same where line ends are made LF and blanks cut off."""
    lines = patch.split(b"\n")
    return b"\r" not in patch and not any(line[1:] != line[1:].rstrip() for line in lines)


def apply_patch(scratch: Scratch, own: Entries, patch: bytes) -> dict[bytes, Entry]:
    """Return the entries that a patch makes of others; the same ones where nothing changes.

    Raises `PatchError`.
    """
    if len(patch) > LARGEST:
        raise PatchError(f"it is larger than {LARGEST // 2**20} MiB")
    if not patch.strip():
        return dict(own)
    # Tools that tidy files cut off the blank line that ends a binary patch.
    patch += b"\n\n"
    merged = _merged(scratch, own, patch)
    if merged is not None:
        return merged
    code, said, applied = _apply(scratch, own, patch)
    if code == 0:
        return applied
    if _apply(scratch, own, patch, "--reverse")[0] == 0:
        # What it would break is broken already.
        return dict(own)
    raise PatchError(said)


def touched_by(scratch: Scratch, patch: bytes) -> list[bytes]:
    """Return the paths that a patch would write; none where it can't be read."""
    done = scratch.run("apply", "--numstat", "-z", input=patch, ok=None)
    lines = [line.split(b"\t", 2) for line in done.out.split(b"\0")]
    return [line[2] for line in lines if len(line) == 3]


def _merged(scratch: Scratch, own: Entries, patch: bytes) -> dict[bytes, Entry] | None:
    """Merge what the patch does to the blobs it was made from; None where that can't be done."""
    if not scratch.merges_trees:
        return None
    ancestor = os.path.join(scratch.folder, "ancestor-index")
    _remove(ancestor)
    index = _index_of(scratch, own)
    call = ("apply", f"--build-fake-ancestor={ancestor}")
    done = scratch.run(*call, input=patch, env={"GIT_INDEX_FILE": index}, ok=None)
    if done.code or not os.path.exists(ancestor):
        return None
    base = _entries_in(scratch, ancestor)
    code, _, theirs = _apply(scratch, base, patch)
    if code:
        return None
    empty = scratch.repo.empty_tree
    trees = [scratch.edit_tree(empty, entries) for entries in (base, own, theirs)]
    merged = scratch.merge_trees(*trees)
    return None if merged is None else dict(Tree(scratch.repo, merged).entries())


def _apply(
    scratch: Scratch, entries: Entries, patch: bytes, *options: str
) -> tuple[int, str, dict[bytes, Entry]]:
    """Apply to these entries; return git's code, its words, and what came of it."""
    index = _index_of(scratch, entries)
    call = ("apply", "--cached", "--whitespace=nowarn", *options)
    done = scratch.run(*call, input=patch, env={"GIT_INDEX_FILE": index}, ok=None)
    if done.code:
        said = text_of(done.err.strip()).splitlines()
        first = said[0].removeprefix("error: ") if said else "git says nothing"
        return done.code, first.removesuffix(' (allow with "--allow-empty")'), {}
    return 0, "", _entries_in(scratch, index)


def _index_of(scratch: Scratch, entries: Entries) -> str:
    """Write an index of these entries alone; return its file."""
    index = os.path.join(scratch.folder, "patch-index")
    _remove(index)
    lines = [
        bytes_of(f"{entry.mode} {entry.oid}\t") + path + b"\0" for path, entry in entries.items()
    ]
    call = ("update-index", "-z", "--index-info")
    scratch.run(*call, input=b"".join(lines), env={"GIT_INDEX_FILE": index})
    return index


def _entries_in(scratch: Scratch, index: str) -> dict[bytes, Entry]:
    listed = scratch.run("ls-files", "--stage", "-z", env={"GIT_INDEX_FILE": index}).out
    found: dict[bytes, Entry] = {}
    for line in listed.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, oid, _stage = facts.decode().split()
        found[path] = Entry(mode, oid)
    return found


def _remove(path: str) -> None:
    if os.path.lexists(path):
        os.remove(path)
