"""What the fix rule would have said of a history."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from guard.git import Repo, find_repo
from guard.messages.message import FixSettings
from guard.model import Agent
from guard.setup.replay import Replay, read_history, replay_rule
from tests.conftest import ScratchRepo

AGENTS = {
    "a": Agent("a", paths=("skills/a/**",), cases=("skills/a/evals/*.md",)),
    "ü b": Agent("ü b", paths=("skills/ü b/**",), cases=("evals/*.md",), depends=("skills/ü b/d",)),
}
DEFAULT = FixSettings()
SKILL = "skills/a/SKILL.md"


@pytest.fixture
def opened(repo: ScratchRepo) -> Iterator[Repo]:
    repo.commit("feat: begin", {SKILL: "Read the file and answer.\n", "skills/ü b/SKILL.md": "x\n"})
    with find_repo(str(repo.root)) as found:
        yield found


def replayed(opened: Repo, settings: FixSettings = DEFAULT) -> Replay:
    return replay_rule(opened, read_history(opened), AGENTS, settings)


def test_before_the_first_commit_there_is_nothing(repo: ScratchRepo) -> None:
    with find_repo(str(repo.root)) as found:
        assert read_history(found) == []
        assert replayed(found) == Replay()


def test_a_fix_that_brings_no_case_would_have_been_asked(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("fix(a): ask first", {SKILL: "Ask.\n"})
    assert replayed(opened) == Replay(commits=2, fixes=1, asked=1)


def test_what_is_no_fix_or_touches_no_agent_is_not_counted(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("feat(a): ask first", {SKILL: "Ask.\n"})
    repo.commit("fix: the build", {"Makefile": "all:\n"})
    repo.commit("fix: a checker", {"skills/ü b/d": "x\n"})
    assert replayed(opened) == Replay(commits=4)


def test_a_fix_with_its_case_was_never_in_question(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("fix: a", {SKILL: "Ask.\n", "skills/a/evals/ask.md": "---\nid: ask\n---\n"})
    assert replayed(opened) == Replay(commits=2, fixes=1)


def test_each_agent_needs_a_case_of_its_own(repo: ScratchRepo, opened: Repo) -> None:
    both = {SKILL: "Ask.\n", "skills/ü b/SKILL.md": "Ask.\n"}
    repo.commit("fix: both", {**both, "skills/a/evals/ask.md": "---\nid: ask\n---\n"})
    assert replayed(opened) == Replay(commits=2, fixes=1, asked=1)


def test_a_case_taken_away_is_none_brought(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("test: a", {"skills/a/evals/ask.md": "---\nid: ask\n---\n"})
    repo.commit("fix: a", {SKILL: "Ask.\n", "skills/a/evals/ask.md": None})
    assert replayed(opened).asked == 1


def test_a_cosmetic_fix(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("fix: white space", {SKILL: "Read the file\nand answer.\n"})
    assert replayed(opened) == Replay(commits=2, fixes=1, cosmetic=1)
    refusing = FixSettings(cosmetic="refuse")
    assert replayed(opened, refusing) == Replay(commits=2, fixes=1, asked=1)


def test_an_exempted_fix_is_not_asked(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("fix: a\n\nGuard-Exempt: the wording alone was wrong", {SKILL: "Ask.\n"})
    assert replayed(opened) == Replay(commits=2, fixes=1)


def test_squash_merges_are_counted_by_their_headers(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("fix: a (#12)", {SKILL: "Ask.\n"})
    repo.commit("feat: b (!7)")
    repo.commit("docs: see (#3) there")
    assert replayed(opened).squashed == 2


def test_merges_are_left_out_and_odd_texts_are_read(repo: ScratchRepo, opened: Repo) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("fix: ü \x01 x\n\nbody\n:100644 is no diff", {"skills/a/ü \x01:y": "1"})
    repo.git("checkout", "-q", "main")
    repo.commit("docs: other", {"x": "1"})
    repo.git("merge", "-q", "--no-ff", "-m", "fix: merge", "side")
    assert replayed(opened) == Replay(commits=3, fixes=1, asked=1)


def test_settings_of_the_user_change_nothing(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("fix: a", {SKILL: "Ask.\n"})
    before = read_history(opened)
    for name, value in (
        ("diff.renames", "copies"),
        ("diff.orderFile", "none"),
        ("log.showSignature", "true"),
        ("color.ui", "always"),
        ("format.pretty", "oneline"),
        ("i18n.logOutputEncoding", "ISO-8859-1"),
    ):
        repo.git("config", name, value)
    assert read_history(opened) == before


def test_the_newest_are_read_up_to_a_limit(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("docs: last", {"x": "1"})
    (last,) = read_history(opened, 1)
    assert last.message.header == "docs: last"
    assert [entry.name for entry in last.entries] == ["x"]


def test_a_shallow_clone_has_no_first_fix(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("fix: a", {SKILL: "Ask.\n"})
    clone = repo.root.parent / "clone"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.root}", str(clone))
    with find_repo(str(clone)) as shallow:
        assert replayed(shallow) == Replay(commits=1)
