from __future__ import annotations

from guard.rules.unbound_evaluator import unbound_evaluators
from tests.guarded_repo import CASE, CASE_TEXT, GUARD_YAML
from tests.judged_repo import Bench

CHECKS = """\
from guard.plugin import evaluator


@evaluator(reads=("tone",))
def tone(observation, expected):
    return expected["tone"] in observation.reply


def plain(observation, expected):
    return True
"""
GUARDED = GUARD_YAML + "    evaluators: [evals/checks.py:tone, evals/checks.py:plain]\n"


def test_an_evaluator_whose_keys_no_case_states(bench: Bench) -> None:
    bench.repo.commit("x", {"guard.yaml": GUARDED, "evals/checks.py": CHECKS, CASE: CASE_TEXT})
    (violation,) = unbound_evaluators(bench.project())
    assert violation.rule == "unbound-evaluator"
    assert violation.agent == "expense"
    assert "evals/checks.py:tone reads tone" in violation.message


def test_an_evaluator_with_work_to_do(bench: Bench) -> None:
    stated = CASE_TEXT.replace("no_changes: true", "no_changes: true\n  tone: calm")
    bench.repo.commit("x", {"guard.yaml": GUARDED, "evals/checks.py": CHECKS, CASE: stated})
    assert unbound_evaluators(bench.project()) == []
    always = GUARDED + "    always: {tone: calm}\n"
    bench.repo.commit("x", {"guard.yaml": always, CASE: CASE_TEXT})
    assert unbound_evaluators(bench.project()) == []


def test_without_a_case_another_rule_speaks(bench: Bench) -> None:
    bench.repo.commit("x", {"guard.yaml": GUARDED, "evals/checks.py": CHECKS})
    assert unbound_evaluators(bench.project()) == []
