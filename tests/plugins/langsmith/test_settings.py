"""What the environment says: the key, where it goes, and whether that is another machine."""

from __future__ import annotations

import pytest

from guard_langsmith.settings import dataset_name, endpoint, find_missing, is_live, where

OWN = "https://api.smith.langchain.com"


@pytest.mark.parametrize(
    ("value", "shown", "live"),
    [
        ("", OWN, True),
        ("https://eu.api.smith.langchain.com/", "https://eu.api.smith.langchain.com", True),
        ("https://smith.example.org/api/v1", "https://smith.example.org/api/v1", True),
        ("https://me:pass@smith.example.org?token=x", "https://smith.example.org", True),
        ("http://localhost:1984", "http://localhost:1984, live: false", False),
        ("http://127.8.0.1", "http://127.8.0.1, live: false", False),
        ("http://[::1]:80", "http://[::1]:80, live: false", False),
        ("http://0.0.0.0:1984", "http://0.0.0.0:1984, live: false", False),
        ("http://smith.localhost", "http://smith.localhost, live: false", False),
        ("http://10.0.0.7", "http://10.0.0.7", True),
    ],
)
def test_where_it_is(monkeypatch: pytest.MonkeyPatch, value: str, shown: str, live: bool) -> None:
    monkeypatch.setenv("LANGSMITH_ENDPOINT", value)
    assert (where(), is_live()) == (shown, live)


def test_the_older_names_stand_behind_the_newer_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    assert endpoint() == OWN
    monkeypatch.setenv("LANGCHAIN_ENDPOINT", "http://old")
    assert endpoint() == "http://old"
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://new/")
    assert endpoint() == "http://new"


def test_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_missing() == "the environment variable LANGSMITH_API_KEY is not set"
    monkeypatch.setenv("LANGSMITH_API_KEY", " ")
    assert find_missing()
    monkeypatch.setenv("LANGSMITH_API_KEY", "k")
    assert find_missing() is None
    for wrong in ("smith.example.org", "ftp://x", "http://", "http://["):
        monkeypatch.setenv("LANGSMITH_ENDPOINT", wrong)
        assert find_missing() == f"LANGSMITH_ENDPOINT is no address such as {OWN}"
        assert where() == ""
    nowhere: dict[str, object] = {}
    monkeypatch.setattr("guard_langsmith.settings.find_spec", nowhere.get)
    assert find_missing() == (
        "the package langsmith is not installed (pip install 'regression-guard[langsmith]')"
    )


def test_repositories_of_one_workspace_differ_by_a_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dataset_name("clerk") == "clerk (guard)"
    monkeypatch.setenv("LANGSMITH_GUARD_PREFIX", "desk/")
    assert dataset_name("clerk") == "desk/clerk (guard)"
