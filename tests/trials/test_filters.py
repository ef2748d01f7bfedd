"""Files behind filters: their content from where it is the same everywhere, or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from guard.errors import UnreadableError
from guard.git import find_repo
from guard.model import ERROR, PASS, Agent
from guard.results import SNAPSHOT, TrialResult
from guard.snapshot import head_tree, worktree_tree
from guard.trials.filters import BY_FILTER, filter_facts, pointer_of
from guard.trials.template import folder_paths, make_template
from tests.conftest import ScratchRepo
from tests.staging import case_of, run_script

AGENT = Agent("expense", paths=("agent/SKILL.md",), workspace="agent")
CONTENT = b"large\0content\n" * 100
OID = hashlib.sha256(CONTENT).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(CONTENT)}\n"


@pytest.fixture
def filtered(repo: ScratchRepo) -> ScratchRepo:
    """A repository whose skill goes through the filter ``x``."""
    attributes = "agent/SKILL.md filter=x\n"
    repo.commit("base", {"agent/SKILL.md": "say hello\n", ".gitattributes": attributes})
    return repo


def configure(repo: ScratchRepo, **settings: str) -> None:
    for key, value in settings.items():
        repo.git("config", f"filter.x.{key}", value)


def show(repo: ScratchRepo) -> TrialResult:
    return run_script(repo, "cat SKILL.md", agent=AGENT)


# Filters of this machine ----------------------------------------------------------------------


def test_what_a_filter_makes_of_a_file_is_what_the_agent_is_and_is_said(
    filtered: ScratchRepo,
) -> None:
    configure(filtered, smudge="sed s/hello/smudged/", clean="cat")
    result = show(filtered)
    assert (result.verdict, result.observation.stdout) == (PASS, "say smudged\n")
    assert f"{BY_FILTER}: x" in result.isolation


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "needs the filter x, which is not configured on this machine"),
        ({"smudge": "no-such-program %f"}, "needs the filter x, which failed"),
        ({"smudge": "false"}, "needs the filter x, which failed"),
        (
            {"smudge": "false", "clean": "cat", "required": "true"},
            "needs the filter x, which failed",
        ),
        ({"process": "no-such-program"}, "needs the filter x, which failed"),
        ({"clean": "cat", "required": "true"}, "needs the filter x, which failed"),
    ],
)
def test_a_filter_that_is_missing_is_no_pass(
    filtered: ScratchRepo, settings: dict[str, str], said: str
) -> None:
    configure(filtered, **settings)
    result = show(filtered)
    assert result.verdict == ERROR
    assert result.reason.startswith("agent/SKILL.md needs")
    assert said in result.reason


def test_a_filter_that_only_cleans_leaves_the_file_as_it_is_kept(filtered: ScratchRepo) -> None:
    configure(filtered, clean="cat")
    result = show(filtered)
    assert (result.verdict, result.observation.stdout) == (PASS, "say hello\n")
    assert BY_FILTER not in result.isolation


@pytest.mark.parametrize("attributes", ["agent/SKILL.md -filter\n", "other filter=x\n", "* text\n"])
def test_without_a_filter_nothing_is_asked_of_the_machine(
    filtered: ScratchRepo, attributes: str
) -> None:
    configure(filtered, smudge="false", required="true")
    filtered.write({".gitattributes": attributes})
    result = show(filtered)
    assert (result.verdict, BY_FILTER in result.isolation) == (PASS, False)


@pytest.mark.parametrize("where", [".git/info/attributes", "user"])
def test_attributes_of_one_machine_change_nothing(
    repo: ScratchRepo, where: str, isolated_home: Path
) -> None:
    repo.commit("base", {"agent/SKILL.md": "say hello\n"})
    configure(repo, smudge="sed s/hello/other/")
    file = isolated_home / "attributes" if where == "user" else repo.root / where
    file.parent.mkdir(exist_ok=True)
    file.write_text("* filter=x eol=crlf\n")
    if where == "user":
        repo.git("config", "--global", "core.attributesFile", str(file))
    result = show(repo)
    assert (result.verdict, result.observation.stdout) == (PASS, "say hello\n")


def test_a_filtered_file_outside_the_workspace_is_nobodys_concern(repo: ScratchRepo) -> None:
    files = {"agent/SKILL.md": "x\n", "data/big": "x\n", ".gitattributes": "data/** filter=x\n"}
    repo.commit("base", files)
    assert show(repo).verdict == PASS
    # In {repo} it is left out; where the agent names it, it is missed.
    result = run_script(repo, "ls {repo}", agent=AGENT)
    assert result.observation.stdout == "agent\n"
    result = run_script(repo, "cat {repo}/data/big", agent=AGENT)
    assert result.verdict == ERROR
    assert result.reason.startswith("data/big needs the filter x, which is not configured")
    assert result.blame == SNAPSHOT


def test_what_the_machine_configures_is_what_evidence_depends_on(filtered: ScratchRepo) -> None:
    configure(filtered, smudge="cat")
    filtered.write({"other/.gitattributes": "* filter=y\n"})
    with find_repo(str(filtered.root)) as found:
        tree = worktree_tree(found)
        assert filter_facts(tree, b"agent/") == {"x": {"smudge": "cat"}}
        assert filter_facts(tree, b"") == {"x": {"smudge": "cat"}, "y": {}}


def test_attributes_that_are_not_here_are_missed(filtered: ScratchRepo, tmp_path: Path) -> None:
    oid = filtered.git("rev-parse", "HEAD:.gitattributes").strip()
    (filtered.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with find_repo(str(filtered.root)) as found:
        tree = head_tree(found)
        paths, prefix = folder_paths(tree.entries(), "agent")
        with pytest.raises(UnreadableError, match=r"\.gitattributes can't be read: object .* miss"):
            make_template(tree, paths, prefix, str(tmp_path / "t"))


# Git LFS --------------------------------------------------------------------------------------


@pytest.fixture
def large(repo: ScratchRepo) -> ScratchRepo:
    """A repository with a file in LFS; git-lfs is neither installed nor configured."""
    attributes = "*.bin filter=lfs diff=lfs merge=lfs -text\n"
    files = {"agent/SKILL.md": "x\n", "agent/d.bin": POINTER, ".gitattributes": attributes}
    repo.commit("base", files)
    return repo


def keep(repo: ScratchRepo, content: bytes, folder: str = ".git/lfs") -> None:
    place = repo.root / folder / "objects" / OID[:2] / OID[2:4] / OID
    place.parent.mkdir(parents=True)
    place.write_bytes(content)


def test_a_file_in_lfs_is_taken_from_its_store(large: ScratchRepo) -> None:
    keep(large, CONTENT)
    result = run_script(large, "sha256sum <d.bin; stat -c %a d.bin", agent=AGENT)
    assert (result.verdict, result.observation.stdout) == (PASS, f"{OID}  -\n644\n")
    assert BY_FILTER not in result.isolation


def test_the_store_may_lie_elsewhere(large: ScratchRepo) -> None:
    keep(large, CONTENT, "../store")
    large.git("config", "lfs.storage", str(large.root.parent / "store"))
    assert run_script(large, "sha256sum <d.bin", agent=AGENT).observation.stdout[:64] == OID


@pytest.mark.parametrize("kept", [None, CONTENT[:-1], b""])
def test_one_that_is_not_there_undamaged_is_named(large: ScratchRepo, kept: bytes | None) -> None:
    if kept is not None:
        keep(large, kept)
    result = run_script(large, "true", agent=AGENT)
    assert (result.verdict, result.reason) == (
        ERROR,
        "agent/d.bin is in Git LFS, and its content is not here "
        "(git lfs fetch --include=agent/d.bin)",
    )


def test_a_fixture_in_lfs_is_had_like_any_file(large: ScratchRepo) -> None:
    large.write({"fixtures/d.bin": POINTER})
    case = case_of(given={"x.bin": {"from": "fixtures/d.bin"}})
    agent = AGENT._replace(paths=("agent/SKILL.md",))
    large.write({"agent/d.bin": "no pointer\n"})
    result = run_script(large, "true", case, agent=agent)
    assert result.verdict == ERROR
    assert result.reason.startswith("fixtures/d.bin is in Git LFS, and its content is not here")
    keep(large, CONTENT)
    result = run_script(large, "sha256sum <x.bin", case, agent=agent)
    assert (result.verdict, result.observation.stdout[:64]) == (PASS, OID)


@pytest.mark.parametrize("fetched", [False, True])
def test_what_a_checker_is_shown_must_be_there(large: ScratchRepo, fetched: bool) -> None:
    large.write({"agent/d.bin": "no pointer\n", "checks/d.bin": POINTER})
    if fetched:
        keep(large, CONTENT)
    argv = ["test", "-s", "{repo}/checks/d.bin"]
    result = run_script(large, "true", case_of(expected={"command": {"argv": argv}}), agent=AGENT)
    assert result.verdict == (PASS if fetched else ERROR)
    assert result.reason.startswith("" if fetched else "checks/d.bin is in Git LFS")


def test_the_machines_lfs_is_never_asked(large: ScratchRepo, tmp_path: Path) -> None:
    large.git("config", "filter.lfs.clean", "cat")
    large.git("config", "filter.lfs.smudge", f"touch {tmp_path}/called")
    keep(large, CONTENT)
    assert run_script(large, "true", agent=AGENT).verdict == PASS
    assert not (tmp_path / "called").exists()


def test_what_only_looks_like_a_pointer_stays_as_it_is(repo: ScratchRepo) -> None:
    files = {"agent/SKILL.md": POINTER, "agent/d.bin": "no pointer\n"}
    repo.commit("base", {**files, ".gitattributes": "*.bin filter=lfs\n"})
    result = run_script(repo, "cat SKILL.md d.bin", agent=AGENT)
    assert (result.verdict, result.observation.stdout) == (PASS, POINTER + "no pointer\n")


@pytest.mark.parametrize(
    ("content", "oid"),
    [
        (POINTER, OID),
        (POINTER.replace("git-lfs.github", "hawser.github"), OID),
        (POINTER.replace("oid", f"ext-0-a sha256:{OID}\noid"), OID),
        ("", ""),
        (POINTER.replace("sha256", "md5"), ""),
        (POINTER + "x" * 1024, ""),
    ],
)
def test_pointers_are_told_from_other_text(tmp_path: Path, content: str, oid: str) -> None:
    file = tmp_path / "f"
    file.write_text(content)
    assert pointer_of(str(file).encode()) == oid
