from __future__ import annotations

import shutil

import pytest

from guard.git import find_repo
from guard.objects import ObjectError, said_by_git
from tests.conftest import ScratchRepo


def test_what_is_held_is_read_once(repo: ScratchRepo) -> None:
    repo.commit("base", {"a": "1\n", "b": "2\n"})
    first, second = (repo.git("rev-parse", f"HEAD:{name}").strip() for name in "ab")
    with find_repo(str(repo.root)) as opened:
        opened.objects.hold([first, "0" * 39 + "1", first])
        opened.objects.close()
        shutil.rmtree(repo.root / ".git" / "objects" / first[:2])
        assert opened.objects.read_many([first, second]) == {first: b"1\n", second: b"2\n"}
        opened.objects.hold([second])
        with pytest.raises(ObjectError):
            opened.objects.read_many([first])


def test_what_git_says_is_its_reason() -> None:
    could_not = b"error: Could not read 1111\n"
    assert said_by_git(could_not + b"fatal: revision walk setup failed\n") == "Could not read 1111"
    assert said_by_git(could_not + b"fatal: bad tree\n") == "bad tree"
    assert said_by_git(b"hint: x\nusage: git\n") == "hint: x"
    assert said_by_git(b"") == said_by_git(b"fatal: revision walk setup failed\n") == ""
