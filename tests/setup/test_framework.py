"""Adding guard's hooks to the framework's file, which stays as its owner wrote it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from guard.errors import UsageError
from guard.setup.framework import (
    FILE,
    HOOKS,
    STAGES,
    TYPES_KEY,
    Source,
    add_hooks,
    hooks_in,
    missing_hooks,
    missing_types,
    read_document,
)
from tests.conftest import ScratchRepo

PRE_COMMIT = Path(sys.executable).with_name("pre-commit")
with_framework = pytest.mark.skipif(not PRE_COMMIT.exists(), reason="pre-commit: the dev extra")
SOURCE = Source("https://git.example.org/regression-guard", "v0.1.0")

THEIRS = """\
# ours since 2019
repos:
-   repo: local   # the one we wrote
    hooks:
    -   id: spell
        name: 'spell: check'
        entry: "true"
        language: system
        # files: ^docs/
# nothing below this line
"""
FLOW = '{id: x, name: x, entry: "true", language: system}'
TEXTS = {
    "nothing": "",
    "a comment": "# to come\n",
    "theirs": THEIRS,
    "no line end": THEIRS.rstrip("\n"),
    "windows": THEIRS.replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + THEIRS,
    "indented": "repos:\n  - repo: local\n    hooks:\n      - " + FLOW + "\n",
    "more behind": "repos:\n- repo: local\n  hooks: [" + FLOW + "]  # x\n\nfail_fast: true\n",
    "an empty list": "repos: []  # none yet\n",
    "brackets": "repos: [{repo: local, hooks: [" + FLOW + "]}]\n",
    "brackets over lines": "repos: [\n  {repo: local, hooks: [" + FLOW + "]},\n]\n",
    "a text block last": "repos:\n- repo: local\n  hooks:\n  - id: x\n    name: x\n    entry: x\n"
    "    language: system\n    description: |\n      two\n      lines\n\n\n# end\n",
    "types in brackets": "default_install_hook_types: [pre-push]\n" + THEIRS,
    "types with dashes": "default_install_hook_types:\n- pre-commit\n- post-checkout # x\n"
    + THEIRS,
    "types alone": "default_install_hook_types: [commit-msg]\n",
}


@pytest.mark.parametrize("source", [None, SOURCE], ids=["local", "published"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_all_hooks_are_added_and_all_else_stays(text: str, source: Source | None) -> None:
    added = add_hooks(text, source)
    before, after = read_document(text), read_document(added)
    assert missing_hooks(after) == []
    assert missing_types(after) == []
    assert without_ours(after) == without_ours(before)
    assert add_hooks(added, source) == added
    assert all(line in added.splitlines() for line in text.splitlines() if "#" in line[:2])


def without_ours(document: Any) -> dict[str, Any]:
    ours = {hook.id for hook in HOOKS}
    repos: list[Any] = document.get("repos") or []
    kept = [repo for repo in repos if not ours.intersection(hook["id"] for hook in repo["hooks"])]
    rest = {key: value for key, value in document.items() if key not in ("repos", TYPES_KEY)}
    return {**rest, "repos": kept}


@pytest.mark.parametrize("name", ["theirs", "windows", "types with dashes", "more behind"])
def test_what_was_written_comes_out_byte_for_byte(name: str) -> None:
    text = TEXTS[name]
    added = add_hooks(text, SOURCE)
    lines = iter(added.splitlines(keepends=True))
    assert all(line in lines for line in text.splitlines(keepends=True))


@with_framework
@pytest.mark.parametrize("source", [None, SOURCE], ids=["local", "published"])
@pytest.mark.parametrize("name", TEXTS)
def test_the_framework_accepts_it(tmp_path: Path, name: str, source: Source | None) -> None:
    path = tmp_path / FILE
    path.write_bytes(add_hooks(TEXTS[name], source).encode())
    done = subprocess.run(
        [PRE_COMMIT, "validate-config", path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@with_framework
def test_the_framework_installs_every_stage(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {FILE: add_hooks("", None)})
    done = repo.run(str(PRE_COMMIT), "install")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {*STAGES} <= {path.name for path in (repo.root / ".git/hooks").iterdir()}


def test_the_hooks_are_those_that_are_published() -> None:
    published = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
    entries = {hook["id"]: hook for hook in yaml.safe_load(published.read_text(encoding="utf-8"))}
    assert set(entries) >= {hook.id for hook in HOOKS}
    for hook in HOOKS:
        entry = entries[hook.id]
        assert tuple(entry["stages"]) == hook.stages
        assert entry["entry"] == hook.id
        assert entry["name"] == hook.name
        assert (entry["always_run"], entry["require_serial"], entry["verbose"]) == (True,) * 3
        assert entry.get("pass_filenames", True) == hook.takes_file


def test_only_what_is_missing_is_added() -> None:
    text = f"repos:\n- repo: {SOURCE.url}\n  rev: v9\n  hooks:\n  - id: guard-commit-msg\n"
    ids = [hook["id"] for hook in hooks_in(read_document(add_hooks(text, None)))]
    assert ids == [hook.id for hook in HOOKS]


@pytest.mark.parametrize(
    "text",
    [
        "repos: [\n",
        "- repo: local\n",
        "repos: local\n",
        "repos: *x\n",
        "a: 1\n---\nb: 2\n",
        "repos:\n- repo: local\n  hooks: []\n...\n",
        "{repos: []}\n",
        "default_install_hook_types: pre-commit\nrepos: []\n",
    ],
)
def test_what_cannot_be_added_to_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        add_hooks(text, None)
    assert refused.value.message.startswith(FILE)
    assert "guard install" in refused.value.hint
    assert "\n" not in refused.value.message
