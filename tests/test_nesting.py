from __future__ import annotations

import pytest

from guard.nesting import ACTIVE, enter, inherited


def test_the_same_repository_is_entered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ACTIVE, raising=False)
    assert inherited() == {}
    assert enter("/a/.git")
    assert inherited() == {ACTIVE: "/a/.git"}
    assert not enter("/a/.git")
    assert enter("/b/.git")
