"""Capsules: the broken side kept in one file, what a clone without history does with it, and
what is refused."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from pathlib import Path

import pytest

from guard.proofs import capsules
from guard.proofs.capsules import Capsule, CapsuleError, File, read_capsule, write_capsule
from tests.clerk import BASE, BROKEN, CASE_PATH, CONFIG, FIXED, SKILL_PATH, case, fix
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.invariants import unchanged
from tests.proving import prove

CAPSULE = "regressions/taxi/before.capsule"
FOLDER = "agent/skills/clerk"


@pytest.fixture
def kept(repo: ScratchRepo) -> ScratchRepo:
    """A fix, its record, and the capsule committed some time later."""
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit("polish", {SKILL_PATH: FIXED.replace("what you did", "what you did, briefly")})
    outcome = call_guard(repo.root, "regressions", "add", "taxi", "--capsule")
    assert outcome.code == 0, outcome
    assert f"taxi is in regressions.json, PENDING, and {CAPSULE}; nothing was run" in outcome.out
    repo.commit("keep the broken side")
    return repo


def shallow(repo: ScratchRepo, folder: Path) -> Path:
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.root}", str(folder))
    return folder


def test_a_shallow_clone_proves_the_record(kept: ScratchRepo, tmp_path: Path) -> None:
    clone = shallow(kept, tmp_path / "clone")
    proof = prove(clone).one
    assert (proof.verdict, proof.state) == ("PROVEN", "capsule")
    assert proof.before
    assert proof.before.passed == 0
    again = prove(clone)
    assert (again.one.state, again.ran) == ("capsule", [])
    verified = call_guard(clone, "verify")
    assert (verified.code, "taxi PROVEN (capsule)" in verified.out) == (0, True)
    proven = call_guard(clone, "prove", "taxi")
    assert proven.code == 0, proven
    record = json.loads((clone / "regressions.json").read_text())["regressions"]["taxi"]
    assert record["before"] == {"kind": "parent", "capsule": CAPSULE}


def test_without_it_the_clone_is_blocked(kept: ScratchRepo, tmp_path: Path) -> None:
    kept.commit("without", {"regressions.json": fix()["regressions.json"]})
    proof = prove(shallow(kept, tmp_path / "clone")).one
    assert (proof.verdict, "shallow clone" in proof.reason) == ("BLOCKED", True)


def test_where_history_is_there_it_decides(kept: ScratchRepo) -> None:
    with unchanged(kept):
        proof = prove(kept.root).one
    assert (proof.verdict, proof.state) == ("PROVEN", "live")


def test_a_case_that_sees_nothing_is_vacuous_by_it_too(kept: ScratchRepo, tmp_path: Path) -> None:
    kept.commit("weak", {CASE_PATH: case('{reply_contains: ["o"]}')})
    proof = prove(shallow(kept, tmp_path / "clone")).one
    assert (proof.verdict, proof.state) == ("VACUOUS", "capsule")


def test_a_capsule_of_todays_text_is_degenerate(kept: ScratchRepo, tmp_path: Path) -> None:
    kept.commit("lost", {SKILL_PATH: BROKEN})
    proof = prove(shallow(kept, tmp_path / "clone")).one
    assert (proof.verdict, proof.state) == ("DEGENERATE", "capsule")


def test_one_that_was_changed_proves_nothing(kept: ScratchRepo, tmp_path: Path) -> None:
    text = (kept.root / CAPSULE).read_text()
    head, _, body = text.partition("\n")
    other = write_capsule(Capsule("clerk", ("x",), {b"x": File("100644", b"other")}))
    swapped = head + "\n" + other.decode().partition("\n")[2]
    for number, damaged in enumerate((text[:-9] + "\n", swapped, body)):
        kept.commit("damage", {CAPSULE: damaged})
        proof = prove(shallow(kept, tmp_path / f"clone{number}")).one
        assert proof.verdict == "STALE", damaged
        assert f"its capsule {CAPSULE} " in proof.reason
        whole = prove(kept.root).one
        assert whole.verdict == "PROVEN"
        assert f"its capsule {CAPSULE} " in whole.reason
        checked = call_guard(kept.root, "check")
        assert (checked.code, "record taxi guards nothing: its capsule" in checked.out) == (1, True)
        assert call_guard(kept.root, "regressions", "audit").code == 1
    kept.git("rm", "-q", CAPSULE)
    assert "is not there" in prove(kept.root).one.reason


def test_a_folder_that_moved_since_is_followed(kept: ScratchRepo, tmp_path: Path) -> None:
    (kept.root / FOLDER).rename(kept.root / "agent/skills/teller")
    kept.commit("move", {"guard.yaml": CONFIG.replace("skills/clerk", "skills/teller")})
    proof = prove(shallow(kept, tmp_path / "clone")).one
    assert (proof.verdict, proof.state) == ("PROVEN", "capsule")


def test_rename_detection_never_takes_it_for_the_file(kept: ScratchRepo) -> None:
    """The live state is merged with the capsule beside the file, moved as it is."""
    (kept.root / FOLDER).rename(kept.root / "agent/skills/teller")
    kept.commit("move", {"guard.yaml": CONFIG.replace("skills/clerk", "skills/teller")})
    proof = prove(kept.root).one
    assert (proof.verdict, proof.state) == ("PROVEN", "live")


def test_it_serves_a_commit_that_is_gone(repo: ScratchRepo) -> None:
    repo.commit("start", BASE)
    repo.commit("fixed", {SKILL_PATH: FIXED, CASE_PATH: case()})
    added = call_guard(repo.root, "regressions", "add", "taxi", "--before", "HEAD~1", "--capsule")
    assert added.code == 0, added
    (repo.root / "regressions/taxi/before.patch").unlink()
    proof = prove(repo.root).one
    assert (proof.verdict, proof.state) == ("PROVEN", "capsule")


def test_adding_it_asks_for_no_new_proof_and_is_no_fix(kept: ScratchRepo) -> None:
    bare = {"regressions.json": fix()["regressions.json"]}
    with_it = (kept.root / "regressions.json").read_text()
    kept.commit("without", bare)
    kept.write({"regressions.json": with_it, SKILL_PATH: FIXED + "\nBe quick.\n"})
    kept.write({"evals/cab.md": case(name="cab")})
    kept.git("add", "--all")
    message = kept.root / ".git" / "MSG"
    message.write_text("fix(clerk): be quick\n")
    judged = call_guard(kept.root, "check", "--base", "HEAD", "--message", str(message))
    assert judged.code == 1, judged
    assert "fix-needs-record" in judged.out + judged.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tax", "--capsule"), "no case"),
        (("taxi", "--capsule", "--incident", "x"), "holds record taxi already"),
    ],
)
def test_what_is_refused(kept: ScratchRepo, arguments: tuple[str, ...], said: str) -> None:
    outcome = call_guard(kept.root, "regressions", "add", *arguments)
    assert (outcome.code, said in outcome.err) == (2, True), outcome


def test_a_state_that_is_todays_has_no_broken_side(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, CASE_PATH: case()})
    outcome = call_guard(repo.root, "regressions", "add", "taxi", "--capsule")
    assert (outcome.code, "no broken state comes of it" in outcome.err) == (2, True)
    command = ("--capsule", "--command", "false")
    outcome = call_guard(repo.root, "regressions", "add", "taxi", *command)
    assert (outcome.code, "has no broken side to keep" in outcome.err) == (2, True)
    assert repo.git("status", "--porcelain") == ""


# The file itself ---------------------------------------------------------------------------

WHOLE = Capsule(
    "clerk",
    ("skills/**",),
    {
        b"skills/a.md": File("100644", "grün\r\n".encode()),
        b"skills/run.sh": File("100755", b"#!/bin/sh\n"),
        b"skills/bin": File("100644", bytes(range(256))),
        "skills/Zürich \t\n.md".encode(): File("100644", b""),
        b"skills/\xff": File("100644", b"x"),
        b"skills/link": File("120000", b"../other/a.md"),
        b"skills/sub": File("160000", b"a" * 40),
    },
)


def test_what_is_written_is_read() -> None:
    written = write_capsule(WHOLE)
    assert read_capsule(written) == WHOLE
    assert written == write_capsule(WHOLE)
    assert written.startswith(b"guard.capsule.v1 zlib base64 sha256:")
    assert max(map(len, written.splitlines()[1:])) <= 76
    assert read_capsule(written.replace(b"\n", b"\r\n")) == WHOLE, "line ends were made CR LF"
    assert b"skills" not in written


@pytest.mark.parametrize(
    ("path", "file", "said"),
    [
        (b"/etc/passwd", File("100644", b""), "leads out"),
        (b"../x", File("100644", b""), "leads out"),
        (b"a/../../x", File("100644", b""), "leads out"),
        (b"a//x", File("100644", b""), "leads out"),
        (b"a/./x", File("100644", b""), "leads out"),
        (b".git/config", File("100644", b""), "leads out"),
        (b"a/.GIT/config", File("100644", b""), "leads out"),
        (b"a", File("040000", b""), "is no file"),
        (b"a", File("120000", b"/etc"), "leads out"),
        (b"a/b", File("120000", b"../../x"), "leads out"),
        (b"a", File("120000", b".."), "leads out"),
        (b"a", File("120000", b""), "leads out"),
        (b"a", File("160000", b"HEAD"), "of no commit"),
        (b"skills/a.md/b", File("100644", b""), "below a file"),
    ],
)
def test_what_leads_out_is_neither_written_nor_read(path: bytes, file: File, said: str) -> None:
    files = {**WHOLE.files, path: file}
    with pytest.raises(CapsuleError, match=said):
        write_capsule(WHOLE._replace(files=files))
    frames = [
        f"{one.mode} {len(one.content)} ".encode() + name + b"\0" + one.content
        for name, one in files.items()
    ]
    with pytest.raises(CapsuleError, match=said):
        read_capsule(sealed(b'{"agent": "x", "paths": []}\n' + b"".join(frames)))


def sealed(payload: bytes) -> bytes:
    """Return a file with a digest that fits, whatever it holds."""
    digest = hashlib.sha256(payload).hexdigest()
    head = f"{capsules.FORMAT} sha256:{digest}\n".encode()
    return head + base64.b64encode(zlib.compress(payload)) + b"\n"


META = b'{"agent": "x", "paths": []}\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no capsule"),
        (b"guard.capsule.v2 zlib base64 sha256:" + b"0" * 64 + b"\n", "is no capsule"),
        (b"x" * (2 * capsules.LARGEST_FILE + 1), "larger than 16 MiB"),
        (sealed(META)[:-6], "was changed"),
        (sealed(META) + b"AAAA", "was changed"),
        (sealed(META).replace(b"sha256:", b"sha256:0")[:-1], "is no capsule"),
        (sealed(b"\0" * (capsules.LARGEST + 1)), "unpacks to more than 64 MiB"),
        (sealed(b"[]\n"), "doesn't say whose"),
        (sealed(b"{"), "doesn't say whose"),
        (sealed(META + b"100644 9 a\0short"), "is cut off"),
        (sealed(META + b"100644 x a\0"), "garbled"),
        (sealed(META + b"100644 0 a\x00100644 0 a\x00"), "holds a twice"),
        (sealed(META + b"".join(b"100644 0 %d\0" % n for n in range(20_001))), "too many files"),
    ],
)
def test_what_is_no_sound_capsule(content: bytes, said: str) -> None:
    with pytest.raises(CapsuleError, match=said):
        read_capsule(content)


def test_one_too_large_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capsules, "LARGEST", 1000)
    with pytest.raises(CapsuleError, match="too large"):
        write_capsule(WHOLE._replace(files={b"a": File("100644", b"x" * 1001)}))
