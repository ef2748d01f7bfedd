"""What `guard prove` keeps beside a record, and when it says that it can't."""

from __future__ import annotations

import base64

import pytest

from guard.trials import kept as kept_files
from tests.conftest import ScratchRepo
from tests.proven_repo import (
    ACCEPTED,
    CONFIG,
    FIXED,
    RECORDS,
    REJECTED,
    SCRIPT,
    edit,
    guard,
    observation,
    prove,
    record_of,
)


def test_unicode_and_binary_files_are_kept_and_graded_again(repo: ScratchRepo) -> None:
    broken = "printf 'Grüße €\\n' > 'für.md'; printf '\\377\\000\\001' > a.bin; ln -s a.bin link\n"
    prove(repo, "{no_changes: true, files: {'für.md': {absent: true}}}", broken=broken)
    kept = {file["path"]: file for file in observation(repo)["files"]}
    assert kept["für.md"]["text"] == "Grüße €\n"
    assert base64.b64decode(kept["a.bin"]["base64"]) == b"\xff\0\1"
    assert (kept["link"]["kind"], kept["link"]["text"]) == ("link", "a.bin")
    assert "für.md" in (repo.root / REJECTED).read_text()
    assert guard(repo, "check").code == 0


def test_a_secret_of_the_trial_is_in_neither(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE", "v3ry-hidden")
    broken = 'echo "$HOUSE" > budget.md; echo "booked $HOUSE"\n'
    prove(repo, config=CONFIG + "    env: [HOUSE]\n", broken=broken, fixed=FIXED + "echo $HOUSE\n")
    for path in (REJECTED, ACCEPTED):
        text = (repo.root / path).read_text()
        assert "v3ry-hidden" not in text
        assert "[redacted HOUSE]" in text
    monkeypatch.delenv("HOUSE")
    assert guard(repo, "check").code == 0


def test_a_large_file_is_cut_where_its_checks_read_no_more_of_it(repo: ScratchRepo) -> None:
    broken = "head -c 300000 /dev/zero | tr '\\0' x > budget.md\n"
    prove(repo, broken=broken)
    (file,) = observation(repo)["files"]
    assert (len(file["text"]), file["size"]) == (kept_files.FILE_BYTES, 300_000)
    assert guard(repo, "check").code == 0


def test_what_its_checks_read_and_is_too_large_keeps_nothing(repo: ScratchRepo) -> None:
    broken = "{ head -c 300000 /dev/zero | tr '\\0' x; echo 457; } > budget.md\n"
    said = prove(repo, "{files: {budget.md: {excludes: '457'}}}", broken=broken)
    assert "! no observation of it is kept: the rejected one can't be graded as the trial was" in (
        said.out
    )
    assert "(files)" in said.out
    assert "observations" not in record_of(repo)
    assert not (repo.root / "regressions").exists()
    found = guard(repo, "check")
    assert found.code == 0
    assert "1 proven regression keeps no observation" in found.out


def test_a_record_states_where_they_are(repo: ScratchRepo) -> None:
    prove(repo)
    stated = {"rejected": "evals/no.json", "accepted": ACCEPTED}
    edit(
        repo, RECORDS, lambda document: document["regressions"]["taxi"].update(observations=stated)
    )
    repo.write({SCRIPT: "echo in which currency?\n"})
    assert guard(repo, "prove", "taxi").code == 0
    assert record_of(repo)["observations"] == stated
    assert observation(repo, "evals/no.json")["side"] == "rejected"
    assert guard(repo, "check").code == 0


def test_nothing_is_kept_of_what_is_not_recorded(repo: ScratchRepo) -> None:
    prove(repo)
    repo.git("clean", "-fdq", "regressions")
    assert guard(repo, "prove", "taxi", "--no-record").code == 0
    assert not (repo.root / "regressions").exists()


def test_a_record_that_a_time_out_alone_turns_red_keeps_what_it_has(repo: ScratchRepo) -> None:
    """The time-out is the engine's own key: there is no check to ask again."""
    prove(repo)
    edit(repo, RECORDS, lambda doc: doc["regressions"]["taxi"].update(fails_on=["timeout"]))
    found = guard(repo, "check")
    assert found.code == 0
    assert "still tell" not in found.out
