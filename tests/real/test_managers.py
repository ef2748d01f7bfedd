"""Every manager of hooks: a commit and a push end as they do with guard's own hooks."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from guard.setup.framework import add_hooks
from tests.conftest import ScratchRepo
from tests.hooks.installed import (
    BAD_TALK,
    CONFIG,
    FILES,
    GOOD_TALK,
    TALK,
    Installed,
    case,
    skill,
)
from tests.real.managers import (
    ALL,
    FRAMEWORKS,
    MANAGERS,
    call,
    commit,
    framework_config,
    push,
    set_up,
    snippet,
    start,
    with_remote,
    write_husky,
)

BETTER_TALK = skill("talk", "say hello, and mean it")
ONE_REF = "shows guard only one ref of this push"
NO_LINE = ("|| true", "|| :", "; exit 0")


@pytest.fixture(params=ALL)
def manager(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(autouse=True)
def own_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PRE_COMMIT_HOME", "PREK_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.fixture
def managed(manager: str, repo: ScratchRepo) -> Installed:
    """A guarded repository whose hooks the manager runs."""
    return set_up(manager, repo)


@pytest.fixture
def pushing(managed: Installed, tmp_path: Path) -> Installed:
    """The same, with a remote that has main."""
    with_remote(managed, tmp_path / "up")
    return managed


# Commits --------------------------------------------------------------------------------


def test_commits_are_refused_and_accepted_alike(managed: Installed) -> None:
    managed.stage({TALK: BETTER_TALK})
    accepted, said = commit(managed, "fix(talk): mean it")
    assert (accepted, "(fix-needs-case)" in said) == (False, True), said
    accepted, said = commit(managed, "feat(talk): mean it")
    assert accepted, said
    managed.stage({TALK: BAD_TALK})
    accepted, said = commit(managed, "feat(talk): say less")
    assert (accepted, "greets fails" in said or "greets held" in said) == (False, True), said


def test_what_is_staged_counts_and_the_disk_stays(managed: Installed) -> None:
    for staged, disk, wanted in ((BAD_TALK, GOOD_TALK, False), (BETTER_TALK, BAD_TALK, True)):
        managed.stage({TALK: staged})
        managed.write({TALK: disk})
        accepted, said = commit(managed, "feat(talk): say it")
        assert accepted is wanted, said
        assert (managed.root / TALK).read_text() == disk


def test_a_fix_is_seen_whatever_lies_on_disk(managed: Installed) -> None:
    managed.stage({TALK: BETTER_TALK})
    managed.write({TALK: GOOD_TALK})
    accepted, said = commit(managed, "fix(talk): mean it")
    assert (accepted, "(fix-needs-case)" in said) == (False, True), said
    managed.write({TALK: BETTER_TALK})


def test_an_untracked_helper_helps_nobody(manager: str, repo: ScratchRepo) -> None:
    reads_all = CONFIG.replace("[cat, SKILL.md]", '[sh, -c, "cat *.md"]', 1)
    managed = set_up(manager, repo, {**FILES, "guard.yaml": reads_all})
    managed.stage({"evals/talk/helps.md": case("helps", "from the helper")})
    managed.write({"skills/talk/helper.md": "from the helper\n"})
    accepted, said = commit(managed, "test(talk): ask the helper")
    assert (accepted, "helps fails" in said) == (False, True), said
    managed.git("add", "--all")
    accepted, said = commit(managed, "test(talk): ask the helper")
    assert accepted, said


def test_a_clean_merge_is_judged(managed: Installed) -> None:
    for branch, text in (("worse", BAD_TALK), ("better", BETTER_TALK)):
        managed.git("checkout", "-q", "-b", branch, "main")
        managed.bypass(f"feat(talk): {branch}", {TALK: text})
    managed.git("checkout", "-q", "main")
    managed.bypass("docs: more", {"README.md": "more\n"})
    done = managed.run("git", "merge", "--no-edit", "worse")
    assert done.returncode != 0
    assert "greets fails" in done.stdout + done.stderr
    managed.git("merge", "--abort")
    done = managed.run("git", "merge", "--no-edit", "better")
    assert done.returncode == 0, done


# Pushes ---------------------------------------------------------------------------------


def test_a_branch_that_is_there(pushing: Installed) -> None:
    pushing.bypass("feat(talk): say less", {TALK: BAD_TALK})
    went, said = push(pushing, "main")
    assert (went, "greets fails" in said) == (False, True), said
    pushing.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    went, said = push(pushing, "main")
    assert went, said


def test_a_new_branch_brings_only_its_own(pushing: Installed) -> None:
    pushing.git("checkout", "-q", "-b", "new")
    pushing.bypass("fix(talk): mean it", {TALK: BETTER_TALK})
    went, said = push(pushing, "new")
    assert (went, "(fix-needs-case)" in said) == (False, True), said
    pushing.git("reset", "-q", "--hard", "main")
    pushing.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    went, said = push(pushing, "new")
    assert went, said


def test_an_orphan_branch(pushing: Installed) -> None:
    pushing.git("checkout", "-q", "--orphan", "fresh")
    pushing.bypass("feat: anew", {TALK: BAD_TALK})
    went, said = push(pushing, "fresh")
    assert (went, "greets fails" in said) == (False, True), said
    pushing.bypass("feat: anew", {TALK: GOOD_TALK})
    went, said = push(pushing, "fresh")
    assert went, said


def test_a_deletion_brings_nothing(pushing: Installed) -> None:
    pushing.git("push", "-q", "--no-verify", "up", "main:old")
    pushing.bypass("feat(talk): say less", {TALK: BAD_TALK})
    went, said = push(pushing, ":old")
    assert went, said


def test_nothing_new_is_pushed_at_once(pushing: Installed) -> None:
    went, said = push(pushing, "main")
    assert (went, "Everything up-to-date" in said) == (True, True), said


def two_branches(pushing: Installed) -> None:
    """Leave one good branch and a bad one; the bad one is not the first in a push."""
    for branch, text in (("a-good", BETTER_TALK), ("b-bad", BAD_TALK)):
        pushing.git("checkout", "-q", "-b", branch, "main")
        pushing.bypass(f"feat(talk): {branch}", {TALK: text})


def test_of_several_refs_a_framework_shows_one_and_it_is_said(
    manager: str, pushing: Installed
) -> None:
    two_branches(pushing)
    went, said = push(pushing, "a-good", "b-bad")
    assert went is (manager in FRAMEWORKS), said
    assert said.count(ONE_REF) == (manager in FRAMEWORKS)
    assert said.count(f"guard: {manager} {ONE_REF}: ") == (manager in FRAMEWORKS)


@pytest.mark.parametrize("manager", MANAGERS, indirect=True)
def test_our_own_hook_beside_it_sees_them_all(manager: str, pushing: Installed) -> None:
    pushing.install()
    two_branches(pushing)
    went, said = push(pushing, "a-good", "b-bad")
    assert (went, "greets fails in b-bad" in said) == (False, True), said
    assert said.count("greets fails in b-bad") == 1
    assert ONE_REF not in said
    assert "guard's own hook follows and judges this" in said


# Beside our own hooks -------------------------------------------------------------------


@pytest.mark.parametrize("manager", MANAGERS, indirect=True)
def test_beside_our_own_nothing_is_judged_twice(manager: str, pushing: Installed) -> None:
    pushing.install()
    pushing.stage({TALK: BETTER_TALK})
    accepted, said = commit(pushing, "fix(talk): mean it")
    assert (accepted, said.count("(fix-needs-case)")) == (False, 1), said
    accepted, said = commit(pushing, "feat(talk): mean it")
    assert (accepted, said.count("agent talk changed")) == (True, 1), said
    went, said = push(pushing, "main")
    assert (went, said.count("main at ")) == (True, 1), said


@pytest.mark.parametrize("manager", MANAGERS, indirect=True)
def test_what_the_manager_refuses_stays_refused(manager: str, pushing: Installed) -> None:
    """Its other hooks come first, as before, and ours can't take a refusal back."""
    pushing.install()
    for stage in ("pre-commit", "pre-push"):
        kept = pushing.git("rev-parse", "--git-path", f"hooks/{stage}.guard-kept").strip()
        (pushing.root / kept).write_text("#!/bin/sh\nexit 7\n")
    accepted, _ = commit(pushing, "docs: none", "--allow-empty")
    assert not accepted
    pushing.bypass("docs: more", {"README.md": "more\n"})
    assert push(pushing, "main")[0] is False


@pytest.mark.parametrize("manager", ["lefthook", "husky"], indirect=True)
def test_hooks_written_anew_are_kept_and_called_again(manager: str, managed: Installed) -> None:
    """husky writes its files at each `npm install`, lefthook its own as its file changes."""
    managed.install()
    if manager == "lefthook":
        text = (managed.root / "lefthook.yml").read_text()
        managed.bypass("chore: more", {"lefthook.yml": f"{text}\nmin_version: 1.0.0\n"})
        call(managed, "lefthook", "install", "--force")
    else:
        write_husky(managed)
    managed.install()
    managed.stage({TALK: BETTER_TALK})
    accepted, said = commit(managed, "fix(talk): mean it")
    assert (accepted, said.count("(fix-needs-case)")) == (False, 1), said
    assert "guard's own hook follows" in said


@pytest.mark.parametrize("manager", FRAMEWORKS, indirect=True)
def test_installed_over_ours_again_and_again(manager: str, managed: Installed) -> None:
    """Each keeps what it found and calls it; together they come to an end."""
    for _ in range(2):
        managed.install()
        start(manager, managed)
    managed.stage({TALK: BETTER_TALK})
    accepted, said = commit(managed, "feat(talk): mean it")
    assert accepted, said
    managed.stage({TALK: BAD_TALK})
    assert not commit(managed, "feat(talk): say less")[0]


@pytest.mark.parametrize("manager", MANAGERS, indirect=True)
def test_uninstall_leaves_the_managers_hooks_as_they_were(manager: str, managed: Installed) -> None:
    folder = managed.root / managed.git("rev-parse", "--git-path", "hooks").strip()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    managed.install()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} != before
    assert managed.guard("uninstall").returncode == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("manager", MANAGERS, indirect=True)
def test_doctor_finds_nothing_to_mend(manager: str, managed: Installed) -> None:
    done = managed.guard("doctor")
    assert "✗" not in done.stdout, done.stdout
    shown = "guard's own hook all of them" in done.stdout
    assert shown is (manager in FRAMEWORKS)
    managed.install()
    assert "guard's own hook all of them" not in managed.guard("doctor").stdout


# lefthook without what git says of a push -----------------------------------------------


@pytest.mark.parametrize("manager", ["lefthook"], indirect=True)
def test_lefthook_without_stdin_is_no_pass(manager: str, pushing: Installed) -> None:
    text = (pushing.root / "lefthook.yml").read_text()
    pushing.bypass("chore: less", {"lefthook.yml": text.replace("      use_stdin: true\n", "")})
    went, said = push(pushing, "main")
    assert not went
    assert "guard: refused: lefthook shows guard nothing of this push" in said
    assert "use_stdin: true" in said
    pushing.install()
    went, said = push(pushing, "main")
    assert went, said


def other_branch(pushing: Installed) -> None:
    """Leave a bad branch that isn't the one that is checked out, which is pushed already."""
    pushing.git("checkout", "-q", "-b", "other", "main")
    pushing.bypass("feat(talk): say less", {TALK: BAD_TALK})
    pushing.git("checkout", "-q", "main")
    pushing.git("push", "-q", "--no-verify", "--set-upstream", "up", "main")


@pytest.mark.parametrize("refs", [("other",), ("main", "other")])
def test_a_push_of_another_branch_is_judged(
    manager: str, pushing: Installed, refs: tuple[str, ...]
) -> None:
    """lefthook would skip a `run` here, with "no matching push files"."""
    other_branch(pushing)
    went, said = push(pushing, *refs)
    assert (went, "greets fails in other" in said) == (False, True), said
    pushing.git("checkout", "-q", "other")
    pushing.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    pushing.git("checkout", "-q", "main")
    went, said = push(pushing, *refs)
    assert went, said


@pytest.mark.parametrize("manager", ["lefthook"], indirect=True)
def test_doctor_finds_the_job_that_lefthook_skips(manager: str, pushing: Installed) -> None:
    text = (pushing.root / "lefthook.yml").read_text()
    run = "- run: guard hook pre-push {1} {2}"
    text = text.replace("- script: guard\n      runner: sh", run)
    assert run in text
    pushing.bypass("chore: a run", {"lefthook.yml": text})
    other_branch(pushing)
    went, said = push(pushing, "other")
    assert (went, "no matching push files" in said) == (True, True), said
    done = pushing.guard("doctor")
    assert "lefthook skips a `run`" in done.stdout
    assert (done.returncode, "all that guard needs" in done.stdout) == (1, False)
    pushing.git("push", "-q", "--no-verify", "up", ":other")
    pushing.install()
    assert "lefthook skips" not in pushing.guard("doctor").stdout
    assert push(pushing, "other")[0] is False


@pytest.mark.parametrize("manager", ["lefthook"], indirect=True)
def test_lefthook_with_stdin_and_nothing_to_push(manager: str, pushing: Installed) -> None:
    """An empty input is git's own word here, also while other branches wait to be pushed."""
    two_branches(pushing)
    went, said = push(pushing, "main")
    assert (went, "Everything up-to-date" in said) == (True, True), said


# The snippets ---------------------------------------------------------------------------


def test_the_hooks_of_ones_own_environment_are_those_that_init_writes() -> None:
    shown = yaml.safe_load(framework_config())
    written = yaml.safe_load(add_hooks("", None))
    assert shown["repos"] == written["repos"]
    assert set(shown["default_install_hook_types"]) == set(written["default_install_hook_types"])


def test_no_snippet_loses_a_refusal() -> None:
    for heading, language in (
        ("Install them by lefthook", "yaml"),
        ("Install them by husky", "sh"),
    ):
        assert not any(lost in snippet(heading, language) for lost in NO_LINE)
