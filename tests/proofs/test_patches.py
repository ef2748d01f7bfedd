"""Kind patch: what breaks the agent again, applied to today's tree in the scratch store alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from guard.git import Repo, find_repo
from guard.proofs.patches import LARGEST, make_patch
from guard.proofs.scratch import Scratch
from tests.clerk import BASE, BROKEN, CASE_PATH, CONFIG, FIX, FIXED, SKILL_PATH, case, record
from tests.clerk import regressions as records_file
from tests.conftest import ScratchRepo
from tests.invariants import unchanged
from tests.proving import prove
from tests.rungs import read, rungs_of, told

PATCH = "bugs/taxi.patch"
BEFORE = {"kind": "patch", "path": PATCH}
RECORDS = {"regressions.json": records_file(taxi=record(before=BEFORE))}


@pytest.fixture
def opened(repo: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(repo.root)) as found:
        yield found


def patched(repo: ScratchRepo, broken: dict[str, str | bytes], *options: str) -> None:
    """Commit the record, and the patch that makes of today's files the ones given."""
    repo.write(broken)
    repo.git("add", "--all", "--intent-to-add")
    diff = repo.run("git", "diff", "--binary", "--full-index", *options, "HEAD").stdout
    repo.git("reset", "-q", "--hard")
    repo.git("clean", "-fdq")
    repo.commit("keep the bug", {PATCH: diff.encode(), **RECORDS})


@pytest.fixture
def kept(repo: ScratchRepo) -> ScratchRepo:
    """The fix is in the first commit; the bug is in a patch and nowhere else."""
    repo.commit("start", {**BASE, SKILL_PATH: FIXED, CASE_PATH: case()})
    patched(repo, {SKILL_PATH: BROKEN})
    return repo


def test_it_breaks_todays_text_again(kept: ScratchRepo, opened: Repo) -> None:
    kept.commit("polish", {SKILL_PATH: FIXED.replace("what you did", "what you did, briefly")})
    (rung,) = rungs_of(opened)
    assert told([rung]) == ["patch built"]
    assert FIX not in read(rung)
    assert "briefly" in read(rung)


def test_the_bug_is_proven_and_nothing_of_the_users_changes(kept: ScratchRepo) -> None:
    with unchanged(kept):
        proof = prove(kept.root).one
    assert (proof.verdict, proof.state) == ("PROVEN", "patch")
    assert proof.before
    assert proof.before.passed == 0


def test_a_case_that_cannot_see_it_is_vacuous(kept: ScratchRepo) -> None:
    kept.commit("weak", {CASE_PATH: case('{reply_contains: ["o"]}')})
    assert prove(kept.root).one.verdict == "VACUOUS"


def test_the_reds_are_not_bought_again_when_the_skill_is_edited(kept: ScratchRepo) -> None:
    prove(kept.root)
    kept.commit("polish", {SKILL_PATH: FIXED.replace("what you did", "what you did, briefly")})
    again = prove(kept.root)
    assert again.one.verdict == "PROVEN"
    assert again.one.state == "patch"
    assert len(again.ran) == 2, "the fixed side alone"
    kept.commit("another bug", {PATCH: "Another.\n" + (kept.root / PATCH).read_text()})
    assert len(prove(kept.root).ran) == 2, "another patch is another broken state"


def test_an_edit_beside_the_fix_is_merged_where_the_blobs_are_known(
    kept: ScratchRepo, opened: Repo
) -> None:
    near = FIXED.replace("Book every amount", "Book each and every amount")
    kept.commit("reword", {SKILL_PATH: near})
    (rung,) = rungs_of(opened)
    assert "each and every" in read(rung)
    assert FIX not in read(rung)


def test_and_is_stale_where_they_are_not(kept: ScratchRepo, tmp_path: Path) -> None:
    near = FIXED.replace("Book every amount", "Book each and every amount")
    kept.commit("reword", {SKILL_PATH: near})
    kept.git("clone", "-q", "--depth", "1", f"file://{kept.root}", str(tmp_path / "shallow"))
    proof = prove(tmp_path / "shallow").one
    assert proof.verdict == "STALE"
    assert f"{PATCH} doesn't apply to today's tree: patch failed" in proof.reason


def test_a_shallow_clone_proves_it(kept: ScratchRepo, tmp_path: Path) -> None:
    kept.git("clone", "-q", "--depth", "1", f"file://{kept.root}", str(tmp_path / "shallow"))
    assert prove(tmp_path / "shallow").one.verdict == "PROVEN"


def test_a_folder_that_moved_is_followed(kept: ScratchRepo, opened: Repo) -> None:
    (kept.root / "agent/skills/clerk").rename(kept.root / "agent/skills/teller")
    kept.commit("move", {"guard.yaml": CONFIG.replace("skills/clerk", "skills/teller")})
    (rung,) = rungs_of(opened)
    assert read(rung, "agent/skills/teller/SKILL.md") == BROKEN


def test_merge_union_in_the_repository_changes_nothing(kept: ScratchRepo, opened: Repo) -> None:
    reworded = FIXED.replace("Ask which currency", "Always ask which currency")
    files = {SKILL_PATH: reworded, "agent/skills/clerk/.gitattributes": "*.md merge=union\n"}
    kept.commit("reword", files)
    (rung,) = rungs_of(opened)
    assert told([rung]) == ["patch void"]


@pytest.mark.parametrize(
    ("content", "state", "said"),
    [
        (None, "void", "its patch bugs/taxi.patch is not there"),
        ("", "same", "changes nothing of today's tree"),
        ("not a patch\n", "void", "No valid patches in input"),
        ("x" * (LARGEST + 1), "void", "larger than 8 MiB"),
    ],
)
def test_what_is_no_patch(
    kept: ScratchRepo, opened: Repo, content: str | None, state: str, said: str
) -> None:
    if content is None:
        kept.git("rm", "-q", PATCH)
    else:
        kept.write({PATCH: content})
    (rung,) = rungs_of(opened)
    assert told([rung]) == [f"patch {state}"]
    assert said in rung.reason


@pytest.mark.parametrize("known", [True, False])
def test_a_bug_that_is_there_again_is_degenerate(
    kept: ScratchRepo, tmp_path: Path, known: bool
) -> None:
    kept.commit("lost", {SKILL_PATH: BROKEN})
    root = kept.root
    if not known:
        root = tmp_path / "shallow"
        kept.git("clone", "-q", "--depth", "1", f"file://{kept.root}", str(root))
    proof = prove(root).one
    assert (proof.verdict, proof.state) == ("DEGENERATE", "patch")


def test_the_case_is_never_taken_back_with_the_fix(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", {**BASE, SKILL_PATH: FIXED, CASE_PATH: case()})
    patched(repo, {SKILL_PATH: BROKEN, CASE_PATH: case("{no_changes: true}")})
    (rung,) = rungs_of(opened)
    assert told([rung]) == ["patch void"]
    assert f"it would change {CASE_PATH}, which is not its own" in rung.reason


def test_nor_is_a_new_file_beside_the_agent(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", {**BASE, SKILL_PATH: FIXED, CASE_PATH: case()})
    patched(repo, {SKILL_PATH: BROKEN, "agent/new.py": "1\n"})
    (rung,) = rungs_of(opened)
    assert "it would change agent/new.py, which is not its own" in rung.reason


@pytest.mark.parametrize("path", ["../outside.md", "/etc/x", ".git/config", "agent/../../x"])
def test_a_path_that_leads_out_is_refused(kept: ScratchRepo, opened: Repo, path: str) -> None:
    text = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    kept.write({PATCH: text})
    (rung,) = rungs_of(opened)
    assert told([rung]) == ["patch void"]
    assert not (kept.root.parent / "outside.md").exists()


def test_an_agent_taken_away_whole_is_no_broken_state(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", {**BASE, SKILL_PATH: FIXED, CASE_PATH: case()})
    (repo.root / SKILL_PATH).unlink()
    patched(repo, {})
    (rung,) = rungs_of(opened)
    assert "there was no agent before" in rung.reason


FOLDER = "agent/skills/clerk"
TODAY: dict[str, str | bytes] = {
    f"{FOLDER}/Spesenrichtlinie für Zürich.md": "eins\nzwei\ndrei\n",
    f'{FOLDER}/\ttab "quoted".md': "a\nb\n",
    f"{FOLDER}/crlf.md": b"one\r\ntwo\r\nthree\r\n",
    f"{FOLDER}/blanks.md": "break here  \nand here\t\n",
    f"{FOLDER}/logo.png": b"\x89PNG\x00\x01\x02\xff" * 40,
    f"{FOLDER}/latin.md": b"gr\xfc\xdfe\n",
    f"{FOLDER}/run.sh": "#!/bin/sh\necho hi\n",
    f"{FOLDER}/no-end.md": "no line end",
    f"{FOLDER}/old name.md": "".join(f"line {n}\n" for n in range(30)),
}
THEN: dict[str, str | bytes] = {
    f"{FOLDER}/Spesenrichtlinie für Zürich.md": "eins\nZWEI\ndrei\n",
    f'{FOLDER}/\ttab "quoted".md': "a\nB\n",
    f"{FOLDER}/crlf.md": b"one\r\nTWO\r\nthree\r\n",
    f"{FOLDER}/blanks.md": "break HERE  \nand here\t\n",
    f"{FOLDER}/logo.png": b"\x89PNG\x00\x01\x03\xff" * 40,
    f"{FOLDER}/latin.md": b"gr\xfc\xdfe an alle\n",
    f"{FOLDER}/no-end.md": "no line end here",
    f"{FOLDER}/brand new ü.md": "new\n",
}


@pytest.mark.parametrize("tidied", [False, True])
def test_every_kind_of_change_survives(repo: ScratchRepo, opened: Repo, tidied: bool) -> None:
    """Names, modes, renames, binaries, line ends; and what tidies text files does no harm."""
    repo.commit("start", {**BASE, **TODAY, SKILL_PATH: FIXED, CASE_PATH: case()})
    fixed = repo.git("rev-parse", "HEAD^{tree}").strip()
    (repo.root / f"{FOLDER}/old name.md").rename(repo.root / f"{FOLDER}/new name.md")
    (repo.root / f"{FOLDER}/run.sh").chmod(0o755)
    repo.commit("as it was", {**THEN, SKILL_PATH: BROKEN})
    broken = repo.git("rev-parse", "HEAD^{tree}").strip()
    repo.git("reset", "-q", "--hard", "HEAD~1")
    with Scratch(opened) as scratch:
        patch = make_patch(scratch, fixed, broken, "Breaks it again.")
    if tidied:
        lines = [line.rstrip() for line in patch.splitlines()]
        patch = b"\n".join(lines).rstrip(b"\n") + b"\n"
    repo.write({PATCH: patch, **RECORDS})
    (rung,) = rungs_of(opened)
    assert rung.tree is not None, rung.reason
    folder = repo.git("rev-parse", f"{broken}:{FOLDER}").strip()
    assert rung.tree.repo.resolve(f"{rung.tree.oid}:{FOLDER}") == folder


def test_a_plain_patch_stays_readable(repo: ScratchRepo, opened: Repo) -> None:
    fixed = repo.commit("start", {**BASE, SKILL_PATH: FIXED})
    broken = repo.commit("lost", {SKILL_PATH: BROKEN})
    with Scratch(opened) as scratch:
        patch = make_patch(scratch, f"{fixed}^{{tree}}", f"{broken}^{{tree}}", "About it.")
    assert patch.startswith(b"About it.\n\ndiff --git")
    assert b"-" + FIX.encode() in patch
