from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import pytest

from guard.ci.work import UNTRUSTED, Work, owed_until_started, proof_date, work_of
from guard.git import find_repo
from guard.model import OWED, PENDING, RETIRED
from guard.project import Project
from guard.regressions import Record, records_of
from guard.session import Session
from guard.storage.records import Receipt
from tests.clerk import BASE, CASE_PATH, FIXED, SKILL_PATH, case, fix, record, regressions
from tests.conftest import ScratchRepo


@pytest.fixture
def session(repo: ScratchRepo) -> Generator[Session]:
    repo.commit("feat: clerk", BASE)
    repo.commit("fix: ask", fix())
    with Session(find_repo(str(repo.root))) as opened:
        yield opened


def ids(work: Work) -> tuple[list[str], list[str]]:
    return [one.case.id for one in work.cases], [one.id for one in work.records]


CHANGES: Mapping[str, tuple[Mapping[str, str], str, str]] = {
    "nothing": ({}, "", ""),
    "another file": ({"README.md": "x\n"}, "", ""),
    "the skill": ({SKILL_PATH: FIXED + "\nBe kind.\n"}, "taxi", "taxi"),
    "the case": ({CASE_PATH: case(more="timeout: 100\n")}, "taxi", "taxi"),
    "the record": ({"regressions.json": regressions(taxi=record(fails_on=["x"]))}, "taxi", "taxi"),
    "another case": ({"evals/cab.md": case(name="cab")}, "cab", ""),
    "no record": ({"regressions.json": regressions()}, "taxi", ""),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_change_concerns(repo: ScratchRepo, session: Session, name: str) -> None:
    files, cases, records = CHANGES[name]
    repo.commit("next", files)
    start, tip = session.project("HEAD^"), session.project("HEAD")
    assert ids(work_of(start, tip, everything=False)) == (cases.split(), records.split())


def test_everything_is_all_of_it(session: Session) -> None:
    tip = session.project("HEAD")
    assert work_of(tip, tip, everything=False).is_nothing
    assert ids(work_of(tip, tip, everything=True)) == (["taxi"], ["taxi"])
    assert ids(work_of(tip, tip, everything=True, known=False)) == (["taxi"], ["taxi"])


def test_a_start_whose_records_are_broken_makes_all_of_them_new(
    repo: ScratchRepo, session: Session
) -> None:
    good = (repo.root / "regressions.json").read_text()
    repo.commit("break", {"regressions.json": "{"})
    repo.commit("mend", {"regressions.json": good})
    start, tip = session.project("HEAD^"), session.project("HEAD")
    assert ids(work_of(start, tip, everything=False)) == (["taxi"], ["taxi"])


def test_a_tree_without_guard_yaml_asks_for_nothing(session: Session) -> None:
    tip = session.project("HEAD")
    empty: Project = tip.at(type(tip.tree)(tip.repo, tip.repo.empty_tree))
    assert work_of(tip, empty, everything=True).is_nothing


def test_what_nobody_may_start_is_owed(session: Session) -> None:
    tip = session.project("HEAD")
    cases, proofs = owed_until_started(work_of(tip, tip, everything=True))
    assert [(one.case, one.verdict, one.reason) for one in cases] == [("taxi", OWED, UNTRUSTED)]
    assert [(one.id, one.verdict) for one in proofs] == [("taxi", PENDING)]


def made(**changes: Any) -> Record:
    document = {"schema": "x", "regressions": {"taxi": record(**changes)}}
    return records_of(document)["taxi"]


def test_a_retired_record_is_no_debt() -> None:
    over = {"reason": "the client is gone", "date": "2031-01-01"}
    retired = made(status="retired", retirement=over)
    _, (found,) = owed_until_started(Work((), (retired,)))
    assert (found.verdict, found.reason) == (RETIRED, "the client is gone")


def test_a_proof_is_as_old_as_its_older_side(session: Session) -> None:
    store = session.store

    def receipt(key: str, date: str) -> str:
        return store.put_receipt(Receipt(key, "taxi", "clerk", "PASS", 1, 1, date, {}))

    digests = [receipt("one", "2031-01-02"), receipt("two", "2031-01-01")]
    proof: dict[str, Any] = {"receipts": digests, "before": {}, "after": {}, "date": "2031-01-03"}
    assert proof_date(made(proof=proof), store) == "2031-01-01"
    unknown = {**proof, "receipts": [digests[0], "sha256:other"]}
    assert proof_date(made(proof=unknown), store) == ""
    assert proof_date(made(), store) == ""
