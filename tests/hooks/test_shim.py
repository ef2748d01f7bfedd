"""What an installed hook does before Python starts: real git, and a recorder as interpreter."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from guard_hooks.shim import is_ours, shell_of, shim_text
from tests.conftest import ScratchRepo

RECORDER = """\
#!/bin/sh
{ printf '<%s>' "$@"; echo; cat; } >>"$RECORD"
exit ${ENDS_IN:-0}
"""


class Hooked:
    """A repository whose hook is ours, with a recorder in the interpreter's place."""

    def __init__(self, repo: ScratchRepo, folder: Path) -> None:
        self.repo = repo
        self.record = folder / "record"
        self.python = folder / "the python's"
        self.python.write_text(RECORDER, encoding="utf-8")
        self.python.chmod(0o755)
        self.hooks = repo.root / ".git" / "hooks"

    def install(self, stage: str, earlier: str | None = None, mode: int = 0o755) -> None:
        self.hooks.mkdir(exist_ok=True)
        if earlier is not None:
            kept = self.hooks / f"{stage}.guard-kept"
            kept.write_text(earlier, encoding="utf-8")
            kept.chmod(mode)
        text = shim_text(stage, str(self.python), None if earlier is None else earlier.encode())
        (self.hooks / stage).write_bytes(text)
        (self.hooks / stage).chmod(0o755)

    def commit(self, **env: str) -> subprocess.CompletedProcess[str]:
        env["RECORD"] = str(self.record)
        return self.repo.run("git", "commit", "-q", "--allow-empty", "-m", "say so", env=env)

    def recorded(self) -> str:
        return self.record.read_text(encoding="utf-8") if self.record.exists() else ""


@pytest.fixture
def hooked(repo: ScratchRepo, tmp_path: Path) -> Hooked:
    return Hooked(repo, tmp_path)


def test_starts_python_with_stage_and_arguments(hooked: Hooked) -> None:
    hooked.install("commit-msg")
    assert hooked.commit().returncode == 0
    assert hooked.recorded().startswith("<-E><-P><-c>")
    assert hooked.recorded().endswith("<commit-msg><.git/COMMIT_EDITMSG>\n")


def test_hands_the_exit_code_on(hooked: Hooked) -> None:
    hooked.install("pre-commit")
    assert hooked.commit(ENDS_IN="1").returncode != 0


def test_earlier_hook_runs_first_with_its_arguments(hooked: Hooked) -> None:
    hooked.install("commit-msg", '#!/bin/sh\necho "earlier $1" >>"$RECORD"\n')
    assert hooked.commit().returncode == 0
    assert hooked.recorded().startswith("earlier .git/COMMIT_EDITMSG\n<-E>")


@pytest.mark.parametrize(
    "earlier",
    [
        "#!/bin/sh\nexit 7\n",
        "#!/bin/sh\nset -e\nfalse\nexit 0\n",
        "#!/bin/sh -e\nfalse\nexit 0\n",
        "#!/usr/bin/env bash\nset -euo pipefail\nfalse | true\nexit 0\n",
        "#!/usr/bin/env python3\nraise SystemExit(7)\n",
        "#!/bin/sh\nthis is ( no shell\n",
    ],
)
@pytest.mark.parametrize("stage", ["pre-commit", "pre-push"])
def test_earlier_hook_that_fails_blocks(hooked: Hooked, stage: str, earlier: str) -> None:
    hooked.install(stage, earlier)
    done = hooked.repo.run(
        str(hooked.hooks / stage), "origin", "url", input="", env={"RECORD": str(hooked.record)}
    )
    assert done.returncode != 0
    assert hooked.recorded() == ""


def test_both_read_what_git_says_of_a_push(hooked: Hooked, tmp_path: Path) -> None:
    hooked.install("pre-push", '#!/bin/sh\n{ echo "earlier $*"; cat; } >>"$RECORD"\n')
    hooked.repo.commit("feat: first", {"a": "1"})
    hooked.repo.git("init", "-q", "--bare", str(tmp_path / "up"))
    done = hooked.repo.run(
        "git", "push", "-q", str(tmp_path / "up"), "main", env={"RECORD": str(hooked.record)}
    )
    assert done.returncode == 0, done.stderr
    line = f"refs/heads/main {hooked.repo.git('rev-parse', 'main').strip()} refs/heads/main "
    assert hooked.recorded().count(line) == 2
    assert hooked.recorded().startswith(f"earlier {tmp_path / 'up'} {tmp_path / 'up'}\n{line}")


def test_empty_input_stays_empty_for_both(hooked: Hooked) -> None:
    hooked.install("pre-push", '#!/bin/sh\nwhile read line; do echo seen >>"$RECORD"; done\n')
    path = str(hooked.hooks / "pre-push")
    done = hooked.repo.run(path, "o", "url", input="", env={"RECORD": str(hooked.record)})
    assert done.returncode == 0
    assert "seen" not in hooked.recorded()


def test_earlier_hook_that_reads_nothing_breaks_no_large_push(hooked: Hooked) -> None:
    hooked.install("pre-push", "#!/bin/sh\nexit 0\n")
    said = "refs/heads/x 1 refs/heads/x 0\n" * 20_000
    path = str(hooked.hooks / "pre-push")
    done = hooked.repo.run(path, "o", "url", input=said, env={"RECORD": str(hooked.record)})
    assert done.returncode == 0
    assert done.stderr == ""
    assert hooked.recorded().endswith(said)


@pytest.mark.parametrize("earlier", [None, "#!/bin/sh\ncat >/dev/null\n"])
def test_terminal_is_not_waited_for_by_the_shim(hooked: Hooked, earlier: str | None) -> None:
    hooked.python.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    hooked.install("pre-push", earlier)
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [str(hooked.hooks / "pre-push"), "o", "url"],
            stdin=slave,
            cwd=hooked.repo.root,
            timeout=20,
            check=False,
        )
    finally:
        os.close(master)
        os.close(slave)
    assert done.returncode == 0


def test_earlier_shell_hook_keeps_its_own_name(hooked: Hooked) -> None:
    """Husky's hooks look for the user's script by the name they were called by."""
    folder = hooked.repo.root / ".husky" / "_"
    folder.mkdir(parents=True)
    hooked.hooks = folder
    hooked.repo.git("config", "core.hooksPath", ".husky/_")
    (folder / "h").write_text(
        'n=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ -f "$s" ] || exit 0\n'
        'sh -e "$s" "$@"\n',
        encoding="utf-8",
    )
    script = 'echo "husky ran" >>"$RECORD"\n'
    (folder.parent / "pre-commit").write_text(script, encoding="utf-8")
    hooked.install("pre-commit", '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n')
    assert hooked.commit().returncode == 0
    assert hooked.recorded().startswith("husky ran\n<-E>")


def test_earlier_hook_without_its_exec_bit_stays_ignored_as_git_ignored_it(hooked: Hooked) -> None:
    hooked.install("pre-commit", "#!/bin/sh\nexit 7\n", mode=0o644)
    assert hooked.commit().returncode == 0
    assert "<pre-commit>" in hooked.recorded()


def test_gone_interpreter_gives_way_to_guard_on_path(hooked: Hooked, tmp_path: Path) -> None:
    hooked.install("commit-msg")
    tools = tmp_path / "tools"
    tools.mkdir()
    hooked.python.rename(tools / "guard")
    done = hooked.commit(PATH=f"{tools}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert hooked.recorded() == "<hook><commit-msg><.git/COMMIT_EDITMSG>\n"


@pytest.mark.parametrize("stage", ["commit-msg", "pre-commit"])
def test_gone_interpreter_and_no_guard_blocks_with_one_clear_line(
    hooked: Hooked, tmp_path: Path, stage: str
) -> None:
    hooked.install(stage)
    hooked.python.unlink()
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh", "cat"):
        (tools / name).symlink_to(Path("/usr/bin") / name)
    done = hooked.commit(PATH=str(tools))
    assert done.returncode != 0
    assert f"guard: {stage} can't be judged" in done.stderr
    assert "guard install" in done.stderr
    assert hooked.repo.run("git", "rev-parse", "-q", "--verify", "HEAD").returncode != 0


def test_interpreter_that_lost_guard_blocks_with_one_clear_line(hooked: Hooked) -> None:
    text = shim_text("pre-commit", "/usr/bin/python3")
    hooked.hooks.mkdir(exist_ok=True)
    (hooked.hooks / "pre-commit").write_bytes(text.replace(b" -E -P ", b" -I -S "))
    (hooked.hooks / "pre-commit").chmod(0o755)
    done = hooked.commit()
    assert done.returncode != 0
    assert "can no longer import guard" in done.stderr
    assert "Traceback" not in done.stderr


def test_framework_that_calls_ours_as_legacy_is_not_called_in_a_circle(hooked: Hooked) -> None:
    hooked.install("pre-commit", "#!/bin/sh\n# File generated by pre-commit: x\nexit 7\n")
    assert hooked.commit().returncode != 0
    assert hooked.commit(PRE_COMMIT_RUNNING_LEGACY="1").returncode == 0


@pytest.mark.parametrize("earlier", [None, b"#!/bin/sh\n", b"#!/usr/bin/env ruby\n"])
@pytest.mark.parametrize("stage", ["commit-msg", "pre-push"])
def test_text_is_a_shell_script_of_ours_without_carriage_returns(
    stage: str, earlier: bytes | None
) -> None:
    text = shim_text(stage, "/a b/it's/python", earlier)
    assert text.startswith(b"#!/bin/sh\n")
    assert b"\r" not in text
    assert is_ours(text)
    checked = subprocess.run(["sh", "-n"], input=text, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("first", "shell"),
    [
        (b"#!/bin/sh", "/bin/sh"),
        (b"#! /bin/sh -eu", "/bin/sh -eu"),
        (b"#!/usr/bin/env bash", "bash"),
        (b"#!/usr/bin/env -S bash -e", "bash -e"),
        (b"#!/usr/bin/env python3", ""),
        (b"#!/bin/sh /other/script", ""),
        (b"#!/bin/sh\r", ""),
        (b"\x7fELF", ""),
        (b"", ""),
    ],
)
def test_shell_of_a_script(first: bytes, shell: str) -> None:
    assert shell_of(first + b"\nexit 0\n") == shell


def test_other_hooks_are_not_ours() -> None:
    assert not is_ours(b"#!/bin/sh\necho regression-guard hook\n")
