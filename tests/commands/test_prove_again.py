"""`guard prove` of what is proven already: nothing is run, nothing is rewritten."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ScratchRepo
from tests.proven_repo import ACCEPTED, RECORDS, REJECTED, edit, guard, prove, record_of


def proof_in(document: dict[str, Any]) -> dict[str, Any]:
    proof: dict[str, Any] = document["regressions"]["taxi"]["proof"]
    return proof


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "not yet committed"])
@pytest.mark.parametrize("files", [{}, {"README.md": "text\n"}], ids=["no edit", "elsewhere"])
def test_proving_again_leaves_the_files_alone(
    repo: ScratchRepo, *, committed: bool, files: dict[str, str]
) -> None:
    prove(repo)
    if committed:
        repo.commit("fix: taxi", {})
    repo.write(files)
    paths = [repo.root / name for name in (RECORDS, REJECTED, ACCEPTED)]
    before = [path.read_bytes() for path in paths]
    again = guard(repo, "prove", "taxi")
    assert (again.code, "answered by a receipt of" in again.out) == (0, True), again
    assert [path.read_bytes() for path in paths] == before


def test_another_day_makes_no_other_proof(repo: ScratchRepo) -> None:
    prove(repo)
    edit(repo, RECORDS, lambda found: proof_in(found).update(date="2031-01-01"))
    assert guard(repo, "prove", "taxi").code == 0
    assert record_of(repo)["proof"]["date"] == "2031-01-01"
    # A new run is a new proof.
    assert guard(repo, "prove", "taxi", "--no-cache").code == 0
    assert record_of(repo)["proof"]["date"] != "2031-01-01"
