from __future__ import annotations

import errno
import os

import pytest

from guard.errors import ExitCode
from guard.failures import report_failure


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/file"),
        OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
        # What `tempfile` says where it can write nowhere.
        FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"),
        MemoryError(),
    ],
    ids=["disk", "descriptors", "tempfile", "memory"],
)
def test_what_a_machine_lacks_is_no_bug(
    error: Exception, capfd: pytest.CaptureFixture[str]
) -> None:
    assert report_failure(error) == ExitCode.NOT_ESTABLISHED
    said = capfd.readouterr().err
    assert "bug" not in said
    assert len(said.splitlines()) <= 2


@pytest.mark.parametrize("error", [FileNotFoundError(errno.ENOENT, "gone"), OSError("odd")])
def test_anything_else_is_one(error: Exception, capfd: pytest.CaptureFixture[str]) -> None:
    assert report_failure(error) == ExitCode.BUG
    assert "a bug in guard" in capfd.readouterr().err
