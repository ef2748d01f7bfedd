"""The whole way: guard runs a repository's graphs, in trials of their own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from guard_langgraph import guard_evaluators, guard_targets
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand
from tests.plugins.langgraph.conftest import HEAD
from tests.servers.anthropic import Step, scripted_server

DESK = """
from shop.store import open_outbox

def draft(state):
    if state["n"] < 0:
        raise ValueError("no such account")
    return {"lines": [state["n"]]}

def approve(state):
    if state["n"] < 100:
        return {"said": "small"}
    return {"said": interrupt({"ask": "post?", "n": state["n"]})}

def send(state):
    if state["said"] in ("yes", "small"):
        open_outbox().send(state["n"])
    return {}

graph = chain(draft, approve, send, state=State).compile()

def again(state):
    return {"n": state.get("n", 0) + 1}

looping = chain(again, state=State)
looping.add_conditional_edges("again", lambda state: "again")
"""
STORE = "def open_outbox():\n    raise RuntimeError('no network here')\n"
DOUBLES = """
class Kept:
    recorded = []
    def send(self, n):
        self.recorded.append(n)

def open_outbox():
    return Kept()

def draft(state):
    return {"lines": [state["n"]]}

def facts():
    return {"n_sent": len(Kept.recorded)}
"""
PLUGIN = """
from guard.plugin import StorageDouble, hookimpl
from .doubles import draft, open_outbox

@hookimpl
def guard_storage_doubles():
    return [
        StorageDouble("outbox", "shop.store:open_outbox", open_outbox, "nothing is sent"),
        StorageDouble("fake", "shop.desk:draft", draft, "it is quicker"),
    ]
"""
GRAPHS = {
    "desk": "./shop/desk.py:graph",
    "loop": {"path": "./shop/desk.py:looping", "description": "never ends"},
    "named": "shop.desk:graph",
}


def agent(name: str, python: str = sys.executable, **options: Any) -> dict[str, Any]:
    return {
        "paths": ["shop/**", "langgraph.json"],
        "workspace": ".",
        "target": "langgraph",
        "python": python,
        "options": {"deterministic": True, **options},
        "cases": [f"evals/{name}/*.md"],
    }


def write(repo: ScratchRepo, agents: dict[str, Any], cases: dict[str, dict[str, Any]]) -> None:
    config = {
        "version": 1,
        "plugins": ["evals/plugin.py"],
        "defaults": {"trials": 1},
        "agents": agents,
    }
    files = {
        "guard.yaml": json.dumps(config),
        "langgraph.json": json.dumps({"dependencies": ["."], "graphs": GRAPHS}),
        "shop/desk.py": HEAD + DESK,
        "shop/store.py": STORE,
        "evals/plugin.py": PLUGIN,
        "evals/doubles.py": DOUBLES,
    }
    for name, keys in cases.items():
        owner = keys.pop("agent", next(iter(agents)))
        stated = {"id": name, "agent": owner, **keys}
        lines = [f"{key}: {json.dumps(value)}" for key, value in stated.items()]
        files[f"evals/{owner}/{name}.md"] = "\n".join(["---", *lines, "---", "Why.", ""])
    repo.write(files)


def one_case() -> dict[str, dict[str, Any]]:
    return {"one": {"input": {"n": 1}, "expected": {"gates": []}}}


def test_graphs_are_run_and_graded(repo: ScratchRepo, guard: GuardCommand) -> None:
    sent = {"output": [{"pointer": "/n", "equals": 500}], "gates": [{"node": "approve"}]}
    baseline = [{"failing_keys": ["recursion_limit"], "note": "it loops", "observed_in": "a run"}]
    write(
        repo,
        {
            "desk": agent("desk", doubles=["outbox"]),
            "loop": agent("loop", recursion_limit=6),
            "fake": agent("fake", graph="named", doubles=["fake", "outbox"]),
        },
        {
            "approved": {"input": {"n": 500}, "turns": ["yes"], "expected": sent},
            "wrong-gate": {
                "input": {"n": 500},
                "expected": {"gates": [{"pointer": "/ask", "equals": "sure?"}]},
            },
            "silent-wait": {
                "input": {"n": 500},
                "expected": {"output": [{"pointer": "/n", "equals": 500}]},
            },
            "raises": {"input": {"n": -1}, "expected": {"gates": []}},
            "ends-well": {"input": {"n": -1}, "expected": {"exit_code": 0}},
            "loops": {
                "agent": "loop",
                "input": {"n": 1},
                "expected": {"output": [{"pointer": "/n", "equals": 7}]},
                "expected_baseline": baseline,
            },
            "stubbed": {"agent": "fake", "input": {"n": 5}, "expected": {"gates": []}},
        },
    )
    report = guard.report("--jobs", "2", ends_in=1)
    runs = {case["id"]: case["runs"][0] for case in report["cases"]}
    verdicts = {name: run["verdict"] for name, run in runs.items()}
    assert verdicts == {
        "approved": "PASS",
        **dict.fromkeys(("wrong-gate", "silent-wait", "ends-well", "loops"), "FAIL"),
        **dict.fromkeys(("raises", "stubbed"), "ERROR"),
    }
    told = {name: run["execution_provenance"] for name, run in runs.items()}
    assert told["approved"]["loaded"] is True
    assert told["approved"]["program"] == told["approved"]["asked"]["program"]
    assert told["wrong-gate"]["failing"] == ["gates"]
    assert "it waits at approve for an answer" in told["silent-wait"]["reason"]
    assert told["raises"]["reason"].endswith("shop/desk.py:25: ValueError: no such account")
    assert told["ends-well"]["failing"] == ["exit_code"]
    assert told["loops"]["failing"] == ["recursion_limit"]
    assert "it never ends (again, again, again, again at last)" in told["loops"]["reason"]
    assert told["loops"]["excused"] == []
    assert "a stand-in graph is refused" in told["stubbed"]["reason"]


def test_a_python_without_langgraph_is_no_pass(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    python = tmp_path / "bare" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (tmp_path / "bare" / "pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix) / 'bin'}\n")
    python.symlink_to(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info[1]}")
    write(repo, {"desk": agent("desk", str(python))}, one_case())
    told = guard("run").ends_in(0).says("? one SKIP", "LangGraph isn't in the agent's Python: ")
    told.says(f"{python} -m pip install langgraph")
    guard("run", "--strict").ends_in(3)
    write(repo, {"desk": agent("desk", ".venv/bin/python")}, one_case())
    guard("run").ends_in(0).says("? one SKIP", "the agent's Python isn't there: python3 -m venv ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"object": "./stand_in.py:graph"}, "options.object: langgraph knows no such option"),
        ({"recursion_limit": "many"}, "options.recursion_limit: must be a whole number"),
        (
            {"doubles": ["outbx"]},
            "no plugin offers the storage double 'outbx'; did you mean `outbox`",
        ),
    ],
)
def test_its_options_are_checked(
    repo: ScratchRepo, guard: GuardCommand, options: dict[str, Any], said: str
) -> None:
    write(repo, {"desk": agent("desk", **options)}, one_case())
    guard("run").refuses("guard.yaml:", said)


def test_another_manifest_than_the_served_one_is_refused(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    agents = {name: agent(name) for name in GRAPHS}
    agents["desk"] = agent("desk", manifest="evals/langgraph.json")
    write(repo, agents, one_case())
    config = json.loads((repo.root / "guard.yaml").read_text())
    repo.write(
        {
            "guard.yaml": json.dumps({**config, "served": ["langgraph.json"]}),
            "evals/langgraph.json": json.dumps({"graphs": {"desk": "./stand_in.py:graph"}}),
            "evals/stand_in.py": "graph = 1\n",
        }
    )
    guard("run", "agent:desk").refuses(
        "target langgraph would not run the real agent: its graphs come from evals/langgraph.json, "
        "and langgraph.json says what is served"
    )


def test_it_is_offered() -> None:
    [target] = guard_targets()
    assert (target.name, target.substitutes, target.paid) == ("langgraph", (), False)
    assert {key for evaluator in guard_evaluators() for key in evaluator.writes} == {
        "gates",
        "recursion_limit",
    }


TALK = """\
from langchain_anthropic import ChatAnthropic
from langgraph.graph import START, MessagesState, StateGraph


def make_model():
    return ChatAnthropic(model="claude-haiku-4-5", max_tokens=100, streaming=True, max_retries=0)


def answer(state: MessagesState) -> dict:
    return {"messages": [make_model().invoke(state["messages"])]}


builder = StateGraph(MessagesState)
builder.add_node("answer", answer)
builder.add_edge(START, "answer")
graph = builder.compile()
"""


def test_a_graphs_own_model_is_asked_over_its_own_client(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    case = {"one": {"utterance": "How much?", "expected": {"reply_contains": ["It is 4."]}}}
    clerk: dict[str, Any] = {**agent("desk", deterministic=False), "env": ["ANTHROPIC_API_KEY"]}
    write(repo, {"desk": clerk}, case)
    with scripted_server() as server:
        server.answers(Step("It is 4."))
        clerk["options"]["env"] = {"ANTHROPIC_BASE_URL": server.url}
        write(repo, {"desk": clerk}, case)
        repo.write({"shop/desk.py": TALK})
        guard("run").ends_in(0).says("? one SKIP", "ANTHROPIC_API_KEY is not set")
        report = guard.report(env={"ANTHROPIC_API_KEY": "key-of-nobody"})
        asked = server.requests
    [run] = report["cases"][0]["runs"]
    told = run["execution_provenance"]
    assert (run["verdict"], report["live"]) == ("PASS", False)
    assert told["tokens"] == {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}
    assert told["turns"] == 1
    assert told["model"].startswith("claude-haiku-4-5")
    assert told["asked"]["endpoint"] == server.url
    assert [message["content"] for message in asked[0]["messages"]] == ["How much?"]
    assert "key-of-nobody" not in json.dumps(report)
