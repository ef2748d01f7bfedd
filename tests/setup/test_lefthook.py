"""Which of lefthook's jobs call guard."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.setup.lefthook import read_lefthook, shows_pushes

FORMS = {
    "lefthook.yml": "pre-push:\n  jobs:\n"
    "    - run: make\n    - {run: guard-suite, use_stdin: true}\n",
    ".lefthook.yaml": "pre-push: {commands: {g: {run: guard hook pre-push, use_stdin: true}}}\n",
    ".config/lefthook.json": '{"pre-push": {"jobs": [{"run": "guard-suite", "use_stdin": true}]}}',
    "lefthook.toml": '[[pre-push.jobs]]\nrun = "uv run guard hook pre-push"\nuse_stdin = true\n',
    "lefthook-local.yml": "pre-push:\n  jobs:\n"
    "    - use_stdin: true\n      group: {jobs: [{run: guard-suite}]}\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_a_job_is_found(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(FORMS[name])
    (job,) = read_lefthook(str(tmp_path)).jobs
    assert (job.file, job.stage, "guard" in job.run) == (name, "pre-push", True)
    assert shows_pushes(str(tmp_path))
    path.write_text(FORMS[name].replace("true", "false"))
    assert not shows_pushes(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("pre-push: [\n", ("lefthook.yml",)),
        ("- a\n", ()),
        ("pre-push: {jobs: [x, {run: make safeguard}], commands: 3}\n", ()),
        (
            "extends: [other.yml]\nremotes: []\n",
            ("lefthook.yml: `extends`", "lefthook.yml: `remotes`"),
        ),
    ],
)
def test_what_has_no_job_of_guards(tmp_path: Path, text: str, unread: tuple[str, ...]) -> None:
    (tmp_path / "lefthook.yml").write_text(text)
    found = read_lefthook(str(tmp_path))
    assert (found.files, found.jobs, found.unread) == (("lefthook.yml",), (), unread)
    assert not shows_pushes(str(tmp_path))


def test_without_lefthook_there_is_nothing(tmp_path: Path) -> None:
    assert read_lefthook(str(tmp_path)) == ((), (), ())
