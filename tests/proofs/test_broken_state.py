"""The broken state, rebuilt from histories as people make them: which rung, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from guard.errors import UnreadableError
from guard.git import Repo, find_repo, text_of
from guard.store import Store
from tests.clerk import (
    BASE,
    BROKEN,
    CONFIG,
    FIX,
    FIXED,
    SKILL_PATH,
    fix,
    record,
    regressions,
)
from tests.conftest import ScratchRepo
from tests.rungs import read, rungs_of, told


@pytest.fixture
def opened(repo: ScratchRepo) -> Iterator[Repo]:
    with find_repo(str(repo.root)) as found:
        yield found


def test_the_fix_is_taken_back_from_todays_text(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    later = FIXED.replace("Say what you did.", "Say what you did, in one line.")
    repo.commit("polish", {SKILL_PATH: later})
    live, pinned = rungs_of(opened)
    assert told([live, pinned]) == ["live built", "pinned built"]
    assert FIX not in read(live)
    assert "in one line" in read(live)
    assert read(pinned) == BROKEN


def test_right_after_the_fix_live_and_pinned_are_one(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    (live,) = rungs_of(opened)
    assert (live.state, read(live)) == ("live", BROKEN)


def test_an_edit_where_the_fix_is_voids_live_alone(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit("reword", {SKILL_PATH: FIXED.replace("Ask which", "Always ask which")})
    rungs = rungs_of(opened)
    assert told(rungs) == ["live void", "pinned built"]
    assert "has changed" in rungs[0].reason
    assert read(rungs[1]) == BROKEN


def test_rebase_amend_and_squash_change_nothing(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("fix: taxi", fix())
    repo.git("commit", "-q", "--amend", "-m", "fix: taxi, amended")
    repo.git("checkout", "-q", "main")
    repo.commit("meanwhile", {"other.md": "1"})
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "main")
    assert read(rungs_of(opened)[0]) == BROKEN
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--squash", "topic")
    repo.commit("fix: taxi (#1)")
    repo.git("branch", "-q", "-D", "topic")
    assert read(rungs_of(opened)[0]) == BROKEN


def test_a_record_in_the_index_or_working_tree_has_head_before(
    repo: ScratchRepo, opened: Repo
) -> None:
    repo.commit("start", BASE)
    repo.write(fix())
    (live,) = rungs_of(opened)
    assert (live.state, read(live)) == ("live", BROKEN)
    repo.git("add", "--all")
    assert read(rungs_of(opened)[0]) == BROKEN


def test_when_amending_it_is_the_parent_of_head(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", {SKILL_PATH: FIXED})
    repo.write(fix())
    assert told(rungs_of(opened)) == ["live same", "pinned same"]
    assert read(rungs_of(opened, "taxi", "HEAD^1")[0]) == BROKEN


def test_a_record_that_was_dropped_and_added_again(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit("a bad merge", {"regressions.json": regressions()})
    repo.commit("again", {"regressions.json": regressions(taxi=record())})
    live = rungs_of(opened)[0]
    assert (live.state, read(live), live.touched) == ("live", BROKEN, True)


def test_a_record_reopened_by_a_second_fix(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit("lost", {SKILL_PATH: BROKEN + "\nBe quick.\n"})
    again = FIXED + "\nBe quick.\n"
    files = {SKILL_PATH: again, "regressions.json": regressions(taxi=record(reopened=1))}
    repo.commit("fix: taxi again", files)
    assert read(rungs_of(opened)[0]) == BROKEN + "\nBe quick.\n"


def test_a_second_fix_that_is_not_committed_yet(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit("lost", {SKILL_PATH: BROKEN + "\nBe quick.\n"})
    repo.write({"regressions.json": regressions(taxi=record(reopened=1))})
    repo.write({SKILL_PATH: FIXED + "\nBe quick.\n"})
    assert read(rungs_of(opened)[0]) == BROKEN + "\nBe quick.\n"


def test_a_fix_in_two_commits_of_a_branch(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("half", {SKILL_PATH: FIXED})
    other = FIXED.replace("Say what", "Never assume a currency.\n\nSay what")
    repo.commit("fix: taxi", fix(**{SKILL_PATH: other}))
    repo.git("checkout", "-q", "main")
    repo.commit("meanwhile", {"b": "1"})
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
    repo.commit("polish", {SKILL_PATH: other + "\nBe kind.\n"})
    live, pinned, branch = rungs_of(opened)
    assert [rung.state for rung in (live, pinned, branch)] == ["live", "pinned", "branch"]
    assert read(live) == FIXED + "\nBe kind.\n"
    assert read(pinned) == FIXED
    assert read(branch) == BROKEN


def test_a_branch_that_is_not_merged_yet(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("start", BASE)
    clone = tmp_path / "clone"
    repo.git("clone", "-q", str(repo.root), str(clone))
    work = ScratchRepo(clone)
    work.git("checkout", "-q", "-b", "topic")
    work.commit("half", {SKILL_PATH: FIXED})
    work.commit("fix: taxi", {k: v for k, v in fix().items() if k != SKILL_PATH})
    with find_repo(str(clone)) as opened:
        rungs = rungs_of(opened)
        assert told(rungs) == ["live same", "pinned same", "branch built"]
        assert read(rungs[2]) == BROKEN
        assert not rungs[2].touched


def test_a_record_that_came_after_its_fix(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", {SKILL_PATH: FIXED})
    repo.commit("record", fix())
    rungs = rungs_of(opened)
    assert told(rungs) == ["live same", "pinned same"]
    assert not rungs[0].touched


def test_a_fix_that_was_reverted_is_the_same_state(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit("revert the sentence", {SKILL_PATH: BROKEN})
    assert told(rungs_of(opened)) == ["live same", "pinned same"]


def test_a_merge_that_follows_a_file_out_of_the_agent_is_void(
    repo: ScratchRepo, opened: Repo
) -> None:
    rules = "agent/skills/clerk/rules.md"
    repo.commit("start", {**BASE, rules: "One.\n\nTwo.\n\nThree.\n"})
    text = "One.\n\nTwo.\n\nAsk which currency.\n\nThree.\n"
    repo.commit("fix: taxi", fix(**{SKILL_PATH: BROKEN, rules: text}))
    repo.git("mv", rules, "rules.md")
    repo.commit("the rules are for people now")
    live, pinned = rungs_of(opened)
    assert live.tree is None
    assert "rules.md, which is not its own" in live.reason
    assert "Ask" not in read(pinned, rules)


def test_a_fix_outside_the_agent_is_left_as_it_is(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", {**fix(), "agent/notes.md": "changed\n"})
    (live,) = rungs_of(opened)
    assert read(live, "agent/notes.md") == "changed\n"


@pytest.mark.parametrize("paths", ['"**"', '"**/*"'])
def test_what_the_fix_brought_for_its_record_is_not_the_agents(
    repo: ScratchRepo, opened: Repo, paths: str
) -> None:
    config = CONFIG.replace("agent/skills/clerk/**", paths)
    kept = "regressions/taxi/rejected.json"
    named = {"rejected": kept, "accepted": "regressions/taxi/accepted.json"}
    files = fix(**dict.fromkeys(named.values(), "{}\n"))
    records = regressions(taxi=record(observations=named))
    repo.commit("start", {**BASE, "guard.yaml": config})
    repo.commit("fix: taxi", {**files, "regressions.json": records})
    repo.commit("polish", {SKILL_PATH: FIXED + "\nBe kind.\n"})
    live = rungs_of(opened)[0]
    assert told([live]) == ["live built"]
    assert read(live) == BROKEN + "\nBe kind.\n"
    assert read(live, kept) == "{}\n"


def test_union_merges_and_merge_drivers_of_the_user_are_not_used(
    repo: ScratchRepo, opened: Repo, tmp_path: Path
) -> None:
    """A true conflict stays one, and nothing the repository configures is executed."""
    ran = tmp_path / "ran"
    repo.git("config", "merge.spy.driver", f"touch {ran}")
    repo.commit("start", {**BASE, ".gitattributes": "*.md merge=union\nSKILL.md merge=spy\n"})
    repo.commit("fix: taxi", fix())
    repo.commit("reword", {SKILL_PATH: FIXED.replace("Ask which", "Always ask which")})
    assert told(rungs_of(opened)) == ["live void", "pinned built"]
    assert not ran.exists()


def test_the_users_repository_is_left_as_it_was(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit("polish", {SKILL_PATH: FIXED + "\nBe kind.\n"})
    Store.open(opened.common_dir).put_parsed("x", {"a": 1})
    seen = sorted(p for p in (repo.root / ".git").rglob("*") if "guard" not in p.parts)
    before = [(path, path.read_bytes()) for path in seen if path.is_file()]
    rungs_of(opened)
    after = sorted(p for p in (repo.root / ".git").rglob("*") if "guard" not in p.parts)
    assert [(path, path.read_bytes()) for path in after if path.is_file()] == before


def test_before_git_2_38_the_live_rung_is_void_and_says_so(
    repo: ScratchRepo, opened: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text(
        '#!/bin/sh\n[ "$1" = version ] && echo "git version 2.37.7" && exit\n'
        f'[ "$1" = merge-tree ] && echo usage >&2 && exit 129\nexec {which("git")} "$@"\n'
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(old.parent), prepend=":")
    with find_repo(str(repo.root)) as found:
        live, pinned = rungs_of(found)
        assert "2.38" in live.reason
        assert (pinned.state, read(pinned)) == ("pinned", BROKEN)


def test_a_revision_names_its_state(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", BASE)
    repo.git("tag", "bug-12")
    repo.commit("fix: taxi", {SKILL_PATH: FIXED})
    named = record(before={"kind": "revision", "rev": "bug-12"})
    repo.commit("record", {**fix(), "regressions.json": regressions(taxi=named)})
    (rung,) = rungs_of(opened)
    assert (rung.state, read(rung)) == ("revision", BROKEN)


def test_a_revision_that_is_not_here_says_how_to_fetch(repo: ScratchRepo, opened: Repo) -> None:
    named = record(before={"kind": "revision", "rev": "bug-12"})
    repo.commit("start", {**BASE, **fix(), "regressions.json": regressions(taxi=named)})
    with pytest.raises(UnreadableError) as raised:
        rungs_of(opened)
    assert raised.value.hint == "git fetch origin tag bug-12"


def test_a_shallow_clone_is_missing_history(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit("later", {"a": "1"})
    shallow = tmp_path / "shallow"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.root}", str(shallow))
    with find_repo(str(shallow)) as opened, pytest.raises(UnreadableError) as raised:
        rungs_of(opened)
    assert raised.value.hint == "git fetch --unshallow"


def test_odd_paths_modes_and_links_are_rebuilt(repo: ScratchRepo, opened: Repo) -> None:
    odd = 'agent/skills/clerk/caf\u00e9 "q"\n*.md'
    script = repo.root / "agent/skills/clerk/run.sh"
    repo.write({**BASE, odd: "1\n", "agent/skills/clerk/run.sh": "#!/bin/sh\n"})
    script.chmod(0o755)
    (repo.root / "agent/skills/clerk/link").symlink_to("SKILL.md")
    repo.commit("start")
    repo.write({odd: None, "agent/skills/clerk/link": None})
    script.chmod(0o644)
    repo.commit("fix: taxi", fix())
    (live,) = rungs_of(opened)
    assert live.tree is not None
    entries = {text_of(path): entry.mode for path, entry in live.tree.entries().items()}
    assert entries[odd] == "100644"
    assert entries["agent/skills/clerk/run.sh"] == "100755"
    assert entries["agent/skills/clerk/link"] == "120000"


def test_a_file_that_became_a_folder_is_a_file_again(repo: ScratchRepo, opened: Repo) -> None:
    repo.commit("start", {**BASE, "agent/skills/clerk/how": "as a file\n"})
    repo.write({"agent/skills/clerk/how": None})
    repo.commit("fix: taxi", {**fix(), "agent/skills/clerk/how/to.md": "as a folder\n"})
    (live,) = rungs_of(opened)
    assert read(live, "agent/skills/clerk/how") == "as a file\n"


def test_a_sha256_repository(tmp_path: Path) -> None:
    root = tmp_path / "sha256"
    root.mkdir()
    repo = ScratchRepo(root)
    repo.git("init", "--quiet", "--object-format=sha256")
    repo.commit("start", BASE)
    repo.commit("fix: taxi", fix())
    repo.commit("polish", {SKILL_PATH: FIXED + "\nBe kind.\n"})
    with find_repo(str(root)) as opened:
        live = rungs_of(opened)[0]
        assert (live.state, read(live)) == ("live", BROKEN + "\nBe kind.\n")
