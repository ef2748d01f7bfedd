"""The contract of a repository of agents: each of its tests holds, and each can fail."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from guard.errors import UsageError
from guard.plugin import Observation
from guard.testing import AgentContract, GradedRepository
from tests.conftest import ScratchRepo

PLUGIN = """\
import json

from guard.plugin import Evaluator, Observation, Option, Score, Served, Substitute, Target
from guard.plugin import hookimpl


def verify(agent, options, project):
    graphs = json.loads(project.read("graphs.own"))
    return None if options["graph"] in graphs else f"{options['graph']!r} is no graph of graphs.own"


def score(observation, expected):
    for key in ("type", "made_up"):
        if key in expected:
            yield Score(key, float(observation.facts.get(key) == expected[key]))


@hookimpl
def guard_served_agents(project):
    if "graphs.own" in project.served:
        return [Served(name, "graphs.own") for name in json.loads(project.read("graphs.own"))]


@hookimpl
def guard_targets():
    kept = SUBSTITUTES
    return [Target("graph", lambda trial: Observation(), "the compiled graph",
                   options=(Option("graph", "text", ""),), substitutes=kept, verify=verify)]


@hookimpl
def guard_evaluators():
    return [Evaluator("types", score, ("type", "made_up"), ("type", "made_up"),
                      never_excuse=("made_up",))]
"""
SOUND = PLUGIN.replace("SUBSTITUTES", "(Substitute('the outbox', 'no letter is sent'),)")
CONFIG = """\
version: 1
plugins: [evals/p.py]
served: [graphs.own]
agents:
  typewriter:
    paths: [graph.py]
    target: graph
    options: {graph: typewriter}
    cases: [evals/*.md]
"""
CASE = """\
---
id: invoice
utterance: name it
expected: {type: invoice, made_up: 0}
expected_baseline:
  - {failing_keys: [type], only_when: {n_proposals: 0}, note: it proposes nothing}
---
Why.
"""
FILES: Mapping[str, str] = {
    "guard.yaml": CONFIG,
    "evals/p.py": SOUND,
    "evals/invoice.md": CASE,
    "graphs.own": '["typewriter"]',
    "graph.py": "x = 1\n",
}


@pytest.fixture
def books(repo: ScratchRepo) -> ScratchRepo:
    repo.write(FILES)
    return repo


def opened(repo: ScratchRepo, **changed: str) -> GradedRepository:
    """Write files, each named by its stem, and open the repository."""
    paths = {Path(path).stem: path for path in FILES}
    repo.write({paths[stem]: text for stem, text in changed.items()})
    return GradedRepository(repo.root)


def test_a_repository_that_holds(books: ScratchRepo) -> None:
    with opened(books) as found:
        assert found.find_ungraded() == []
        assert found.find_unreal() == []
        assert found.find_unread() == []
        assert found.find_impossible() == []
        assert list(found.agents) == ["typewriter"]
        assert list(found.cases) == ["invoice"]


# Each can fail ------------------------------------------------------------------------------


def test_a_sixth_graph(books: ScratchRepo) -> None:
    with opened(books, graphs='["typewriter", "sixth"]') as found:
        assert found.find_ungraded() == ["graphs.own serves sixth, and no agent serves it"]


def test_no_manifest_is_no_pass(books: ScratchRepo) -> None:
    with opened(books, guard=CONFIG.replace("served: [graphs.own]\n", "")) as found:
        (said,) = found.find_ungraded()
        assert "names no manifest under `served`" in said


def test_a_stand_in_for_the_graph(books: ScratchRepo) -> None:
    with opened(books, guard=CONFIG.replace("graph: typewriter", "graph: stub.py:x")) as found:
        (said,) = found.find_unreal()
        assert "'stub.py:x' is no graph of graphs.own" in said


def test_a_target_that_cant_tell(books: ScratchRepo) -> None:
    other = CONFIG.replace("target: graph", "target: command")
    argv = other.replace("{graph: typewriter}", "{argv: [python3, graph.py]}")
    with opened(books, guard=argv) as found:
        (said,) = found.find_unreal()
        assert "is run by the target command, which can't tell" in said
        assert said.endswith("graph can")


def test_reasoning_that_is_stubbed(books: ScratchRepo) -> None:
    stubbed = PLUGIN.replace("SUBSTITUTES", "(Substitute('the model', 'it is dear', 'model'),)")
    with opened(books, p=stubbed) as found, pytest.raises(UsageError, match="of kind 'model'"):
        found.find_unreal()


def test_a_reference_key_that_nobody_reads(books: ScratchRepo) -> None:
    with opened(books, invoice=CASE.replace("made_up: 0", "made_up: 0, colour: red")) as found:
        (said,) = found.find_unread()
        assert said.startswith("evals/invoice.md: invoice expects `colour`, which no evaluator of")


def test_a_plain_function_doesnt_say_what_it_reads(books: ScratchRepo) -> None:
    named = CONFIG + "    evaluators: [evals/q.py:colour]\n"
    plain = "def colour(observation, expected):\n    return expected['colour'] == 'red'\n"
    marked = f"from guard.plugin import evaluator\n\n\n@evaluator(reads=('colour',))\n{plain}"
    case = CASE.replace("made_up: 0", "made_up: 0, colour: red")
    books.write({"evals/q.py": plain})
    with opened(books, guard=named, invoice=case) as found:
        assert len(found.find_unread()) == 1
    books.write({"evals/q.py": marked})
    with opened(books) as found:
        assert found.find_unread() == []


@pytest.mark.parametrize("key", ["colour", "timeout", "made_up"])
def test_a_baseline_that_excuses_what_it_cant(books: ScratchRepo, key: str) -> None:
    with opened(books, invoice=CASE.replace("[type]", f"[type, {key}]")) as found:
        (said,) = found.find_impossible()
        assert f"excuses `{key}`" in said


# Grading ------------------------------------------------------------------------------------


def test_grading_by_scores(books: ScratchRepo) -> None:
    with opened(books) as found:
        excused = found.grade("invoice", scores={"type": 0}, facts={"n_proposals": 0})
        assert (excused.verdict, excused.excused) == ("XFAIL", ("type",))
        failed = found.grade("invoice", scores={"type": 0.5}, facts={"n_proposals": 1})
        assert (failed.verdict, failed.failing, failed.excused) == ("FAIL", ("type",), ())
        assert found.grade("invoice", scores={}, facts={"n_proposals": 1}).verdict == "PASS"
        both = found.grade("invoice", scores={"type": 0, "made_up": 0}, facts={"n_proposals": 0})
        assert (both.verdict, both.excused) == ("FAIL", ("type",))


def test_a_fact_that_nobody_set_is_no_condition_that_holds(books: ScratchRepo) -> None:
    with opened(books) as found:
        graded = found.grade("invoice", scores={"type": 0})
        assert graded.verdict == "ERROR"
        assert "n_proposals" in graded.reason


def test_grading_an_observation_by_the_evaluators(books: ScratchRepo) -> None:
    facts: dict[str, Any] = {"type": "invoice", "made_up": 0, "n_proposals": 1}
    with opened(books) as found:
        assert found.grade("invoice", Observation(facts=facts)).verdict == "PASS"
        assert found.grade("invoice", facts={**facts, "type": "letter"}).failing == ("type",)


def test_a_case_that_isnt_there(books: ScratchRepo) -> None:
    with opened(books) as found, pytest.raises(UsageError, match="did you mean `invoice`"):
        found.grade("invoise", scores={})


def test_what_could_be_excused_is_found(books: ScratchRepo) -> None:
    with opened(books) as found:
        assert found.find_excused("made_up") == []
        assert found.find_excused("type") == [
            "invoice: a miss on `type` is excused with {'n_proposals': 0}",
            "invoice: a miss on `type` could be excused with {'n_proposals': None}",
        ]
        assert found.find_excused("colour") == ["no case scores `colour`, so nothing is held by it"]


# Opening ------------------------------------------------------------------------------------


def test_a_folder_that_is_no_repository_of_its_own(books: ScratchRepo, tmp_path: Path) -> None:
    (books.root / "inner").mkdir()
    with pytest.raises(UsageError, match="is not the top folder of its repository"):
        GradedRepository(books.root / "inner")
    (books.root / "guard.yaml").unlink()
    with pytest.raises(UsageError, match=r"no guard\.yaml"):
        GradedRepository(books.root)


def test_a_reader_that_is_switched_off_is_no_pass(
    books: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUARD_DISABLED_PLUGINS", "evals/p.py")
    with opened(books) as found, pytest.raises(UsageError, match=r"no plugin reads graphs\.own"):
        found.find_ungraded()


# The class, by pytest -----------------------------------------------------------------------


def contract_of(repo: ScratchRepo) -> AgentContract:
    class Contract(AgentContract):
        root = repo.root
        repository = GradedRepository(repo.root)

    return Contract()


def test_its_own_tests_of_a_repository(books: ScratchRepo) -> None:
    own = contract_of(books)
    with own.repository:
        own.assert_still_gates("invoice", "type", {"n_proposals": 1})
        with pytest.raises(AssertionError, match=r"with \{'n_proposals': 0\} is XFAIL, not FAIL"):
            own.assert_still_gates("invoice", "type", {"n_proposals": 0})
        own.assert_never_excused("made_up")
        with pytest.raises(AssertionError, match="a miss on `type` is excused"):
            own.assert_never_excused("type")


TESTS = """\
from pathlib import Path

from guard.testing import AgentContract

pytest_plugins = ["guard.testing"]


class TestBooks(AgentContract):
    root = Path(__file__).parent

    def test_the_typewriter_mis_proposal_check_still_gates(self):
        self.assert_still_gates("invoice", "type", {"n_proposals": 2})


def test_the_fixture(guard_repository):
    assert list(guard_repository.cases) == ["invoice"]
"""
NAMES = (
    "test_every_served_graph_is_graded",
    "test_every_target_drives_the_real_agent_graph",
    "test_every_reference_key_is_graded_by_some_evaluator",
    "test_no_baseline_excuses_what_nothing_scores",
    "test_the_typewriter_mis_proposal_check_still_gates",
)


def run_pytest(repo: ScratchRepo) -> str:
    words = ("-P", "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--rootdir", ".", "t.py")
    return repo.run(sys.executable, *words).stdout


def test_a_subclass_in_a_repositorys_own_tests(books: ScratchRepo) -> None:
    books.write({"t.py": TESTS})
    said = run_pytest(books)
    assert "6 passed" in said, said
    assert all(f"PASSED t.py::TestBooks::{name}" in said for name in NAMES)
    broken = CASE.replace("made_up: 0}", "made_up: 0, colour: red}").replace(
        "[type], only_when: {n_proposals: 0}", "[type, colour]"
    )
    stand_in = CONFIG.replace("graph: typewriter", "graph: stub")
    books.write({"evals/invoice.md": broken, "guard.yaml": stand_in, "graphs.own": '["a", "b"]'})
    said = run_pytest(books)
    assert "5 failed, 1 passed" in said, said
    assert all(f"FAILED t.py::TestBooks::{name}" in said for name in NAMES)
    assert "graphs.own serves b, and no agent serves it" in said
