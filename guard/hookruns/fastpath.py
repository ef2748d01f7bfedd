"""The list by which an installed hook lets a commit through without starting Python.

Written where Python found nothing guarded among what is staged, and read by the `sh` of
`guard_hooks.shim`: it asks git whether HEAD still is, on all that the list depends on, what it was
when the list was written, and whether the index differs from HEAD on what is watched.
Whoever can't be sure writes none; then each commit starts Python.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import Final

from guard import __version__
from guard.digests import digest_of
from guard.errors import GuardError
from guard.git import Repo
from guard.hookruns.pathspecs import Pathspecs, pathspecs_of
from guard.hookruns.watched import configured_globs, further_globs
from guard.judging.guarded import guarded_globs
from guard.project import Project

#: Below guard's folder in a worktree's git directory.
FILE: Final = "fast"
#: Counts up when the text changes its meaning; the hooks read no other.
FORMAT: Final = 2
#: Nanoseconds that must lie between a change of plugins and a list that knows of it: file systems'
#: clocks are coarse, and a shell may compare whole seconds.
SETTLED: Final = 3 * 10**9
#: Files of plugins that are looked at before each commit.
MOST_FILES: Final = 60

#: What of git's configuration makes a path mean something else, or hides a part of the index.
_SETTINGS = r"^(core\.ignorecase|index\.sparse)$"
#: Whose files may be edited where guard itself is being worked on.
_DECIDERS = (configured_globs, guarded_globs, pathspecs_of)
_GIT = b"GIT_NO_REPLACE_OBJECTS=1 GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 git "
#: diff-tree reads the index first, which is long in a large repository, and takes nothing from it.
_NO_INDEX = b'GIT_INDEX_FILE="$list.none" '
_DIFF = b"--quiet --no-ext-diff --ignore-submodules=none "
_ANY_SKILL = b"':(top,glob)**/SKILL.md'"


def keep_list(project: Project) -> str:
    """See to it that there is a list for the tree; return its id, empty where there is none.

    The tree is what the commit stands on; nothing guarded differs between it and the index.
    """
    try:
        return _keep_list(project)
    except (OSError, GuardError):
        return ""


def _keep_list(project: Project) -> str:
    # Another environment may have other plugins than the hook's own start has.
    as_hook = sys.flags.ignore_environment and sys.flags.safe_path
    asked = asked_of(project) if as_hook and not project.disabled else None
    deciding = files_that_decide()
    if asked is None or deciding is None:
        return ""
    settings = _settings_of(project.repo)
    now, files = time.time_ns(), (*settings, *deciding)
    if max(map(_changed, deciding)) > now - SETTLED:
        return ""
    newest = max(map(_changed, files))
    identity = _identity(asked, files, newest)
    path = os.path.join(project.repo.git_dir, "guard", FILE)
    if not _holds(project, path, identity, newest):
        if _is_odd(project.repo):
            return ""
        dated = max(now - SETTLED + 10**9, newest)
        _write(path, list_text(project.tree.oid, identity, asked, files), dated)
    return identity


def asked_of(project: Project) -> Pathspecs | None:
    """Return what git is asked about; None where any path may matter."""
    # One at the root may import its hooks from anywhere.
    if any("/" not in plugin for plugin in project.config.plugins):
        return None
    further = further_globs(project)
    if further is None:
        return None
    return pathspecs_of(
        project.tree, (*configured_globs(project), *guarded_globs(project), *further)
    )


def _identity(asked: Pathspecs, files: Iterable[str], newest: int) -> str:
    parts = [str(FORMAT), __version__, sys.executable, str(newest), *files]
    return digest_of([*map(os.fsencode, parts), repr(asked).encode()])


def _is_odd(repo: Repo) -> bool:
    """Tell whether git is configured so that a path or an index may mean something else."""
    listed = repo.run("config", "-z", "--type=bool", "--get-regexp", _SETTINGS, ok=(0, 1)).out
    return b"\ntrue" in listed


# What decides which plugins and settings there are ----------------------------------------


def _settings_of(repo: Repo) -> tuple[str, ...]:
    """Return the repository's own files of settings."""
    worktrees = os.path.join(repo.git_dir, "config.worktree")
    return os.path.join(repo.common_dir, "config"), worktrees


def files_that_decide() -> list[str] | None:
    """Return files and folders: where one changes, other plugins may have a say.

    None where a plugin in the making has too many to look at.
    """
    found = [function.__code__.co_filename for function in _DECIDERS]
    for folder in _import_folders():
        found += [folder, *_path_files(folder)]
    plugins = list(_plugin_files())
    return None if len(plugins) > MOST_FILES else list(dict.fromkeys((*found, *plugins)))


def _import_folders() -> list[str]:
    import site

    users = site.getusersitepackages() if site.ENABLE_USER_SITE else ""
    return [os.path.abspath(folder) for folder in dict.fromkeys((*sys.path, users)) if folder]


def _path_files(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if name.endswith(".pth")]


def _plugin_files() -> Iterable[str]:
    """Yield the files of plugins that may change without being installed again."""
    from guard.plugin.entrypoints import installed_points
    from guard.plugin.facts import files_of

    for point in installed_points():
        for file in files_of(point):
            if not {"site-packages", "dist-packages"}.intersection(file.split(os.sep)):
                yield file


def _changed(path: str) -> int:
    """Return when a file was last changed, in ns; 0 where there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


# The file -------------------------------------------------------------------------------


def _holds(project: Project, path: str, identity: str, newest: int) -> bool:
    """Tell whether the list that is there will be taken by the hook."""
    try:
        with open(path, "rb") as stream:
            lines = stream.read().split(b"\n")
        written = os.stat(path).st_mtime_ns
    except OSError:
        return False
    if lines[-2:] != [b"whole=" + identity.encode(), b""] or written < newest:
        return False
    tree = next((line[5:] for line in lines if line.startswith(b"tree=")), b"")
    return bool(tree) and project.repo.objects.read(tree) is not None


def list_text(tree: str, identity: str, asked: Pathspecs, files: Iterable[str]) -> bytes:
    """Return the list: plain `sh` that defines what the hook calls. Every path is quoted."""
    places = b" ".join(_quoted(b":(top,literal)" + place) for place in asked.places)
    if asked.root_files:
        places += b" ':(top,glob)*'"
    lines = [
        b"# What git is asked so that no Python need start. guard's own; safe to delete.",
        b"for_shim=%d" % FORMAT,
        b"id=" + identity.encode(),
        b"for_python=" + _quoted(os.fsencode(sys.executable)),
        b"tree=" + tree.encode(),
        b"settled() {",
        *(b"    " + _unchanged(file) for file in files),
        b"}",
        b"at_head() {",
        b"    " + _NO_INDEX + _GIT + b"diff-tree -r " + _DIFF + b'"$tree" HEAD -- ' + places,
        b"}",
        b"untouched() {",
        b"    " + _GIT + b"diff-index --cached " + _DIFF + b"HEAD -- " + places + b" " + _ANY_SKILL,
        b"}",
        # Last, so that what was cut short isn't taken.
        b"whole=" + identity.encode(),
    ]
    return b"\n".join(lines) + b"\n"


def _unchanged(file: str) -> bytes:
    quoted = _quoted(os.fsencode(file))
    there = b"[ -e %s ] && " % quoted if os.path.exists(file) else b""
    return there + b'[ ! %s -nt "$list" ] || return' % quoted


def _quoted(text: bytes) -> bytes:
    return b"'" + text.replace(b"'", b"'\\''") + b"'"


def _write(path: str, text: bytes, dated: int) -> None:
    """Write the list whole or not at all, dated so that a later change of any file is newer."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fresh = f"{path}.{os.getpid()}"
    try:
        with open(fresh, "wb") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.utime(fresh, ns=(dated, dated))
        os.replace(fresh, path)
    finally:
        if os.path.exists(fresh):
            os.unlink(fresh)
