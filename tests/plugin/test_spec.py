"""Every hook, called in the order in which the specification has them; each one documented."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

from guard.plugin import spec
from guard.plugin.manager import make_plugin_manager
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, config

HOOKS = [name for name in vars(spec) if name.startswith("guard_")]
#: Writes down each call; offers a target, an agent, cases and all else that a run can use.
EVERYTHING = """\
import os

from guard.plugin import Agent, Evaluator, Observation, Option, Prerequisite, Score, Target
from guard.plugin import hookimpl


def note(name):
    with open({log!r}, "a") as log:
        log.write(name + "\\n")


def run(trial):
    note(f"trial {{trial.number}} {{list(trial.turns)}}")
    return Observation(reply="polite", facts={{"weather": "fine"}})


def evaluate(observation, expected):
    if "polite" not in expected:
        return []
    return [Score("polite", float(observation.reply == "polite"))]


@hookimpl
def guard_agents(project):
    note("guard_agents")
    return [Agent("porter", ("agent/rules.md",), "inside", workspace="agent", cases=("c/*.txt",))]


@hookimpl
def guard_served_agents(project):
    note("guard_served_agents")


@hookimpl
def guard_targets():
    note("guard_targets")
    return [Target("inside", run, "a function", deterministic=True)]


@hookimpl
def guard_evaluators():
    note("guard_evaluators")
    return [Evaluator("politeness", evaluate, ("polite",), ("polite",))]


@hookimpl
def guard_prerequisites():
    note("guard_prerequisites")
    return [Prerequisite("kettle", lambda wanted: note(f"kettle:{{wanted}}"))]


@hookimpl
def guard_judges():
    note("guard_judges")


@hookimpl
def guard_storage_doubles():
    note("guard_storage_doubles")


@hookimpl
def guard_load_cases(path, text):
    note(f"guard_load_cases {{path}}")
    if path.endswith(".txt"):
        return [
            {{
                "id": text.strip(),
                "utterance": "hello",
                "turns": ["and again"],
                "expected": {{"polite": True}},
                "prerequisites": ["kettle:hot"],
            }}
        ]


@hookimpl
def guard_is_fix(commit):
    note("guard_is_fix")


@hookimpl
def guard_affected(change, agent, case):
    note(f"guard_affected {{agent.name}} {{case.id}}")


@hookimpl
def guard_trial_finished(result):
    note(f"guard_trial_finished {{result.case}}#{{result.number}} {{result.verdict}}")


@hookimpl
def guard_run_finished(report):
    note(f"guard_run_finished {{report.exit_code}}")


@hookimpl
def guard_reports():
    note("guard_reports")
    return {{"ids": lambda report: " ".join(case.case for case in report.cases)}}


@hookimpl
def guard_syncs():
    note("guard_syncs")
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def plugged(repo: ScratchRepo, log: Path) -> ScratchRepo:
    """A repository whose guard.yaml names a plugin and nothing else."""
    document = {"version": 1, "plugins": ["plugins/own.py"]}
    repo.commit(
        "feat: plugin",
        {
            **config(),
            "guard.yaml": json.dumps(document),
            "plugins/own.py": EVERYTHING.format(log=str(log)),
            "c/one.txt": "one\n",
        },
    )
    return repo


def test_the_plugin_has_every_hook_there_is() -> None:
    implemented = re.findall(r"@hookimpl\ndef (guard_\w+)", EVERYTHING)
    assert implemented == HOOKS


def test_a_run_calls_its_hooks_in_order(
    plugged: ScratchRepo, guard: GuardCommand, log: Path
) -> None:
    plugged.write({"agent/rules.md": "Be stern.\n"})
    guard("run", "--affected", "--jobs", "1", "--report", "ids=../ids").ends_in(0)
    # A trial may run while the one before it is being told of: each in its own order.
    lines = log.read_text().splitlines()
    calls = [line for line in lines if not line.startswith("trial ")]
    assert [line for line in lines if line.startswith("trial ")] == [
        "trial 1 ['and again']",
        "trial 2 ['and again']",
    ]
    assert lines.index("kettle:hot") < lines.index("trial 1 ['and again']")
    # The state before is judged too: its agents are asked for when it is compared.
    assert calls == [
        "guard_agents",
        "guard_targets",
        "guard_evaluators",
        "guard_prerequisites",
        "guard_reports",
        "guard_load_cases c/one.txt",
        "guard_agents",
        "guard_affected porter one",
        "kettle:hot",
        "guard_trial_finished one#1 PASS",
        "guard_trial_finished one#2 PASS",
        "guard_run_finished 0",
    ]
    assert (plugged.root.parent / "ids").read_text() == "one"


def test_a_run_that_is_answered_calls_no_trial(
    plugged: ScratchRepo, guard: GuardCommand, log: Path
) -> None:
    guard("run").ends_in(0)
    log.unlink()
    guard("run").ends_in(0).says("by a receipt of")
    assert log.read_text().splitlines() == [
        "guard_agents",
        "guard_targets",
        "guard_evaluators",
        "guard_prerequisites",
        "guard_run_finished 0",
    ]


@pytest.mark.parametrize("name", HOOKS)
def test_each_hook_says_all_that_an_author_asks(name: str) -> None:
    function = getattr(spec, name)
    text = inspect.cleandoc(function.__doc__ or "")
    first = text.splitlines()[0]
    assert first[0].isupper()
    assert re.search(r"^(?:.*\n)?.*\bCalled\b", text), f"{name}: when it is called"
    described = re.findall(r"^:param (\w+): \w", text, re.MULTILINE)
    assert described == list(inspect.signature(function).parameters)
    assert re.search(r"^:returns: \w", text, re.MULTILINE)
    assert re.search(r"^An exception \w", text, re.MULTILINE)
    how_many = "first result" if is_first(name) else "All"
    assert how_many in text


def is_first(name: str) -> bool:
    caller = getattr(make_plugin_manager().hook, name)
    return bool(caller.spec.opts.get("firstresult"))


def test_parameters_and_results_are_typed() -> None:
    for name in HOOKS:
        signature = inspect.signature(getattr(spec, name))
        assert signature.return_annotation is not inspect.Signature.empty
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty


def test_the_manager_knows_these_hooks_and_no_other() -> None:
    known = [name for name in vars(make_plugin_manager().hook) if not name.startswith("_")]
    assert sorted(known) == sorted(HOOKS)
