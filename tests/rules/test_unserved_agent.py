"""unserved-agent: what the manifests serve is graded, and nothing exempts it."""

from __future__ import annotations

import contextlib
import json

import pytest

from guard.errors import UsageError
from guard.judging.judge import RANGE
from guard.rules.unserved_agent import unserved_agents
from tests.judged_repo import Bench, Files

NAMES = ("auditor", "bookkeeper", "clerk", "accountant", "typewriter")
MANIFEST = "langgraph.json"
CODE = "".join(f"{name} = 1\n" for name in (*NAMES, "sixth"))


def manifest(*names: str) -> str:
    return json.dumps({"graphs": {name: f"./graphs.py:{name}" for name in names}})


def config(*names: str, more: str = "", served: str = MANIFEST) -> str:
    agents = "".join(
        f"  {name}: {{paths: [graphs.py], target: command, options: {{argv: [a]}}, "
        f"cases: [evals/{name}.md]}}\n"
        for name in names
    )
    return f"version: 1\nserved: [{served}]\n{more}agents:\n{agents}"


def case(name: str, expected: str = "{exit_code: 0}") -> str:
    stated = f"expected: {expected}\n" if expected else ""
    return f"---\nid: {name}-1\nutterance: hi\n{stated}---\nWhy.\n"


def cases(*names: str) -> Files:
    return {f"evals/{name}.md": case(name) for name in names}


GRADED: Files = {
    "guard.yaml": config(*NAMES),
    MANIFEST: manifest(*NAMES),
    "graphs.py": CODE,
    **cases(*NAMES),
}


@pytest.fixture
def books(opened_bench: Bench) -> Bench:
    """A repository that serves five graphs, each of them graded."""
    opened_bench.repo.commit("feat: base", GRADED)
    return opened_bench


def found(bench: Bench, files: Files) -> list[str]:
    """Write the files; return what the rule says of the tree."""
    bench.repo.write(files)
    bench.repo.git("add", "--all", "--force")
    violations = unserved_agents(bench.project())
    assert all(violation.rule == "unserved-agent" for violation in violations)
    return [violation.message for violation in violations]


def test_five_graphs_that_are_graded(books: Bench) -> None:
    assert found(books, {}) == []


def test_a_sixth_graph_turns_it_red(books: Bench) -> None:
    assert found(books, {MANIFEST: manifest(*NAMES, "sixth")}) == [
        "langgraph.json serves sixth (./graphs.py:sixth), and no agent serves it"
    ]


def test_what_each_lack_is_called(books: Bench) -> None:
    assert found(books, {"evals/clerk.md": None}) == [
        "langgraph.json serves clerk (./graphs.py:clerk), and agent clerk has no case"
    ]
    (said,) = found(books, {"evals/clerk.md": case("clerk", "")})
    assert said.endswith("agent clerk has no case that states an expectation")
    plain = config(*NAMES).replace("evals/clerk.md]", "evals/clerk.md], evaluators: [checks.py:f]")
    tone = "from guard.plugin import evaluator\n@evaluator(reads=('tone',))\ndef f(o, e): ...\n"
    stated = {"evals/clerk.md": case("clerk", "{tune: calm}"), "checks.py": tone}
    (said,) = found(books, {"guard.yaml": plain, **stated})
    assert said.endswith("agent clerk has no evaluator for what its cases state")
    assert found(books, {"evals/clerk.md": case("clerk", "{tone: calm}")}) == []


def test_a_plain_function_reads_whatever_is_stated(books: Bench) -> None:
    plain = config(*NAMES).replace("evals/clerk.md]", "evals/clerk.md], evaluators: [checks.py:f]")
    files = {"checks.py": "def f(o, e): ...\n", "evals/clerk.md": case("clerk", "{tune: calm}")}
    assert found(books, {"guard.yaml": plain, **files}) == []


def test_what_is_expected_always_is_an_expectation(books: Bench) -> None:
    always = config(*NAMES).replace("evals/clerk.md]", "evals/clerk.md], always: {exit_code: 0}")
    assert found(books, {"guard.yaml": always, "evals/clerk.md": case("clerk", "")}) == []


def test_a_target_that_nobody_offers(books: Bench) -> None:
    other = config("sixth", *NAMES).replace("target: command", "target: nothing", 1)
    files = {"guard.yaml": other, MANIFEST: manifest(*NAMES, "sixth"), **cases("sixth")}
    (said,) = found(books, files)
    assert said.endswith("agent sixth has the target nothing, which no plugin offers")


# Names ------------------------------------------------------------------------------------


def serving(name: str, serves: str) -> str:
    return config(*NAMES).replace(f"evals/{name}.md]", f"evals/{name}.md], serves: {serves}")


def test_an_agent_may_serve_by_other_names(books: Bench) -> None:
    served = [*(name for name in NAMES if name != "clerk"), "sixth"]
    files = {"guard.yaml": serving("clerk", "[sixth]"), MANIFEST: manifest(*served)}
    assert found(books, files) == []
    assert len(found(books, {"guard.yaml": config(*NAMES)})) == 1


def test_a_stated_name_that_no_manifest_has(books: Bench) -> None:
    assert found(books, {"guard.yaml": serving("clerk", "[clerk, clerks]")}) == [
        "agent clerk serves clerks, which no manifest has; did you mean `clerk`?"
    ]
    served = [name for name in NAMES if name != "clerk"]
    assert found(books, {"guard.yaml": config(*NAMES), MANIFEST: manifest(*served)}) == []
    (said,) = found(books, {"guard.yaml": serving("clerk", "[clerk]")})
    assert said.startswith("agent clerk serves clerk, which no manifest has")


def test_one_agent_is_not_two_things_of_one_name(books: Bench) -> None:
    files = {"shop/langgraph.json": manifest("clerk"), "shop/graphs.py": CODE}
    both = f"{MANIFEST}, shop/langgraph.json"
    (said,) = found(books, {"guard.yaml": config(*NAMES, served=both), **files})
    assert said.startswith("2 different things are served as clerk (graphs.py:clerk, shop/graphs")
    two = config(*NAMES, "shop", served=both)
    two = two.replace("evals/shop.md]", "evals/shop.md], serves: [clerk]")
    assert found(books, {"guard.yaml": two, **cases("shop")}) == []


def test_the_same_thing_in_two_manifests_is_one(books: Bench) -> None:
    files = {"names.txt": "clerk\n", "all.json": manifest("clerk")}
    both = f"{MANIFEST}, names.txt, all.json"
    assert found(books, {"guard.yaml": config(*NAMES, served=both), **files}) == []


# Nothing exempts --------------------------------------------------------------------------

SIXTH: Files = {MANIFEST: manifest(*NAMES, "sixth")}
HIDING = """\
from guard.plugin import Served, hookimpl


@hookimpl(tryfirst=True)
def guard_served_agents(project):
    return [Served("", "langgraph.json")]
"""


@pytest.mark.parametrize("key", ["parked", "unserved", "exempt", "skip", "ignore"])
def test_no_key_of_guard_yaml_exempts(books: Bench, key: str) -> None:
    with pytest.raises(UsageError, match=key):
        found(books, {**SIXTH, "guard.yaml": config(*NAMES, more=f"{key}: [sixth]\n")})


def test_the_rule_cant_be_set_to_warn(books: Bench) -> None:
    warn = "enforce: {unserved-agent: {warn: true, until: 2099-01-01}}\n"
    with pytest.raises(UsageError, match=r"enforce\.unserved-agent"):
        found(books, {**SIXTH, "guard.yaml": config(*NAMES, more=warn)})


def test_no_plugin_takes_a_name_off(books: Bench) -> None:
    files = {"guard.yaml": config(*NAMES, more="plugins: [hide/p.py]\n"), "hide/p.py": HIDING}
    assert len(found(books, {**SIXTH, **files})) == 1


def test_no_variable_or_switched_off_reader_exempts(
    books: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from guard.project import Project

    books.repo.write(SIXTH)
    books.repo.git("add", "--all")
    for name in ("GUARD_PARKED", "GUARD_EXEMPT", "GUARD_DISABLED_PLUGINS"):
        monkeypatch.setenv(name, "sixth")
    project = books.project()
    assert len(unserved_agents(project)) == 1
    off = Project(project.repo, project.tree, project.store, frozenset({"langgraph"}))
    with pytest.raises(UsageError, match=r"no plugin reads langgraph\.json"):
        unserved_agents(off)


@pytest.mark.parametrize(
    "trailer",
    [
        "Guard-Exempt: it is only a prototype for now",
        "Case-Weakened: langgraph.json: it is only a prototype",
        "Case-Weakened: guard.yaml: it is only a prototype",
    ],
)
def test_no_trailer_exempts(books: Bench, trailer: str) -> None:
    assert books.rules(SIXTH, f"feat: sixth\n\n{trailer}\n") == ["unserved-agent"]


@pytest.mark.parametrize(
    "marker", ["skip: true", "parked: true", "xfail: true", "type: parked", "required: false"]
)
def test_no_marker_of_a_case_stands_for_an_expectation(books: Bench, marker: str) -> None:
    files = {"evals/clerk.md": case("clerk", "").replace("utterance", f"{marker}\nutterance")}
    # Most are keys that no case has.
    with contextlib.suppress(UsageError):
        assert len(found(books, files)) == 1


# Commits ----------------------------------------------------------------------------------


def test_a_commit_that_serves_what_isnt_graded(books: Bench) -> None:
    (violation,) = books.judge(SIXTH, "feat: sixth").blocking
    assert violation.rule == "unserved-agent"
    graded = {"guard.yaml": config(*NAMES, "sixth"), **cases("sixth")}
    assert books.rules(graded, "feat: sixth") == []


def test_a_commit_that_takes_away_what_grades(books: Bench) -> None:
    assert books.rules({"evals/clerk.md": case("clerk", "")}, "test: x") == ["unserved-agent"]


def test_a_commit_is_not_asked_for_what_was_so_before(books: Bench) -> None:
    books.repo.commit("feat: sixth", SIXTH)
    assert books.rules({"evals/clerk.md": case("clerk") + "More.\n"}, "docs: more") == []
    assert len(found(books, {})) == 1


def test_a_commit_of_a_range_is_left_to_the_tip(books: Bench) -> None:
    assert books.judge(SIXTH, "feat: sixth", stage=RANGE).blocking == ()


def test_where_nothing_is_served_no_plugin_is_started(books: Bench) -> None:
    files = {"guard.yaml": config(*NAMES, served=""), "graphs.py": CODE + "x = 1\n"}
    books.repo.commit("chore: none", files)
    judged = books.judge({"evals/clerk.md": case("clerk") + "More.\n"}, "docs: more")
    assert judged.blocking == ()


def test_what_a_server_cant_know_is_not_held_against_a_push(books: Bench) -> None:
    other = config("sixth", *NAMES).replace("target: command", "target: nothing", 1)
    files = {"guard.yaml": other, MANIFEST: manifest(*NAMES, "sixth")}
    books.repo.write(files)
    books.repo.git("add", "--all")
    assert [
        v.message.rpartition(", ")[2] for v in unserved_agents(books.project(), by_data=True)
    ] == ["and agent sixth has no case"]
    books.repo.write(cases("sixth"))
    books.repo.git("add", "--all")
    assert unserved_agents(books.project(), by_data=True) == []
