"""The pre-commit framework runs the same hooks, and what it hides changes no verdict."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ScratchRepo
from tests.hooks.installed import (
    BAD_TALK,
    FILES,
    GOOD_TALK,
    TALK,
    Installed,
    skill,
)

ROOT = Path(__file__).parent.parent.parent
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
BIN = Path(sys.executable).parent
STAGES = ["commit-msg", "pre-commit", "pre-merge-commit", "pre-push"]
BETTER_TALK = skill("talk", "say hello, and mean it")


def manifest() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    return found


def local_config() -> str:
    """Return a config with our manifest's hooks, run from this environment."""
    hooks = [
        {**hook, "language": "system", "entry": str(BIN / hook["entry"])} for hook in manifest()
    ]
    return json.dumps({"repos": [{"repo": "local", "hooks": hooks}]})


def pre_commit(repo: ScratchRepo, *args: str) -> subprocess.CompletedProcess[str]:
    return repo.run(str(BIN / "pre-commit"), *args)


def install_framework(repo: ScratchRepo, *more: str) -> None:
    types = [flag for stage in STAGES for flag in ("-t", stage)]
    done = pre_commit(repo, "install", *types, *more)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def framed(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Installed:
    """A guarded repository whose hooks the framework runs."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "framework"))
    found = Installed(repo.root)
    found.bypass("feat: all", {**FILES, ".pre-commit-config.yaml": local_config()})
    install_framework(found)
    return found


# The manifest --------------------------------------------------------------------------


def test_manifest_is_valid(repo: ScratchRepo) -> None:
    done = pre_commit(repo, "validate-manifest", str(MANIFEST))
    assert done.returncode == 0, done.stdout


def test_manifest_filters_nothing_and_shows_everything() -> None:
    assert [hook["id"] for hook in manifest()] == [
        "guard-commit-msg",
        "guard-affected",
        "guard-suite",
    ]
    for hook in manifest():
        assert not {"files", "types", "types_or", "exclude"} & set(hook)
        assert hook["always_run"] is hook["require_serial"] is hook["verbose"] is True
        assert hook.get("pass_filenames", True) is (hook["id"] == "guard-commit-msg")
        assert hook["minimum_pre_commit_version"] == "3.2.0"
        assert (BIN / hook["entry"]).exists()


def test_every_stage_has_a_hook() -> None:
    assert sorted(stage for hook in manifest() for stage in hook["stages"]) == STAGES


# Its runs ------------------------------------------------------------------------------


def test_good_change_passes_and_is_shown(framed: Installed) -> None:
    framed.stage({TALK: BETTER_TALK})
    said = framed.accept("feat(talk): mean it")
    assert "✓ 1 held when run now (greets 2 of 2)" in said
    assert "there is no commit-msg hook" not in said


def test_broken_change_is_refused(framed: Installed) -> None:
    framed.stage({TALK: BAD_TALK})
    assert "greets fails" in framed.refuse("feat(talk): say less")


def test_fix_without_a_case_is_refused(framed: Installed) -> None:
    framed.stage({TALK: BETTER_TALK})
    assert "(fix-needs-case)" in framed.refuse("fix(talk): mean it")


def test_index_counts_while_the_framework_hides_the_disk(framed: Installed) -> None:
    framed.stage({TALK: BETTER_TALK})
    framed.write({TALK: BAD_TALK})
    framed.accept("feat(talk): mean it")
    assert framed.root.joinpath(TALK).read_text(encoding="utf-8") == BAD_TALK
    framed.stage({TALK: BAD_TALK})
    framed.write({TALK: GOOD_TALK})
    assert "guard: refused: greets held before" in framed.refuse("feat(talk): say less")


def test_clean_merge_is_judged(framed: Installed) -> None:
    framed.git("checkout", "-qb", "side")
    framed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    framed.git("checkout", "-q", "main")
    framed.bypass("docs: more", {"README.md": "more\n"})
    done = framed.run("git", "merge", "--no-edit", "side")
    assert done.returncode != 0
    assert "greets fails" in done.stdout + done.stderr


def test_push_shows_one_ref_and_says_so(framed: Installed, tmp_path: Path) -> None:
    framed.git("init", "-q", "--bare", str(tmp_path / "up"))
    framed.git("remote", "add", "up", str(tmp_path / "up"))
    framed.git("push", "-q", "--no-verify", "up", "main")
    framed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    done = framed.run("git", "push", "up", "main")
    assert done.returncode != 0
    told = done.stdout + done.stderr
    assert "pre-commit shows guard only one ref of this push" in told
    assert "greets fails in main" in told
    framed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    done = framed.run("git", "push", "up", "main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✓ 1 held when run now (greets 2 of 2)" in done.stdout + done.stderr


def test_orphan_branch_is_judged(framed: Installed, tmp_path: Path) -> None:
    framed.git("init", "-q", "--bare", str(tmp_path / "up"))
    framed.git("remote", "add", "up", str(tmp_path / "up"))
    framed.git("push", "-q", "--no-verify", "up", "main")
    framed.git("checkout", "-q", "--orphan", "new")
    framed.bypass("feat: anew", {TALK: BAD_TALK})
    done = framed.run("git", "push", "up", "new")
    assert done.returncode != 0
    assert "greets fails in new" in done.stdout + done.stderr


def test_missing_stage_is_warned_of(framed: Installed) -> None:
    pre_commit(framed, "uninstall", "-t", "commit-msg")
    framed.stage({TALK: BETTER_TALK})
    assert "! there is no commit-msg hook" in framed.accept("fix(talk): mean it")


# Beside our own installation -----------------------------------------------------------


def test_our_installation_chains_the_frameworks(framed: Installed) -> None:
    framed.install()
    framed.stage({TALK: BAD_TALK})
    said = framed.refuse("feat(talk): say less")
    assert said.count("greets fails") == 1  # the framework's hook comes first, and blocks
    framed.guard("uninstall")
    hook = framed.root / ".git/hooks/pre-commit"
    assert "File generated by pre-commit" in hook.read_text(encoding="utf-8")


def test_framework_over_ours_calls_ours_once(repo: ScratchRepo, framed: Installed) -> None:
    for stage in STAGES:
        (framed.root / ".git/hooks" / stage).unlink()
    framed.write({".pre-commit-config.yaml": "repos: []\n"})
    framed.git("commit", "-qam", "chore: none", "--no-verify")
    framed.install()
    install_framework(framed)
    framed.install()
    framed.stage({TALK: BAD_TALK})
    assert framed.refuse("feat(talk): say less").count("greets fails") == 1
    assert framed.guard("uninstall").returncode == 0
    assert not list((framed.root / ".git/hooks").glob("*.legacy"))
    framed.accept("feat(talk): say less")


def test_framework_installed_again_over_a_chain_runs_in_no_circle(framed: Installed) -> None:
    framed.install()
    install_framework(framed)
    framed.stage({TALK: BETTER_TALK})
    framed.accept("feat(talk): mean it")
    framed.stage({TALK: BAD_TALK})
    framed.refuse("feat(talk): say less")


# As others use it ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_published_hooks_install_and_judge(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A consumer pinned by revision: the framework builds the environment from our files."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "framework"))
    rev = publish(tmp_path / "published")
    hooks = [{"id": hook["id"]} for hook in manifest()]
    source = {"repo": str(tmp_path / "published"), "rev": rev, "hooks": hooks}
    consumer = Installed(repo.root)
    config = json.dumps({"repos": [source]})
    consumer.bypass("feat: all", {**FILES, ".pre-commit-config.yaml": config})
    install_framework(consumer, "--install-hooks")
    consumer.stage({TALK: BAD_TALK})
    assert "greets fails" in consumer.refuse("feat(talk): say less")
    consumer.stage({TALK: BETTER_TALK})
    assert "(fix-needs-case)" in consumer.refuse("fix(talk): mean it")
    assert "answered by receipts" in consumer.accept("feat(talk): mean it")


def publish(folder: Path) -> str:
    """Make a repository of what is shipped of the working tree; return its revision."""
    for name in ("guard", "hooks", "plugins"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder / name)
    published = ScratchRepo(folder)
    published.git("init", "-q")
    return published.commit("feat: all of it")
