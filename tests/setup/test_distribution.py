"""Where this guard came from, as its metadata tell."""

from __future__ import annotations

import json

import pytest

from guard import __version__
from guard.setup.distribution import own_source, requirement, source_of_project, source_of_url
from guard.setup.framework import Source

URL = "https://git.example.org/regression-guard"


def test_an_installation_from_a_repository() -> None:
    vcs = {"vcs": "git", "commit_id": "1" * 40}
    told = json.dumps({"url": URL, "vcs_info": vcs})
    assert source_of_url(told) == Source(URL, "1" * 40)
    told = json.dumps({"url": URL, "vcs_info": {**vcs, "requested_revision": "v1"}})
    assert source_of_url(told) == Source(URL, "v1")


@pytest.mark.parametrize(
    "told",
    [
        {"url": "file:///home/me/guard", "dir_info": {"editable": True}},
        {"url": "file:///home/me/guard", "vcs_info": {"vcs": "git", "commit_id": "1" * 40}},
        {"url": URL + "/archive.zip", "archive_info": {}},
        {"url": URL, "vcs_info": {"vcs": "hg", "commit_id": "1"}},
    ],
)
def test_what_others_could_not_get(told: object) -> None:
    assert source_of_url(json.dumps(told)) is None


def test_a_release_names_its_repository_by_label() -> None:
    lines = ["Docs, https://docs.example.org", "Repository, https://github.com/a/regression-guard/"]
    wanted = Source("https://github.com/a/regression-guard", f"v{__version__}")
    assert source_of_project(lines) == wanted
    assert source_of_project(["Homepage, https://example.org"]) is None
    assert source_of_project([]) is None


def test_the_requirement_fits_the_source() -> None:
    source = own_source()
    wanted = f"regression-guard @ git+{source.url}@{source.rev}" if source else "=="
    assert wanted in requirement()
