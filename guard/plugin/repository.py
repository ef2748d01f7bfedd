"""Plugins and evaluators of the repository itself, loaded from the tree under test.

Their folder's Python files are copied to the store under a digest of path, mode and id: the
copy never changes, so its byte-code is safe, and two trees never share a module.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from guard.errors import PluginError
from guard.git import bytes_of, text_of
from guard.plugin.exits import keep_guard_running
from guard.tree import GITLINK, SYMLINK, Entry, Tree


def load_module(tree: Tree, path: str, store_folder: str) -> ModuleType:
    """Import one Python file of a tree. Raises `PluginError` in one line."""
    folder, _, file = path.rpartition("/")
    sources = _python_files(tree, folder)
    if bytes_of(path) not in sources:
        raise PluginError(
            f"guard.yaml names {path}, which is not in the tree under test",
            f"git add {path}",
        )
    digest = _digest(sources)
    package = f"guard_repository_{digest}"
    name = f"{package}.{file.removesuffix('.py')}"
    if name in sys.modules:
        return sys.modules[name]
    home = _copied(tree, folder, sources, os.path.join(store_folder, "plugins", digest))
    try:
        return _imported(package, name, home, file)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{path} does not load: {_said(error, home)}") from error


def _python_files(tree: Tree, folder: str) -> dict[bytes, Entry]:
    entries = tree.below(bytes_of(folder))
    return {
        path: entry
        for path, entry in entries.items()
        if path.endswith(b".py") and entry.mode not in (GITLINK, SYMLINK)
    }


def _new_sha256() -> Any:
    """Return a fresh SHA-256, without OpenSSL where Python has its own.

    `hashlib` loads all of OpenSSL, which each commit would wait for; Python's `random` goes the
    same way.
    """
    from importlib import import_module

    for module in ("_sha2", "_sha256", "hashlib"):
        try:
            return import_module(module).sha256()
        except ImportError:
            continue
    raise ImportError("this Python has no SHA-256")


def _digest(sources: dict[bytes, Entry]) -> str:
    digest = _new_sha256()
    for path, entry in sorted(sources.items()):
        digest.update(b"%s\0%s %s\n" % (path, entry.mode.encode(), entry.oid.encode()))
    return str(digest.hexdigest())[:32]


def _copied(tree: Tree, folder: str, sources: dict[bytes, Entry], home: str) -> str:
    if os.path.isdir(home):
        return home
    blobs = tree.read_blobs({entry.oid: path for path, entry in sources.items()})
    building = f"{home}.{os.getpid()}"
    start = len(bytes_of(folder)) + 1 if folder else 0
    for path, entry in sources.items():
        target = os.path.join(building, text_of(path[start:]))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as stream:
            stream.write(blobs[entry.oid])
    try:
        os.rename(building, home)
    except OSError:
        # Another process was faster; the digest says that its copy is the same.
        import shutil

        shutil.rmtree(building, ignore_errors=True)
    return home


def _imported(package: str, name: str, home: str, file: str) -> ModuleType:
    import importlib.machinery
    import importlib.util

    if package not in sys.modules:
        spec = importlib.machinery.ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [home]
        sys.modules[package] = importlib.util.module_from_spec(spec)
    found = importlib.util.spec_from_file_location(name, os.path.join(home, file))
    if found is None or found.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    keep_guard_running()
    try:
        found.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _said(error: BaseException, home: str) -> str:
    line = ""
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.startswith(home):
            line = f" (line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    if isinstance(error, SyntaxError):
        line = f" (line {error.lineno})"
    return f"{type(error).__name__}: {error}{line}"
