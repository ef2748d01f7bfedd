"""What a case asks its prerequisites to set up: refused at its line where none of them does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from guard.affected import affected_cases
from guard.change import change_of_trees
from guard.errors import ConfigError
from guard.hookruns.watched import may_affect
from guard.model import Case
from guard.rules.comparison import Comparison, compare_cases
from guard.running.answers import Answers
from guard.running.expectations import check_expectations
from guard.session import Session
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, clerk, config

#: A prerequisite that sets something up, one that doesn't, and what reads what the first saw.
PLUGIN = """\
import os
from contextlib import contextmanager
from guard.plugin import Evaluator, Prerequisite, Provided, Score, hookimpl

@contextmanager
def provide(argument, ground):
    read = ground.read("db/" + argument) or b""
    yield Provided({"BOX": read.decode()}, (), lambda expected: {"boxes": ground.given or 0})

def check(value):
    return None if isinstance(value, (int, dict)) else f"{value!r} is no number of boxes"

def boxes(observation, expected):
    if "boxes" in expected and "box" in observation.services:
        found = observation.services["box"]["boxes"]
        yield Score("boxes", float(found == expected["boxes"]), f"{found} boxes")

@hookimpl
def guard_prerequisites():
    return [
        Prerequisite("box", lambda argument: None, provide, check,
                     lambda argument, read: ["db/" + argument]),
        Prerequisite("plain", lambda argument: None),
    ]

@hookimpl
def guard_evaluators():
    return [Evaluator("boxes", boxes, ("boxes",), ("boxes",), needs=("box",))]
"""


def with_box(repo: ScratchRepo, agent: dict[str, Any], *files: Mapping[str, str]) -> None:
    repo.write({"evals/plugin.py": PLUGIN, "db/a.sql": "1", "db/b.sql": "2", "seeds/x.sql": "3"})
    repo.write(config(clerk(**agent), plugins=["evals/plugin.py"]))
    for each in files:
        repo.write({**each})


BOXED: dict[str, Any] = {"prerequisites": ["box:a.sql"]}


@pytest.mark.parametrize(
    ("agent", "stated", "said"),
    [
        (BOXED, {"given": {"bx": 1}}, "evals/one.md:5: given.bx: no prerequisite of this name sets "
         "anything up for the case; did you mean `box`?"),
        (BOXED, {"given": {"file": {"a": "b"}}}, "given.file: no prerequisite of this name sets "
         "anything up for the case; did you mean `files`?"),
        (BOXED, {"given": {"box": "three"}}, "given.box: 'three' is no number of boxes"),
        (BOXED, {"given": {"box": {"of": [{"from": "no/such.sql"}]}}},
         "given.box: the file no/such.sql is not in the tree (git add no/such.sql)"),
        ({}, {"given": {"box": 1}}, "given.box: no prerequisite of this name"),
        ({"prerequisites": ["plain:x"]}, {"given": {"plain": 1}}, "given.plain: no prerequisite"),
        ({}, {"expected": {"boxes": 1}}, "expected.boxes: asks for the prerequisite box:…, which "
         "neither the case nor its agent states"),
        ({"always": {"boxes": 1}}, {}, "agents.clerk.always.boxes: asks for the prerequisite box"),
        (BOXED, {"prerequisites": ["box:b.sql"]}, "prerequisites: box:b.sql: box:a.sql is asked "
         "for already"),
        ({"prerequisites": ["box:a.sql", "box:b.sql"]}, {}, "agents.clerk.prerequisites: box:b"),
    ],
)  # fmt: skip
def test_what_nothing_sets_up_is_refused_at_its_line(
    repo: ScratchRepo, agent: dict[str, Any], stated: dict[str, Any], said: str
) -> None:
    expected = stated.get("expected", {"reply_contains": ["x"]})
    keys = {key: value for key, value in stated.items() if key != "expected"}
    with_box(repo, agent, case("echo x", expected, **keys))
    with Session.open(str(repo.root)) as session:
        project = session.project()
        read = project.cases.values()
        with pytest.raises(ConfigError) as raised:
            check_expectations(project, read)
    assert said in raised.value.message
    assert raised.value.line > 0


def test_guard_check_and_guard_run_refuse_it(repo: ScratchRepo, guard: GuardCommand) -> None:
    with_box(repo, BOXED, case("echo x", given={"bx": 1}))
    for command in ("check", "run"):
        guard(command).refuses("evals/one.md:5: given.bx: ", "did you mean `box`?")


def test_what_is_set_up_and_read_is_accepted(repo: ScratchRepo, guard: GuardCommand) -> None:
    given = {"box": 3, "files": {"new.md": "x"}}
    boxed = case("echo $BOX", {"boxes": 3}, given=given, prerequisites=["box:a.sql"])
    with_box(repo, {}, boxed, case("echo $BOX", {"reply_matches": "^2"}, id="two", **OTHER))
    guard("check").ends_in(0)
    report = guard.report()
    assert [case["verdict"] for case in report["cases"]] == ["PASS", "PASS"]
    assert report["cases"][0]["runs"][0]["services"] == {"box": {"boxes": 3}}
    guard("show", "one").says("given: new.md", "given box: 3", "found", 'box: {"boxes": 3}')
    # A case without a trial of it: nothing was seen, so nothing is established.
    guard("run", "one", "--check-only", "agent").ends_in(3)


OTHER: dict[str, Any] = {
    "prerequisites": ["box:b.sql"],
    "given": {"box": {"of": [{"from": "seeds/x.sql"}]}},
}


@pytest.mark.parametrize(
    ("path", "affected"),
    [
        ("db/a.sql", {"one": ("depends",)}),
        ("db/b.sql", {"two": ("depends",)}),
        ("seeds/x.sql", {"two": ("case",)}),
        ("db/c.sql", {}),
    ],
)
def test_what_is_set_up_re_runs_the_cases_that_ask_for_it(
    repo: ScratchRepo, path: str, affected: dict[str, tuple[str, ...]]
) -> None:
    boxed = case("echo x", prerequisites=["box:a.sql"])
    with_box(repo, {}, boxed, case("echo x", id="two", **OTHER))
    repo.commit("Start")
    with Session.open(str(repo.root)) as session:
        base = session.project("HEAD")
        before = {name: Answers(base).key(case) for name, case in base.cases.items()}
        repo.write({path: "changed"})
        new = session.project()
        change = change_of_trees(session.repo, base.tree, new.tree)
        # The fast path knows no case before the store does.
        assert may_affect(base, new, change.entries) is bool(affected)
        found = affected_cases(new, base, change, {})
        assert {one.case.id: one.affected_by for one in found} == affected
        keys = {name: Answers(new).key(case) for name, case in new.cases.items()}
    assert {name for name, key in keys.items() if key != before[name]} == set(affected)


def test_another_ground_makes_a_record_pending_and_is_no_weakening() -> None:
    old = Case("one", "clerk", "evals/one.md", provisions={"box": 1})
    for new in (old._replace(provisions={"box": 2}), old._replace(provisions={})):
        assert compare_cases(old, new) == Comparison(asked=("given",), changed=True)
    both = old._replace(given={"a": "b"}, provisions={})
    assert compare_cases(old, both).asked == ("given",)
    assert compare_cases(old, old) == Comparison()
