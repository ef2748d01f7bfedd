"""What is run, and what is seen of it: graphs of every kind, in a Python of their own."""

from __future__ import annotations

import json

import pytest

from guard.plugin import ToolCall
from tests.plugins.langgraph.conftest import Lab

STEP = """
def step(state):
    return {"n": state.get("n", 0) + 1, "said": "done"}
async def later(state):
    return {"n": state.get("n", 0) + 1, "said": "done"}
"""


@pytest.mark.parametrize(
    "made",
    [
        "graph = chain(step, state=State).compile()",
        "graph = chain(later, state=State).compile()",
        "graph = chain(step, state=State)",
        "def graph():\n    return chain(step, state=State)",
        "def graph(config):\n    return chain(step, state=State).compile()",
        "def graph(config, /):\n    return chain(step, state=State).compile()",
        "def graph(*, config=None):\n    assert config\n    return chain(step, state=State)",
        "async def graph():\n    return chain(later, state=State).compile()",
        "import contextlib\n@contextlib.contextmanager\ndef graph():\n"
        "    yield chain(step, state=State)",
        "import contextlib\n@contextlib.asynccontextmanager\nasync def graph(config):\n"
        "    yield chain(later, state=State).compile()",
        "from langgraph.func import entrypoint\n@entrypoint()\ndef graph(given):\n"
        "    return {'n': given['n'] + 1, 'said': 'done'}",
        # A saver that has no asynchronous side.
        "from langgraph.checkpoint.memory import InMemorySaver\n"
        "from langgraph.checkpoint.base import BaseCheckpointSaver as Base\n"
        "class Saver(InMemorySaver):\n    pass\n"
        "for name in ('aget_tuple', 'aput', 'aput_writes'):\n"
        "    setattr(Saver, name, getattr(Base, name))\n"
        "graph = chain(step, state=State).compile(checkpointer=Saver())",
    ],
)
def test_a_graph_may_be_given_in_any_form(lab: Lab, made: str) -> None:
    lab.desk(STEP + made)
    seen = lab.run({"n": 4})
    assert seen.output == {"n": 5, "said": "done"}
    assert (seen.exit_status, seen.loaded, seen.program) == (0, True, seen.program)
    assert (seen.program or "").startswith("langgraph 1.")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("graph = 4", "it is an int, and no graph"),
        ("def graph(a, b):\n    pass", "it takes 2 arguments, and can be given 0 or 1"),
        ("def graph():\n    return None", "it is a NoneType, and no graph"),
        ("other = 1", "./desk.py:graph names nothing: the file has no graph"),
        ("import nothing_of_that_name", "can't be loaded: desk.py:20: ModuleNotFoundError: No mod"),
        ("1 +", "can't be loaded: desk.py:20: SyntaxError: invalid syntax"),
        ("raise SystemExit(3)", "can't be loaded: desk.py:20: SystemExit: 3"),
    ],
)
def test_what_is_no_graph_is_told_in_one_line(lab: Lab, made: str, said: str) -> None:
    lab.desk(made)
    found = lab.refuses()
    assert found.startswith("langgraph.json: graph desk (./desk.py:graph)")
    assert said in found


def test_a_module_is_named_by_its_dots_and_finds_its_neighbours(lab: Lab) -> None:
    lab.write(
        {
            "app/langgraph.json": json.dumps(
                {
                    "graphs": {"desk": {"path": "shop.desk:graph", "description": "d"}},
                    "dependencies": [".", "./lib", "langchain"],
                    "env": {"SHOP": "tea", "HOME": "no"},
                }
            ),
            "app/shop/desk.py": "from near import graph\n",
            "app/lib/src/near.py": "",
            "langgraph.json": "{}",
        }
    )
    lab.desk(
        "import os\ndef step(state):\n    return {'said': os.environ['SHOP'] + os.getcwd()}\n"
        "graph = chain(step, state=State).compile()"
    )
    (lab.workspace / "desk.py").rename(lab.workspace / "app/lib/src/near.py")
    seen = lab.run(manifest="app/langgraph.json")
    assert seen.output["said"] == f"tea{lab.workspace}/app"
    assert seen.files_read is not None
    assert {"app/shop/desk.py", "app/lib/src/near.py"} <= set(seen.files_read)


# Pauses -----------------------------------------------------------------------------------------

GATE = """
def draft(state):
    return {"lines": [state["n"]]}
def approve(state):
    if state["n"] < 100:
        return {"said": "small"}
    return {"said": interrupt({"ask": "post?", "lines": state["lines"]})}
def post(state):
    return {"n": 0} if state["said"] in ("yes", "small", True) else {}
graph = chain(draft, approve, post, state=State).compile()
"""


def test_a_pause_is_seen_and_an_answer_goes_on(lab: Lab) -> None:
    lab.desk(GATE)
    waits = lab.run({"n": 500})
    assert waits.facts["paused"] is True
    assert waits.facts["next"] == ["approve"]
    assert waits.facts["gate.1.node"] == "approve"
    assert waits.facts["gate.1.shows"] == {"ask": "post?", "lines": [500]}
    assert waits.facts["nodes"] == ["draft", "approve"]
    assert waits.output == {"n": 500, "lines": [500]}
    goes = lab.run({"n": 500}, turns=("yes",))
    assert goes.output == {"n": 0, "lines": [500], "said": "yes"}
    assert (goes.facts["paused"], goes.facts["gates"], goes.facts["turns_left"]) == (False, 1, 0)
    assert goes.facts["gate.1.answer"] == "yes"
    assert goes.facts["nodes"] == ["draft", "approve", "post"]
    assert (goes.facts["steps"], goes.facts["next"], goes.facts["errors"]) == (3, [], [])
    assert lab.run({"n": 500}, turns=("no",)).output["n"] == 500


def test_an_answer_that_nothing_waits_for_is_left(lab: Lab) -> None:
    lab.desk(GATE)
    assert lab.run({"n": 5}, turns=("yes",)).facts["turns_left"] == 1
    seen = lab.run({"n": 500}, turns=("yes", "yes"))
    assert (seen.facts["gates"], seen.facts["turns_left"]) == (1, 1)


def test_answers_are_values_where_they_are_json(lab: Lab) -> None:
    lab.desk(
        "def ask(state):\n"
        "    return {'lines': [interrupt('a'), interrupt('b'), interrupt('c'), interrupt('d')]}\n"
        "graph = chain(ask, state=State).compile()"
    )
    turns = ('{"ok": [1, null]}', "null", '"null"', "not: json")
    seen = lab.run(turns=turns)
    assert seen.output["lines"] == [{"ok": [1, None]}, None, "null", "not: json"]
    assert [seen.facts[f"gate.{n}.shows"] for n in (1, 2, 3, 4)] == ["a", "b", "c", "d"]
    assert seen.facts["nodes"] == ["ask"]


def test_pauses_side_by_side_are_answered_in_their_order(lab: Lab) -> None:
    lab.desk(
        """
        def one(state):
            return {"said": interrupt("one?")}
        def two(state):
            return {"thing": interrupt("two?")}
        builder = StateGraph(State)
        builder.add_node("one", one)
        builder.add_node("two", two)
        builder.add_edge(START, "one")
        builder.add_edge(START, "two")
        graph = builder.compile()
        """
    )
    seen = lab.run(turns=("1",))
    assert (seen.facts["gates"], seen.facts["paused"]) == (2, True)
    asked = {seen.facts[f"gate.{n}.node"]: seen.facts.get(f"gate.{n}.answer") for n in (1, 2)}
    assert sorted(asked) == ["one", "two"]
    assert sorted(map(str, asked.values())) == ["1", "None"]
    seen = lab.run(turns=("1", "2"))
    assert (seen.facts["gates"], seen.facts["paused"]) == (2, False)
    assert sorted([seen.output["said"], seen.output["thing"]]) == [1, 2]


def test_a_breakpoint_is_passed_by_null_alone(lab: Lab) -> None:
    lab.desk(GATE.replace(".compile()", ".compile(interrupt_before=['post'])"))
    waits = lab.run({"n": 5})
    assert (waits.facts["gate.1.node"], waits.facts["gate.1.shows"]) == ("post", None)
    assert lab.run({"n": 5}, turns=("null",)).output["n"] == 0
    assert "which takes no answer: the turn that goes on there is `null`" in lab.refuses(
        {"n": 5}, turns=("yes",)
    )


def test_inner_graphs_are_seen_and_pause(lab: Lab) -> None:
    lab.desk(
        GATE.replace("graph =", "inner =")
        + "builder = StateGraph(State)\nbuilder.add_node('books', inner)\n"
        "builder.add_edge(START, 'books')\ngraph = builder.compile()"
    )
    seen = lab.run({"n": 500}, turns=("yes",))
    assert seen.output["n"] == 0
    assert seen.facts["nodes"] == ["books", "books/draft", "books/approve", "books/post"]
    assert seen.facts["gate.1.shows"]["ask"] == "post?"


# What goes wrong --------------------------------------------------------------------------------


def test_a_graph_that_never_ends_is_stopped(lab: Lab) -> None:
    lab.desk(
        STEP + "builder = chain(step, state=State)\n"
        "builder.add_conditional_edges('step', lambda state: 'step')\ngraph = builder.compile()"
    )
    seen = lab.run(recursion_limit=7)
    assert seen.facts["recursion_limit_reached"] is True
    assert (seen.facts["steps"], seen.exit_status, seen.output["n"]) == (7, None, 8)
    assert lab.refuses(recursion_limit=0) == "options.recursion_limit must be 1 or more"


def test_a_node_that_raises_ends_the_program_where_it_stands(lab: Lab) -> None:
    lab.desk(
        GATE + "def post(state):\n    raise ValueError('no such\\naccount')\n"
        "graph = chain(draft, post, state=State).compile()"
    )
    seen = lab.run({"n": 5})
    assert seen.exit_status == 1
    assert seen.stderr == "desk.py:31: ValueError: no such account\n"
    assert seen.facts["errors"] == ["desk.py:31: ValueError: no such account"]
    assert seen.output == {"n": 5, "lines": [5]}
    lab.desk(
        "def post(state):\n    raise SystemExit(0)\ngraph = chain(post, state=State).compile()"
    )
    assert (lab.run().exit_status, lab.run().stderr) == (1, "desk.py:21: SystemExit: 0\n")


def test_the_line_is_the_agents_where_what_it_calls_raises(lab: Lab) -> None:
    lab.desk(
        "import os\ndef post(state):\n    return os.environ['NOTHING_OF_THAT_NAME']\n"
        "graph = chain(post, state=State).compile()"
    )
    assert lab.run().stderr == "desk.py:22: KeyError: 'NOTHING_OF_THAT_NAME'\n"


def test_a_program_that_ends_at_once_is_no_trial(lab: Lab) -> None:
    lab.desk(
        "import os\ndef post(state):\n    os._exit(0)\ngraph = chain(post, state=State).compile()"
    )
    assert "the agent's Python ended before the graph desk did (exit 0)" in lab.refuses()


def test_state_that_nothing_can_write_is_told(lab: Lab) -> None:
    lab.desk(
        "def post(state):\n    return {'thing': object()}\n"
        "graph = chain(post, state=State).compile()"
    )
    found = lab.refuses()
    assert "Type is not msgpack serializable: object; keep it out of the state" in found
    lab.desk(
        "def post(state):\n    return {'thing': {'a/b': [1, float('nan')]}}\n"
        "graph = chain(post, state=State).compile()"
    )
    assert "/thing/a~1b/1 is nan, which is no number in JSON" in lab.refuses()


# Messages and models ----------------------------------------------------------------------------

TALK = """
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import MessagesState
from langgraph.prebuilt import ToolNode, tools_condition

@tool
def look_up(account: str) -> str:
    "Look an account up."
    return f"{account}: 4"

def usage(n):
    return {"input_tokens": n, "output_tokens": 1, "total_tokens": n + 1}

model = FakeMessagesListChatModel(responses=[
    AIMessage("", tool_calls=[{"name": "look_up", "args": {"account": "cash"}, "id": "c1"}],
              usage_metadata=usage(3), response_metadata={"id": "msg_1", "model_name": "small"}),
    AIMessage([{"type": "text", "text": "It is "}, {"type": "text", "text": "4."}],
              usage_metadata=usage(5), response_metadata={"id": "msg_2", "model_name": "small"}),
])

def answer(state):
    return {"messages": [model.invoke(state["messages"])]}

builder = StateGraph(MessagesState)
builder.add_node("answer", answer)
builder.add_node("tools", ToolNode([look_up]))
builder.add_edge(START, "answer")
builder.add_conditional_edges("answer", tools_condition)
builder.add_edge("tools", "answer")
graph = builder.compile()
"""


def test_messages_tools_and_usage_are_seen(lab: Lab) -> None:
    # The model is the agent's own here: what is tested is what the target sees of one.
    lab.desk(TALK)
    seen = lab.run(utterance="How much cash?")
    assert seen.reply == "It is 4."
    assert seen.tool_calls == (ToolCall("look_up", {"account": "cash"}, "cash: 4"),)
    assert seen.tokens == {"input_tokens": 8, "output_tokens": 2, "total_tokens": 10}
    assert (seen.model, seen.response_ids, seen.turns) == ("small", ("msg_1", "msg_2"), 2)
    roles = [message["role"] for message in seen.output["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert seen.output["messages"][1]["tool_calls"] == [
        {"name": "look_up", "args": {"account": "cash"}}
    ]
    assert seen.facts["n_messages"] == 4
    assert seen.facts["nodes"] == ["answer", "tools", "answer"]


def test_without_a_model_nothing_is_claimed_of_one(lab: Lab) -> None:
    lab.desk(STEP + "graph = chain(step, state=State).compile()")
    seen = lab.run()
    assert (seen.model, seen.tokens, seen.turns, seen.tool_calls) == (None, None, None, None)
    assert (seen.reply, seen.response_ids, seen.cost_usd) == ("", (), None)


def test_what_is_said_reaches_the_graph_or_is_refused(lab: Lab) -> None:
    lab.desk(STEP + "graph = chain(step, state=State).compile()")
    assert "the graph takes no `messages`: state what it takes under" in lab.refuses(utterance="hi")
    assert "the case's `utterance` would never be said" in lab.refuses({"n": 1}, utterance="hi")
    assert lab.run({"n": 1, "said": "hi"}, utterance="hi").output["n"] == 2
    assert "says nothing to the agent" in lab.refuses({})
    lab.desk(
        TALK.replace("MessagesState)", "Both)").replace(
            "builder = ", "class Both(MessagesState):\n    n: int\nbuilder = "
        )
    )
    seen = lab.run({"n": 7}, utterance="How much?")
    assert (seen.output["n"], seen.output["messages"][0]["content"]) == (7, "How much?")


# What it is given -------------------------------------------------------------------------------


def test_configuration_context_store_and_thread_are_given(lab: Lab) -> None:
    lab.desk(
        """
        from langgraph.runtime import get_runtime
        from langgraph.config import get_config
        class Context(TypedDict):
            tone: str
        def step(state):
            runtime, config = get_runtime(Context), get_config()["configurable"]
            runtime.store.put(("a",), "k", {"v": 1})
            return {"said": f"{runtime.context} {config['tone']}", "thing": config["thread_id"]}
        builder = StateGraph(State, context_schema=Context)
        builder.add_node("step", step)
        builder.add_edge(START, "step")
        graph = builder.compile()
        """
    )
    first = lab.run(config={"tone": "dry", "other": 1, "thread_id": "fixed"})
    assert first.output["said"] == "{'tone': 'dry'} dry"
    again = lab.run(config={"tone": "dry"})
    assert len({first.output["thing"], again.output["thing"], "fixed"}) == 3


def test_nothing_is_traced_unless_the_environment_says_so(lab: Lab) -> None:
    lab.write({"langgraph.json": '{"graphs": {"desk": "./desk.py:graph"}, "env": ".env"}'})
    lab.write({".env": "# of production\nLANGSMITH_TRACING=true\nexport SHOP='tea'\n"})
    lab.desk(
        "import os\ndef step(state):\n    return {'said': os.environ['LANGSMITH_TRACING'] + "
        "os.environ['SHOP']}\ngraph = chain(step, state=State).compile()"
    )
    assert lab.run().output["said"] == "falsetea"
    assert lab.run(env={"LANGSMITH_TRACING": "maybe"}).output["said"] == "maybetea"
    assert lab.run(env={"SHOP": "inn"}).output["said"] == "falseinn"


def test_what_a_graph_reads_is_told(lab: Lab) -> None:
    lab.write({"papers/one.txt": "1", "papers/two.txt": "2"})
    lab.desk(
        "import os\ndef step(state):\n    names = os.listdir('papers')\n"
        "    open('new.txt', 'w').close()\n"
        "    return {'said': open('papers/one.txt').read()}\n"
        "graph = chain(step, state=State).compile()"
    )
    assert lab.run().files_read == ("desk.py", "papers/", "papers/one.txt")
    lab.desk(
        "import subprocess\ndef step(state):\n    subprocess.run(['true'])\n    return {'n': 1}\n"
        "graph = chain(step, state=State).compile()"
    )
    assert lab.run().files_read == ("./**",)


def test_conditions_may_ask_about_the_state(lab: Lab) -> None:
    lab.desk(
        "class State(State, total=False):\n    n_lines: int\n    steps: str\n    rest: list\n"
        "def step(state):\n    return {'lines': [1, 2], 'said': 'x' * 300, 'steps': 'own'}\n"
        "graph = chain(step, state=State).compile()"
    )
    facts = lab.run({"n": 3, "n_lines": 7}).facts
    assert (facts["n"], facts["thing"], facts["n_rest"]) == (3, None, 0)
    # What the state calls so itself comes first, and what the run does before that.
    assert (facts["n_lines"], facts["steps"], facts["state.steps"]) == (7, 1, "own")
    assert not {"said", "lines"} & facts.keys()
