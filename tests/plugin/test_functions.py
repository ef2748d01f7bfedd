from __future__ import annotations

from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

from guard.errors import PluginError
from guard.plugin import Evaluator, Expectations
from guard.plugin.functions import load_function, load_functions
from guard.results import Observation, Score

PATH = "evals/checks.py"
OBSERVATION = Observation(reply="four", output={"total": 4}, exit_status=0)


def load(source: str, name: str = "check") -> Evaluator:
    return load_functions(dedent(source), PATH, name)


def returning(expression: str) -> Evaluator:
    return load(f"def check(observation, expected):\n    return {expression}\n")


def run(
    evaluator: Evaluator,
    expected: dict[str, Any] | None = None,
    observation: Observation = OBSERVATION,
    inputs: dict[str, Any] | None = None,
) -> list[Score]:
    return list(evaluator.evaluate(observation, Expectations(expected or {}, inputs or {})))


@pytest.mark.parametrize(
    ("expression", "scores"),
    [
        ("True", [Score("check", 1.0)]),
        ("False", [Score("check", 0.0)]),
        ("0.25", [Score("check", 0.25)]),
        ("1", [Score("check", 1.0)]),
        ("None", []),
        ("[]", []),
        ("{'key': 'tone', 'score': 0.5, 'comment': 'curt'}", [Score("tone", 0.5, "curt")]),
        ("{'key': 'tone', 'score': True}", [Score("tone", 1.0)]),
        ("{'score': False, 'comment': None}", [Score("check", 0.0)]),
        (
            "[{'key': 'a', 'score': 1}, None, {'key': 'b', 'score': 0}]",
            [Score("a", 1.0), Score("b", 0.0)],
        ),
        ("[True]", [Score("check", 1.0)]),
    ],
)
def test_each_return_type(expression: str, scores: list[Score]) -> None:
    assert run(returning(expression)) == scores


def test_a_comment_becomes_one_short_line() -> None:
    (score,) = run(returning("{'score': 0, 'comment': 'a\\nb' + 'x' * 999}"))
    assert score.reason.startswith("a\\nbx")
    assert len(score.reason) == 300


def test_a_score_may_be_returned_as_it_is() -> None:
    evaluator = load("""
        from guard.plugin import Score

        def check(observation, expected):
            return [Score("a", 1), Score("b", 0.5, "half")]
    """)
    assert run(evaluator) == [Score("a", 1.0), Score("b", 0.5, "half")]


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("'yes'", "returned str"),
        ("(True, 'why')", "returned tuple"),
        ("object()", "returned object"),
        ("(x for x in ())", "returned generator"),
        ("1.5", "returned 1.5; a score is a number from 0 to 1"),
        ("-1", "returned -1"),
        ("float('nan')", "returned nan"),
        ("{'key': 'tone'}", "without `score`"),
        ("{'key': 'tone', 'score': None}", "returned NoneType"),
        ("{'key': 'tone', 'score': 'high'}", "returned str"),
        ("{'key': 'tone', 'score': 2}", "returned 2"),
        ("{'key': 3, 'score': 1}", "isn't text"),
        ("{'key': 'tone', 'score': 1, 'comment': 3}", "isn't text"),
        ("[[True]]", "returned list"),
        ("[True, True]", "the key `check` twice"),
        ("[{'key': 'a', 'score': 1}, {'key': 'a', 'score': 0}]", "the key `a` twice"),
    ],
)
def test_a_wrong_return_names_the_function_and_what_it_returned(expression: str, part: str) -> None:
    with pytest.raises(PluginError) as caught:
        run(returning(expression))
    assert caught.value.message.startswith("evals/checks.py:check: ")
    assert part in caught.value.message
    assert "\n" not in caught.value.message


def test_a_plain_function_declares_nothing() -> None:
    evaluator = returning("True")
    assert evaluator.name == evaluator.source == "evals/checks.py:check"
    assert (evaluator.declared, evaluator.reads, evaluator.writes) == (False, (), ())


def test_a_marked_function_declares_what_it_reads_and_writes() -> None:
    evaluator = load("""
        from guard.plugin import evaluator

        @evaluator(reads=("tone",), writes=("tone_score",), never_excuse=("tone_score",))
        def check(observation, expected):
            return expected["tone"] in observation.reply
    """)
    assert evaluator.declared
    assert evaluator.reads == ("tone",)
    assert evaluator.writes == evaluator.never_excuse == ("tone_score",)
    assert run(evaluator, {"tone": "four"}) == [Score("tone_score", 1.0)]
    assert run(evaluator, {"tone": "five"}) == [Score("tone_score", 0.0)]


def test_a_marked_function_is_not_called_where_none_of_its_keys_is_stated() -> None:
    evaluator = load("""
        from guard.plugin import evaluator

        @evaluator(reads=("tone", "mood"))
        def check(observation, expected):
            return [{"key": "mood", "score": expected["mood"] == "calm"}]
    """)
    assert run(evaluator, {"other": 1}) == []
    expectations = Expectations({"tone": "dry", "mood": "calm"})
    assert list(evaluator.evaluate(OBSERVATION, expectations)) == [Score("mood", 1.0)]
    assert expectations.read == {"mood"}


def test_observation_and_expected_may_have_other_names() -> None:
    evaluator = load("def check(seen, asked, strict=False): return asked['n'] == seen.exit_status")
    expectations = Expectations({"n": 0, "m": 1})
    assert list(evaluator.evaluate(OBSERVATION, expectations)) == [Score("check", 1.0)]
    assert expectations.read == {"n"}


def test_inputs_outputs_and_reference_outputs() -> None:
    evaluator = load("""
        def check(inputs, outputs, reference_outputs):
            return inputs == {"question": "2+2"} and outputs == reference_outputs
    """)
    asked = {"question": "2+2"}
    assert run(evaluator, {"total": 4}, inputs=asked) == [Score("check", 1.0)]
    assert run(evaluator, {"total": 5}, inputs=asked) == [Score("check", 0.0)]
    assert run(evaluator, {"total": 4}) == [Score("check", 0.0)]


def test_any_part_of_them_in_any_order_will_do() -> None:
    source = "def check(*, reference_outputs, outputs, **rest): return not rest and outputs == {}"
    assert run(load(source), observation=Observation(output={})) == [Score("check", 1.0)]
    only = load("def check(outputs): return outputs['total'] / 8")
    assert run(only) == [Score("check", 0.5)]


def test_without_structured_output_the_reply_is_the_output() -> None:
    evaluator = load("def check(outputs): return outputs == {'output': 'four'}")
    assert run(evaluator, observation=Observation(reply="four")) == [Score("check", 1.0)]


@pytest.mark.parametrize(
    "signature",
    ["", "observation", "a, b, c", "a, *, b", "inputs, extra", "outputs, observation, expected"],
)
def test_a_wrong_signature_is_refused_at_load(signature: str) -> None:
    with pytest.raises(PluginError) as caught:
        load(f"def check({signature}): return True")
    assert f"evals/checks.py:check: takes ({signature})" in caught.value.message
    assert "(observation, expected)" in caught.value.message


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("def chekc(a, b): return True", "the file has no `check`; did you mean `chekc`?"),
        ("check = 3", "must be a plain function, not a int"),
        ("class check: pass", "must be a plain function"),
        ("async def check(a, b): return True", "must be a plain function, not an async function"),
    ],
)
def test_what_is_no_function_is_refused_at_load(source: str, part: str) -> None:
    with pytest.raises(PluginError) as caught:
        load(source)
    assert part in caught.value.message


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("def check(a, b) return True", "SyntaxError"),
        ("import no_such_module_at_all", "ModuleNotFoundError"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("raise ValueError('two\\nlines')", "ValueError: two\\nlines"),
        ("x = '\0'", "null bytes"),
    ],
)
def test_a_file_that_does_not_load_is_one_line(source: str, part: str) -> None:
    for _ in range(2):  # a file that broke is not taken for one that was loaded
        with pytest.raises(PluginError) as caught:
            load(source)
        assert caught.value.message.startswith("evals/checks.py: can't be loaded: ")
        assert part in caught.value.message
        assert "\n" not in caught.value.message


def test_what_a_function_raises_is_left_to_the_engine() -> None:
    with pytest.raises(ZeroDivisionError):
        run(returning("1 / 0"))


def test_two_functions_of_one_file_share_it_and_two_texts_do_not() -> None:
    source = """
        seen = []

        def first(observation, expected):
            seen.append(1)

        def second(observation, expected):
            return len(seen) == {count}
    """
    run(load(source.format(count=1), "first"))
    assert run(load(source.format(count=1), "second")) == [Score("second", 1.0)]
    assert run(load(source.format(count=0), "second")) == [Score("second", 1.0)]


def test_dataclasses_and_named_tuples_work_in_a_file() -> None:
    evaluator = load("""
        from __future__ import annotations
        from dataclasses import dataclass
        from typing import NamedTuple

        @dataclass
        class Row:
            total: int

        class Pair(NamedTuple):
            row: Row

        def check(observation, expected):
            return Pair(Row(observation.output["total"])).row.total == 4
    """)
    assert run(evaluator) == [Score("check", 1.0)]


def test_a_function_of_an_imported_module() -> None:
    module = ModuleType("imported")
    exec("def check(observation, expected): return True", module.__dict__)
    evaluator = load_function(module, PATH, "check")
    assert evaluator.name == "evals/checks.py:check"
    assert run(evaluator) == [Score("check", 1.0)]
