"""Files written from git's objects: committed attributes count, nothing of the machine does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from guard.errors import UnreadableError
from guard.git import find_repo
from guard.snapshot import head_tree
from guard.trials.export import check_out
from guard.trials.filters import Lacking
from tests.conftest import ScratchRepo


def written(repo: ScratchRepo, folder: Path, *paths: str) -> dict[str, bytes]:
    """Write files of HEAD (all where none is named); return what lies on disk."""
    (folder / "work").mkdir()
    with find_repo(str(repo.root)) as found:
        tree = head_tree(found)
        names = [p.encode() for p in paths] or sorted(tree.entries())
        assert not check_out(tree, names, str(folder / "scratch"), str(folder / "work")).lacking
    files = (p for p in (folder / "work").rglob("*") if p.is_file())
    return {str(p.relative_to(folder / "work")): p.read_bytes() for p in files}


@pytest.mark.parametrize(
    ("attributes", "kept", "expected"),
    [
        ("", b"a\nb\n", b"a\nb\n"),
        ("", b"a\r\nb\n", b"a\r\nb\n"),
        ("* text", b"a\nb\n", b"a\nb\n"),
        ("* text=auto", b"a\nb\n", b"a\nb\n"),
        ("* eol=crlf", b"a\nb\n", b"a\r\nb\r\n"),
        ("* text eol=crlf", b"a\nb\n", b"a\r\nb\r\n"),
        ("* -text eol=crlf", b"a\nb\n", b"a\nb\n"),
        ("* binary", b"a\n\0b\n", b"a\n\0b\n"),
        ("[attr]mine text eol=crlf\n* mine", b"a\n", b"a\r\n"),
        ("* export-ignore", b"a\n", b"a\n"),
        ("* export-subst", b"$Format:%H$\n", b"$Format:%H$\n"),
        ("* diff=x merge=y whitespace=z", b"a \n", b"a \n"),
    ],
)
def test_committed_attributes_are_honoured(
    repo: ScratchRepo, tmp_path: Path, attributes: str, kept: bytes, expected: bytes
) -> None:
    repo.commit("base", {"f": kept})
    oid = repo.git("rev-parse", "HEAD:f").strip()
    repo.commit("attributes", {".gitattributes": f"{attributes}\n.gitattributes -text\n"})
    if repo.git("rev-parse", "HEAD:f").strip() != oid:
        repo.git("update-index", "--cacheinfo", f"100644,{oid},f")
        repo.git("commit", "-qm", "as it was")
    repo.git("config", "core.autocrlf", "true")
    repo.git("config", "core.eol", "crlf")
    assert written(repo, tmp_path)["f"] == expected


def test_an_encoding_is_that_of_the_attributes(repo: ScratchRepo, tmp_path: Path) -> None:
    encoded = "\u00fc\n".encode("utf-16le")
    attributes = "f text eol=lf working-tree-encoding=UTF-16LE\n"
    repo.commit("base", {".gitattributes": attributes, "f": encoded})
    assert repo.git("cat-file", "blob", "HEAD:f") == "\u00fc\n"
    assert written(repo, tmp_path)["f"] == encoded


def test_ident_is_the_same_on_every_machine(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("base", {".gitattributes": "f ident\n", "f": "$Id$\n"})
    oid = repo.git("rev-parse", "HEAD:f").strip()
    assert written(repo, tmp_path)["f"] == f"$Id: {oid} $\n".encode()


def test_an_encoding_that_is_unknown_here_is_told(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("base", {"f": "x\n"})
    repo.write({".gitattributes": "f working-tree-encoding=no-such\n"})
    repo.git("add", ".gitattributes")
    repo.git("commit", "-qm", "attributes")
    with pytest.raises(UnreadableError, match=r"as \.gitattributes says: failed to encode 'f'"):
        written(repo, tmp_path)


def test_attributes_of_folders_above_count_though_they_are_not_written(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    files = {
        ".gitattributes": "*.bat eol=crlf\n",
        "a/.gitattributes": "y.bat -eol\n",
        "a/x.bat": "x\n",
        "a/y.bat": "y\n",
        "b/.gitattributes": "*.bat eol=lf\n",
    }
    repo.commit("base", dict(files))
    # A file on disk alone says nothing, whatever it would say.
    repo.write({"a/.gitattributes": "x.bat -eol\n"})
    assert written(repo, tmp_path, "a/x.bat", "a/y.bat") == {"a/x.bat": b"x\r\n", "a/y.bat": b"y\n"}


def test_modes_and_links_are_kept_whatever_the_machine_is_told(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    repo.write({"run": "#!/bin/sh\n", "f": "x\n"})
    (repo.root / "run").chmod(0o755)
    (repo.root / "link").symlink_to("/not/there")
    repo.commit("base")
    repo.git("config", "core.symlinks", "false")
    repo.git("config", "core.fileMode", "false")
    written(repo, tmp_path)
    work = tmp_path / "work"
    assert (work / "run").stat().st_mode & 0o100
    assert not (work / "f").stat().st_mode & 0o100
    assert (work / "link").is_symlink()


def test_nothing_of_the_users_runs(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("base", {"f": "x\n"})
    hook = repo.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    repo.git("config", "core.fsmonitor", str(hook))
    assert written(repo, tmp_path) == {"f": b"x\n"}
    assert not (tmp_path / "ran").exists()


def test_an_object_that_is_not_here_is_named_and_the_rest_is_written(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    repo.commit("base", {"a": "1\n", "b": "2\n", "c": "3\n"})
    oid = repo.git("rev-parse", "HEAD:b").strip()
    (repo.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    work = tmp_path / "work"
    work.mkdir()
    with find_repo(str(repo.root)) as found:
        tree = head_tree(found)
        told = check_out(tree, sorted(tree.entries()), str(tmp_path / "scratch"), str(work))
    why = f"can't be read: object {oid} is missing (a partial or shallow clone?)"
    assert told.lacking == (Lacking(b"b", why, "git fetch --refetch --no-filter"),)
    assert sorted(path.name for path in work.iterdir()) == ["a", "c"]


def test_a_damaged_object_is_named(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("base", {"a": "1\n", "b": "2\n"})
    oid = repo.git("rev-parse", "HEAD:b").strip()
    file = repo.root / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    file.write_bytes(b"junk")
    with pytest.raises(UnreadableError, match=r"^b can't be read: .*is corrupt") as raised:
        written(repo, tmp_path)
    assert raised.value.hint == "git fsck"


def test_sha256_repositories_too(tmp_path: Path) -> None:
    other = ScratchRepo(tmp_path / "other")
    other.root.mkdir()
    other.git("init", "-q", "--object-format=sha256")
    other.commit("base", {"f": "x\n"})
    assert written(other, tmp_path) == {"f": b"x\n"}


def test_a_path_that_git_refuses_is_told(repo: ScratchRepo, tmp_path: Path) -> None:
    blob = repo.git("hash-object", "-w", "--stdin", input="x\n").strip()
    inner = repo.git("mktree", input=f"100644 blob {blob}\tconfig\n").strip()
    tree = repo.git("mktree", input=f"040000 tree {inner}\t.git\n").strip()
    repo.commit("base", {"f": "x\n"})
    commit = repo.git("commit-tree", tree, "-m", "odd").strip()
    repo.git("update-ref", "refs/heads/main", commit)
    (tmp_path / "work").mkdir()
    with find_repo(str(repo.root)) as found:
        made = head_tree(found)
        told = check_out(made, sorted(made.entries()), str(tmp_path / "s"), str(tmp_path / "work"))
    assert told.lacking == (Lacking(b".git/config", "can't be written: git refuses its name"),)
    assert list((tmp_path / "work").iterdir()) == []


def test_file_names_of_any_bytes_are_written(repo: ScratchRepo, tmp_path: Path) -> None:
    names = ["-rf", ":(top)x", "[ab]", "HEAD", "a\nb", "tab\t", '"q"', "back\\slash", "\udcff"]
    repo.commit("base", {name: f"{number}\n" for number, name in enumerate(names)})
    found = written(repo, tmp_path)
    assert found == {name: f"{number}\n".encode() for number, name in enumerate(names)}


def test_git_archive_would_differ(repo: ScratchRepo) -> None:
    """The control of the attributes that are about archives alone."""
    repo.commit("base", {".gitattributes": "f export-ignore\n", "f": "x\n"})
    listed = subprocess.run(
        "git archive HEAD | tar t", shell=True, cwd=repo.root, capture_output=True, check=True
    )
    assert listed.stdout == b".gitattributes\n"
