"""docs/git.md C: commits that skip hooks, or bend them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.gitcases.stories import (
    FIX,
    RECORDS,
    RETIREMENT,
    WITHOUT_CASE,
    ZERO,
    accept_push,
    add_remote,
    break_talk,
    record,
    records,
    refuse_push,
)
from tests.hooks.installed import (
    GOOD_TALK,
    TALK,
    TALK_CASE,
    Done,
    Installed,
    case,
    skill,
)

MESSAGE = "fix(talk): say hello again"
DELETED = "record greets is deleted, and its record in regressions.json is not retired"


@pytest.fixture
def broken(watched: Installed, tmp_path: Path) -> Installed:
    """The bug is committed and pushed; nothing guards against it yet."""
    break_talk(watched)
    add_remote(watched, tmp_path)
    return watched


@pytest.fixture
def forked(broken: Installed) -> Installed:
    """Branch `side` has the fix with all it needs; main went on with something else."""
    broken.git("checkout", "-qb", "side")
    broken.bypass(MESSAGE, FIX)
    broken.git("checkout", "-q", "main")
    broken.bypass("docs: main", {"main.txt": "1\n"})
    return broken


def call(repo: ScratchRepo, *words: str, **env: str) -> Done:
    return repo.run("git", *words, env={"GIT_EDITOR": ":", "GIT_SEQUENCE_EDITOR": ":", **env})


def ran(repo: ScratchRepo, *words: str, **env: str) -> str:
    """Run git; fail where it, or a hook, refuses."""
    done = call(repo, *words, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def refused(repo: ScratchRepo, *words: str, **env: str) -> str:
    """Run git; fail where guard doesn't refuse."""
    done = call(repo, *words, **env)
    assert done.returncode != 0, done.stderr
    assert "guard: refused: " in done.stderr, done.stderr
    return done.stderr


def commands(said: str) -> list[str]:
    """Return the git commands that a refusal gives, as they are pasted."""
    return re.findall(r"^(?:  do    )? {3,}(git .*?)(?: {6}#.*)?$", said, re.MULTILINE)


def add_branch(repo: ScratchRepo, name: str) -> None:
    """Make a branch beside main, with an empty commit of its own."""
    commit = repo.git("commit-tree", "main~^{tree}", "-p", "main~", "-m", f"docs: {name}")
    repo.git("branch", name, commit.strip())


# 37: merges ------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["clean", "octopus"])
def test_037_merge_of_a_fix(forked: Installed, way: str) -> None:
    """A merge owes no case for what it brings; what it makes of the agent is run."""
    for number in (1, 2) if way == "octopus" else ():
        add_branch(forked, f"more{number}")
    branches = ["side", "more1", "more2"] if way == "octopus" else ["side"]
    said = ran(forked, "merge", "-q", "-m", "fix: merge side", *branches)
    assert "held when run now (greets 2 of 2" in said
    assert len(forked.git("log", "-1", "--format=%P").split()) == len(branches) + 1
    assert "✓ 1 regression proven" in accept_push(forked, "up", "main")


def test_037_merge_that_breaks_what_both_sides_hold(watched: Installed) -> None:
    """Each side is well, the merge is not: pre-merge-commit runs the merged tree."""
    watched.git("checkout", "-qb", "side")
    watched.bypass("feat(talk): farewell", {TALK: GOOD_TALK + "Say goodbye.\n"})
    watched.git("checkout", "-q", "main")
    expected = "{reply_contains: [say hello], reply_excludes: [goodbye]}"
    polite = case("greets", "say hello").replace("{reply_contains: [say hello]}", expected)
    watched.stage({TALK_CASE: polite})
    assert "1 held" in ran(watched, "commit", "-q", "-m", "test(talk): never goodbye")
    assert "greets held before" in refused(watched, "merge", "-q", "--no-edit", "side")
    assert len(watched.git("log", "-1", "--format=%P").split()) == 1


@pytest.mark.parametrize("way", ["conflict", "octopus"])
def test_037_merge_that_drops_a_case(forked: Installed, way: str) -> None:
    """What a side retains must not get lost on the way; the commands given bring it back."""
    if way == "conflict":
        forked.bypass("docs: other words", {TALK: skill("talk", "say little")})
        assert call(forked, "merge", "side").returncode == 1
        forked.git("rm", "-qf", TALK_CASE, RECORDS)
        forked.stage({TALK: GOOD_TALK})
        said = refused(forked, "commit", "-q", "--no-edit")
    else:
        add_branch(forked, "more")
        said = refused(forked, "merge", "-q", "-s", "ours", "-m", "Merge", "more", "side")
    assert DELETED in said
    checkout, commit = commands(said)
    assert checkout.startswith("git checkout ")
    forked.run("sh", "-c", checkout)
    assert forked.git("ls-files", RECORDS, TALK_CASE).splitlines() == [TALK_CASE, RECORDS]
    # What was merged by `-s ours` alone has the case now, and not what it asks for.
    forked.stage({TALK: GOOD_TALK})
    assert forked.run("sh", "-c", commit).returncode == 0


def test_037_case_that_one_side_retired(forked: Installed) -> None:
    """A case that was retired on one side is not lost by merging that side."""
    forked.git("merge", "-q", "--no-verify", "-m", "Merge side", "side")
    forked.git("checkout", "-q", "side")
    forked.bypass("test: retire", RETIREMENT)
    forked.git("checkout", "-q", "main")
    forked.bypass("docs: more", {"more.txt": "1\n"})
    ran(forked, "merge", "-q", "--no-edit", "side")
    assert "✓ 1 regression retired" in accept_push(forked, "up", "main")


@pytest.mark.parametrize("header", ["fix: merge side", "Merge branch 'side'"])
def test_037_fix_hidden_in_a_merge(forked: Installed, header: str) -> None:
    """What is like no parent is the merge's own: a fix there brings its case."""
    forked.git("checkout", "-q", "-B", "side", "main~")
    forked.bypass("docs: side", {"side.txt": "1\n"})
    forked.git("checkout", "-q", "main")
    forked.git("merge", "-q", "--no-commit", "side")
    forked.stage({TALK: GOOD_TALK})
    if header.startswith("Merge"):
        ran(forked, "commit", "-q", "-m", header)
        accept_push(forked, "up", "main")
        return
    assert WITHOUT_CASE in refused(forked, "commit", "-q", "-m", header)
    forked.git("commit", "-q", "--no-verify", "-m", header)
    assert WITHOUT_CASE in refuse_push(forked, "up", "main")
    forked.stage(FIX)
    ran(forked, "commit", "-q", "--amend", "--no-edit")
    accept_push(forked, "up", "main")


# 39, 40: cherry-pick, squash -----------------------------------------------------------------


def test_039_cherry_pick_that_drops_the_case(forked: Installed) -> None:
    """A conflict is resolved without the case: the commit is judged as it is."""
    forked.bypass("docs: other words", {TALK: skill("talk", "say little")})
    assert call(forked, "cherry-pick", "side").returncode == 1
    forked.write({TALK: GOOD_TALK})
    forked.git("rm", "-qf", "--cached", TALK_CASE, RECORDS)
    forked.git("add", TALK)
    said = refused(forked, "cherry-pick", "--continue")
    assert WITHOUT_CASE in said
    assert f"{TALK_CASE} exists but is not staged" in said
    forked.git("add", TALK_CASE, RECORDS)
    ran(forked, "cherry-pick", "--continue")
    assert forked.git("log", "-1", "--format=%s").strip() == MESSAGE


@pytest.mark.parametrize("way", ["hookless", "no-commit"])
def test_039_cherry_pick_of_a_fix_without_case(broken: Installed, way: str) -> None:
    """A clean cherry-pick calls no hook: the push meets it; with -n the commit does."""
    broken.git("checkout", "-qb", "side")
    broken.bypass(MESSAGE, {TALK: GOOD_TALK})
    broken.git("checkout", "-q", "main")
    if way == "no-commit":
        ran(broken, "cherry-pick", "-n", "side")
        assert WITHOUT_CASE in refused(broken, "commit", "-q", "-m", MESSAGE)
        return
    ran(broken, "cherry-pick", "-x", "side")
    assert WITHOUT_CASE in refuse_push(broken, "up", "main")
    broken.stage(FIX)
    ran(broken, "commit", "-q", "--amend", "--no-edit")
    accept_push(broken, "up", "main")


def test_040_squash_that_holds_a_fix(broken: Installed) -> None:
    """A squash merge with git's own message is no fix: a warning; titled as one it owes a case."""
    broken.git("checkout", "-qb", "side")
    broken.bypass(MESSAGE, {TALK: GOOD_TALK})
    broken.git("checkout", "-q", "main")
    broken.git("merge", "-q", "--squash", "side")
    said = ran(broken, "commit", "-q", "--no-edit")
    assert "this squash holds a fix" in said
    assert "this squash holds a fix" in accept_push(broken, "up", "main:tried")
    said = refused(broken, "commit", "-q", "--amend", "-m", f"{MESSAGE} (#3)")
    assert WITHOUT_CASE in said
    assert "git commit --amend -F" in said


# 41: reverts ---------------------------------------------------------------------------------


def test_041_revert_of_a_fix_is_a_deletion(broken: Installed) -> None:
    """An exact revert takes the case away: by its retirement alone, at push as at commit."""
    broken.stage(FIX)
    ran(broken, "commit", "-q", "-m", MESSAGE)
    ran(broken, "push", "-q", "up", "main")
    ran(broken, "revert", "--no-edit", "HEAD")
    said = refuse_push(broken, "up", "main")
    assert DELETED in said
    broken.run("sh", "-c", commands(said)[0])
    assert broken.git("diff", "--cached", "--name-only") == f"{TALK_CASE}\n{RECORDS}\n"
    broken.stage(RETIREMENT)
    ran(broken, "commit", "-q", "--amend", "--no-edit")
    assert "1 regression retired" in accept_push(broken, "up", "main")


BACK = {
    "Reapply": f'Reapply "{MESSAGE}"\n\nThis reverts commit {ZERO}.\n',
    "nested": f'Revert "Revert "{MESSAGE}""\n\nThis reverts commit {ZERO}.\n',
    "github": f'Revert "Revert "{MESSAGE}" (#4)"\n\nReverts a/b#4\n',
    "long id": f'Reapply "{MESSAGE}"\n\nThis reverts commit {"0" * 64}.\n',
}


def test_041_what_brings_a_fix_back_is_a_fix(broken: Installed) -> None:
    """Reverting the revert of a fix is that fix again, and owes its case."""
    broken.stage({TALK: GOOD_TALK})
    for message in BACK.values():
        assert WITHOUT_CASE in refused(broken, "commit", "-q", "-m", message), message
    ran(broken, "commit", "-q", "-m", "docs: a revert of nothing")


REVERTS = (
    f'Revert "{MESSAGE}"\n\nThis reverts commit {ZERO}.\n',
    f"# *** SAY WHY WE ARE REVERTING\n\nThis reverts commit 1234567 ({MESSAGE}, 2031-01-01).\n",
    f"revert: {MESSAGE}\n\nRefs: 1234567\n",
)


def test_041_revert_itself_is_no_fix(broken: Installed) -> None:
    """A revert, in any of its forms, is no fix although it names one."""
    for number, message in enumerate(REVERTS):
        broken.stage({TALK: skill("talk", f"say as little as {number} words")})
        ran(broken, "commit", "-q", "--cleanup=verbatim", "-m", message)


# 42, 43: what meets no hook --------------------------------------------------------------------


def by_no_verify(repo: Installed, folder: Path) -> None:
    repo.bypass(MESSAGE, {TALK: GOOD_TALK})


def by_am(repo: Installed, folder: Path) -> None:
    by_no_verify(repo, folder)
    repo.git("format-patch", "-q", "-1", "-o", str(folder))
    repo.git("reset", "-q", "--hard", "HEAD~")
    ran(repo, "am", "-q", "-3", *map(str, folder.glob("*.patch")))


def by_rebase(repo: Installed, folder: Path) -> None:
    by_no_verify(repo, folder)
    repo.git("checkout", "-qb", "upstream", "HEAD~")
    repo.bypass("docs: more", {"more.txt": "1\n"})
    ran(repo, "rebase", "-q", "--apply", "upstream", "main")


def pushed_without_case(broken: Installed) -> None:
    """The push names the commit; once that has its case it goes through."""
    assert broken.git("log", "-1", "--format=%s").strip() == MESSAGE
    said = refuse_push(broken, "up", "main")
    assert WITHOUT_CASE in said
    assert broken.git("rev-parse", "--short=10", "HEAD").strip() in said
    broken.stage(FIX)
    ran(broken, "commit", "-q", "--amend", "--no-edit")
    accept_push(broken, "up", "main")


def test_042_commit_without_hooks(broken: Installed, tmp_path: Path) -> None:
    """`--no-verify`: the push judges the commit from the commit alone."""
    by_no_verify(broken, tmp_path)
    pushed_without_case(broken)


@pytest.mark.parametrize("make", [by_am, by_rebase], ids=lambda make: make.__name__)
def test_043_commits_that_met_no_hook(
    broken: Installed, tmp_path: Path, make: Callable[[Installed, Path], None]
) -> None:
    """However a commit came about, by mail or by a rebase, the push judges it."""
    make(broken, tmp_path / "patches")
    pushed_without_case(broken)


# 44: empty commits, and amends --------------------------------------------------------------


def test_044_empty_fix(broken: Installed) -> None:
    """A fix that changes nothing owes nothing, and runs nothing."""
    said = ran(broken, "commit", "-q", "--allow-empty", "-m", MESSAGE)
    assert said == "guard: this fix changes no file, so it owes no case\n"
    assert broken.trials("named") == 0
    broken.stage({TALK: GOOD_TALK})
    assert WITHOUT_CASE in refused(broken, "commit", "-q", "-m", MESSAGE)


REWORDS = {
    "amend": ("commit", "-q", "--amend", "-m", MESSAGE),
    "abbreviated": ("commit", "-q", "--ame", "-m", MESSAGE),
    "only": ("commit", "-q", "--amend", "--only", "-m", MESSAGE),
    "alias": ("-c", "alias.again=commit --amend", "again", "-q", "-m", MESSAGE),
    "shell alias": ("-c", "alias.again=!git commit --amend", "again", "-q", "-m", MESSAGE),
    "rebase": ("-c", f"core.editor=sed -i '1s/.*/{MESSAGE}/'", "rebase", "-q", "-i", "HEAD~"),
}


def test_044_reword_to_a_fix(broken: Installed) -> None:
    """Nothing is staged, the new title is a fix: the commit as a whole is judged."""
    broken.bypass("feat(talk): say hello", {TALK: GOOD_TALK})
    reword = {"GIT_SEQUENCE_EDITOR": "sed -i 's/^pick/reword/'"}
    for name, words in REWORDS.items():
        done = broken.run("git", *words, env=reword)
        assert done.returncode == 1, done.stderr
        assert WITHOUT_CASE in done.stderr, name
        assert broken.git("log", "-1", "--format=%s") == "feat(talk): say hello\n"
    broken.git("rebase", "--abort")
    ran(broken, "commit", "-q", "--amend", "-m", "feat(talk): say hello, and mean it")


def test_044_amend_of_content_alone(broken: Installed) -> None:
    """An amend that takes the case out again is judged as the whole commit it makes."""
    broken.stage(FIX)
    ran(broken, "commit", "-q", "-m", MESSAGE)
    broken.stage({TALK: GOOD_TALK + "And smile.\n"})
    ran(broken, "commit", "-q", "--amend", "--no-edit")
    broken.git("rm", "-q", TALK_CASE, RECORDS)
    assert WITHOUT_CASE in refused(broken, "commit", "-q", "--amend", "--no-edit")


def test_044_fixups_are_judged_once_they_are_squashed(broken: Installed) -> None:
    """A fixup of a fix is noted at commit; the push judges what autosquash makes of it."""
    broken.bypass(MESSAGE, {TALK: GOOD_TALK})
    broken.stage({TALK: GOOD_TALK + "And smile.\n"})
    assert "noted, and judged at push (fixup!)" in ran(broken, "commit", "-q", "--fixup=HEAD")
    ran(broken, "rebase", "-q", "-i", "--autosquash", "HEAD~2")
    assert WITHOUT_CASE in refuse_push(broken, "up", "main")
    broken.stage(FIX)
    ran(broken, "commit", "-q", "--fixup=HEAD")
    ran(broken, "rebase", "-q", "-i", "--autosquash", "HEAD~2")
    accept_push(broken, "up", "main")


def test_044_fixup_that_rewords(broken: Installed) -> None:
    """`--fixup=reword:` changes a title alone: autosquash makes a fix of it, the push judges it."""
    broken.bypass("feat(talk): say hello", {TALK: GOOD_TALK})
    editor = f"sed -i '3s/.*/{MESSAGE}/'"
    ran(broken, "commit", "-q", "--fixup=reword:HEAD", GIT_EDITOR=editor)
    ran(broken, "rebase", "-q", "-i", "--autosquash", "HEAD~2")
    assert broken.git("log", "-1", "--format=%s").strip() == MESSAGE
    assert WITHOUT_CASE in refuse_push(broken, "up", "main")


def test_044_commit_of_a_part(broken: Installed) -> None:
    """Of what is on disk only a part is committed, and that part is judged."""
    broken.write({TALK: GOOD_TALK, "README.md": "staged\n"})
    broken.git("add", "README.md")
    for words in (("--only", TALK), ("-i", TALK), ("-p",)):
        done = broken.run("git", "commit", "-q", "-m", MESSAGE, *words, input="y\n")
        assert done.returncode == 1
        assert WITHOUT_CASE in done.stderr, words
    done = broken.run("git", "commit", "-q", "-m", MESSAGE, "--only", "README.md")
    assert done.returncode == 0, done.stderr


def test_044_editor_that_fails(broken: Installed) -> None:
    """The editor gives up after pre-commit: nothing is left behind, the next commit goes on."""
    broken.stage(FIX)
    done = call(broken, "commit", "-q", GIT_EDITOR="false")
    assert done.returncode == 1
    assert "editor" in done.stderr
    ran(broken, "commit", "-q", "-m", MESSAGE)


# 45: commits that are rewritten ------------------------------------------------------------------


def squash(repo: Installed) -> None:
    repo.git("checkout", "-qb", "kept", "main~2")
    repo.git("merge", "-q", "--squash", "main")
    repo.git("commit", "-q", "--no-verify", "-m", f"{MESSAGE} (#3)")


def rebase(repo: Installed) -> None:
    repo.git("checkout", "-qb", "kept", "main~2")
    repo.bypass("docs: before", {"before.txt": "1\n"})
    repo.git("cherry-pick", "main~1", "main")


@pytest.mark.parametrize("rewrite", [squash, rebase], ids=lambda rewrite: rewrite.__name__)
def test_045_commit_of_a_fix_is_rewritten_and_gone(
    broken: Installed, rewrite: Callable[[Installed], None]
) -> None:
    """A record holds no commit's id: rewritten and pruned, its origin is found again."""
    fix = broken.bypass(MESSAGE, FIX)
    broken.bypass("docs: after", {"after.txt": "1\n"})
    rewrite(broken)
    broken.git("branch", "-qD", "main")
    broken.git("update-ref", "-d", "refs/remotes/up/main")
    broken.git("reflog", "expire", "--expire=now", "--all")
    broken.git("gc", "-q", "--prune=now")
    assert call(broken, "cat-file", "-t", fix).returncode != 0
    assert "✓ 1 regression proven" in accept_push(broken, "up", "kept")


def test_045_named_commit_that_is_gone(broken: Installed) -> None:
    """A record that names a commit which isn't here can't be proven: never taken for red."""
    named = record(before={"kind": "revision", "rev": "1234567890" * 4})
    broken.bypass(MESSAGE, {**FIX, RECORDS: records(greets=named)})
    said = refuse_push(broken, "up", "main")
    assert "greets isn't proven" in said
    assert "git fetch" in said
    broken.bypass("test: record", {RECORDS: records(greets=record())})
    accept_push(broken, "up", "main")


# 46, 47: what bends how history is read ---------------------------------------------------------


def replace_parent(repo: Installed) -> None:
    repo.git("replace", "--graft", "HEAD")


def replace_commit(repo: Installed) -> None:
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    other = repo.git("commit-tree", tree, "-p", "HEAD~", "-m", "docs: harmless").strip()
    repo.git("replace", "HEAD", other)


def replace_skill(repo: Installed) -> None:
    repo.git("replace", f"HEAD:{TALK}", f"HEAD~:{TALK}")


def graft(repo: Installed) -> None:
    folder = repo.root / ".git" / "info"
    folder.mkdir(exist_ok=True)
    (folder / "grafts").write_text(repo.git("rev-parse", "HEAD"))


def test_046_replaced_objects_and_grafts(broken: Installed) -> None:
    """What was committed is judged, not what stands in for it on this machine."""
    tip = broken.bypass(MESSAGE, {TALK: GOOD_TALK})
    broken.bypass("docs: after", {"after.txt": "1\n"})
    for bend in (replace_parent, replace_commit, replace_skill, graft):
        broken.git("checkout", "-q", "main" if bend is graft else tip)
        bend(broken)
        said = refuse_push(broken, "up", "main:refs/heads/new")
        assert WITHOUT_CASE in said
        assert tip[:10] in said, bend
        broken.git("replace", "-d", *broken.git("replace", "-l").split(), check=False)
    (broken.root / ".git" / "info" / "grafts").unlink()
    broken.git("checkout", "-q", "main")
    broken.git("reset", "-q", "--hard", "HEAD~2")
    broken.bypass("docs: after", {"after.txt": "1\n"})
    graft(broken)
    accept_push(broken, "up", "main:refs/heads/new")


def test_047_settings_for_people_change_nothing(broken: Installed) -> None:
    """Signatures, colour, decoration, formats: no porcelain is parsed."""
    for name, value in {
        "log.showSignature": "true",
        "log.follow": "true",
        "log.decorate": "full",
        "log.date": "iso",
        "color.ui": "always",
        "format.pretty": "fuller",
        "core.abbrev": "4",
        "core.quotePath": "false",
        "core.pager": "false",
        "diff.noprefix": "true",
        "i18n.logOutputEncoding": "latin1",
    }.items():
        broken.git("config", name, value)
    parent = broken.git("rev-parse", "HEAD").strip()
    broken.stage({TALK: GOOD_TALK})
    tree = broken.git("write-tree").strip()
    who = "A <a@example.com> 1900000000 +0000"
    signed = (
        f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n"
        f"gpgsig -----BEGIN PGP SIGNATURE-----\n \n parent {ZERO}\n feat: no\n"
        f" -----END PGP SIGNATURE-----\n\n{MESSAGE}\n"
    )
    commit = broken.git("hash-object", "-t", "commit", "-w", "--stdin", input=signed).strip()
    said = refuse_push(broken, "up", f"{commit}:refs/heads/signed")
    assert WITHOUT_CASE in said
    assert f"{commit[:10]} {MESSAGE}" in said
    assert WITHOUT_CASE in refused(broken, "commit", "-q", "-m", MESSAGE)
    broken.stage(FIX)
    ran(broken, "commit", "-q", "-m", MESSAGE)
    accept_push(broken, "up", "main")


# 48: commits that other commands make ------------------------------------------------------------


def test_048_commit_by_rebase_exec(broken: Installed) -> None:
    """A commit that is made while a rebase goes on is judged like any."""
    broken.bypass("docs: one", {"one.txt": "1\n"})
    (broken.root.parent / "skill").write_text(GOOD_TALK)
    commit = f"cp ../skill {TALK}; git add --all; git commit -q -m"
    said = refused(broken, "rebase", "-q", "-x", f"{commit} '{MESSAGE}'", "HEAD~")
    assert WITHOUT_CASE in said
    broken.git("reset", "-q", "--hard")
    broken.git("rebase", "--abort")
    ran(broken, "rebase", "-q", "-x", f"{commit} 'docs: more'", "HEAD~")


def test_048_commit_by_another_hook(broken: Installed) -> None:
    """A commit that a post-commit hook makes is no hook below ours: it is judged."""
    hook = broken.root / ".git" / "hooks" / "post-commit"
    once = f"rm .git/hooks/post-commit; git add {TALK}; git commit -q -m '{MESSAGE}'"
    hook.write_text(f"#!/bin/sh\n{once} || echo 'the second was refused' >&2\n")
    hook.chmod(0o755)
    broken.write({TALK: GOOD_TALK, "more.txt": "1\n"})
    broken.git("add", "more.txt")
    said = ran(broken, "commit", "-q", "-m", "docs: more")
    assert WITHOUT_CASE in said
    assert "the second was refused" in said
