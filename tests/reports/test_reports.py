from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from guard import reports
from guard.errors import UsageError
from guard.results import Report
from tests.reports.sample import REPORT, nasty_report


@pytest.mark.parametrize("name", sorted(reports.FORMATS))
def test_every_format_writes_a_full_an_empty_and_a_nasty_report(name: str, tmp_path: Path) -> None:
    for number, report in enumerate((REPORT, Report("check"), nasty_report())):
        path = tmp_path / f"{name}{number}"
        reports.write_report(name, report, str(path))
        text = path.read_bytes().decode("utf-8")
        assert text.endswith("\n")
        assert "\x1b" not in text
        assert "\udcff" not in text
    assert len(list(tmp_path.iterdir())) == 3


def test_each_module_of_the_folder_is_registered() -> None:
    folder = Path(reports.__file__).parent
    modules = {f"guard.reports.{path.stem}" for path in folder.glob("*.py")}
    helpers = {"guard.reports.__init__", "guard.reports.wording"}
    assert modules - helpers == set(reports.FORMATS.values())


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="text, json, junit, markdown, html"):
        reports.find_format("yaml")


def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    reports.write_report("text", REPORT, "-")
    assert capsys.readouterr().out == reports.find_format("text").render(REPORT)
    reports.write_report("json", REPORT, "-")
    assert capsys.readouterr().out.startswith('{\n  "schema": "guard.report.v1"')


def test_text_falls_back_and_json_does_not_where_the_terminal_knows_ascii_only() -> None:
    code = (
        "import sys; from guard.model import CaseResult, Report;"
        "from guard.reports import write_report;"
        "write_report(sys.argv[1], Report('run', cases=(CaseResult('ü', 'a', 'FAIL'),)), '-')"
    )
    shown: dict[str, bytes] = {}
    for name in ("text", "json"):
        shown[name] = subprocess.run(
            [sys.executable, "-c", code, name],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            check=True,
        ).stdout
    assert b"x \\xfc FAIL" in shown["text"]
    assert '"id": "ü"'.encode() in shown["json"]
