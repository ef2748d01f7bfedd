"""The back office of examples/ledger: what its page says holds, and each of its guards can fire.

The agents that need no model are run on a real server; the two that ask one are run by the real
client against a scripted server on this machine, which guard reports as not live.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from guard_postgres.embedded import Embedded
from guard_postgres.servers import URL
from tests.blocks import ROOT, blocks
from tests.commands.calling import Outcome, start_guard
from tests.scratch_repo import ScratchRepo
from tests.servers.anthropic import Scripted, Step, scripted_server
from tests.test_examples import lay_example

LEDGER = ROOT / "examples" / "ledger"
# Dozens of graphs are imported and run: on a machine that is busy with others that takes its time.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
#: Read now: each test begins without the user's variables.
NAMED = os.environ.get(URL, "")
KEY = {"ANTHROPIC_API_KEY": "sk-ant-scripted"}


@pytest.fixture(scope="module")
def postgres() -> Iterator[Mapping[str, str]]:
    """A server, named as a user names it."""
    if NAMED:
        yield {URL: NAMED}
        return
    server = Embedded()
    yield {URL: server.admin.url("postgres")}
    server.stop()


@pytest.fixture
def office(repo: ScratchRepo) -> ScratchRepo:
    """The example as a repository of its own."""
    lay_example(repo, "ledger")
    repo.commit("Begin")
    return repo


def edit(repo: ScratchRepo, path: str, old: str, new: str) -> None:
    text = (repo.root / path).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path} says {old!r} {text.count(old)} times"
    repo.write({path: text.replace(old, new)})


def test_the_commands_of_its_page_hold(repo: ScratchRepo, postgres: Mapping[str, str]) -> None:
    lay_example(repo, "ledger")
    [block] = blocks((LEDGER / "README.md").read_text(encoding="utf-8"), "sh")
    git, *commands = block.text.splitlines()
    assert repo.run("sh", "-c", git).returncode == 0
    for command in commands:
        done = start_guard(repo, *command.removeprefix("guard ").split(), env=postgres)
        assert done.code == 0, done


def test_its_own_tests_pass(office: ScratchRepo, postgres: Mapping[str, str]) -> None:
    done = office.run(sys.executable, "-P", "-m", "pytest", "-q", "-W", "error", env=postgres)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout


# Nothing is parked, nothing is taken on trust ---------------------------------------------------


def test_a_sixth_graph_in_the_manifest_turns_the_build_red(office: ScratchRepo) -> None:
    assert start_guard(office, "check").code == 0
    edit(office, "langgraph.json", '"graphs": {', '"graphs": {\n    "payroll": "./pay.py:graph",')
    office.write({"pay.py": "from ledger.graphs.bookkeeper import graph\n"})
    done = start_guard(office, "check")
    assert (done.code, "unserved-agent" in done.out) == (1, True), done
    assert "payroll" in done.out


def test_a_rule_that_is_gone_fails_its_case_and_a_gap_that_is_closed_says_so(
    office: ScratchRepo, postgres: Mapping[str, str]
) -> None:
    edit(office, "ledger/books/rules.py", '    "balance": balances,\n', "")
    edit(
        office,
        "ledger/audit/duplicates.py",
        "return entry.memo, reference",
        'return entry.memo, reference.casefold().replace(" ", "-")',
    )
    broken, mended = (
        "an-unbalanced-entry-is-refused",
        "a-paper-is-paid-twice-under-another-spelling",
    )
    done = start_guard(office, "run", broken, mended, env=postgres)
    assert done.code == 1, done
    assert f"{mended} XPASS" in done.out
    assert f"{broken} FAIL" in done.out
    # Both what it said and what it wrote, which is counted in the database.
    assert "refusals: [], not ['balance']" in done.out
    assert "rows: select count(*) from entries gave 1, not 0" in done.out


def test_without_a_server_and_a_key_nothing_is_passed(office: ScratchRepo) -> None:
    nowhere = {"GUARD_POSTGRES_URL": "postgresql://nobody@127.0.0.1:9/postgres"}
    done = start_guard(office, "run", env=nowhere)
    assert done.code == 0, done
    assert "PASS" not in done.out
    assert done.out.count(" SKIP: ") == 23
    assert done.out.splitlines()[-1].startswith("nothing was tested"), done.out
    assert start_guard(office, "run", "--strict", env=nowhere).code == 3


# The two that ask a model ---------------------------------------------------------------------


@pytest.fixture
def model(office: ScratchRepo) -> Iterator[Scripted]:
    """A scripted server, to which the repository's two agents with a model are led."""
    with scripted_server() as scripted:
        led = f'{{ANTHROPIC_BASE_URL: "{scripted.url}"}}'
        edit(office, "guard.yaml", "{graph: typewriter", f"{{env: {led}, graph: typewriter")
        edit(office, "guard.yaml", "{graph: clerk", f"{{env: {led}, graph: clerk")
        yield scripted


def read_as_asked(request: Mapping[str, Any]) -> Step:
    """Answer as a model that can read: by what stands on the paper that is shown."""
    [message] = request["messages"]
    paper = str(message["content"])
    answers = TYPES if request["tools"][0]["name"] == "Guess" else READINGS
    return Step(call=next(answer for mark, answer in answers.items() if mark in paper))


def proposal(**stated: str) -> dict[str, Any]:
    return {"proposals": [{"party": "Norsk Papir & Kontor AS", "date": "2026-03-09", **stated}]}


TYPES: dict[str, dict[str, Any]] = {
    "KREDITNOTA": {
        "schema_type": "credit_note",
        "because": "Concerns invoice NPK-20417 of 2026-03-09",
    },
}
SCRIPTED = (
    "an-invoice-is-proposed",
    "a-reminder-is-not-booked-again",
    "a-credit-note-is-no-invoice",
)
GAP = "a-delivery-note-is-typed"
INVOICE = {
    "kind": "purchase",
    "document": "NPK-20417",
    "total": "14 630.00",
    "quote": "Total NOK            14 630.00",
}
READINGS: dict[str, dict[str, Any]] = {
    "FAKTURA": proposal(**INVOICE),
    "BETALINGSPÅMINNELSE": {"proposals": []},
}


def run_scripted(office: ScratchRepo, *selectors: str) -> tuple[Outcome, dict[str, Any]]:
    done = start_guard(office, "run", *selectors, "--trials", "1", "--json", "r.json", env=KEY)
    report = json.loads((office.root / "r.json").read_text(encoding="utf-8"))
    assert report["live"] is False
    return done, {case["id"]: case for case in report["cases"]}


@pytest.mark.scripted
def test_a_scripted_model_is_asked_by_the_real_client_and_never_live(
    office: ScratchRepo, model: Scripted
) -> None:
    model.answers(then=read_as_asked)
    done, cases = run_scripted(office, *SCRIPTED, GAP)
    assert done.code == 0, done
    told = {name: case["verdict"] for name, case in cases.items()}
    assert told == {**dict.fromkeys(SCRIPTED, "PASS"), GAP: "XFAIL"}, done
    # Mail without an amount is never shown to a model: that is the gap.
    assert len(model.requests) == len(SCRIPTED)
    clients = {headers["user-agent"].partition("/")[0] for headers in model.headers}
    assert clients == {"langchain-anthropic"}
    assert "the model's endpoint was not the provider's own" in done.out.splitlines()[-1]


@pytest.mark.scripted
def test_what_a_model_gets_wrong_fails(office: ScratchRepo, model: Scripted) -> None:
    made_up = {**INVOICE, "total": "41 630.00", "quote": "Total NOK 41 630.00"}
    mistaken = {"schema_type": "invoice", "because": "Total NOK            -1 622.50"}
    answers = {"Guess": mistaken, "Reading": proposal(**made_up)}
    model.answers(then=lambda request: Step(call=answers[request["tools"][0]["name"]]))
    # Without the bound the clerk hands on whatever it was told.
    edit(
        office,
        "ledger/papers/proposals.py",
        "if made_up := _made_up(proposal, paper):",
        "if made_up := None:",
    )
    done, cases = run_scripted(office, "an-invoice-is-proposed", "a-credit-note-is-no-invoice")
    assert done.code == 1, done
    failing = {
        name: set(case["runs"][0]["execution_provenance"]["failing"])
        for name, case in cases.items()
    }
    assert failing == {
        "a-credit-note-is-no-invoice": {"schema_type"},
        "an-invoice-is-proposed": {"grounded", "proposals"},
    }
