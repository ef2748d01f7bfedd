"""``guard install``: write the git hooks; what was there before is kept, and called first."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from guard import output
from guard.errors import UsageError
from guard.git import Repo, find_repo, text_of
from guard.judging.protected import find_protected, why_nothing
from guard.regressions import FILE
from guard.setup.hooks_folder import find_hooks_folder
from guard.setup.merge_driver import configure_driver, is_named
from guard_hooks.folder import (
    Hook,
    free_name,
    keep_changed,
    move_hook,
    place_of_ours,
    read_hook,
    write_hook,
)
from guard_hooks.kept import name_kept
from guard_hooks.shim import GENERATED, KEPT, MAIL_STAGES, SERVER_STAGES, STAGES, shim_text

if TYPE_CHECKING:
    import argparse


EPILOG = """\
It writes commit-msg, pre-commit, pre-merge-commit and pre-push into the folder that git takes hooks
from: .git/hooks, or what core.hooksPath names. A hook of yours that is there is kept beside it as
NAME.guard-kept and called first; what it refuses stays refused. `guard uninstall` puts it back.
Installing twice changes nothing. Each clone needs its own."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard install``."""
    parser.epilog = EPILOG
    help_text = "where a kept hook was replaced since: keep both, call the newer one"
    parser.add_argument("--force", action="store_true", help=help_text)
    help_text = "also pre-receive, where others push to this clone; a bare repository has no other"
    parser.add_argument("--server", action="store_true", help=help_text)
    help_text = "also pre-applypatch: `git am` runs no other hook of these"
    parser.add_argument("--applypatch", action="store_true", help=help_text)


def install(
    *,
    force: bool = False,
    server: bool = False,
    applypatch: bool = False,
    disabled: frozenset[str] = frozenset(),
) -> int:
    """Write the hooks of all stages; install twice and nothing changes."""
    with find_repo() as repo:
        folder = find_hooks_folder(repo)
        stages = (
            *(STAGES if repo.root else ()),
            *(SERVER_STAGES if server or not repo.root else ()),
        )
        hooks = [Hook(stage, os.path.join(folder, stage)) for stage in stages]
        hooks += [hook for hook in mail_hooks(folder) if applypatch or place_of_ours(hook)]
        if not force:
            refuse_what_is_in_the_way(hooks)
        os.makedirs(folder, exist_ok=True)
        ours = [(hook, place) for hook in hooks if (place := place_of_ours(hook))]
        changed = [keep_changed(hook, place) for hook, place in ours]
        written = [hook for hook in hooks if install_one(hook)]
        tell(repo, folder, hooks, written)
        tell_changed(changed)
        if repo.root:
            define_merge_driver(repo)
    return 0


def mail_hooks(folder: str) -> list[Hook]:
    """Return the hooks of ``git am``: written where they are asked for, or were before."""
    return [Hook(stage, os.path.join(folder, stage)) for stage in MAIL_STAGES]


def refuse_what_is_in_the_way(hooks: list[Hook]) -> None:
    """Raise `UsageError` before anything is written, where two earlier hooks claim one place."""
    for hook in hooks:
        if must_move_aside(hook):
            raise UsageError(
                f"{hook.path} was replaced since guard kept {hook.kept}, which differs from it",
                "guard install --force    # look at both first: it keeps both, calls the newer one",
            )


def must_move_aside(hook: Hook) -> bool:
    """Tell whether a kept hook is in the way of another one that would have to be kept."""
    there, kept = read_hook(hook.path), read_hook(hook.kept)
    if there is None or kept is None or place_of_ours(hook) or there == kept:
        return False
    return not any(mark in there and mark in kept for mark in GENERATED)


def install_one(hook: Hook) -> bool:
    """Write one hook; return whether anything changed."""
    place = place_of_ours(hook)
    if not place and os.path.lexists(hook.path):
        if must_move_aside(hook):
            move_hook(hook.kept, free_name(hook.kept))
        move_hook(hook.path, hook.kept)
    name_kept(hook)
    place = place or hook.path
    text = shim_text(hook.stage, sys.executable, read_hook(hook.kept))
    if read_hook(place) == text and os.access(place, os.X_OK):
        return False
    write_hook(place, text)
    return True


def tell(repo: Repo, folder: str, hooks: list[Hook], written: list[Hook]) -> None:
    """Say what was written where, what is called first, and what may surprise."""
    place = output.printable(shown(repo, folder))
    stages = ", ".join(hook.stage for hook in written)
    output.out(
        f"guard: installed in {place}: {stages}" if written else "guard: installed, as it was"
    )
    kept = [hook.stage for hook in hooks if os.path.lexists(hook.kept)]
    if kept:
        output.out(f"  called first, as before: your own {', '.join(kept)} (*{KEPT})")
    chained = [hook.stage for hook in hooks if place_of_ours(hook) == hook.legacy]
    if chained:
        output.out(f"  called by the framework: {', '.join(chained)}")
    for surprise in surprises(repo, place):
        output.out(f"! {surprise}")


def tell_changed(changed: list[str]) -> None:
    """Say where the hooks of ours are that somebody wrote into."""
    names = [name for name in changed if name]
    if names:
        output.out(f"! somebody changed what guard wrote: kept beside it as {', '.join(names)}")


def define_merge_driver(repo: Repo) -> None:
    """Define what .gitattributes names: that is for all, and each clone has its own config."""
    if is_named(repo) and configure_driver(repo):
        output.out(f"  merge driver of {FILE}: set in this clone's git config")


def shown(repo: Repo, folder: str) -> str:
    """Return the folder as the user would name it."""
    near = os.path.relpath(folder, repo.root or repo.git_dir)
    return folder if near.startswith("..") else near


def surprises(repo: Repo, place: str) -> list[str]:
    """Return what core.hooksPath does that its owner may not expect, a sentence each."""
    if not repo.root and not (protected := find_protected(repo)).commit:
        return [f"nothing is enforced yet: {why_nothing(repo, protected)[0]}"]
    asked = repo.run("config", "--show-scope", "--get", "core.hooksPath", ok=None)
    scope, _, path = text_of(asked.out.strip()).partition("\t")
    if not path:
        return []
    if scope in ("global", "system"):
        return [f"core.hooksPath is {scope}: these hooks run in all your repositories"]
    if os.path.isabs(place) or not repo.root:
        return []
    if repo.out("ls-files", "-z", "--", place):
        return [f"{place} is tracked: others get these hooks, with your interpreter's path"]
    if not os.path.isabs(path):
        return [f"core.hooksPath is relative: a linked worktree has no {place}, so no hook"]
    return []
