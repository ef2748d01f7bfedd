"""Real git, with the driver that `guard init` and `guard install` define."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from guard.regressions import FILE, parse_regressions
from guard.setup.merge_driver import ATTRIBUTES, LINE, NAME, driver_command
from tests.conftest import ScratchRepo
from tests.merging.versions import named, proof, record, text, v1_text

INTERPRETERS = {"guard": sys.executable, "gone": "/nowhere/in 100% of/python"}


@pytest.fixture(params=["guard"])
def merged(repo: ScratchRepo, request: pytest.FixtureRequest) -> ScratchRepo:
    """A repository whose config and attributes name the driver, and one record on main."""
    define(repo, INTERPRETERS[request.param])
    repo.commit("feat: begin", {ATTRIBUTES: f"{LINE}\n", FILE: text(named("m")), "a": "1\n2\n3\n"})
    return repo


either_way = pytest.mark.parametrize("merged", ["guard", "gone"], indirect=True)


def define(repo: ScratchRepo, python: str) -> None:
    repo.git("config", f"merge.{NAME}.driver", driver_command(python))


def on_branch(repo: ScratchRepo, branch: str, content: bytes | None, start: str = "main") -> str:
    repo.git("checkout", "-q", "-B", branch, start)
    return repo.commit(f"docs: {branch}", {FILE: content})


def both(repo: ScratchRepo, ours: bytes | None, theirs: bytes | None) -> None:
    """Leave the repository on `ours`, with `theirs` beside it."""
    start = repo.git("rev-parse", "HEAD").strip()
    on_branch(repo, "theirs", theirs, start)
    on_branch(repo, "ours", ours, start)


def content(repo: ScratchRepo) -> bytes:
    return (repo.root / FILE).read_bytes()


def conflicted(repo: ScratchRepo) -> bool:
    return repo.git("ls-files", "--unmerged", FILE) != ""


# Nothing to settle ----------------------------------------------------------------------


def test_two_branches_that_each_add_a_record(merged: ScratchRepo) -> None:
    both(merged, text(named("m", "n")), text(named("m", "o")))
    merged.git("merge", "-q", "--no-edit", "theirs")
    assert content(merged) == text(named("m", "n", "o"))
    assert merged.git("status", "--porcelain") == ""


def test_without_the_driver_the_same_is_a_conflict(merged: ScratchRepo) -> None:
    """The negative control: sorted JSON alone can't tell two neighbours apart."""
    merged.git("config", "--unset", f"merge.{NAME}.driver")
    both(merged, text(named("m", "n")), text(named("m", "o")))
    assert merged.run("git", "merge", "-q", "theirs").returncode == 1
    assert conflicted(merged)


def test_without_the_driver_records_at_different_places_merge(merged: ScratchRepo) -> None:
    merged.git("config", "--unset", f"merge.{NAME}.driver")
    both(merged, text(named("a", "m")), text(named("m", "z")))
    # Behind the last record a comma is added to the line that stood there: still no conflict.
    merged.git("merge", "-q", "--no-edit", "theirs")
    assert content(merged) == text(named("a", "m", "z"))


@pytest.mark.parametrize("strategy", ["ort", "recursive"])
def test_each_strategy(merged: ScratchRepo, strategy: str) -> None:
    both(merged, text(named("m", "n")), text(named("m", "o")))
    merged.git("merge", "-q", "--no-edit", "-s", strategy, "theirs")
    assert list(parse_regressions(content(merged))) == ["m", "n", "o"]


def test_rebase_and_cherry_pick(merged: ScratchRepo) -> None:
    both(merged, text(named("m", "n")), text(named("m", "o")))
    merged.git("rebase", "-q", "theirs")
    assert content(merged) == text(named("m", "n", "o"))
    merged.git("checkout", "-q", "-B", "third", "main")
    merged.commit("docs: third", {FILE: text(named("m", "nn"))})
    merged.git("cherry-pick", "theirs")
    assert content(merged) == text(named("m", "nn", "o"))


def test_stash_pop(merged: ScratchRepo) -> None:
    merged.write({FILE: text(named("m", "n"))})
    merged.git("stash", "-q")
    merged.commit("docs: o", {FILE: text(named("m", "o"))})
    merged.git("stash", "pop", "-q")
    assert content(merged) == text(named("m", "n", "o"))


def test_both_add_the_file(merged: ScratchRepo) -> None:
    merged.commit("docs: none", {FILE: None})
    both(merged, text(named("n")), text(named("m")))
    merged.git("merge", "-q", "--no-edit", "theirs")
    assert content(merged) == text(named("m", "n"))


def test_a_linked_worktree_has_the_driver_too(merged: ScratchRepo, tmp_path: Path) -> None:
    both(merged, text(named("m", "n")), text(named("m", "o")))
    merged.git("checkout", "-q", "main")
    merged.git("worktree", "add", "-q", str(tmp_path / "linked"), "ours")
    linked = ScratchRepo(tmp_path / "linked")
    linked.git("merge", "-q", "--no-edit", "theirs")
    assert content(linked) == text(named("m", "n", "o"))


def test_a_folder_of_the_users_named_guard_is_not_imported(merged: ScratchRepo) -> None:
    merged.commit("feat: theirs", {"guard/__init__.py": "raise SystemExit(9)\n"})
    both(merged, text(named("m", "n")), text(named("m", "o")))
    merged.git("merge", "-q", "--no-edit", "theirs")
    assert content(merged) == text(named("m", "n", "o"))


def test_the_list_form(merged: ScratchRepo) -> None:
    merged.commit("docs: v1", {FILE: v1_text({"id": "m"})})
    both(merged, v1_text({"id": "m"}, {"id": "n"}), v1_text({"id": "m"}, {"id": "o"}))
    merged.git("merge", "-q", "--no-edit", "theirs")
    assert content(merged) == v1_text({"id": "m"}, {"id": "n"}, {"id": "o"})


# A true conflict ------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [(b"\r\n", b"\r\n"), (b"\r\n", b"\n"), (b"\n", b"\r\n")])
def test_line_ends_stay_what_they_are_here(merged: ScratchRepo, ends: tuple[bytes, bytes]) -> None:
    sides = (text(named("m", "n")), text(named("a", "m")))
    ours, theirs = (side.replace(b"\n", end) for side, end in zip(sides, ends, strict=True))
    both(merged, ours, theirs)
    merged.git("merge", "-q", "--no-edit", "theirs")
    assert content(merged) == text(named("a", "m", "n")).replace(b"\n", ends[0])


def test_a_true_conflict_is_a_normal_one(merged: ScratchRepo) -> None:
    both(merged, text({"m": record("m", agent="p")}), text({"m": record("m", agent="q")}))
    done = merged.run("git", "merge", "-q", "theirs")
    assert done.returncode == 1
    assert "CONFLICT (content): Merge conflict in regressions.json" in done.stdout
    assert merged.git("status", "--porcelain") == f"UU {FILE}\n"
    shown = content(merged).decode()
    marked = '<<<<<<< ours\n      "agent": "p",\n=======\n      "agent": "q",\n>>>>>>> theirs\n'
    assert shown.replace(marked, '      "agent": "p",\n').encode() == text(
        {"m": record("m", agent="p")}
    )
    merged.git("merge", "--abort")
    assert merged.git("status", "--porcelain") == ""


def test_only_what_conflicts_is_marked_and_named(merged: ScratchRepo) -> None:
    ours = {"m": record("m", agent="p"), **named("n")}
    theirs = {"m": record("m", agent="q", seams=["s"]), **named("o")}
    both(merged, text(ours), text(theirs))
    done = merged.run("git", "merge", "-q", "theirs")
    assert "guard: regressions.json: both sides changed m agent\n" in done.stderr
    assert sides_of(merged) == [
        text({"m": record("m", agent=agent, seams=["s"]), **named("n", "o")}) for agent in "pq"
    ]


def sides_of(repo: ScratchRepo) -> list[bytes]:
    """Return what the file is once all conflicts are settled for ours, and for theirs."""
    shown = content(repo).decode()
    found: list[bytes] = []
    for side in (0, 1):
        while "<<<<<<< " in shown:
            before, _, rest = shown.partition("<<<<<<< ours\n")
            hunk, _, after = rest.partition(">>>>>>> theirs\n")
            shown = before + hunk.split("=======\n")[side] + after
        found.append(shown.encode())
        shown = content(repo).decode()
    return found


def test_removed_here_and_changed_there(merged: ScratchRepo) -> None:
    base = {**named("k"), **named("m")}
    merged.commit("docs: k", {FILE: text(base)})
    both(merged, text(named("m")), text({**base, "k": record("k", agent="q")}))
    assert merged.run("git", "merge", "-q", "theirs").returncode == 1
    assert sides_of(merged) == [text(named("m")), text({**base, "k": record("k", agent="q")})]


def test_git_shows_the_base_where_it_is_asked_to(merged: ScratchRepo) -> None:
    merged.git("config", "merge.conflictStyle", "diff3")
    both(merged, text({"m": record("m", agent="p")}), text({"m": record("m", agent="q")}))
    assert merged.run("git", "merge", "-q", "theirs").returncode == 1
    assert '||||||| base\n      "agent": "expense",\n=======\n' in content(merged).decode()


def test_settled_and_committed(merged: ScratchRepo) -> None:
    both(merged, text({"m": record("m", agent="p")}), text({"m": record("m", agent="q")}))
    merged.run("git", "merge", "-q", "theirs")
    merged.commit("docs: both", {FILE: text({"m": record("m", agent="q")})})
    assert len(merged.git("rev-list", "--parents", "-1", "HEAD").split()) == 3


# Criss-cross: git merges the bases first, and its result may hold markers ----------------


@pytest.mark.parametrize("strategy", ["ort", "recursive"])
@either_way
def test_an_inner_merge_that_conflicts(merged: ScratchRepo, strategy: str) -> None:
    cross(merged, "settled", "settled")
    merged.git("merge", "-q", "--no-edit", "-s", strategy, "theirs")
    assert content(merged) == text({"m": record("m", agent="settled")})


@either_way
def test_an_inner_merge_that_conflicts_and_so_does_the_outer(merged: ScratchRepo) -> None:
    cross(merged, "mine", "yours")
    done = merged.run("git", "merge", "-q", "theirs")
    assert done.returncode == 1, done
    assert conflicted(merged)
    assert '"mine"' in content(merged).decode()


def test_an_inner_merge_that_conflicts_beside_new_records(merged: ScratchRepo) -> None:
    cross(merged, "settled", "settled")
    merged.commit("docs: n", {FILE: text({"m": record("m", agent="settled"), **named("n")})})
    merged.git("checkout", "-q", "theirs")
    merged.commit("docs: o", {FILE: text({"m": record("m", agent="settled"), **named("o")})})
    done = merged.run("git", "merge", "-q", "--no-edit", "ours")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert content(merged) == text({"m": record("m", agent="settled"), **named("n", "o")})


def cross(repo: ScratchRepo, mine: str, yours: str) -> None:
    """Merge both ways, and settle the conflict so here, and so there."""
    both(repo, text({"m": record("m", agent="p")}), text({"m": record("m", agent="q")}))
    first = repo.git("rev-parse", "ours").strip()
    for branch, other, agent in (("ours", "theirs", mine), ("theirs", first, yours)):
        repo.git("checkout", "-q", branch)
        assert repo.run("git", "merge", "-q", other).returncode == 1
        repo.commit("docs: settle", {FILE: text({"m": record("m", agent=agent)})})
    repo.git("checkout", "-q", "ours")


# What is no such file -------------------------------------------------------------------


@either_way
def test_a_side_that_is_no_json_is_merged_as_text(merged: ScratchRepo) -> None:
    both(merged, b"{,\n" + text(named("m")), text(named("m", "z")))
    merged.git("merge", "-q", "--no-edit", "theirs")
    assert content(merged) == b"{,\n" + text(named("m", "z"))
    both(merged, text(named("m", "n")), text(named("m"))[:-3])
    assert merged.run("git", "merge", "-q", "theirs").returncode == 1
    assert b"<<<<<<< ours\n" in content(merged)


@either_way
def test_what_is_not_even_text_is_a_conflict(merged: ScratchRepo) -> None:
    both(merged, b"\0ours", b"\0theirs")
    assert merged.run("git", "merge", "-q", "theirs").returncode == 1
    assert conflicted(merged)
    assert content(merged) == b"\0ours"


def test_another_form_on_the_other_side_is_merged_as_text(merged: ScratchRepo) -> None:
    both(merged, text(named("m", "n")), v1_text({"id": "m"}))
    done = merged.run("git", "merge", "-q", "theirs")
    assert done.returncode == 1
    assert "is merged as text: its form differs between the sides" in done.stderr
    assert b"<<<<<<< ours\n" in content(merged)


# Guard is gone --------------------------------------------------------------------------


@pytest.mark.parametrize("merged", ["gone"], indirect=True)
def test_without_its_interpreter_git_merges_as_text(merged: ScratchRepo) -> None:
    both(merged, text(named("a", "m")), text(named("m", "z")))
    done = merged.run("git", "merge", "-q", "--no-edit", "theirs")
    assert (done.returncode, done.stderr) == (0, "")
    assert content(merged) == text(named("a", "m", "z"))


@pytest.fixture
def hollow(merged: ScratchRepo, tmp_path: Path) -> ScratchRepo:
    """The driver's interpreter is there, and can't import guard."""
    merged.run(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare"))
    define(merged, str(tmp_path / "bare/bin/python"))
    return merged


def test_without_its_package_git_merges_as_text(hollow: ScratchRepo) -> None:
    both(hollow, text(named("m", "n")), text(named("m", "o")))
    done = hollow.run("git", "merge", "-q", "theirs")
    assert done.returncode == 1
    assert "No module named guard" in done.stderr
    assert content(hollow).count(b"<<<<<<< ours\n") == 1
    assert conflicted(hollow)
    assert b"=======\n" in content(hollow)


def test_newer_proofs_of_one_record(merged: ScratchRepo) -> None:
    mine, yours = (record("m", proof=proof(f"2026-06-0{day}")) for day in (1, 2))
    both(merged, text({"m": mine}), text({"m": yours}))
    merged.git("merge", "-q", "--no-edit", "theirs")
    assert content(merged) == text({"m": yours})
