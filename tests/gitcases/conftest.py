"""A guarded repository with guard's real hooks, and a witness before and after each of them."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.gitcases.watching import SEEN, Witness
from tests.hooks.installed import Installed, make_installed


@pytest.fixture
def watched(repo: ScratchRepo, tmp_path: Path) -> Generator[Installed]:
    """Two agents, all hooks of `guard install`; at the end no hook may have changed anything."""
    found = make_installed(repo)
    witness = Witness(found.root / ".git" / "hooks", tmp_path / SEEN)
    witness.wrap()
    yield found
    witness.check()
