"""What git is asked about, against what Python would find: never quiet where that has a say."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guard.change import diff_trees
from guard.errors import GuardError
from guard.git import Repo, find_repo, text_of
from guard.hookruns.fastpath import asked_of
from guard.hookruns.pathspecs import MOST, Pathspecs, pathspecs_of
from guard.hookruns.watched import may_affect
from guard.judging.guarded import concerns
from guard.project import Project
from guard.store import Store
from guard.tree import Tree
from tests.conftest import ScratchRepo, isolate_home

#: Path → mode and content.
Files = Mapping[str, tuple[str, str]]
FILE, LINK, MODULE = "100644", "120000", "160000"


class Trees:
    """Makes trees of one repository from what is in them."""

    def __init__(self, repo: ScratchRepo) -> None:
        self.scratch = repo
        self.module = repo.commit("feat: x", {"x": "1\n"})
        self.repo: Repo = find_repo(str(repo.root))
        self.store = Store.open(self.repo.common_dir)
        self.blobs: dict[str, str] = {}

    def tree(self, files: Files) -> Tree:
        """Write a tree; also to the index that `git commit` would be asked about."""
        self.write_index(files)
        return Tree(self.repo, self.repo.out("write-tree").decode().strip())

    def write_index(self, files: Files) -> None:
        """Write the index anew."""
        self.repo.run("read-tree", "--empty")
        lines = [
            f"{mode} {self._oid(mode, text)}\t{path}\0" for path, (mode, text) in files.items()
        ]
        info = "".join(lines).encode("utf-8", "surrogateescape")
        self.repo.run("update-index", "-z", "--index-info", input=info)

    def _oid(self, mode: str, text: str) -> str:
        if mode == MODULE:
            return self.module[:-4] + f"{len(text):04x}"
        if text not in self.blobs:
            made = self.repo.out("hash-object", "-w", "--stdin", input=text.encode())
            self.blobs[text] = made.decode().strip()
        return self.blobs[text]

    def project(self, tree: Tree) -> Project:
        """Return the project of a tree."""
        return Project(self.repo, tree, self.store)

    def is_quiet(self, asked: Pathspecs, *call: str, skills: bool = False) -> bool:
        """Ask git as the hook does."""
        specs = [":(top,literal)" + text_of(place) for place in asked.places]
        specs += [":(top,glob)*"] if asked.root_files else []
        specs += [":(top,glob)**/SKILL.md"] if skills else []
        options = ("--quiet", "--no-ext-diff", "--ignore-submodules=none")
        env = {"GIT_LITERAL_PATHSPECS": "0"}
        done = self.repo.run(call[0], *options, *call[1:], "--", *specs, env=env, ok=(0, 1))
        return done.code == 0


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Generator[Trees]:
    """One repository for all examples."""
    with pytest.MonkeyPatch.context() as patch:
        isolate_home(tmp_path_factory.mktemp("home"), patch)
        root = tmp_path_factory.mktemp("trees")
        scratch = ScratchRepo(root)
        scratch.git("init", "-q")
        found = Trees(scratch)
        yield found
        found.repo.close()


def plain(*paths: str) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(paths, (FILE, "1\n"))


# One by one -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("globs", "files", "places"),
    [
        (["a/**", "b.md"], plain("a/x", "b.md"), ["a", "b.md"]),
        (["a/b/**", "a"], plain("a/b/x"), ["a"]),
        # Nothing is there yet: the first part that is missing, where nothing else can stand.
        (["a/b/c/**"], plain("x"), ["a"]),
        # A neighbour would go where a submodule took its folder's place.
        (["a/b/c/**"], plain("a/x", "a/y/z"), ["a/b", "a/x"]),
        (["a/b/c/**"], plain("a/y/z"), ["a/b", "a/y"]),
        (["a/b/c/**", "a/x"], plain("a/x"), ["a/b", "a/x"]),
        # What stands in a folder's place decides.
        (["a/b/c/**"], {"a/b": (LINK, "x")}, ["a/b"]),
        (["a/b/c/**"], {"a": (MODULE, "x")}, ["a"]),
        (["./a/", "a/../b", "/c", "d//e", "f/./g"], plain("a/x"), ["a"]),
        (["*"], plain("x"), None),
        (["*", "a/*"], plain("a/x"), ["a"]),
        (["**/x.md"], plain("a/x"), None),
        ([""], plain("a/x"), None),
        (["[*]a/**"], plain("*a/x"), ["*a"]),
    ],
)
def test_places(trees: Trees, globs: list[str], files: Files, places: list[str] | None) -> None:
    asked = pathspecs_of(trees.tree(files), globs)
    assert (asked and [text_of(place) for place in asked.places]) == places


def test_many_files_are_asked_for_as_their_folders(trees: Trees) -> None:
    paths = [f"a/b{number % 3}/c{number}" for number in range(MOST * 2)]
    asked = pathspecs_of(trees.tree(plain(*paths)), paths)
    assert asked is not None
    assert asked.places == (b"a/b0", b"a/b1", b"a/b2")
    flat = [f"c{number}" for number in range(MOST * 2)]
    assert pathspecs_of(trees.tree(plain(*flat)), flat) is None


def test_other_content_is_another_list(trees: Trees) -> None:
    def content(files: Files) -> tuple[str, ...]:
        asked = pathspecs_of(trees.tree(files), ["a/**", "b/**", "*"])
        assert asked is not None
        return asked.content

    before = content(plain("a/x", "y", "other/z"))
    assert content({**plain("a/x", "y"), "other/z": (FILE, "2\n")}) == before
    for changed in ({"a/x": (FILE, "2\n")}, {"b/x": (FILE, "1\n")}, {"y": (LINK, "1\n")}):
        assert content({**plain("a/x", "y", "other/z"), **changed}) != before


# Any ------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "é", "x y", "c.md", "SKILL.md"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
GLOBS = st.one_of(
    PATHS,
    PATHS.map("{}/**".format),
    PATHS.map("{}/*.md".format),
    PATHS.map("{}/*/b".format),
    st.just("*/b/**"),
)
ENTRIES = st.tuples(st.sampled_from([FILE, FILE, FILE, LINK, MODULE]), st.sampled_from("123"))
EDITS = st.lists(st.tuples(PATHS, st.one_of(ENTRIES, st.none())), max_size=3)


class Situation(NamedTuple):
    """What there was when the list was written, and what came of it."""

    config: str
    files: dict[str, tuple[str, str]]
    moved: list[tuple[str, Any]]
    """How HEAD differs from it."""
    staged: list[tuple[str, Any]]
    """How the index differs from HEAD."""


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    agent = {
        "paths": draw(st.lists(GLOBS, min_size=1, max_size=2)),
        "target": "command",
        "workspace": "a",
        "cases": draw(st.lists(PATHS.map("{}/*.md".format), max_size=2)),
        "depends": draw(st.lists(GLOBS, max_size=1)),
        "evaluators": draw(st.lists(PATHS.map("{}.py:exact".format), max_size=1)),
        "always": {"command": {"argv": ["{repo}/" + draw(PATHS)]}},
    }
    served = draw(st.lists(PATHS, max_size=1))
    each = {"each": draw(PATHS) + "/*", "target": "command", "cases": ["{dir}/evals/*.md"]}
    agents = {"one": agent, **({"many": each} if draw(st.booleans()) else {})}
    files = draw(st.dictionaries(PATHS, ENTRIES, max_size=8))
    document = {"version": "1", "served": served, "agents": agents}
    return Situation(repr(document), applied({}, files.items()), draw(EDITS), draw(EDITS))


def applied(files: Files, edits: Any) -> dict[str, tuple[str, str]]:
    """Return the files after edits; what stands in the way of a new one goes."""
    found = dict(files)
    for path, entry in edits:
        found.pop(path, None)
        if entry is None:
            continue
        for other in list(found):
            if other.startswith(path + "/") or path.startswith(other + "/"):
                del found[other]
        found[path] = entry
    return found


@settings(
    max_examples=int(os.environ.get("PATHSPEC_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(situation=situations())
def test_never_quiet_where_python_has_a_say(trees: Trees, situation: Situation) -> None:
    yaml = {"guard.yaml": (FILE, situation.config)}
    listed = trees.project(trees.tree({**situation.files, **yaml}))
    try:
        # The hook writes a list only where it could read everything.
        _ = listed.cases
        asked = asked_of(listed)
    except GuardError:
        return
    if asked is None:
        return
    at_head = {**applied(situation.files, situation.moved), **yaml}
    head = trees.tree(at_head)
    index = trees.tree(applied(at_head, situation.staged))
    quiet = trees.is_quiet(asked, "diff-tree", "-r", listed.tree.oid, head.oid)
    if not quiet or not trees.is_quiet(asked, "diff-index", "--cached", head.oid, skills=True):
        return
    base, new = trees.project(head), trees.project(index)
    entries = diff_trees(trees.repo, head, index)
    assert not may_affect(base, new, entries)
    assert not concerns(base, entries)
    assert not concerns(new, entries)


CASE = "---\nid: {id}\nagent: one\nutterance: x\n{more}---\n"
FIXTURE = "given: {files: {n.txt: {from: fixtures/n.txt}}}\nexpected: {no_changes: true}\n"
SCRIPT = 'expected: {command: {argv: [sh, "{repo}/tools/run.sh --fast"]}}\n'


@pytest.mark.parametrize("path", ["fixtures/n.txt", "tools/run.sh", "tools/run.sh --fast"])
def test_what_cases_name_is_asked_for(trees: Trees, path: str) -> None:
    document = {
        "version": "1",
        "agents": {"one": {"paths": ["a/**"], "target": "command", "cases": ["e/*.md"]}},
    }
    files = {
        **plain("a/x", "fixtures/n.txt", "tools/run.sh", "README.md"),
        "guard.yaml": (FILE, repr(document)),
        "e/one.md": (FILE, CASE.format(id="one", more=FIXTURE)),
        "e/two.md": (FILE, CASE.format(id="two", more=SCRIPT)),
    }
    project = trees.project(trees.tree(files))
    _ = project.cases
    asked = asked_of(project)
    assert asked is not None
    head = project.tree.oid
    trees.write_index({**files, "README.md": (FILE, "2\n")})
    assert trees.is_quiet(asked, "diff-index", "--cached", head, skills=True)
    trees.write_index({**files, path: (FILE, "2\n")})
    assert not trees.is_quiet(asked, "diff-index", "--cached", head, skills=True)


def test_folder_for_tests_is_one_of_its_own(trees: Trees) -> None:
    """The examples above write an index: never one of a real repository."""
    assert Path(trees.repo.index_file).is_relative_to(trees.scratch.root)
