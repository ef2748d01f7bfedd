"""Many proofs in one call: what they hold at once, and what they run again."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from bench.verify import Shape, make_retained, skill_path
from guard.engine import Engine, Limits
from guard.git import find_repo
from guard.proof import Prover
from guard.results import TrialResult
from guard.session import Session
from tests.proving import prove

#: An agent in guard's own process, which keeps the rules that its skill states.
AGENT = """\
  a{agent}:
    paths: [skills/a{agent}/**]
    target: reader
    deterministic: true
    cases: [evals/a{agent}/*.md]
"""
PLUGIN = """\
import os
from guard.plugin import Fingerprint, Observation, Target, hookimpl


def run(trial):
    with open(os.path.join(trial.workspace, "SKILL.md")) as file:
        known = trial.utterance in file.read().splitlines()
    if not known:
        open(os.path.join(trial.workspace, "broken"), "w").close()
    return Observation(model="tea-1", loaded=True)


def driven(options):
    return Fingerprint("kettle", os.environ.get("KETTLE_MODEL", "tea-1"))


@hookimpl
def guard_targets():
    return [Target("reader", run, "a function", fingerprint=driven)]
"""


class Held(NamedTuple):
    """What guard held right after a trial was written down."""

    processes: int
    folders: int


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all runs of this test, and of no one else's."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path / "runtime" / "guard"


def agents_of(tmp_path: Path, shape: Shape) -> Path:
    return make_retained(tmp_path / "repo", shape, AGENT, {"plugins/reader.py": PLUGIN})


@pytest.mark.skipif(sys.platform != "linux", reason="counts launchers")
def test_what_one_proof_holds_is_let_go_before_the_next(tmp_path: Path, runs: Path) -> None:
    import psutil

    root = make_retained(tmp_path / "repo", Shape(1, 8))
    held: list[Held] = []

    def launchers() -> set[int]:
        found: set[int] = set()
        for child in psutil.Process().children():
            with suppress(psutil.Error):  # gone since it was listed
                if any("launcher.py" in part for part in child.cmdline()):
                    found.add(child.pid)
        return found

    others = launchers()

    def look(result: TrialResult) -> None:
        held.append(Held(len(launchers() - others), sum(1 for _ in runs.glob("run-*/*"))))

    with Session(find_repo(str(root))) as session:
        project = session.guarded_project("worktree")
        with Engine(project, Limits(jobs=2), None, look) as engine, Prover(engine) as prover:
            results = prover.prove(project.records.values())
    assert {result.verdict for result in results} == {"PROVEN"}
    assert len(held) == 32
    # Two sides of two proofs at most, one slot each, and two of what both share.
    assert 0 < max(each.processes for each in held) <= 6
    most = max(each.folders for each in held[:8])
    # What two proofs hold at once is not always the same; what eight hold is four times that.
    assert max(each.folders for each in held[24:]) < 2 * most
    assert not list(runs.glob("run-*"))


@pytest.mark.slow
def test_a_changed_skill_proves_its_own_records_alone(tmp_path: Path, runs: Path) -> None:
    root = agents_of(tmp_path, Shape(20, 1))
    first = prove(root)
    assert {result.verdict for result in first.results.values()} == {"PROVEN"}
    assert len(first.ran) == 20 * 4
    assert not prove(root).ran
    skill = root / skill_path(7)
    skill.write_text(skill.read_text() + "Be kind.\n")
    again = prove(root)
    assert {result.verdict for result in again.results.values()} == {"PROVEN"}
    # The fixed sides alone: an edit buys no reds again.
    assert sorted(trial.case for trial in again.ran) == ["a7-rule1"] * 2


def test_another_model_voids_the_reds_that_are_kept(
    tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = agents_of(tmp_path, Shape(1, 1))
    assert len(prove(root).ran) == 4
    assert not prove(root).ran
    monkeypatch.setenv("KETTLE_MODEL", "tea-2")
    again = prove(root)
    assert again.one.verdict == "PROVEN"
    assert len(again.ran) == 4


def test_the_two_sides_run_in_turn_and_in_no_fixed_rhythm(tmp_path: Path, runs: Path) -> None:
    proven = prove(agents_of(tmp_path, Shape(1, 1)), limits=Limits(jobs=1, trials=8))
    sides = "".join("b" if trial.verdict == "FAIL" else "a" for trial in proven.ran)
    # The Thue-Morse sequence, by pairs: what fails every other time fails on no side alone.
    assert sides == "ba" + "ab" + "ab" + "ba" + "ab" + "ba" + "ba" + "ab"
