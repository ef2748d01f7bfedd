"""A case that still has the words of ``guard new-case`` is named where it is committed."""

from __future__ import annotations

from tests.conftest import ScratchRepo
from tests.hooks.installed import Installed, make_installed

NAMED = "doesn't say what happened: its prose is what guard new-case wrote"


def with_new_case(repo: ScratchRepo) -> Installed:
    found = make_installed(repo)
    assert found.guard("new-case", "fresh", "--agent", "talk", "--utterance", "hi").returncode == 0
    found.git("add", "--all")
    return found


def test_check_and_commit_name_it(repo: ScratchRepo) -> None:
    found = with_new_case(repo)
    said = found.guard("check")
    assert (said.returncode, said.stdout.count(NAMED)) == (0, 1)
    done = found.try_commit("-m", "test(talk): fresh")
    assert done.returncode == 0, done
    assert (done.stdout + done.stderr).count(NAMED) == 1


def test_words_of_ones_own_are_not_named(repo: ScratchRepo) -> None:
    found = with_new_case(repo)
    (path,) = found.root.rglob("fresh.md")
    text = path.read_text()
    path.write_text(text.partition("What happened")[0] + "It said nothing.\n")
    found.git("add", "--all")
    assert NAMED not in found.guard("check").stdout
    done = found.try_commit("-m", "test(talk): fresh")
    assert NAMED not in done.stdout + done.stderr
