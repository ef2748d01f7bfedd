"""What is kept of a trial's files, and how it is laid again."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from guard.model import Agent
from guard.results import KeptFile
from guard.trials import kept as kept_files
from guard.trials.kept import KeptError, Left, LeftIn, keep_files, lay_kept, named_files
from guard.trials.manifest import scan_folder
from guard.trials.trial import regrade, run_trial
from tests.conftest import ScratchRepo
from tests.staging import FILES, case_of, run_script, staged

BINARY = b"\x00\xff\xfe\x01" * 10


def kept_of(folder: Path, *names: str) -> dict[str, KeptFile]:
    after = scan_folder(os.fsencode(folder))
    return {file.path: file for file in keep_files(str(folder), after, names, ())}


def test_a_trial_keeps_what_it_changed_and_what_is_expected_of_files(repo: ScratchRepo) -> None:
    repo.write(FILES)
    script = "printf 'Grüße\\n' > 'für.md'; rm budget.md; ln -s SKILL.md link"
    case = case_of(
        expected={"files": {"SKILL.md": {"contains": "good"}, "no.md": {"absent": True}}}
    )
    kept = {file.path: file for file in run_script(repo, script, case).files}
    assert list(kept) == ["SKILL.md", "no.md", "budget.md", "für.md", "link"]
    assert (kept["SKILL.md"].text, kept["für.md"].text) == ("be good\n", "Grüße\n")
    assert (kept["no.md"].kind, kept["budget.md"].kind) == ("absent", "absent")
    assert (kept["link"].kind, kept["link"].text) == ("link", "SKILL.md")


def test_what_a_trial_leaves_alone_is_not_kept(repo: ScratchRepo) -> None:
    assert run_script(repo, "true").files == ()


def test_what_a_checker_writes_is_not_the_trials(repo: ScratchRepo) -> None:
    checker = {"argv": ["sh", "-c", "echo mine > checked.md; echo more >> a.md"]}
    (file,) = run_script(repo, "echo a > a.md", case_of(expected={"command": checker})).files
    assert (file.path, file.text) == ("a.md", "a\n")


def test_secrets_are_taken_out(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cr3t-value")
    repo.write(FILES)
    agent = Agent("expense", workspace="agent", env=("MY_KEY",))
    script = 'echo "k=$MY_KEY" > a.md; printf "\\377$MY_KEY" > b.bin'
    text, binary = run_script(repo, script, agent=agent).files
    assert text.text == "k=[redacted MY_KEY]\n"
    assert base64.b64decode(binary.base64 or "") == b"\xff[redacted MY_KEY]"


def test_content_comes_back_as_it_was(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "für.md").write_bytes("Grüße\r\n".encode())
    (source / "a.bin").write_bytes(BINARY)
    (source / "run.sh").write_text("true\n")
    (source / "run.sh").chmod(0o755)
    (source / "link").symlink_to("deep/für.md")
    (source / "empty").write_bytes(b"")
    target.mkdir()
    (target / "link").write_text("in its place\n")
    (target / "gone").mkdir()
    (target / "gone" / "x").write_text("x")
    (target / "deep").write_text("a file where a folder will be")
    kept = kept_of(source, "deep/für.md", "a.bin", "run.sh", "link", "empty", "gone")
    lay_kept([*kept.values()], str(target))
    before, after = (scan_folder(os.fsencode(folder)) for folder in (source, target))
    assert {p: i.content for p, i in before.items()} == {p: i.content for p, i in after.items()}


def test_a_large_file_is_cut_and_known_by_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("é" * 100)
    (tmp_path / "b.bin").write_bytes(BINARY)
    (tmp_path / "c.md").write_text("c" * 60)
    monkeypatch.setattr(kept_files, "FILE_BYTES", 31)
    monkeypatch.setattr(kept_files, "ALL_BYTES", 60)
    kept = kept_of(tmp_path, "a.md", "b.bin", "c.md")
    # Not through a character, and no text because of where the cut went.
    assert (kept["a.md"].text, kept["a.md"].size) == ("é" * 15, 200)
    assert base64.b64decode(kept["b.bin"].base64 or "") == BINARY[:31]
    assert (kept["c.md"].text, kept["c.md"].base64) == ("c", None)
    assert len(kept["c.md"].sha256) == 64


def test_only_so_many_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "MOST_FILES", 2)
    names = ["a", "b", "c"]
    for name in names:
        (tmp_path / name).write_text(name)
    assert list(kept_of(tmp_path, *names)) == ["a", "b"]


@pytest.mark.parametrize("path", ["../out", "/tmp/guard-out", "a/../../out", "a//b", "", "a\0b"])
def test_nothing_is_laid_outside(tmp_path: Path, path: str) -> None:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    with pytest.raises(KeptError):
        lay_kept([KeptFile(path, "file", text="x")], str(workspace))
    assert not (tmp_path / "out").exists()


def test_nothing_is_laid_through_a_link(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "ws", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    link = KeptFile("a", "link", text=str(outside))
    lay_kept([link, KeptFile("a/x", "file", text="x")], str(workspace))
    lay_kept([link, KeptFile("a/x", "absent")], str(workspace))
    assert list(outside.iterdir()) == []


def test_content_that_is_no_base64_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeptError, match="no base64"):
        lay_kept([KeptFile("a", "file", base64="%%%")], str(tmp_path))


def test_artifacts_name_files_too() -> None:
    artifacts = [{"path": "./a.json", "equals_artifact": {"path": "b/../c.json"}}, {"path": "d"}]
    assert named_files({"artifacts": artifacts}) == ["a.json", "c.json", "d"]
    assert named_files({"no_changes": True}) == []


def test_a_stage_can_grade_it_again(repo: ScratchRepo) -> None:
    repo.write(FILES)
    checker = {"argv": ["grep", "-q", "taxi 457", "budget.md"]}
    case = case_of(expected={"command": checker, "reply_contains": ["done"]})
    with staged(repo, "sed -i s/400/457/ budget.md; echo done") as stage:
        trial = run_trial(stage, case, 1)

        def left(files: tuple[KeptFile, ...]) -> LeftIn:
            return lambda workspace: Left(trial.observation, files)

        again = regrade(stage, case, left(trial.files))
        assert (trial.verdict, again.verdict) == ("PASS", "PASS")
        untouched = regrade(stage, case, left(()))
        assert (untouched.verdict, untouched.failing) == ("FAIL", ("command",))
        assert regrade(stage, case, left(()), ["command"]).verdict == "PASS"
        stale = case._replace(preconditions=({"file_exists": "gone.md"},))
        assert regrade(stage, stale, left(())).verdict == "STALE"
