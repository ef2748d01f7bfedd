"""Datasets: each example is a case, and what is wrong with one is named with its line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.cases import parse_cases
from guard.cases.dataset import OF_A_CASE, place_of
from guard.errors import ConfigError
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, clerk, config

FILE = "evals/books.json"


def parsed(text: str) -> list[dict[str, Any]]:
    return [dict(fields) for fields in parse_cases(FILE, text.encode())]


def dataset(*examples: Any, **top: Any) -> str:
    """Return a dataset with each of its values on a line of its own."""
    return json.dumps({**top, "examples": list(examples)}, indent=1)


def example(name: str = "one", script: str = "echo hello", **keys: Any) -> dict[str, Any]:
    """Return an example that says hello, with some of its keys changed."""
    stated = {"utterance": script}, {"reply_contains": ["hello"]}, {"trials": 1}
    whole = dict(zip(("inputs", "outputs", "metadata"), stated, strict=True))
    return {"id": name, **whole, **keys}


def test_an_example_is_a_case() -> None:
    metadata = {
        "trials": 5,
        "given": {"files": {"in.pdf": {"from": "evals/papers/taxi.pdf"}}},
        "expected_baseline": [{"failing_keys": ["tone"], "only_when": {"n": 0}}],
        "turns": ["yes"],
        "description": "A taxi.",
        "source": {"inbox": 3},
    }
    (found,) = parsed(dataset(example(metadata=metadata, outputs={"tone": "calm"}), agent="clerk"))
    free = {"description": "A taxi.", "source": {"inbox": 3}}
    assert found == {
        **{key: value for key, value in metadata.items() if key not in free},
        "id": "one",
        "agent": "clerk",
        "utterance": "echo hello",
        "input": {"utterance": "echo hello"},
        "expected": {"tone": "calm"},
        "body": "A taxi.",
        "metadata": free,
        "remarks": [],
        "unread": [],
    }


def test_what_an_example_may_leave_out() -> None:
    bare, null = parsed(dataset({"id": "a"}, {"id": 7, "inputs": None, "outputs": None}))
    assert (bare["id"], bare["input"], bare["expected"]) == ("a", {}, {})
    assert (null["id"], null["input"], null["expected"]) == ("7", {}, {})
    assert parsed(dataset()) == []


def test_an_utterance_that_is_no_text_is_input_alone() -> None:
    (found,) = parsed(dataset(example(inputs={"utterance": {"text": "hi"}})))
    assert "utterance" not in found
    assert found["input"] == {"utterance": {"text": "hi"}}


def test_what_others_call_the_same_is_read_and_said() -> None:
    text = dataset({"id": "a", "input": {"n": 1}, "expected": {"tone": "calm"}, "split": "t"}, v=2)
    (found,) = parsed(text)
    assert (found["input"], found["expected"]) == ({"n": 1}, {"tone": "calm"})
    assert found["remarks"] == [
        "`input` is read as `inputs`, which is the key",
        "`expected` is read as `outputs`, which is the key",
    ]
    assert found["unread"] == ["v", "split"]


def test_a_free_key_that_was_meant_for_a_case_s_is_said() -> None:
    (found,) = parsed(dataset(example(metadata={"expected_basline": [], "source": "inbox"})))
    assert found["remarks"] == [
        "`expected_basline` under metadata means nothing to guard: `expected_baseline` would"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", ":1: must be a mapping, not a list"),
        ("{}", ":1: examples: not a dataset: the key `examples` is missing"),
        ('{\n"examples": {}}', ":2: examples: not a dataset: the key `examples` must be a list"),
        (dataset(3), ":3: examples[0]: must be a mapping, not a number"),
        (dataset({"inputs": {}}), ":3: examples[0]: the key `id` is missing"),
        (dataset({"id": "a b"}), ":4: examples[0].id: 'a b' is not an id"),
        (dataset({"id": "a", "inputs": "x"}), ":5: examples[0].inputs: must be a mapping"),
        (dataset({"id": "a", "output": [1]}), ":5: examples[0].output: must be a mapping"),
        (dataset({"id": "a", "metadata": "x"}), ":5: examples[0].metadata: must be a mapping"),
        (
            dataset(example(metadata={"source": 1, "trials": "many"})),
            ":15: examples[0].metadata.trials: must be a whole number, not text",
        ),
        (
            dataset(example(metadata={"given": {"files": {"../x": "y"}}})),
            ": examples[0].metadata.given.files.../x: '../x' leaves the workspace",
        ),
        (
            dataset(example(outputs={"no_changes": 1})),
            ":9: examples[0].outputs.no_changes: takes only true",
        ),
        (
            dataset(example(metadata={"utterance": "x"})),
            "examples[0].metadata.utterance: stands in inputs too",
        ),
        (
            dataset({"id": "a", "input": {}, "inputs": {}}),
            ":6: examples[0].inputs: stands beside another key that says the same: it is `inputs`",
        ),
        (dataset({"id": "a"}, {"id": "a"}), ":7: examples[1].id: a is the id of line 4 too"),
        (dataset({"id": "a"}, agent=[1]), ":2: agent: must be text"),
        ('{"examples": [\n{"id": "a", "id": "b"}]}', ":2: examples[0].id: stands here twice"),
        ('{"examples": [\n{"id": "a", "x":\nNaN}]}', ":3: examples[0].x: NaN is no number"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parsed(text)
    message = caught.value.message
    assert message.startswith(f"{FILE}:"), message
    assert said in message
    assert caught.value.exit_code == 2


IDS = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
FREE = st.dictionaries(
    st.text("abcxyz_", min_size=1, max_size=5).filter(lambda key: key not in OF_A_CASE),
    st.integers() | st.text(st.characters(codec="utf-8"), max_size=4),
    max_size=3,
)


@given(st.lists(st.tuples(IDS, FREE, FREE, FREE), max_size=6))
def test_ids_decide_and_nothing_is_lost(rows: list[tuple[str, Any, Any, Any]]) -> None:
    examples = [
        {"id": name, "inputs": inputs, "outputs": outputs, "metadata": metadata}
        for name, inputs, outputs, metadata in rows
    ]
    ids = [name for name, *_ in rows]
    text = dataset(*examples)
    if len(set(ids)) < len(ids):
        second = next(n for n, name in enumerate(ids) if name in ids[:n])
        with pytest.raises(ConfigError) as caught:
            parsed(text)
        assert caught.value.key == f"examples[{second}].id"
        assert json.dumps(ids[second]) in text.split("\n")[caught.value.line - 1]
        return
    found = parsed(text)
    kept = [(f["id"], f["input"], f["expected"], f["metadata"]) for f in found]
    assert kept == rows
    for name in ids:
        line, key = place_of(FILE, text, "id", name)
        assert key == f"examples[{ids.index(name)}].id"
        assert json.dumps(name) in text.split("\n")[line - 1]


def test_a_place_that_can_t_be_told_has_no_line() -> None:
    assert place_of(FILE, "{", "id", "a") == (0, "id")
    assert place_of(FILE, dataset({"id": "a"}), "id", "b") == (0, "id")


# In a repository --------------------------------------------------------------------------


def books(*examples: Any, agent: Any = None, **top: Any) -> dict[str, str | bytes | None]:
    agents = clerk(cases=["evals/*.json", "evals/*.md"], **(agent or {}))
    return {**config(agents), FILE: dataset(*examples, **top)}


def test_examples_are_run_with_their_fixtures(repo: ScratchRepo, guard: GuardCommand) -> None:
    fixture = {"trials": 1, "given": {"files": {"in.txt": {"from": "evals/papers/in.txt"}}}}
    reads = example("reads", "cat in.txt", metadata=fixture)
    repo.write({**books(example("a"), example("b", "echo bye"), reads)})
    repo.write({"evals/papers/in.txt": "hello\n"})
    assert guard.verdicts(ends_in=1) == {"a": "PASS", "b": "FAIL", "reads": "PASS"}
    assert guard.verdicts(f"{FILE}#a") == {"a": "PASS"}
    guard("run", f"{FILE}#x").refuses(f"{FILE}#x matches no case")


def test_a_fixture_that_is_not_there_is_named(repo: ScratchRepo, guard: GuardCommand) -> None:
    lost = {"given": {"files": {"in.txt": {"from": "evals/papers/in.txt"}}}}
    repo.write(books(example("a", metadata=lost)))
    guard("run").refuses(FILE, "the fixture evals/papers/in.txt is not in the tree")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metadata": {"prerequisites": ["nothing:x"]}}, "examples[1].metadata.prerequisites: "),
        ({"outputs": {"files": {"x": {"contain": 1}}}}, "examples[1].outputs.files"),
        (
            {"metadata": {"trials": 2, "min_pass_rate": 0.1, "gate": "strict"}},
            "examples[1].metadata",
        ),
        ({"id": "md"}, "examples[1].id: md stands in evals/a.md too"),
    ],
)
def test_what_is_found_later_has_its_line_too(
    repo: ScratchRepo, guard: GuardCommand, changes: Any, said: str
) -> None:
    native = "---\nid: md\nutterance: x\nexpected: {no_changes: true}\n---\n"
    repo.write({**books(example("a"), {**example("b"), **changes}), "evals/a.md": native})
    outcome = guard("run")
    outcome.refuses(f"{FILE}:", said)
    line = int(outcome.err.split(f"{FILE}:")[1].split(":")[0])
    assert line > dataset(example("a")).count("\n") - 2


def test_an_agent_that_is_none_of_its_own(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write(books(example("a"), agent={}))
    text = dataset(example("a")).replace("{", '{\n "agent": "clark",', 1)
    repo.write({FILE: text})
    guard("run").refuses(f"{FILE}:2: agent: there is no agent 'clark'; did you mean `clerk`?")


def test_a_check_says_what_isn_t_read(repo: ScratchRepo, guard: GuardCommand) -> None:
    odd = {"id": "a", "input": {"utterance": "echo hello"}, "split": "test"}
    repo.write(books({**odd, "outputs": {"reply_contains": ["hello"]}}))
    said = guard("check").ends_in(0)
    said.says(f"{FILE}: `input` is read as `inputs`, which is the key (a)")
    said.says(f"{FILE}: the key `split` is not read (a)")
    repo.write(books(example("a")))
    guard("check").ends_in(0).says_not("is not read", "is read as")


def test_a_file_that_changes_is_read_anew(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write(books(example("a")))
    assert guard.verdicts() == {"a": "PASS"}
    repo.write(books(example("b")))
    assert guard.verdicts() == {"b": "PASS"}
