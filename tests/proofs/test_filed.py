"""What answers a record without its broken state being built, and what makes it be built again."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

import pytest

from guard.git import find_repo
from guard.proof import Prover
from guard.session import Session
from guard.store import FILE
from tests import proven_repo
from tests.clerk import BASE, CONFIG, FIXED, SKILL_PATH, fix, record, regressions
from tests.conftest import ScratchRepo
from tests.proving import prove

REVISION = {"kind": "revision", "rev": "HEAD~1"}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Name each record whose broken state is built; it is built all the same."""
    found: list[str] = []
    states = Prover.__init__.__globals__["BrokenStates"]
    real = states.pinned

    def pinned(self: Any, record: Any) -> Any:
        found.append(record.id)
        return real(self, record)

    monkeypatch.setattr(states, "pinned", pinned)
    return found


@pytest.fixture
def proven(repo: ScratchRepo) -> ScratchRepo:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    assert prove(repo.root).one.verdict == "PROVEN"
    return repo


def test_a_second_proof_builds_and_runs_nothing(proven: ScratchRepo, built: list[str]) -> None:
    found = prove(proven.root)
    assert (found.one.verdict, found.one.state, found.ran, built) == ("PROVEN", "live", [], [])


def test_a_commit_elsewhere_changes_nothing(proven: ScratchRepo, built: list[str]) -> None:
    proven.commit("docs: text", {"README.md": "text\n"})
    found = prove(proven.root)
    assert (found.one.verdict, found.ran, built) == ("PROVEN", [], [])


@pytest.mark.parametrize(
    "files",
    [
        {SKILL_PATH: FIXED + "\nBe kind.\n"},
        {"guard.yaml": CONFIG.replace("cases:", "depends: [skills/clerk/notes.md]\n    cases:")},
        {"regressions.json": regressions(taxi=record(before=REVISION))},
    ],
    ids=["skill", "what is its own", "record"],
)
def test_what_its_state_depends_on_has_it_built_again(
    proven: ScratchRepo, built: list[str], files: dict[str, str]
) -> None:
    proven.write(files)
    assert prove(proven.root).one.verdict == "PROVEN"
    assert built == ["taxi"]


def test_another_origin_is_another_state(proven: ScratchRepo, built: list[str]) -> None:
    proven.write({"regressions.json": regressions(taxi=record(reopened=1))})
    proven.write({SKILL_PATH: FIXED + "\nBe kind.\n"})
    # Broken again and mended by this edit, it says; but HEAD was not broken.
    assert prove(proven.root).one.verdict == "VACUOUS"
    assert built


def test_what_is_remembered_is_no_evidence(proven: ScratchRepo, built: list[str]) -> None:
    with Session(find_repo(str(proven.root))) as session:
        database = sqlite3.connect(os.path.join(session.store.folder, FILE))
        with database:
            database.execute("DELETE FROM receipts")
        database.close()
    found = prove(proven.root)
    assert (found.one.verdict, len(found.ran), built) == ("PROVEN", 4, ["taxi"])


def test_live_asks_nothing_that_is_kept(proven: ScratchRepo) -> None:
    assert len(prove(proven.root, live=True).ran) == 4


# An edit of the skill, and the checks ------------------------------------------------------


def edited(repo: ScratchRepo) -> None:
    proven_repo.prove(repo)
    repo.commit("fix: taxi", {})
    repo.write({proven_repo.SCRIPT: proven_repo.FIXED + "# reworded\n"})


def sides(repo: ScratchRepo) -> list[str]:
    """Prove, and return which sides took trials."""
    found = prove(repo.root)
    assert found.one.verdict == "PROVEN"
    ran = {trial.trial_id for trial in found.ran}
    halves = {"before": found.one.before_result, "after": found.one.after_result}
    return [n for n, half in halves.items() if half and ran & {t.trial_id for t in half.trials}]


def test_an_edit_of_the_skill_buys_no_red_again(repo: ScratchRepo) -> None:
    edited(repo)
    assert sides(repo) == ["after"]


def test_a_red_of_which_todays_checks_can_not_be_asked_is_bought_again(repo: ScratchRepo) -> None:
    edited(repo)
    proven_repo.edit(repo, proven_repo.REJECTED, lambda kept: kept.update(reply="another"))
    assert sides(repo) == ["before", "after"]
    # Once it is bought it stands beside this skill.
    assert prove(repo.root).ran == []
