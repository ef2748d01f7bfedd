"""What evidence of a graph is bound to beside files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from guard.plugin import Host
from guard_langgraph.builds import endpoint_in, fingerprint

NONE: dict[str, Any] = {"config": {}, "env": {}}


def test_the_version_is_that_of_the_agents_python(tmp_path: Path) -> None:
    for version in ("1.2.3", "1.3.0"):
        venv = tmp_path / version
        packages = venv / "lib/python3.12/site-packages"
        (packages / f"langgraph-{version}.dist-info").mkdir(parents=True)
        (packages / "langgraph_sdk-9.dist-info").mkdir()
        found = fingerprint(NONE, Host((str(venv / "bin/python"),)))
        assert found.program == f"langgraph {version}"
    assert fingerprint(NONE, Host((sys.executable, "-P"))).program.startswith("langgraph 1.")


def test_without_langgraph_no_version_is_claimed(tmp_path: Path) -> None:
    assert fingerprint(NONE, Host((str(tmp_path / "bin/python"),))).program == "langgraph"


def test_the_model_is_told_where_the_configuration_names_one() -> None:
    host = Host((sys.executable,))
    assert fingerprint({**NONE, "config": {"model": "small"}}, host).model == "small"
    assert fingerprint({**NONE, "config": {"model": 4}}, host).model == ""


@pytest.mark.parametrize(
    ("env", "endpoint"),
    [
        ({}, ""),
        ({"ANTHROPIC_BASE_URL": "https://api.anthropic.com/v1"}, ""),
        ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, "http://127.0.0.1:9"),
        (
            {"OPENAI_BASE_URL": "https://api.openai.com.evil.example"},
            "https://api.openai.com.evil.example",
        ),
        (
            {"OPENAI_API_BASE": "https://gateway.example/v1", "OTHER": "http://x"},
            "https://gateway.example/v1",
        ),
    ],
)
def test_an_endpoint_that_is_not_the_providers_is_told(env: dict[str, str], endpoint: str) -> None:
    assert endpoint_in(env) == endpoint
    assert fingerprint({**NONE, "env": env}, Host()).endpoint == endpoint
    assert fingerprint(NONE, Host(env=env)).endpoint == endpoint
