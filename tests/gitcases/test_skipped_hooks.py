"""Commits and pushes that meet no local hook: the server and CI say the same of them."""

from __future__ import annotations

from pathlib import Path

from tests.commands.calling import start_guard
from tests.conftest import ScratchRepo
from tests.hooks.installed import FILES, Installed, make_installed
from tests.hooks.served import BAD_FIX, FIX_MESSAGE, GOOD_FIX, make_served, said

REFUSED = "this fix changes agent talk and brings no case that fails without it (fix-needs-case)"


def past_hooks(tmp_path: Path, repo: ScratchRepo) -> tuple[Installed, str]:
    """Return a clone with hooks, and its commit that went past them."""
    served = make_served(tmp_path / "served", FILES)
    local = make_installed(repo)
    local.git("remote", "add", "o", str(served.server.root))
    local.git("push", "-q", "--no-verify", "--force", "o", "main")
    local.git("fetch", "-q", "o")
    return local, local.bypass(FIX_MESSAGE, BAD_FIX)


def test_042_push_server_and_ci_judge_what_went_past_the_hooks_alike(
    tmp_path: Path, repo: ScratchRepo
) -> None:
    """`--no-verify` on commit and push: pre-push, pre-receive and CI refuse from commits alone."""
    local, commit = past_hooks(tmp_path, repo)
    here = local.run("git", "push", "o", "main")
    there = local.run("git", "push", "--no-verify", "o", "main")
    assert (here.returncode, there.returncode) == (1, 1)
    first = f"guard: not pushed: {REFUSED}"
    assert here.stderr.splitlines()[0] == said(there).splitlines()[0] == first
    assert commit[:10] in said(there)
    ci = start_guard(local, "ci", "--base", "o/main")
    assert ci.code == 1
    assert REFUSED.removesuffix(" (fix-needs-case)") in ci.out
    make_good(local)
    done = local.run("git", "push", "--no-verify", "o", "main")
    assert done.returncode == 0, done.stderr


def make_good(local: Installed) -> None:
    local.write(GOOD_FIX)
    local.git("add", "--all")
    local.git("commit", "-q", "--no-verify", "--amend", "--no-edit")
