from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from guard.evaluators import check_expectation
from guard.results import Observation
from tests.evaluators.grading import reason_of, scores_of

SUMMARY = {"rows": 12, "ok": True, "ratio": 1.0, "names": ["ann", "bo"], "none": None, "a/b": 1}


@pytest.fixture
def after(tmp_path: Path) -> Observation:
    workspace = tmp_path / "trial" / "work"
    (workspace / "out").mkdir(parents=True)
    (workspace.parent / "secret.json").write_text("{}")
    (workspace / "out/summary.json").write_text(json.dumps(SUMMARY))
    (workspace / "out/copy.json").write_text(json.dumps(SUMMARY))
    (workspace / "out/pretty.json").write_text(json.dumps(SUMMARY, indent=2))
    (workspace / "out/counts.json").write_text('{"total": 12, "nan": NaN}')
    (workspace / "out/note.txt").write_text("done\n")
    return Observation(workspace=str(workspace))


SUMMARY_FILE = "out/summary.json"
COUNTS = "out/counts.json"


@pytest.mark.parametrize(
    "item",
    [
        {"path": SUMMARY_FILE},
        {"path": SUMMARY_FILE, "absent": False},
        {"path": SUMMARY_FILE, "json_pointer": "/rows"},
        {"path": SUMMARY_FILE, "json_pointer": "/rows", "equals": 12},
        {"path": SUMMARY_FILE, "json_pointer": "/rows", "equals": 12.0},
        {"path": SUMMARY_FILE, "json_pointer": "/ratio", "equals": 1},
        {"path": SUMMARY_FILE, "json_pointer": "/ok", "equals": True},
        {"path": SUMMARY_FILE, "json_pointer": "/none", "equals": None},
        {"path": SUMMARY_FILE, "json_pointer": "/names/1", "equals": "bo"},
        {"path": SUMMARY_FILE, "json_pointer": "/a~1b", "equals": 1},
        {"path": SUMMARY_FILE, "json_pointer": "", "equals": SUMMARY},
        {"path": SUMMARY_FILE, "equals": SUMMARY},
        {"path": "out/note.txt", "equals": "done\n"},
        {"path": "out/note.txt", "min_bytes": 5},
        {"path": "out/note.txt", "sha256": hashlib.sha256(b"done\n").hexdigest()},
        {"path": "out/gone.json", "absent": True},
        {"path": SUMMARY_FILE, "equals_artifact": {"path": "out/copy.json"}},
        {
            "path": SUMMARY_FILE,
            "json_pointer": "/rows",
            "equals_artifact": {"path": COUNTS, "json_pointer": "/total"},
        },
        {
            "path": SUMMARY_FILE,
            "json_pointer": "",
            "equals_artifact": {"path": "out/pretty.json"},
        },
    ],
)
def test_holds(after: Observation, item: dict[str, Any]) -> None:
    assert check_expectation("artifacts", [item]) is None
    reason_of("artifacts", [item], after, holds=True)


@pytest.mark.parametrize(
    ("item", "part"),
    [
        ({"path": "out/gone.json"}, "out/gone.json: is not there"),
        ({"path": "out"}, "out: is not a regular file"),
        ({"path": SUMMARY_FILE, "absent": True}, "is there"),
        ({"path": SUMMARY_FILE, "json_pointer": "/lines"}, "has nothing at /lines"),
        ({"path": SUMMARY_FILE, "json_pointer": "/names/2"}, "has nothing at /names/2"),
        ({"path": SUMMARY_FILE, "json_pointer": "/rows", "equals": 13}, "/rows is 12, not 13"),
        ({"path": SUMMARY_FILE, "json_pointer": "/rows", "equals": "12"}, 'is 12, not "12"'),
        ({"path": SUMMARY_FILE, "json_pointer": "/ok", "equals": 1}, "/ok is true, not 1"),
        ({"path": SUMMARY_FILE, "json_pointer": "/none", "equals": False}, "null, not false"),
        ({"path": SUMMARY_FILE, "equals": {}}, "it is {"),
        ({"path": "out/note.txt", "equals": "done"}, "isn't the expected text"),
        ({"path": "out/note.txt", "json_pointer": "/a", "equals": 1}, "is not JSON"),
        ({"path": "out/note.txt", "min_bytes": 6}, "has 5 bytes, not 6"),
        ({"path": "out/note.txt", "sha256": "f" * 64}, "has the SHA-256"),
        (
            {"path": SUMMARY_FILE, "equals_artifact": {"path": "out/pretty.json"}},
            "isn't the same as out/pretty.json",
        ),
        (
            {"path": COUNTS, "json_pointer": "/nan", "equals_artifact": {"path": COUNTS}},
            "isn't the same as out/counts.json",
        ),
        (
            {
                "path": COUNTS,
                "json_pointer": "/nan",
                "equals_artifact": {"path": COUNTS, "json_pointer": "/nan"},
            },
            "isn't the same as out/counts.json/nan",
        ),
        (
            {"path": SUMMARY_FILE, "equals_artifact": {"path": "out/gone.json"}},
            "can't be compared with out/gone.json: is not there",
        ),
        (
            {
                "path": SUMMARY_FILE,
                "json_pointer": "/rows",
                "equals_artifact": {"path": COUNTS, "json_pointer": "/x"},
            },
            "can't be compared with out/counts.json: has nothing at /x",
        ),
    ],
)
def test_fails_and_says_why(after: Observation, item: dict[str, Any], part: str) -> None:
    assert check_expectation("artifacts", [item]) is None
    assert part in reason_of("artifacts", [item], after, holds=False)


def test_all_items_are_one_key(after: Observation) -> None:
    good, bad = {"path": SUMMARY_FILE}, {"path": "out/gone.json"}
    reason_of("artifacts", [good, good], after, holds=True)
    reason_of("artifacts", [good, bad], after, holds=False)
    reason_of("artifacts", [bad, good], after, holds=False)


def test_without_a_workspace_there_is_no_score() -> None:
    assert scores_of({"artifacts": [{"path": "a", "absent": True}]}, Observation()) == {}


@pytest.mark.parametrize(
    "item",
    [
        {"path": "../secret.json"},
        {"path": "../gone.json", "absent": True},
        {"path": "out/note.txt", "equals_artifact": {"path": "../secret.json"}},
    ],
)
def test_a_path_out_of_the_workspace_is_refused_twice(
    after: Observation, item: dict[str, Any]
) -> None:
    said = check_expectation("artifacts", [item])
    assert said is not None
    assert "leaves the workspace" in said
    assert "leads out of the workspace" in reason_of("artifacts", [item], after, holds=False)


def test_a_link_out_of_the_workspace_is_refused(after: Observation) -> None:
    (Path(after.workspace) / "out/link.json").symlink_to("../../secret.json")
    for item in (
        {"path": "out/link.json"},
        {"path": "out/link.json", "absent": True},
        {"path": COUNTS, "equals_artifact": {"path": "out/link.json"}},
    ):
        assert "leads out of the workspace" in reason_of("artifacts", [item], after, holds=False)


def test_json_nested_too_deep_is_no_pass_and_no_crash(after: Observation) -> None:
    (Path(after.workspace) / "deep.json").write_text("[" * 200_000)
    item = {"path": "deep.json", "json_pointer": "/0"}
    assert "is not JSON" in reason_of("artifacts", [item], after, holds=False)


REFUSED: list[tuple[Any, str]] = [
    ([], "must not be empty"),
    ({"path": "a"}, "must be a list, not a mapping"),
    ([{"equals": 1}], "[0]: the key `path` is missing"),
    ([{"path": "a"}, "b"], "[1]: must be a mapping, not text"),
    ([{"path": "a", "pointer": "/x"}], "unknown key; did you mean `json_pointer`?"),
    ([{"path": "a", "json_pointer": "x"}], "not a JSON pointer"),
    ([{"path": "a", "json_pointer": "/~2"}], "not a JSON pointer"),
    ([{"path": "a", "json_pointer": 0}], "must be a JSON pointer"),
    ([{"path": "a", "equals": float("nan")}], "NaN equals nothing"),
    ([{"path": "a", "equals": {"b": [float("nan")]}}], "NaN equals nothing"),
    ([{"path": "a", "equals": {1, 2}}], "not a JSON value"),
    ([{"path": "a", "equals_artifact": "b"}], "must be a mapping, not text"),
    ([{"path": "a", "equals_artifact": {}}], "the key `path` is missing"),
    ([{"path": "a", "equals_artifact": {"path": "b", "at": ""}}], "unknown key"),
    ([{"path": "a", "absent": True, "equals": 1}], "takes `absent` or `equals`, not both"),
    ([{"path": "a", "absent": True, "min_bytes": 1}], "not both"),
    ([{"path": "a", "min_bytes": 0}], "at least 1"),
    ([{"path": "a", "sha256": "abc"}], "64 hexadecimal digits"),
    ([{"path": "/a"}], "leaves the workspace"),
]


@pytest.mark.parametrize(("value", "part"), REFUSED)
def test_refuses(value: Any, part: str) -> None:
    said = check_expectation("artifacts", value)
    assert said is not None
    assert part in said
