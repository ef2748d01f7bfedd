"""guard demo: the story holds from end to end, and a station that ends otherwise is said."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from guard.demo.player import play_stations
from guard.demo.scratch import FILES, Scratch
from guard.demo.story import (
    AGENT,
    CASE,
    SAID,
    SENTENCE,
    SKILL,
    STATIONS,
    Edit,
    Run,
    Station,
)
from guard.errors import GuardError
from tests.commands.calling import call_guard

HOSTILE = """\
[commit]
\tgpgsign = true
[core]
\thooksPath = /nowhere
\tautocrlf = true
\tpager = false
[init]
\tdefaultBranch = trunk
"""


def play_demo(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Play the demo as a user does; scratch folders go below ``folder``."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "guard", "demo", *options],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_story_holds_whatever_git_is_told_at_home(isolated_home: Path, tmp_path: Path) -> None:
    (isolated_home / ".gitconfig").write_text(HOSTILE, encoding="utf-8")
    done = play_demo(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    titles = re.findall(r"^\d+\. (.+)$", done.stdout, re.MULTILINE)
    assert titles == [station.title for station in STATIONS]
    for words in ("stands\nin for a model", "0 of 10", "10 of 10", "VACUOUS", "grader-proof"):
        assert words in done.stdout, words
    assert [path.name for path in tmp_path.iterdir() if "guard-demo" in path.name] == []


@pytest.mark.slow
def test_a_kept_repository_holds_the_accepted_fix(tmp_path: Path) -> None:
    done = play_demo(tmp_path, "--keep")
    assert done.returncode == 0, done.stdout + done.stderr
    [kept] = tmp_path.glob("guard-demo-*/expenses")
    assert f"kept: cd {kept}" in done.stdout
    assert SENTENCE in (kept / SKILL).read_text(encoding="utf-8")
    log = subprocess.run(
        ["git", "log", "--format=%s", "origin/main"], cwd=kept, capture_output=True, text=True
    )
    assert len(log.stdout.splitlines()) == 2


@pytest.mark.slow
def test_a_fix_that_fixes_nothing_ends_the_demo(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dud = Run(f'echo "Be careful." >> {SKILL}')
    broken = [
        station._replace(steps=tuple(dud if SENTENCE in str(s) else s for s in station.steps))
        for station in STATIONS
    ]
    monkeypatch.setattr("guard.commands.demo.STATIONS", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = call_guard(tmp_path, "demo")
    assert done.code == 3
    assert re.search(r"station \d of the demo ended otherwise: `guard prove", done.err), done.err
    assert [path.name for path in tmp_path.glob("guard-demo-*/expenses")] == ["expenses"]


def play(*steps: Run | Edit) -> None:
    with Scratch() as scratch:
        scratch.write(SKILL, "Be exact.\n")
        play_stations(scratch, [Station("a station", steps)])


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Run("exit 1"), "`exit 1` ended in 1, not in 0"),
        (Run("true", 1), "`true` ended in 0, not in 1"),
        (Run("echo no", says=("yes",)), "`echo no` didn't say 'yes'"),
        (Edit(SKILL, "Be brief.", "Be exact."), "holds 'Be brief.' 0 times"),
    ],
)
def test_a_step_that_ends_otherwise_is_named(step: Run | Edit, said: str) -> None:
    with pytest.raises(GuardError) as caught:
        play(step)
    assert caught.value.message.startswith("station 1 of the demo ended otherwise: ")
    assert said in caught.value.message


def test_a_step_that_ends_as_it_has_to_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    play(Run("echo said; echo told >&2; exit 1", 1, ("said", "told")))
    assert "\n1. a station\n$ echo said; echo told >&2; exit 1\nsaid\ntold\n" in (
        capsys.readouterr().out
    )


def test_the_demo_sees_nothing_of_the_repository_it_is_called_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GUARD_DISABLED_PLUGINS", "PRE_COMMIT"):
        monkeypatch.setenv(name, "/nowhere")
    play(
        Run("git init -q", 0),
        Run("env | grep -c nowhere", 1, ("0",)),
        Run("git rev-parse --show-toplevel", 0, ("guard-demo-",)),
    )


def test_without_git_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = call_guard(tmp_path, "demo")
    assert (done.code, "git is not on PATH" in done.err) == (2, True)


def test_a_real_model_is_not_played_yet(tmp_path: Path) -> None:
    done = call_guard(tmp_path, "demo", "--real-model")
    assert (done.code, "not there yet" in done.err) == (2, True)


# The agent that stands in for a model --------------------------------------------------


def ask(folder: Path, said: str = SAID) -> str:
    done = subprocess.run(
        [sys.executable, "expense.py", said], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    for name in AGENT:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(Path(FILES, name).read_bytes())
    return tmp_path / "agent"


def test_without_the_sentence_it_books_an_amount_of_its_own(agent: Path) -> None:
    trip = agent / "trips/london.md"
    before = trip.read_text()
    amounts: set[int] = set()
    for _ in range(12):
        trip.write_text(before)
        ask(agent)
        [amount] = re.findall(r"^\| EuroStar taxis \| (\d+) \|$", trip.read_text(), re.MULTILINE)
        assert f"**{1150 + int(amount)}**" in trip.read_text()
        amounts.add(int(amount))
    assert min(amounts) >= 457
    assert max(amounts) <= 470
    assert len(amounts) > 1  # twelve equal draws of fourteen: once in 10 ** 12


def test_with_the_sentence_it_asks_and_books_nothing(agent: Path) -> None:
    skill, trip = agent / "SKILL.md", agent / "trips/london.md"
    skill.write_text(skill.read_text() + SENTENCE)
    before = trip.read_text()
    replies = {ask(agent) for _ in range(30)}
    assert trip.read_text() == before
    assert all("400 euro" in reply and reply.endswith("?\n") for reply in replies)
    assert len(replies) > 1  # thirty equal draws of three: once in 10 ** 13


def test_dollars_are_booked_either_way(agent: Path) -> None:
    skill = agent / "SKILL.md"
    skill.write_text(skill.read_text() + SENTENCE)
    ask(agent, "EuroStar taxis were 400 dollars")
    assert "| EuroStar taxis | 400 |" in (agent / "trips/london.md").read_text()


def test_the_case_of_the_demo_has_the_words_of_the_story() -> None:
    text = Path(FILES, CASE).read_text(encoding="utf-8")
    assert f'utterance: "{SAID}"' in text
