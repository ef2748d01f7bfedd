"""Whether this clone can merge regressions.json by record."""

from __future__ import annotations

from guard.doctor import Finding
from guard.doctor.merge_driver import check_merge_driver
from guard.git import find_repo
from guard.setup.merge_driver import ATTRIBUTES, LINE, NAME, driver_command
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo


def check(repo: ScratchRepo) -> list[Finding]:
    with find_repo(str(repo.root)) as found:
        return list(check_merge_driver(found))


def test_nothing_is_said_where_nothing_is_named(repo: ScratchRepo) -> None:
    assert check(repo) == []


def test_a_fresh_clone_is_told_of_and_install_mends_it(repo: ScratchRepo) -> None:
    repo.write({ATTRIBUTES: f"{LINE}\n"})
    (found,) = check(repo)
    assert (found.mark, found.hint) == ("!", "guard install")
    assert found.text == "merges of regressions.json are plain text here: this clone has no driver"
    assert "merge driver" in call_guard(repo.root, "install").out
    assert [finding.mark for finding in check(repo)] == ["✓"]
    assert "merge driver" not in call_guard(repo.root, "install").out


def test_an_interpreter_that_is_gone(repo: ScratchRepo) -> None:
    repo.write({ATTRIBUTES: f"{LINE}\n"})
    repo.git("config", f"merge.{NAME}.driver", driver_command("/gone/python"))
    (found,) = check(repo)
    assert (found.mark, found.hint) == ("!", "guard install")
    assert "/gone/python, which merges regressions.json, is gone" in found.text


def test_a_driver_of_ones_own_is_fine(repo: ScratchRepo) -> None:
    repo.write({ATTRIBUTES: f"{LINE}\n"})
    repo.git("config", f"merge.{NAME}.driver", "mine %O %A %B")
    assert [finding.mark for finding in check(repo)] == ["✓"]


def test_uninstall_takes_the_definition_away(repo: ScratchRepo) -> None:
    repo.write({ATTRIBUTES: f"{LINE}\n"})
    before = (repo.root / ".git/config").read_bytes()
    call_guard(repo.root, "install")
    assert NAME.encode() in (repo.root / ".git/config").read_bytes()
    call_guard(repo.root, "uninstall")
    assert (repo.root / ".git/config").read_bytes() == before
