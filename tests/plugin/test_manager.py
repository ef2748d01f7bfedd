"""Plugins: loaded, called in order, and named with the way out where they break something."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from guard.errors import PluginError, Skip, UsageError
from guard.git import Repo, find_repo
from guard.model import Agent
from guard.plugin import (
    Evaluator,
    Expectations,
    Prerequisite,
    Project,
    Score,
    Target,
    Trial,
    hookimpl,
    watch,
)
from guard.plugin.entrypoints import EntryPoint, find_entry_points
from guard.plugin.facts import hooks_of
from guard.plugin.manager import Plugins, import_plugin, plugins_of
from guard.plugin.switches import disabled_plugins
from guard.results import Observation, Report
from guard.store import Store
from tests.conftest import ScratchRepo


def say_nothing(trial: Trial) -> Observation:
    return Observation()


def score_nothing(observation: Observation, expected: Expectations) -> list[Score]:
    return []


def read_nothing(path: str) -> None:
    return None


def target(name: str) -> Target:
    return Target(name, say_nothing, "a function")


def evaluator(name: str, *reads: str) -> Evaluator:
    return Evaluator(name, score_nothing, reads, reads)


class Offering:
    """A plugin that offers what it is given."""

    def __init__(self, **offers: Any) -> None:
        for hook, value in offers.items():
            setattr(self, hook, hookimpl(self._returning(value)))

    @staticmethod
    def _returning(value: Any) -> Any:
        def function() -> Any:
            if isinstance(value, BaseException):
                raise value
            return value

        return function


def plugins(**named: object) -> Plugins:
    """Return plugins registered in this order, from distributions of their names."""
    found = Plugins()
    for name, plugin in named.items():
        found.register(name, plugin, f"{name}-dist")
    return found


# What they offer ------------------------------------------------------------------------------


def test_offers_are_collected_by_name_and_asked_for_once() -> None:
    asked: list[str] = []

    class Counting:
        @hookimpl
        def guard_targets(self) -> list[Target]:
            asked.append("targets")
            return [target("a"), target("b")]

    found = plugins(counting=Counting(), other=Offering(guard_targets=(target("c"),)))
    assert sorted(found.targets()) == ["a", "b", "c"]
    assert found.targets()["a"].name == "a"
    assert asked == ["targets"]


def test_no_offer_is_no_offer() -> None:
    found = plugins(one=Offering(guard_targets=[]), two=Offering(guard_targets=None), three=object)
    assert found.targets() == {}
    assert found.evaluators() == {}
    assert found.report_writers() == {}


@pytest.mark.parametrize(
    ("hook", "one", "two"),
    [
        ("targets", [target("a")], [target("a")]),
        ("evaluators", [evaluator("a", "x")], [evaluator("a", "y")]),
        ("prerequisites", [Prerequisite("a", str)], [Prerequisite("a", str)]),
    ],
)
def test_two_of_the_same_name_name_both_plugins(hook: str, one: object, two: object) -> None:
    found = plugins(
        first=Offering(**{f"guard_{hook}": one}), second=Offering(**{f"guard_{hook}": two})
    )
    with pytest.raises(PluginError, match=f"plugins second and first both name a in guard_{hook}"):
        getattr(found, hook)()


def test_two_writers_of_one_report_are_refused() -> None:
    def write(report: Report) -> str:
        return ""

    found = plugins(
        one=Offering(guard_reports={"x": write}), two=Offering(guard_reports={"x": write})
    )
    with pytest.raises(PluginError, match="two plugins write report x"):
        found.report_writers()
    assert list(plugins(one=Offering(guard_reports={"x": write})).report_writers()) == ["x"]


def test_a_key_is_read_by_one_evaluator() -> None:
    shared = [evaluator("one", "x", "y"), evaluator("two", "y")]
    with pytest.raises(PluginError, match="evaluator two reads the key y, which one reads"):
        plugins(own=Offering(guard_evaluators=shared)).evaluators()
    ours = [evaluator("own", "no_changes")]
    with pytest.raises(PluginError, match="reads the key no_changes, which guard's own reads"):
        plugins(own=Offering(guard_evaluators=ours)).evaluators()
    apart = [evaluator("one", "x"), evaluator("two", "y"), evaluator("plain")]
    assert len(plugins(own=Offering(guard_evaluators=apart)).evaluators()) == 3


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (["command"], "not str"),
        ("command", "not str"),
        (target("a"), "not Target"),
        ([target("a"), None], "not NoneType"),
        (3, "not int"),
        ([evaluator("a")], "not Evaluator"),
    ],
)
def test_an_offer_of_another_kind_is_refused(value: object, said: str) -> None:
    with pytest.raises(PluginError) as refused:
        plugins(own=Offering(guard_targets=value)).targets()
    assert "plugin own (own-dist): guard_targets must return Target values" in str(refused.value)
    assert said in str(refused.value)
    assert refused.value.hint == "GUARD_DISABLED_PLUGINS=own switches it off"


@pytest.mark.parametrize(
    ("offers", "said"),
    [
        ({"guard_agents": [{"name": "porter"}]}, "guard_agents must return Agent values, not dict"),
        ({"guard_agents": Agent("porter")}, "guard_agents must return Agent values, not Agent"),
        ({"guard_agents": (int(text) for text in "x")}, "guard_agents raised ValueError"),
        ({"guard_reports": ["x"]}, "guard_reports must return a mapping, not list"),
        ({"guard_prerequisites": Prerequisite("a", str)}, "values, not Prerequisite"),
    ],
)
def test_each_kind_of_offer_is_checked(offers: dict[str, Any], said: str) -> None:
    found = plugins(own=Offering(**offers))
    view = Project("", read_nothing, list)
    with pytest.raises(PluginError) as refused:
        _ = found.agents(view), found.report_writers(), found.prerequisites()
    assert said in str(refused.value)
    assert refused.value.hint == "GUARD_DISABLED_PLUGINS=own switches it off"


# How they are called --------------------------------------------------------------------------


class Speaking:
    """Says its name, or nothing."""

    def __init__(self, said: str | None, heard: list[str]) -> None:
        self.said = said
        self.heard = heard

    @hookimpl
    def guard_is_fix(self, commit: object) -> str | None:
        self.heard.append(f"fix {self.said}")
        return self.said

    @hookimpl
    def guard_affected(self, case: object) -> str | None:
        self.heard.append(f"affected {self.said}")
        return self.said


def test_all_are_called_the_last_registered_first() -> None:
    heard: list[str] = []
    found = plugins(a=Speaking("A", heard), b=Speaking(None, heard), c=Speaking("C", heard))
    called = found.call("guard_affected", change=None, agent=None, case=None)
    assert called == [("c", "C"), ("a", "A")]
    assert heard == ["affected C", "affected None", "affected A"]


def test_the_first_result_ends_a_hook_that_wants_one() -> None:
    heard: list[str] = []
    found = plugins(a=Speaking("A", heard), b=Speaking("B", heard), c=Speaking(None, heard))
    assert found.call("guard_is_fix", commit=None) == [("b", "B")]
    assert heard == ["fix None", "fix B"]


def test_an_order_that_an_author_asks_for_holds() -> None:
    class First:
        @hookimpl(tryfirst=True)
        def guard_is_fix(self, commit: object) -> str:
            return "first"

    found = plugins(first=First(), later=Speaking("later", []))
    assert found.call("guard_is_fix", commit=None) == [("first", "first")]


def test_a_list_that_a_plugin_returns_stays_one() -> None:
    found = plugins(own=Offering(guard_targets=[target("a")]))
    ((name, value),) = found.call("guard_targets")
    assert (name, len(value)) == ("own", 1)


def test_which_hooks_there_are() -> None:
    found = plugins(a=Speaking("A", []))
    assert found.implements("guard_is_fix")
    assert not found.implements("guard_targets")


class Asked:
    """A plugin that is asked what is affected, and may say what it looks at."""

    def __init__(self, *declared: object) -> None:
        @hookimpl
        def guard_affected() -> None:
            return None

        if declared:
            guard_affected.watch = declared[0]  # type: ignore[attr-defined]
        self.guard_affected = guard_affected


def test_what_plugins_look_at() -> None:
    assert plugins().watched_globs() == []
    assert plugins(a=Asked(("a/**",)), b=Asked(["b", "c"])).watched_globs() == ["a/**", "b", "c"]
    assert plugins(a=Asked(("a/**",)), b=Asked()).watched_globs() is None


def test_the_decorator_says_what_a_hook_looks_at() -> None:
    @hookimpl
    @watch("a/**", "b")
    def guard_affected() -> None:
        return None

    asked = Asked()
    asked.guard_affected = guard_affected
    assert plugins(a=asked).watched_globs() == ["a/**", "b"]


@pytest.mark.parametrize("declared", [(), [], "a/**", [""], [1], True])
def test_what_is_no_list_of_globs_is_refused(declared: object) -> None:
    with pytest.raises(PluginError, match=r"plugin a .*does not fit: the watch of guard_affected"):
        plugins(a=Asked(declared))


def test_what_a_plugin_raises_is_one_line_that_names_it() -> None:
    found = plugins(own=Offering(guard_targets=KeyError("kettle")))
    with pytest.raises(PluginError) as raised:
        found.targets()
    assert str(raised.value) == "plugin own (own-dist): guard_targets raised KeyError: 'kettle'"
    assert raised.value.hint == "GUARD_DISABLED_PLUGINS=own switches it off"
    assert raised.value.exit_code == 2


def test_a_plugin_that_quits_is_named_too() -> None:
    found = plugins(own=Offering(guard_targets=SystemExit(0)))
    with pytest.raises(PluginError, match="guard_targets raised SystemExit: 0"):
        found.targets()


def test_our_own_errors_pass_as_they_are() -> None:
    found = plugins(own=Offering(guard_targets=UsageError("no kettle", "buy one")))
    with pytest.raises(UsageError, match=r"\Ano kettle\Z"):
        found.targets()


class Reporter:
    def __init__(self, heard: list[str], error: Exception | None = None) -> None:
        self.heard = heard
        self.error = error

    @hookimpl
    def guard_run_finished(self, report: object) -> None:
        self.heard.append("well" if self.error is None else "broken")
        if self.error:
            raise self.error


def test_a_reporter_that_breaks_is_told_once_and_silences_no_other() -> None:
    heard: list[str] = []
    found = plugins(
        before=Reporter(heard), broken=Reporter(heard, OSError("full")), after=Reporter(heard)
    )
    silent: set[str] = set()
    raised = found.tell("guard_run_finished", silent, report=None)
    assert [str(error) for error in raised] == [
        "plugin broken (broken-dist): guard_run_finished raised OSError: full"
    ]
    assert heard == ["well", "broken", "well"]
    assert found.tell("guard_run_finished", silent, report=None) == []
    assert heard[3:] == ["well", "well"]
    skipping = plugins(own=Reporter([], Skip("not now")))
    assert [str(error) for error in skipping.tell("guard_run_finished", set(), report=None)] == [
        "not now"
    ]


# How they are loaded --------------------------------------------------------------------------


def test_a_plugin_with_a_wrong_signature_does_not_fit() -> None:
    class Wrong:
        @hookimpl
        def guard_is_fix(self, commmit: object) -> None: ...

    found = Plugins()
    with pytest.raises(
        PluginError, match=r"plugin wrong \(dist\) does not fit: .*commmit"
    ) as raised:
        found.register("wrong", Wrong(), "dist")
    assert raised.value.hint == "GUARD_DISABLED_PLUGINS=wrong switches it off"
    assert "\n" not in str(raised.value)
    found.register("right", Speaking("A", []), "dist")
    assert found.call("guard_is_fix", commit=None) == [("right", "A")]


def test_a_hook_that_is_none_of_ours_does_not_fit() -> None:
    class Unknown:
        @hookimpl
        def guard_brew(self) -> None: ...

    with pytest.raises(PluginError, match=r"does not fit: .*guard_brew"):
        Plugins().register("unknown", Unknown(), "dist")


def test_two_plugins_of_one_name_name_both_distributions() -> None:
    found = plugins(own=Speaking("A", []))
    with pytest.raises(PluginError, match="two plugins are named own: own-dist and other"):
        found.register("own", Speaking("B", []), "other")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on ``sys.path`` in which a test installs distributions."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("kettle"):
            del sys.modules[name]


def install(folder: Path, name: str, source: str, entry: str = "") -> EntryPoint:
    (folder / f"{name}.py").write_text(source)
    info = folder / f"{name}_dist-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "entry_points.txt").write_text(
        f"[console_scripts]\nx = y\n\n[guard]\n{name} = {entry or name}\n"
    )
    return next(point for point in find_entry_points() if point.name == name)


def test_an_installed_plugin_is_found_and_imported(installed: Path) -> None:
    point = install(installed, "kettle", "class Box: pass\n", "kettle:Box")
    assert (point.module, point.distribution) == ("kettle:Box", "kettle-dist")
    assert getattr(import_plugin(point), "__name__", "") == "Box"
    assert not [found for found in find_entry_points() if found.name == "x"]


@pytest.mark.parametrize(
    ("source", "entry", "said"),
    [
        ("import no_such_module\n", "", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("1 / 0\n", "", "ZeroDivisionError"),
        ("raise SystemExit(0)\n", "", "SystemExit: 0"),
        ("x = (\n", "", "SyntaxError"),
        ("", "kettle:Box", "AttributeError"),
    ],
)
def test_one_that_does_not_load_is_one_line_with_the_way_out(
    installed: Path, source: str, entry: str, said: str
) -> None:
    point = install(installed, "kettle", source, entry)
    with pytest.raises(PluginError) as raised:
        import_plugin(point)
    assert f"plugin kettle (kettle-dist) does not load: {said}" in str(raised.value)
    assert raised.value.hint == "GUARD_DISABLED_PLUGINS=kettle switches it off"
    assert "\n" not in str(raised.value)


@pytest.fixture
def opened(repo: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(repo.root)) as found:
        yield found


def test_what_hooks_it_has_is_remembered_until_its_files_change(
    installed: Path, opened: Repo
) -> None:
    store = Store.open(opened.common_dir)
    point = install(installed, "kettle", "def guard_is_fix(commit): ...\n")
    assert hooks_of(store, point) == {"guard_is_fix"}
    del sys.modules["kettle"]
    assert hooks_of(store, point) == {"guard_is_fix"}
    assert "kettle" not in sys.modules  # answered from the store
    (installed / "kettle.py").write_text("def guard_affected(change, agent, case): ...  # longer\n")
    assert hooks_of(store, point) == {"guard_affected"}
    store.close()


def test_a_repositorys_plugins_are_started_once_for_the_same_files() -> None:
    one, other = ModuleType("guard_repository_1.own"), ModuleType("guard_repository_2.own")
    nothing: frozenset[str] = frozenset()
    assert plugins_of({"own.py": one}, nothing) is plugins_of({"own.py": one}, nothing)
    assert plugins_of({"own.py": one}, nothing) is not plugins_of({"own.py": other}, nothing)
    assert plugins_of({}, frozenset({"x"})) is not plugins_of({}, nothing)


@pytest.mark.parametrize(
    ("variable", "names", "expected"),
    [
        ("", (), set[str]()),
        (",", (), set[str]()),
        ("a", (), {"a"}),
        (" a , b,", ("c",), {"a", "b", "c"}),
        ("", ("", " x "), {"x"}),
    ],
)
def test_switches(
    monkeypatch: pytest.MonkeyPatch, variable: str, names: tuple[str, ...], expected: set[str]
) -> None:
    monkeypatch.setenv("GUARD_DISABLED_PLUGINS", variable)
    assert disabled_plugins(names) == expected
