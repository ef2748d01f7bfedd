"""Version ranges of ``requires``."""

from __future__ import annotations

import pytest

from guard.requirement import satisfies


@pytest.mark.parametrize(
    ("version", "wanted", "fits"),
    [
        ("0.1.0", ">=0.1", True),
        ("0.1.0", ">=0.1,<0.2", True),
        ("0.2.0", ">=0.1,<0.2", False),
        ("0.1.0", "==0.1", True),
        ("0.1.1", "==0.1", False),
        ("0.1.1", "!=0.1", True),
        ("1.4.5", "~=1.4.2", True),
        ("1.5.0", "~=1.4.2", False),
        ("1.9", "~=1.4", True),
        ("2.0", "~=1.4", False),
        ("1.0", "~=1", None),
        ("0.10.0", ">0.9", True),
        ("1.0", "1.0", True),
        ("1.0", "banana", None),
        ("1.0", "", None),
    ],
)
def test_a_version_lies_in_a_range_or_not(version: str, wanted: str, fits: bool | None) -> None:
    assert satisfies(version, wanted) is fits
