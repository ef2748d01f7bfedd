"""Hooks wrapped by a witness: what a real git call's hooks leave changed fails the test."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.invariants import snapshot_state
from tests.scratch_repo import ScratchRepo

ROOT = Path(__file__).parent.parent.parent
#: Where a witness writes what it saw: one JSON document a line.
SEEN = "witness.jsonl"
WRAPPER = """\
#!/bin/sh
exec {python} -P -c 'import sys; sys.path.insert(0, sys.argv[1])
from tests.gitcases.watching import witness
sys.exit(witness(*sys.argv[2:]))' {root} {file} {real} "$@"
"""


def witness(file: str, real: str, *args: str) -> int:
    """Run a hook as git called it; write down what differs after it."""
    repo = ScratchRepo(Path.cwd())
    before = snapshot_state(repo)
    code = subprocess.run([real, *args], check=False).returncode
    after = snapshot_state(repo)
    changed = {n: [before[n], after[n]] for n in before if before[n] != after[n]}
    with open(file, "a", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(json.dumps({"hook": Path(real).stem, "changed": changed}) + "\n")
    return code


class Witness:
    """The hooks of one folder, each run between two looks at all that is the user's."""

    def __init__(self, folder: Path, file: Path) -> None:
        self.folder = folder
        self.file = file
        self.needed = True

    def wrap(self) -> None:
        """Put the witness in front of every hook in the folder."""
        for hook in sorted(self.folder.iterdir()):
            if hook.suffix or not os.access(hook, os.X_OK):
                continue
            real = hook.with_name(f"{hook.name}.witnessed")
            hook.rename(real)
            words = {"python": sys.executable, "root": ROOT, "file": self.file, "real": real}
            quoted = {name: shlex.quote(str(word)) for name, word in words.items()}
            hook.write_text(WRAPPER.format(**quoted))
            hook.chmod(0o755)

    def unneeded(self) -> None:
        """Say that this test's git calls no hook: none has to have been seen."""
        self.needed = False

    def check(self) -> None:
        """Fail where a hook changed something, or none ran."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        assert lines or not self.needed, "no hook ran under a witness"
        for line in lines:
            seen = json.loads(line)
            assert not seen["changed"], f"{seen['hook']} changed {seen['changed']}"
