"""``guard receipts``: evidence moved between machines as files, and what is refused of it."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from guard.session import Session
from guard.storage.records import receipt_from_json
from tests.clerk import BASE, CASE_PATH, FIXED, SKILL_PATH, case
from tests.commands.calling import call_guard
from tests.commands.proven_fix import commit_proven_fix
from tests.conftest import ScratchRepo
from tests.exchange.files import Fields, cloned, exported, forged, receipts, trials
from tests.running.dates import ago

ANSWERED = "answered by a receipt of"


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run on a service themselves."""
    for marker in ("GITHUB_ACTIONS", "GITLAB_CI", "GITEA_ACTIONS", "FORGEJO_ACTIONS", "TRAVIS"):
        monkeypatch.delenv(marker, raising=False)


@pytest.fixture
def held(repo: ScratchRepo) -> ScratchRepo:
    """A repository whose one case was run, and holds."""
    repo.commit("feat: clerk", {**BASE, SKILL_PATH: FIXED, CASE_PATH: case()})
    assert call_guard(repo.root, "run").code == 0
    return repo


@pytest.fixture
def proven(repo: ScratchRepo) -> ScratchRepo:
    """A repository whose one fix is proven and committed."""
    commit_proven_fix(repo)
    return repo


def trials_run(repo: ScratchRepo) -> int:
    """Return how many trials were run on this machine."""
    with sqlite3.connect(repo.root / ".git/guard/store.sqlite3") as db:
        (number,) = db.execute("SELECT COUNT(*) FROM trials").fetchone()
    db.close()
    return int(number)


# Moving -----------------------------------------------------------------------------------


def test_what_is_held_is_listed(held: ScratchRepo) -> None:
    outcome = receipts(held)
    assert outcome.code == 0
    assert "✓ taxi  PASS: 2 of 2, 20" in outcome.out
    with Session.open(str(held.root)) as session:
        (kept,) = session.store.all_receipts()
    short = kept.digest.removeprefix("sha256:")[:12]
    assert f" UTC, local, these files  {short}\n" in outcome.out
    assert "1 receipt held here, 1 of them for these files" in outcome.out
    assert receipts(held, "list", "other").code == 2


def test_what_is_held_of_other_files_is_told_apart(held: ScratchRepo) -> None:
    held.write({SKILL_PATH: FIXED + "\nBe kind.\n"})
    assert "local, other files  " in receipts(held).out
    assert "local, these files  " in receipts(held, "--at", "HEAD").out
    assert call_guard(held.root, "run").code == 0
    lines = receipts(held).out.splitlines()
    assert [line.split(", ")[-1][:5] for line in lines[:2]] == ["other", "these"]
    assert lines[2].startswith("2 receipts held here, 1 of them for these files")
    held.write({"guard.yaml": "version: 2\n"})
    outcome = receipts(held)
    assert (outcome.code, "2 receipts held here: " in outcome.out) == (0, True), outcome
    assert "isn't known" in outcome.err


def test_as_many_are_listed_as_are_written(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("feat: clerk", BASE)
    repo.write({CASE_PATH: case()})
    assert call_guard(repo.root, "prove", "taxi").code == 3
    repo.write({SKILL_PATH: FIXED})
    assert call_guard(repo.root, "prove", "taxi").code == 0
    lines = receipts(repo).out.splitlines()
    files = exported(repo, tmp_path / "all", "--all")
    assert f"{len(files)} receipts held here" in lines[-1]
    assert len(lines) - 1 == len(set(lines[:-1])) == len(files)
    assert {line.split()[-1] for line in lines[:-1]} == {
        file.stem.rpartition("-")[2][:12] for file in files
    }
    assert any("before a fix, kept for later edits" in line for line in lines)


def test_options_stand_anywhere(held: ScratchRepo, tmp_path: Path) -> None:
    held.write({SKILL_PATH: FIXED + "\nBe kind.\n"})
    for number, words in enumerate(
        (("--all", "export", "F"), ("export", "--all", "F"), ("export", "F", "--all"))
    ):
        folder = str(tmp_path / str(number))
        outcome = receipts(held, *(folder if word == "F" else word for word in words))
        assert (outcome.code, "1 receipt written" in outcome.out) == (0, True), outcome
    outcome = receipts(held, "export", "--al", str(tmp_path / "none"))
    assert outcome.code == 2
    assert outcome.err.startswith("usage: guard receipts ")
    assert "unrecognized arguments: --al" in outcome.err


def test_a_file_that_is_not_there_is_said_not_to_be(held: ScratchRepo) -> None:
    outcome = receipts(held, "import", "README.md")
    assert (outcome.code, outcome.err) == (2, "guard: there is no file or folder README.md\n")


def test_the_plan_of_a_job_refuses_as_many_as_the_job(proven: ScratchRepo) -> None:
    planned = call_guard(proven.root, "ci", "--base=HEAD~1", "--plan")
    assert planned.code == 0, planned
    assert "1 regression to prove: taxi\n" in planned.out
    job = call_guard(proven.root, "ci", "--base=HEAD~1")
    said = [line for line in job.out.splitlines() if "not accepted" in line]
    assert said
    assert said == [line for line in planned.out.splitlines() if "not accepted" in line]
    again = call_guard(proven.root, "ci", "--base=HEAD~1", "--plan").out
    assert "1 regression to prove: taxi (1 of them answered by receipts)" in again


def test_another_machine_is_answered_by_what_it_imports(held: ScratchRepo, tmp_path: Path) -> None:
    (file,) = exported(held, tmp_path / "out")
    other = cloned(held, tmp_path / "other")
    assert "no receipt is held here" in receipts(other).out
    outcome = receipts(other, "import", str(tmp_path / "out"))
    assert (outcome.code, outcome.out) == (0, "1 receipt imported\n")
    assert ANSWERED in call_guard(other.root, "run").out
    assert receipts(other, "import", str(file)).out == "0 receipts imported, 1 known already\n"
    assert exported(other, tmp_path / "again")[0].read_bytes() == file.read_bytes()
    # Nothing of it satisfies CI, whose policy names ci alone.
    other.git("checkout", "-q", "-b", "topic")
    other.commit("feat: more", {"agent/skills/clerk/SKILL.md": FIXED + "\nBe kind.\n"})
    assert "0 of them answered" in call_guard(other.root, "ci", "--base=main", "--plan").out


def test_the_same_receipt_is_the_same_file(held: ScratchRepo, tmp_path: Path) -> None:
    (first,) = exported(held, tmp_path / "a")
    (again,) = exported(held, tmp_path / "b")
    assert (first.name, first.read_bytes()) == (again.name, again.read_bytes())
    fields = json.loads(first.read_text())
    assert fields["schema"] == "guard.receipt.v1"
    assert fields["digest"].startswith("sha256:" + first.stem.rpartition("-")[2])


def test_what_fits_other_files_is_left_out(held: ScratchRepo, tmp_path: Path) -> None:
    held.write({"agent/notes.md": "data\n"})
    assert len(exported(held, tmp_path / "data")) == 1
    held.write({SKILL_PATH: FIXED + "\nBe kind.\n"})
    outcome = receipts(held, "export", str(tmp_path / "none"))
    assert "0 receipts written" in outcome.out
    assert "1 of other files left out, --all takes them" in outcome.out
    assert len(exported(held, tmp_path / "all", "--all")) == 1
    assert len(exported(held, tmp_path / "head", "--at", "HEAD")) == 1


def test_a_proof_is_known_where_both_its_sides_are(repo: ScratchRepo, tmp_path: Path) -> None:
    commit_proven_fix(repo)
    exported(repo, tmp_path / "out")
    assert ", before a fix" in receipts(repo).out
    other = cloned(repo, tmp_path / "other")
    assert "PENDING" in call_guard(other.root, "status").out
    outcome = receipts(other, "import", str(tmp_path / "out"))
    assert outcome.code == 0, outcome
    assert "✓ taxi  proven on" in call_guard(other.root, "status").out
    outcome = call_guard(other.root, "verify")
    assert outcome.code == 0
    assert trials_run(other) == 0, outcome
    assert call_guard(other.root, "verify", "--no-cache").code == 0
    assert trials_run(other) == 4


def test_only_the_cases_that_are_named(repo: ScratchRepo, tmp_path: Path) -> None:
    two = {"evals/cab.md": case(name="cab"), CASE_PATH: case()}
    repo.commit("feat: clerk", {**BASE, SKILL_PATH: FIXED, **two})
    assert call_guard(repo.root, "run").code == 0
    (file,) = exported(repo, tmp_path / "one", "cab")
    assert file.name.startswith("cab-")
    assert len(exported(repo, tmp_path / "both")) == 2
    assert receipts(repo, "export", str(tmp_path / "none"), "bus").code == 2


def test_odd_names_of_cases_are_plain_names_of_files(repo: ScratchRepo, tmp_path: Path) -> None:
    names = ("ä", "ö", ".hidden", "a/b", "A/B", "a_b")
    odd = {f"evals/{n}.md": case(name=json.dumps(name)) for n, name in enumerate(names)}
    repo.commit("feat: clerk", {**BASE, SKILL_PATH: FIXED, **odd})
    assert call_guard(repo.root, "run").code == 0
    files = exported(repo, tmp_path / "deep" / "out")
    assert len({file.name.lower() for file in files}) == len(names)
    assert {file.parent for file in files} == {tmp_path / "deep" / "out"}
    assert all(file.name.isascii() and not file.name.startswith(".") for file in files)
    other = cloned(repo, tmp_path / "other")
    outcome = receipts(other, "import", str(tmp_path / "deep" / "out"))
    assert outcome.out == f"{len(names)} receipts imported\n"


def test_no_secret_leaves_the_machine(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLERK_KEY", "sk-very-secret")
    config = BASE["guard.yaml"].replace("    cases:", "    env: [CLERK_KEY]\n    cases:")
    config = config.replace("python3, clerk.py", "sh, -c, 'echo Which currency $CLERK_KEY', x")
    repo.commit("feat: clerk", {**BASE, "guard.yaml": config, CASE_PATH: case()})
    assert call_guard(repo.root, "run").code == 0
    (file,) = exported(repo, tmp_path / "out")
    assert "sk-very-secret" not in file.read_text()
    assert "[redacted CLERK_KEY]" in file.read_text()


def test_what_a_service_makes_names_its_job(
    held: ScratchRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI_COMMIT_BRANCH", "main")
    monkeypatch.setenv("CI_JOB_ID", "11")
    assert call_guard(held.root, "run", "--no-cache").code == 0
    assert "ci, branch main, GitLab CI 11" in receipts(held).out
    found = [json.loads(file.read_text()) for file in exported(held, tmp_path / "out")]
    assert [one["producer"] for one in sorted(found, key=lambda one: one["producer"])] == [
        *("ci", "local")
    ]
    other = cloned(held, tmp_path / "other")
    monkeypatch.delenv("GITLAB_CI")
    assert receipts(other, "import", str(tmp_path / "out")).code == 0
    assert "ci, branch main, GitLab CI 11" in receipts(other).out


@pytest.mark.parametrize(
    "arguments",
    [("export",), ("import",), ("import", "nowhere"), ("move",), ("import", "--all", "x")],
)
def test_what_is_asked_wrongly(held: ScratchRepo, arguments: tuple[str, ...]) -> None:
    outcome = receipts(held, *arguments)
    assert (outcome.code, outcome.out) == (2, "")


def test_a_folder_without_receipts(held: ScratchRepo, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "there is no receipt in" in receipts(held, "import", str(tmp_path / "empty")).err
    (tmp_path / "file").write_text("x")
    assert receipts(held, "export", str(tmp_path / "file")).code == 2


# Refused ----------------------------------------------------------------------------------


def copy_trial(fields: Fields) -> None:
    last = trials(fields)[-1]
    trials(fields).append({**last, "number": last["number"] + 1, "trial_id": "another"})
    fields["passed"] = fields["trials"] = len(trials(fields))


def fail_trial(fields: Fields) -> None:
    score = {"key": "reply_contains", "value": 0.0}
    trials(fields)[0].update(verdict="FAIL", scores=[score], failing=["reply_contains"])
    fields["passed"] -= 1


FORGED: Mapping[str, tuple[Callable[[Fields], None], str]] = {
    "a count": (lambda f: f.update(passed=1), "it says 1 of 2, and its trials show 2 of 2"),
    "a verdict": (lambda f: f.update(verdict="FAIL"), "it says FAIL, and its trials show PASS"),
    "a failure taken for a pass": (fail_trial, "it says PASS, and its trials show"),
    "no trial": (lambda f: f["evidence"].update(trials=[]), "it holds no trial"),
    "one trial more": (copy_trial, "go on after they had decided"),
    "another case's trial": (lambda f: trials(f)[0].update(case="x"), "of another case"),
    "a number twice": (lambda f: trials(f)[1].update(number=1), "not in order"),
    "tomorrow": (lambda f: f.update(date=ago("-1d")), "its date lies ahead"),
    "no date": (lambda f: f.update(date="soon"), "its date is none"),
    "a date of no zone": (lambda f: f.update(date="2026-01-01T00:00:00"), "its date is none"),
    "an easier policy": (
        lambda f: f["evidence"]["policy"].update(gate=None, trials=1, min_pass_rate=0.0),
        "by another policy than its key says",
    ),
    "no policy": (lambda f: f["evidence"].pop("policy"), "evidence has no policy"),
    "an odd policy": (lambda f: f["evidence"]["policy"].update(gate="x"), "its policy is none"),
    "a text for a number": (lambda f: f.update(passed="2"), "it.passed is no integer"),
    "a number for a text": (
        lambda f: trials(f)[0]["observation"].update(reply=7),
        "evidence.trials.0.observation.reply is no text",
    ),
    "an object for a list": (lambda f: f["evidence"].update(trials={}), "trials is no list"),
    "the other kind": (lambda f: f.update(kind="red"), "not of the kind that it says"),
    "a red side": (lambda f: f["evidence"].update(exact="k"), "not of the kind that it says"),
    "another schema": (lambda f: f.update(schema="v9"), "its schema is not guard.receipt.v1"),
    "a further key": (lambda f: f.update(more=1), "keys that no receipt has"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_receipt_that_its_own_trials_belie(held: ScratchRepo, tmp_path: Path, name: str) -> None:
    change, reason = FORGED[name]
    (file,) = exported(held, tmp_path / "out")
    forged(file, change)
    other = cloned(held, tmp_path / "other")
    outcome = receipts(other, "import", str(file))
    assert outcome.code == 2
    assert file.name in outcome.err
    assert reason in outcome.err, outcome
    assert outcome.out == "0 receipts imported, 1 refused\n"
    assert "no receipt is held" in receipts(other).out


def test_what_is_refused_keeps_no_other_out(held: ScratchRepo, tmp_path: Path) -> None:
    (file,) = exported(held, tmp_path / "out")
    forged(file, lambda f: f.update(passed=1), "a.json")
    other = cloned(held, tmp_path / "other")
    outcome = receipts(other, "import", str(tmp_path / "out"))
    assert (outcome.code, outcome.out) == (2, "1 receipt imported, 1 refused\n")
    assert "a.json is refused" in outcome.err
    assert ANSWERED in call_guard(other.root, "run").out


def test_trials_of_one_run_are_no_evidence_of_another(held: ScratchRepo, tmp_path: Path) -> None:
    """The key of other files, and a copy of the trials that were run on these."""
    (file,) = exported(held, tmp_path / "out")
    copy = forged(file, lambda f: f.update(key="sha256:" + "a" * 64), "copy.json")
    outcome = receipts(held, "import", str(copy))
    assert outcome.code == 2
    assert "is another receipt's too" in outcome.err


def test_a_response_that_answers_twice(held: ScratchRepo, tmp_path: Path) -> None:
    (file,) = exported(held, tmp_path / "out")

    def answered(key: str) -> Callable[[Fields], None]:
        def change(fields: Fields) -> None:
            fields["key"] = f"sha256:{key * 64}"
            fields["evidence"]["deterministic"] = False
            fields["evidence"]["policy"].update(gate=None, trials=2)
            for n, trial in enumerate(trials(fields)):
                trial["trial_id"] = f"{key}{n}"
                trial["observation"]["response_ids"] = [f"msg_{n}"]

        return change

    for name in ("b", "c"):
        forged(file, answered(name), f"{name}.json")
    outcome = receipts(held, "import", str(tmp_path / "out" / "b.json"))
    assert outcome.code == 0, outcome
    outcome = receipts(held, "import", str(tmp_path / "out" / "c.json"))
    assert outcome.code == 2
    assert "response msg_0 is another receipt's too" in outcome.err


HOSTILE: Mapping[str, tuple[bytes, str]] = {
    "nothing": (b"", "it is no JSON"),
    "no JSON": (b"{", "it is no JSON"),
    "no UTF-8": (b"\xff\xfe{}", "it is no JSON"),
    "a list": (b"[]", "it is no JSON object"),
    "deep": (b"[" * 200_000, "it is nested too deep"),
    "NaN": (b'{"schema": NaN}', "it is no JSON"),
    "a key twice": (b'{"schema": 1, "schema": 2}', "it is no JSON"),
    "a long number": (b'{"schema": ' + b"9" * 5000 + b"}", "it is no JSON"),
    "nothing of a receipt": (b'{"schema": "guard.receipt.v1"}', "it has no key"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file(held: ScratchRepo, tmp_path: Path, name: str) -> None:
    content, reason = HOSTILE[name]
    (tmp_path / "x.json").write_bytes(content)
    outcome = receipts(held, "import", str(tmp_path / "x.json"))
    assert outcome.code == 2
    assert reason in outcome.err


def test_a_number_that_is_none_inside(held: ScratchRepo, tmp_path: Path) -> None:
    (file,) = exported(held, tmp_path / "out")
    file.write_text(file.read_text().replace('"min_pass_rate":1.0', '"min_pass_rate":1e999'))
    assert "policy is no number" in receipts(held, "import", str(file)).err


def test_what_is_no_plain_file(held: ScratchRepo, tmp_path: Path) -> None:
    (file,) = exported(held, tmp_path / "out")
    (tmp_path / "link.json").symlink_to(file)
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    for name in ("link.json", "pipe.json"):
        outcome = receipts(held, "import", str(tmp_path / name))
        assert outcome.code == 2
        assert "it is no plain file" in outcome.err


def test_a_file_larger_than_any_receipt(
    held: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = exported(held, tmp_path / "out")
    monkeypatch.setattr("guard.exchange.files.LIMIT", 1000)
    assert "larger than" in receipts(held, "import", str(file)).err


def test_an_altered_file(held: ScratchRepo, tmp_path: Path) -> None:
    (file,) = exported(held, tmp_path / "out")
    file.write_text(file.read_text().replace('"agent":"clerk"', '"agent":"porter"', 1))
    assert "it doesn't fit its own digest" in receipts(held, "import", str(file)).err


def test_a_store_that_cannot_be_written_says_so(held: ScratchRepo, tmp_path: Path) -> None:
    exported(held, tmp_path / "out")
    other = cloned(held, tmp_path / "other")
    (other.root / ".git" / "guard").write_text("in the way")
    outcome = receipts(other, "import", str(tmp_path / "out"))
    assert outcome.code == 3
    assert "1 not kept" in outcome.out


def test_a_receipt_in_the_store_is_read_back_as_it_was(held: ScratchRepo) -> None:
    with Session.open(str(held.root)) as session:
        (kept,) = session.store.all_receipts()
    assert receipt_from_json(json.dumps(kept._asdict())) == kept
    assert kept.evidence["policy"]["trials"] is None
