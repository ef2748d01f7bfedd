"""Stand-ins for storage in the agent's own Python, and what may not stand in."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from guard.plugin import StorageDouble
from tests.plugins.langgraph.conftest import HEAD, Lab

STORE = """
class Outbox:
    def send(self, text):
        raise RuntimeError("no network here")

def open_outbox():
    return Outbox()

class Sink:
    def __init__(self, name):
        raise RuntimeError("no disk here")

def is_allowed(n):
    return n < 100

def make_model():
    raise RuntimeError("no key here")
"""
NODES = """
from shop import rules, store
def decide(state):
    return {"said": "yes" if store.is_allowed(state["n"]) and rules.may(state) else "no"}
def send(state):
    if state["said"] == "yes":
        store.open_outbox().send(f"{state['n']}")
        store.Sink("ledger").put(state["n"])
    return {"lines": [1]}
"""
RULES = """
LIMIT = 100
def may(state):
    return state["n"] < LIMIT
class Book:
    def post(self):
        return 1
"""
DESK = "from shop.nodes import decide, send\ngraph = chain(decide, send, state=State).compile()"
OUTBOX = """
class Kept:
    def __init__(self):
        self.recorded = []
    def send(self, text):
        self.recorded.append(text)
def open_outbox():
    return Kept()
"""
SINK = """
class Sink:
    count = 0
    def __init__(self, name):
        self.name = name
        self.n = 0
    def put(self, n):
        self.n += 1
    def facts(self):
        return {"n_put": self.n, "name": self.name}
def facts():
    return {"n_put": 0}
"""
_number = itertools.count()
Shop = Callable[..., Lab]


@pytest.fixture
def shop(lab: Lab, tmp_path: Path) -> Iterator[Shop]:
    """Make a desk whose storage is replaced by doubles: name, what it replaces, text, factory."""
    made: list[str] = []

    def make(*doubles: tuple[str, str, str, str], desk: str = DESK, **files: str) -> Lab:
        lab.write({"shop/store.py": STORE, "shop/nodes.py": NODES, "shop/rules.py": RULES})
        lab.write({f"shop/{name}.py": text for name, text in files.items()})
        lab.desk(desk)
        for name, replaces, text, factory in doubles:
            module = f"double_of_test_{next(_number)}"
            file = tmp_path / f"{module}.py"
            file.write_text(textwrap.dedent(text))
            spec = importlib.util.spec_from_file_location(module, file)
            assert spec is not None
            loaded = importlib.util.module_from_spec(spec)
            loaded.__dict__[factory] = type(factory, (), {"__module__": module})
            sys.modules[module] = loaded
            made.append(module)
            lab.doubles.append(StorageDouble(name, replaces, vars(loaded)[factory], "a test"))
        return lab

    yield make
    for module in made:
        del sys.modules[module]


BOTH = (
    ("outbox", "shop.store:open_outbox", OUTBOX, "open_outbox"),
    ("sink", "shop.store:Sink", SINK, "Sink"),
)


def test_storage_is_replaced_and_every_decision_is_the_agents(shop: Shop) -> None:
    seen = shop(*BOTH).run({"n": 5})
    assert (seen.exit_status, seen.output["said"]) == (0, "yes")
    assert seen.facts["outbox.recorded"] == ["5"]
    assert (seen.facts["outbox.opened"], seen.facts["sink.opened"]) == (1, 1)
    assert (seen.facts["sink.n_put"], seen.facts["sink.name"]) == (1, "ledger")


def test_what_was_not_stored_is_told_too(shop: Shop) -> None:
    seen = shop(*BOTH).run({"n": 500})
    assert (seen.output["said"], seen.facts["outbox.opened"]) == ("no", 0)
    assert seen.facts["sink.n_put"] == 0


def test_without_doubles_the_real_storage_is_opened(shop: Shop) -> None:
    assert "RuntimeError: no network here" in shop().run({"n": 5}).stderr


@pytest.mark.parametrize(
    ("desk", "replaces"),
    [
        # Taken by name before the graph is made, and standing in the graph's own file.
        (DESK, "shop.nodes:open_outbox"),
        (
            "from shop.store import open_outbox\nfrom shop.nodes import decide\n"
            "def send(state):\n    open_outbox().send('here')\n    return {}\n"
            "graph = chain(decide, send, state=State).compile()",
            "desk:open_outbox",
        ),
    ],
)
def test_a_name_is_replaced_where_it_is_taken(shop: Shop, desk: str, replaces: str) -> None:
    nodes = (
        NODES.replace("store.open_outbox()", "open_outbox()")
        .replace(
            "from shop import rules, store",
            "from shop import rules, store\nfrom shop.store import open_outbox",
        )
        .replace('        store.Sink("ledger").put(state["n"])\n', "")
    )
    if replaces.startswith("desk"):
        nodes = NODES
    lab = shop(("outbox", replaces, OUTBOX, "open_outbox"), desk=desk, nodes=nodes)
    assert lab.run({"n": 5}).facts["outbox.opened"] == 1


def test_a_double_may_build_on_the_agents_own_interface(shop: Shop) -> None:
    text = "from shop.store import Outbox\n" + OUTBOX.replace("class Kept:", "class Kept(Outbox):")
    lab = shop(("outbox", "shop.store:open_outbox", text, "open_outbox"), BOTH[1])
    assert lab.run({"n": 5}).facts["outbox.recorded"] == ["5"]


# What is refused --------------------------------------------------------------------------------

GIVES = "def open_outbox():\n    return {value}\n"
FAKE_GRAPH = "import desk\n" + OUTBOX


@pytest.mark.parametrize(
    ("replaces", "text", "factory", "said"),
    [
        ("desk:graph", OUTBOX, "open_outbox", "desk:graph is a CompiledStateGraph, which decides"),
        ("desk:chain", OUTBOX, "Kept", ""),
        (
            "shop.nodes:decide",
            "def decide(state):\n    return {}\n",
            "decide",
            "a stand-in graph is refused: ",
        ),
        (
            "shop.nodes:decide",
            "class Decide:\n    def __call__(self, s):\n        return {}\n",
            "Decide",
            "a stand-in graph is refused: ",
        ),
        (
            "shop.store:is_allowed",
            "def is_allowed(n):\n    return True\n",
            "is_allowed",
            "it makes an answer (bool): only storage may be replaced",
        ),
        (
            "shop.store:make_model",
            "class M:\n    def invoke(self, said):\n        return 1\n"
            "def make():\n    return M()\n",
            "make",
            "it makes a model (it has `invoke`)",
        ),
        (
            "shop.store:make_model",
            "class M:\n    messages = type('C', (), {'create': 1})\ndef make():\n    return M()\n",
            "make",
            "a model's client (it has `messages.create`)",
        ),
        (
            "shop.store:make_model",
            "from langchain_core.language_models import FakeListChatModel as F\n"
            "def make():\n    return F(responses=['yes'])\n",
            "make",
            "makes a FakeListChatModel, which",
        ),
        ("shop.store:open_model", OUTBOX, "open_outbox", "is a factory of models"),
        ("shop.store:open_inbox", OUTBOX, "open_outbox", "there is no open_inbox in shop.store"),
        ("shop.stare:open_outbox", OUTBOX, "open_outbox", "shop.stare can't be imported"),
        ("json:dumps", OUTBOX, "open_outbox", "json is no module of the workspace"),
        ("shop.store", OUTBOX, "open_outbox", "`replaces` must be module:attribute"),
        ("shop.store:Outbox.send", OUTBOX, "open_outbox", "`replaces` must be module:attribute"),
        (
            "shop.store:open_outbox",
            "raise ValueError('x')\n",
            "open_outbox",
            "can't be loaded: <storage double outbox>:1: ValueError: x",
        ),
    ],
)
def test_only_storage_of_the_agents_may_be_replaced(
    shop: Shop, replaces: str, text: str, factory: str, said: str
) -> None:
    store = STORE + "\ndef open_model() -> 'BaseChatModel':\n    ...\n"
    nodes = NODES.replace("store.open_outbox()", "(store.make_model(), store.open_outbox())[1]")
    lab = shop(("outbox", replaces, text, factory), store=store, nodes=nodes)
    if said:
        assert said in lab.refuses({"n": 5})
    else:
        assert lab.run({"n": 5}).exit_status == 1


CHANGES = {
    "the graph": "import sys\nsys.modules['guard_graph_desk'].graph = object()",
    "a node of the graph": (
        "import sys\ngraph = sys.modules['guard_graph_desk'].graph\n"
        "graph.nodes['decide'] = graph.nodes['send']"
    ),
    "a node's function": (
        "import sys\nbound = sys.modules['guard_graph_desk'].graph.nodes['decide'].bound\n"
        "bound.func = bound.afunc = lambda state: {'said': 'yes'}"
    ),
    "a rule": "import shop.rules\nshop.rules.may = lambda state: True",
    "a rule's code": (
        "import shop.rules\nfrom types import FunctionType\n"
        "shop.rules.may.__code__ = (lambda state: True).__code__"
    ),
    "a method": "import shop.rules\nshop.rules.Book.post = lambda self: 2",
    "a rule, by a mock": (
        "import shop.rules\nfrom unittest import mock\nshop.rules.may = mock.Mock()"
    ),
    "another name of the module": "import shop.store\nshop.store.is_allowed = lambda n: True",
}


def loaded(change: str) -> str:
    return f"{change}\n{OUTBOX}"


def made(change: str) -> str:
    begin = "class Kept:\n    def __init__(self):\n"
    return OUTBOX.replace(begin, begin + textwrap.indent(change, "        ") + "\n")


def used(change: str) -> str:
    begin = "def send(self, text):\n"
    return OUTBOX.replace(begin, begin + textwrap.indent(change, "        ") + "\n")


#: While its text is run, the graph isn't there yet.
MOMENTS = [
    (when, what)
    for what, change in CHANGES.items()
    for when in (loaded, made, used)
    if when is not loaded or "guard_graph_desk" not in change
]


@pytest.mark.parametrize(("when", "what"), MOMENTS)
def test_a_double_that_changes_more_than_its_name_is_refused(
    shop: Shop, when: Callable[[str], str], what: str
) -> None:
    text = when(CHANGES[what])
    assert text != OUTBOX
    lab = shop(("outbox", "shop.store:open_outbox", text, "open_outbox"), BOTH[1])
    assert "a stand-in graph is refused" in lab.refuses({"n": 5})


@pytest.mark.parametrize("what", ["a node of the graph", "a node's function"])
def test_a_copy_of_the_graph_is_not_what_is_run(shop: Shop, what: str) -> None:
    change = CHANGES[what].replace("sys.modules['guard_graph_desk']", "__import__('desk')")
    lab = shop(("outbox", "shop.store:open_outbox", loaded(change), "open_outbox"), BOTH[1])
    assert lab.run({"n": 500}).output["said"] == "no"


def test_an_agent_that_catches_the_refusal_hides_nothing(shop: Shop) -> None:
    nodes = NODES.replace(
        "        store.open_outbox()",
        "        try:\n            store.open_outbox()\n        "
        "except Exception:\n            pass\n        return {}\n        store.open_outbox()",
    )
    double = ("outbox", "shop.store:open_outbox", GIVES.format(value=4), "open_outbox")
    assert "it makes an answer (int)" in shop(double, nodes=nodes).refuses({"n": 5})


def test_a_real_one_that_was_taken_before_is_told(shop: Shop) -> None:
    early = NODES.replace(
        "from shop import", "from shop.store import open_outbox as real\nfrom shop import"
    )
    double = ("outbox", "shop.nodes:real", OUTBOX, "open_outbox")
    desk = "from shop.store import open_outbox\n" + DESK
    found = shop(double, nodes=early, desk=desk).refuses({"n": 5})
    assert "guard_graph_desk.open_outbox is the real shop.nodes:real still" in found


@pytest.mark.parametrize("line", ["from guard.plugin import hookimpl", "from . import other"])
def test_a_double_needs_nothing_of_guards(shop: Shop, line: str) -> None:
    lab = shop(("outbox", "shop.store:open_outbox", line + OUTBOX, "open_outbox"))
    assert "put it in a module of its own" in lab.refuses({"n": 5})


def test_a_double_whose_text_cannot_be_had_is_told(lab: Lab) -> None:
    lab.desk(DESK)
    lab.doubles.append(StorageDouble("outbox", "shop.store:open_outbox", lambda: 1, "a test"))
    assert "must be a function or class at the top of a module" in lab.refuses({"n": 5})


# Stand-ins without a double ---------------------------------------------------------------------


def test_code_from_elsewhere_is_not_the_agents(lab: Lab, tmp_path: Path) -> None:
    """An installed copy of the same name is out of the way, unless nothing else is there."""
    other = tmp_path / "other"
    (other / "near").mkdir(parents=True)
    (other / "near" / "__init__.py").write_text(
        HEAD + "def step(state):\n    return {'said': 'fake'}\n"
        "graph = chain(step, state=State).compile()\n"
    )
    lab.write({"langgraph.json": '{"graphs": {"desk": "near:graph"}}'})
    lab.write({"sitecustomize_of_test.py": ""})
    path = {"PYTHONPATH": str(other)}
    lab.write(
        {"near/__init__.py": (other / "near" / "__init__.py").read_text().replace("fake", "real")}
    )
    assert lab.run(env=path).output["said"] == "real"


def test_a_module_that_is_no_file_of_the_workspace_is_refused(lab: Lab) -> None:
    lab.write({"langgraph.json": '{"graphs": {"desk": "langgraph.graph:StateGraph"}}'})
    found = lab.refuses()
    assert "a stand-in graph is refused: langgraph.graph was loaded from" in found
    assert found.endswith("not from the workspace")


def test_code_that_a_case_lays_is_refused(shop: Shop) -> None:
    lab = shop(*BOTH)
    assert lab.run({"n": 5}, laid=("papers", "shop/other.py")).exit_status == 0
    for laid in ("shop/nodes.py", "shop", "desk.py", "langgraph.json"):
        found = lab.refuses({"n": 5}, laid=(laid,))
        assert found.startswith("a stand-in graph is refused: the case's `given` lays ")


def test_a_manifest_that_leads_out_of_the_workspace_is_refused(lab: Lab, tmp_path: Path) -> None:
    lab.desk("graph = 1")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "desk.py").write_text(HEAD)
    (outside / "langgraph.json").write_text('{"graphs": {"desk": "./desk.py:graph"}}')
    assert "../outside/langgraph.json lies outside" in lab.refuses(
        manifest="../outside/langgraph.json"
    )
    (lab.workspace / "link").symlink_to(outside)
    assert "link/langgraph.json lies outside" in lab.refuses(manifest="link/langgraph.json")
    lab.write({"langgraph.json": '{"graphs": {"desk": "../outside/desk.py:graph"}}'})
    assert "which lies outside of the workspace" in lab.refuses()
    lab.write({"langgraph.json": '{"graphs": {"desk": "./link/desk.py:graph"}}'})
    assert "which lies outside of the workspace" in lab.refuses()
