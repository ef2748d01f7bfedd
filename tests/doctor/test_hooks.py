"""The hooks that git runs, installed as people install them."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from guard.doctor import Finding
from guard.doctor.hooks import FRAMEWORKS, OURS, VERSION, check_hooks
from guard.git import find_repo
from guard.setup.framework import FILE, STAGES, add_hooks
from guard_hooks import shim
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo

PRE_COMMIT = Path(sys.executable).with_name("pre-commit")
with_framework = pytest.mark.skipif(not PRE_COMMIT.exists(), reason="pre-commit: the dev extra")
ALL = ", ".join(STAGES)


def check(repo: ScratchRepo) -> list[Finding]:
    with find_repo(str(repo.root)) as found:
        return list(check_hooks(found))


def marks(repo: ScratchRepo) -> str:
    return "".join(finding.mark for finding in check(repo))


def hook_file(repo: ScratchRepo, stage: str, text: str | None = None) -> Path:
    path = repo.root / ".git/hooks" / stage
    if text is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return path


def install(repo: ScratchRepo) -> None:
    assert call_guard(repo.root, "install").code == 0


def test_the_marks_are_those_that_are_written() -> None:
    assert (shim.MARK, shim.VERSION) == (OURS, VERSION)
    assert shim.FRAMEWORKS == FRAMEWORKS
    assert set(shim.STAGES) == set(STAGES)


def test_without_hooks(repo: ScratchRepo) -> None:
    (found,) = check(repo)
    assert found == Finding("✗", f"no hook calls guard at {ALL}", "guard install")


def test_installed_natively(repo: ScratchRepo) -> None:
    install(repo)
    (found,) = check(repo)
    assert found.mark == "✓"
    assert found.text.startswith("hooks: commit-msg, pre-commit, pre-merge-commit, pre-push in ")


def test_one_that_is_missing(repo: ScratchRepo) -> None:
    install(repo)
    hook_file(repo, "pre-push").unlink()
    assert [f.text for f in check(repo) if f.mark == "✗"] == ["no hook calls guard at pre-push"]


@pytest.mark.parametrize("version", ["1", "20"])
def test_ones_of_another_guard(repo: ScratchRepo, version: str) -> None:
    install(repo)
    for stage in ("pre-commit", "commit-msg"):
        written = hook_file(repo, stage).read_text(encoding="utf-8")
        other = written.replace(f"hook {VERSION}: ", f"hook {version}: ", 1)
        hook_file(repo, stage, other)
    (told,) = [finding for finding in check(repo) if finding.mark == "!"]
    assert told == Finding(
        "!", "hooks of another version of guard: commit-msg, pre-commit", "guard install"
    )
    install(repo)
    assert "!" not in marks(repo)


def test_one_that_is_not_executable(repo: ScratchRepo) -> None:
    install(repo)
    path = hook_file(repo, "commit-msg")
    path.chmod(path.stat().st_mode & ~(stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH))
    (found,) = (f for f in check(repo) if f.mark == "✗")
    assert "commit-msg isn't executable: git skips it" in found.text
    assert found.hint.startswith("chmod +x ")


def test_windows_line_ends(repo: ScratchRepo) -> None:
    install(repo)
    path = hook_file(repo, "pre-commit")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert any("Windows line ends" in f.text for f in check(repo) if f.mark == "✗")


def python_of_hooks(repo: ScratchRepo, python: str) -> None:
    for stage in STAGES:
        path = hook_file(repo, stage)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        text = "".join(f"python={python}\n" if x.startswith("python=") else x for x in lines)
        path.write_text(text, encoding="utf-8")


def test_a_python_that_is_gone(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    install(repo)
    python_of_hooks(repo, "'/gone ü/python'")
    git = os.path.dirname(subprocess.check_output(["which", "git"], text=True).strip())
    monkeypatch.setenv("PATH", git)
    found = [f for f in check(repo) if f.mark != "✓"]
    assert [f.mark for f in found] == ["✗"]
    assert found[0].text == "/gone ü/python, which the hooks call, is gone"
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{git}")
    assert [f.mark for f in check(repo) if f.mark != "✓"] == ["!"]


def test_a_python_without_guard(repo: ScratchRepo, tmp_path: Path) -> None:
    install(repo)
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    python_of_hooks(repo, str(bare / "bin/python"))
    (found,) = (f for f in check(repo) if f.mark == "✗")
    assert "can't import guard" in found.text
    assert "pip install regression-guard" in found.hint


def test_called_from_a_hook_of_ones_own(repo: ScratchRepo) -> None:
    install(repo)
    hook_file(repo, "pre-push", '#!/bin/sh\nmake test && guard hook pre-push "$@"\n')
    assert "hooks, called from your own: pre-push" in [f.text for f in check(repo)]
    assert "✗" not in marks(repo)


def test_a_hook_of_ones_own_that_swallows_the_refusal(repo: ScratchRepo) -> None:
    install(repo)
    hook_file(repo, "pre-push", '#!/bin/sh\nguard hook pre-push "$@" || true\n')
    assert any("turns every refusal" in f.text for f in check(repo) if f.mark == "✗")


def test_a_hook_that_has_nothing_to_do_with_guard(repo: ScratchRepo) -> None:
    install(repo)
    hook_file(repo, "pre-push", "#!/bin/sh\nmake safeguard\n")
    assert [f.text for f in check(repo) if f.mark == "✗"] == ["no hook calls guard at pre-push"]


def test_another_manager(repo: ScratchRepo) -> None:
    for stage in STAGES:
        hook_file(repo, stage, "#!/bin/sh\nexec lefthook run x\n")
    assert marks(repo) == "?"
    stages = [f"{stage}: {{jobs: [{{run: guard hook {stage}}}]}}" for stage in STAGES[:-1]]
    repo.write({"lefthook.yml": "\n".join([*stages, "pre-push: {jobs: [{run: make test}]}"])})
    assert marks(repo) == "✓✗"
    assert check(repo)[1].text == "no hook calls guard at pre-push"
    job = "pre-push: {jobs: [{script: guard, runner: sh, use_stdin: true}]}"
    script = {".lefthook/pre-push/guard": 'guard hook pre-push "$@"\n'}
    repo.write({"lefthook.yml": "\n".join([*stages, job]), **script})
    assert marks(repo) == "✓"
    job = "pre-push: {jobs: [{run: guard hook pre-push, use_stdin: true}]}"
    repo.write({"lefthook.yml": "\n".join([*stages, job])})
    assert marks(repo) == "✓✗"
    install(repo)
    assert "✗" not in marks(repo)


def test_husky_keeps_its_hooks_one_folder_above(repo: ScratchRepo) -> None:
    stubs = {f".husky/_/{stage}": "#!/bin/sh\n. h\n" for stage in STAGES}
    calls = {f".husky/{stage}": f'guard hook {stage} "$@"\n' for stage in STAGES}
    repo.write({**stubs, **calls})
    for name in stubs:
        (repo.root / name).chmod(0o755)
    repo.git("config", "core.hooksPath", ".husky/_")
    found = check(repo)
    assert [f.mark for f in found] == ["!", "✓"]
    assert "core.hooksPath (local) is .husky/_" in found[0].text
    assert "untracked, so a linked worktree has none of them" in found[0].text


def test_a_tracked_folder_of_hooks_comes_with_each_worktree(repo: ScratchRepo) -> None:
    repo.commit("feat: hooks", {f"hooks/{stage}": f"guard hook {stage}\n" for stage in STAGES})
    repo.git("config", "core.hooksPath", "hooks")
    assert "each linked worktree has those of its own branch" in check(repo)[0].text
    repo.git("config", "core.hooksPath", str(repo.root / "hooks"))
    assert "worktree" not in check(repo)[0].text


def test_what_husky_calls_by_sh_e_loses_nothing(repo: ScratchRepo) -> None:
    """The same lines in a hook of git's own end as their last command does."""
    calls = {stage: f'guard hook {stage} "$@"\nmake lint\n' for stage in STAGES}
    for stage, text in calls.items():
        repo.write({f".husky/_/{stage}": "#!/bin/sh\n. h\n", f".husky/{stage}": text})
        (repo.root / f".husky/_/{stage}").chmod(0o755)
        hook_file(repo, stage, f"#!/bin/sh\n{text}")
    repo.git("config", "core.hooksPath", ".husky/_")
    assert marks(repo) == "!✓"
    repo.git("config", "--unset", "core.hooksPath")
    assert marks(repo) == "✓✗✗✗✗"
    assert "turns every refusal of guard into a success (`guard hook" in check(repo)[1].text


def test_a_command_that_may_read_the_push_first(repo: ScratchRepo) -> None:
    install(repo)
    before = "#!/bin/sh\nset -e\nwhile read x; do :; done\n"
    hook_file(repo, "pre-push", f"{before}guard hook pre-push\n")
    (found,) = (f for f in check(repo) if f.mark == "!")
    assert "`while read x; do :; done` may read what git says of a push" in found.text
    hook_file(
        repo, "pre-push", "#!/bin/sh\nset -e\nguard hook pre-push\nwhile read x; do :; done\n"
    )
    assert marks(repo) == "✓✓"


def test_the_frameworks_own_hook_has_to_be_executable_too(repo: ScratchRepo) -> None:
    install(repo)
    for stage in STAGES:
        hook_file(repo, stage).rename(hook_file(repo, f"{stage}.legacy"))
        hook_file(repo, stage, "#!/bin/sh\n# File generated by pre-commit\n")
    assert marks(repo) == "✓"
    hook_file(repo, "pre-push").chmod(0o644)
    assert [f.text for f in check(repo) if f.mark == "✗"] == [
        f"{hook_file(repo, 'pre-push')} isn't executable: git skips it"
    ]


def test_prek_that_is_gone(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write({FILE: add_hooks("", None)})
    for stage in STAGES:
        text = '#!/bin/sh\n# File generated by prek: x\nPREK="/gone/prek"\n'
        hook_file(repo, stage, text)
    assert marks(repo) == "✓!"
    git = os.path.dirname(subprocess.check_output(["which", "git"], text=True).strip())
    monkeypatch.setenv("PATH", git)
    (found,) = (f for f in check(repo) if f.mark == "✗")
    assert found.text == "/gone/prek, which the hooks call, is gone"


def test_a_hooks_path_that_leads_nowhere(repo: ScratchRepo) -> None:
    repo.git("config", "--global", "core.hooksPath", str(repo.root / "nowhere ü"))
    found = check(repo)
    assert [f.mark for f in found] == ["✗", "✗"]
    assert "core.hooksPath (global)" in found[0].text
    assert "is not there" in found[0].text


def test_a_linked_worktree_shares_the_hooks(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"a": "1"})
    install(repo)
    linked = repo.root.parent / "linked ü"
    repo.git("worktree", "add", "-q", "-b", "side", str(linked))
    with find_repo(str(linked)) as found:
        assert [f.mark for f in check_hooks(found)] == ["✓"]


def test_where_no_framework_is_installed_ours_is_the_way(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repo.write({FILE: add_hooks("", None)})
    git = shutil.which("git")
    assert git
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (found,) = check(repo)
    assert (found.mark, found.hint) == ("✗", "guard install")


@with_framework
def test_installed_by_the_framework(repo: ScratchRepo) -> None:
    repo.write({FILE: add_hooks("", None)})
    (before,) = check(repo)
    assert (before.mark, before.hint) == ("✗", "pre-commit install")
    assert repo.run(str(PRE_COMMIT), "install").returncode == 0
    found, shown = check(repo)
    assert found == Finding("✓", f"hooks, by the framework: {ALL}")
    told = "pre-commit shows guard one ref of a push, guard's own hook all of them"
    assert shown == Finding("!", told, "guard install")
    install(repo)
    assert [f.mark for f in check(repo)] == ["✓"]


@with_framework
def test_the_framework_installed_one_stage_only(repo: ScratchRepo) -> None:
    repo.write({FILE: add_hooks("", None).replace("default_install_hook_types", "# x")})
    assert repo.run(str(PRE_COMMIT), "install").returncode == 0
    assert marks(repo) == "✓✗"
    assert "commit-msg, pre-merge-commit, pre-push" in check(repo)[1].text


@with_framework
def test_the_framework_without_guard_in_its_file(repo: ScratchRepo) -> None:
    repo.write({FILE: "repos: []\n"})
    assert repo.run(str(PRE_COMMIT), "install").returncode == 0
    assert marks(repo) == "✗"


@with_framework
def test_both_ways_at_once(repo: ScratchRepo) -> None:
    install(repo)
    repo.write({FILE: "repos: []\n"})
    assert repo.run(str(PRE_COMMIT), "install").returncode == 0
    assert marks(repo) == "✓"


@pytest.mark.parametrize("path", ["/dev/null", ""])
def test_hooks_path_that_is_no_folder(repo: ScratchRepo, path: str) -> None:
    repo.git("config", "core.hooksPath", path)
    (found,) = check(repo)
    assert found.mark == "✗"
    assert "that is no folder" in found.text
    assert found.hint == "git config --local --unset core.hooksPath"
