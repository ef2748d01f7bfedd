"""Whichever way a workspace is laid, a trial sees the same, and the same is seen of it."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guard.errors import UsageError
from guard.model import FAIL, PASS, TAINTED
from guard.results import Observation, TrialResult
from guard.trials import sandbox
from guard.trials.kept import Left
from guard.trials.overlay import NAME as OVERLAY_NAME
from guard.trials.pool import NAME as POOL_NAME
from guard.trials.stage import Stage
from guard.trials.trial import check_folder, regrade, run_trial
from guard.trials.ways import ANEW, VARIABLE, wanted
from guard.workspace import Reuse
from tests.conftest import ScratchRepo
from tests.own_mounts import in_own_mounts, need_overlays
from tests.staging import case_of, run_together, staged

NAMES = {"overlay": OVERLAY_NAME, "pool": POOL_NAME, "fresh": ANEW}
SCRIPT = "{utterance}"

pytestmark = pytest.mark.skipif(
    bool(sandbox.probe_namespaces()), reason="this machine gives no mount namespaces"
)


def python(code: str) -> str:
    return f"{sys.executable} -c '{code}'"


RENAME = python('import os; os.rename("d", "moved")')
SWAP = python('import os; os.rename("d", "x"); os.rename("e", "d"); os.rename("x", "e")')
MARK_FILE = python('import os; os.setxattr("a.md", "user.x", b"1")')
MARK_FOLDER = python('import os; os.setxattr("d", "user.x", b"1")')

MESSES = {
    "nothing": ":",
    "an edit": "echo more >> a.md",
    "an edit of the same size": "printf z | dd of=a.md conv=notrunc bs=1 2>/dev/null",
    "a time set back": "cp -p a.md ../tmp/k; printf z > a.md; touch -r ../tmp/k a.md",
    "a large file": "printf z | dd of=d/large conv=notrunc bs=1 seek=99999 2>/dev/null",
    "the same content again": "cp a.md ../tmp/k; cat ../tmp/k > a.md; cp ../tmp/k b; mv b a.md",
    "a file replaced": "echo new > t && mv t a.md",
    "a mode": "chmod +x a.md",
    "a mode that keeps readers out": "chmod 0 a.md d/e/c.md",
    "a folder's mode": "chmod 700 d d/e && chmod 500 e",
    "a folder that keeps readers out": "chmod 0 d/e",
    "the workspace's own mode": "chmod 711 .",
    "a new file": "echo x > new && mkdir -p n/m && echo y > n/m/new",
    "empty folders": "mkdir -p n/m/o d/n",
    "a link": "ln -s a.md link && rm run.sh && ln -s a.md run.sh && ln -sfn e to-d",
    "a file gone": "rm a.md d/e/c.md",
    "everything gone": "rm -rf ./*",
    "a folder gone": "rm -r d",
    "a folder laid again": "cp -r d ../tmp/d && rm -r d && cp -r ../tmp/d d",
    "a folder emptied": "rm -r d/e && mkdir d/e && echo x > d/e/other",
    "a folder that is a file": "rm -r d && echo x > d",
    "a file that is a folder": "rm a.md && mkdir a.md && echo x > a.md/in",
    "a folder that is a link": "rm -r d && ln -s e d",
    "a folder renamed": RENAME,
    "a folder renamed and filled": f"{RENAME} && echo x > moved/e/new && rm moved/b.md",
    "two folders swapped": SWAP,
    "a new folder renamed": "mkdir n && echo x > n/f && mv n d/n",
    "a hard link": "ln a.md ../tmp/out && echo x >> ../tmp/out && ln a.md d/in",
    "a file taken out and put back": "mv a.md ../tmp/k && mv ../tmp/k a.md",
    "a fifo": "mkfifo pipe && rm a.md && mkfifo a.md",
    "marks of its own": f"{MARK_FILE}; {MARK_FOLDER}; true",
    "strange names": "echo x > 'a b' && echo y > \"$(printf 'n\\nl')\" && mkdir '-d'",
}


@pytest.fixture(params=["overlay", "pool"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A way, asked for by name."""
    name = str(request.param)
    if name == "overlay":
        need_overlays(tmp_path)
    monkeypatch.setenv(VARIABLE, name)
    return name


def run_by(way: str, body: Callable[[], None]) -> None:
    if way == "overlay":
        in_own_mounts(body)
    else:
        body()


def make(repo: ScratchRepo) -> None:
    """An agent's folder with all that git keeps."""
    repo.write(
        {
            "agent/a.md": "a\n",
            "agent/run.sh": "#!/bin/sh\n",
            "agent/d/b.md": "b\n",
            "agent/d/e/c.md": "c\n",
            "agent/d/large": "x" * (1 << 20),
            "agent/e/f.md": "f\n",
        }
    )
    (repo.root / "agent/run.sh").chmod(0o755)
    (repo.root / "agent/to-d").symlink_to("d")


def said(result: TrialResult) -> dict[str, Any]:
    """What is known of a trial, less what differs each time."""
    return {
        "verdict": result.verdict,
        "changes": result.observation.changes,
        "diff": result.diff,
        "before": result.workspace_before,
        "after": result.workspace_after,
        "files": result.files,
        "failing": result.failing,
        "exit": result.observation.exit_status,
        "stderr": result.observation.stderr,
    }


def told(path: str, root: str) -> list[Any]:
    """All that tells one file or folder from another, but its times."""
    status = os.lstat(path)
    found: list[Any] = [os.path.relpath(path, root), oct(status.st_mode), status.st_uid]
    found.append(os.listxattr(path, follow_symlinks=False))
    if stat.S_ISREG(status.st_mode):
        found += [status.st_nlink, Path(path).read_bytes()]
    return found + ([os.readlink(path)] if stat.S_ISLNK(status.st_mode) else [])


def listing(stage: Stage) -> list[list[Any]]:
    """What a trial would find now."""
    with stage.slot() as slot:
        workspace = stage.lay(slot, "listing", ())
        root = workspace.path
        found = [told(root, root)]
        for top, folders, files in os.walk(root):
            found += [told(os.path.join(top, name), root) for name in folders + files]
        assert workspace.scan(time.time_ns()) is not None
        workspace.remove(Reuse.AS_LISTED)
    return sorted(found, key=str)


def tell(stage: Stage) -> dict[str, tuple[dict[str, Any], list[list[Any]]]]:
    """Make each mess, and list what the next trial would find."""
    return {
        name: (said(run_trial(stage, case_of(utterance=script), 1)), listing(stage))
        for name, script in MESSES.items()
    }


def test_a_trial_is_the_same_and_leaves_nothing_to_the_next(
    repo: ScratchRepo, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(repo)
    seen: dict[str, tuple[dict[str, Any], list[list[Any]]]] = {}

    def tell_all() -> None:
        with staged(repo, SCRIPT) as stage:
            assert run_trial(stage, case_of(utterance=":"), 1).isolation.endswith(NAMES[way])
            seen.update(tell(stage))

    run_by(way, tell_all)
    monkeypatch.setenv(VARIABLE, "fresh")
    with staged(repo, SCRIPT) as stage:
        plain = tell(stage)
    clean = plain["nothing"][1]
    for name, (result, following) in plain.items():
        assert following == clean, name
        assert seen[name][0] == result, name
        assert seen[name][1] == clean, name


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount there")
@pytest.mark.parametrize("way", ["overlay", "pool", "fresh"], indirect=True)
def test_what_a_trial_mounts_or_limits_does_not_reach_the_next(repo: ScratchRepo, way: str) -> None:
    make(repo)
    look = case_of(utterance="find . | sort; cat d/b.md; ulimit -n; nice; echo $PPID")
    messes = [
        *("mount -t tmpfs t d", "mkdir x; mount -t tmpfs t x; echo 1 >x/z"),
        *("mount --bind a.md d/b.md", "kill -STOP $PPID"),
        *("renice 7 $PPID", "prlimit --nofile=77:77 --pid $PPID"),
    ]

    def run() -> None:
        with staged(repo, SCRIPT) as stage:
            *plain, launcher = run_trial(stage, look, 1).observation.stdout.split()
            run_trial(stage, case_of(utterance="echo more >>a.md; (unshare -m true)"), 1)
            assert run_trial(stage, look, 1).observation.stdout.split() == [*plain, launcher]
            for mess in messes:
                done = run_trial(stage, case_of(utterance=mess), 1)
                assert (done.observation.exit_status, done.isolation[-5:]) == (0, NAMES[way][-5:])
                *after, other = run_trial(stage, look, 1).observation.stdout.split()
                assert (after, other != launcher) == (plain, True), mess
                launcher = other

    run_by(way, run)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount there")
def test_what_a_trial_mounts_is_out_of_its_checkers_sight(repo: ScratchRepo, way: str) -> None:
    make(repo)
    checked = {"command": [{"argv": ["grep", "-q", "^a$", "a.md"]}], "no_changes": True}

    def run() -> None:
        with staged(repo, SCRIPT) as stage:
            for mess, verdict in {"mount --bind run.sh a.md": PASS, "echo b >a.md": FAIL}.items():
                case = case_of(utterance=mess, expected=checked)
                assert run_trial(stage, case, 1).verdict == verdict

    run_by(way, run)


def test_files_given_to_one_case_are_not_there_for_another(repo: ScratchRepo, way: str) -> None:
    make(repo)
    given = {"a.md": "given\n", "d/n/new.md": "given\n"}

    def run() -> None:
        with staged(repo, SCRIPT) as stage:
            first = case_of(utterance="cat a.md d/n/new.md", given=given)
            assert run_trial(stage, first, 1).observation.stdout == "given\ngiven\n"
            assert run_trial(stage, first, 2).verdict == PASS
            gone = case_of(utterance="rm a.md d/n/new.md", given=given)._replace(id="c3")
            changes = run_trial(stage, gone, 3).observation.changes
            assert [(c.path, c.status) for c in changes] == [("a.md", "D"), ("d/n/new.md", "D")]
            plain = case_of(utterance="cat a.md; ls d")._replace(id="c2")
            result = run_trial(stage, plain, 4)
            assert result.observation.stdout == "a\nb.md\ne\nlarge\n"
            assert result.verdict == PASS

    run_by(way, run)


def test_what_is_written_beside_the_workspace_taints_as_ever(repo: ScratchRepo, way: str) -> None:
    make(repo)

    def run() -> None:
        with staged(repo, SCRIPT) as stage:
            result = run_trial(stage, case_of(utterance="echo x > ../note; rm -r d"), 1)
            assert result.verdict == TAINTED
            assert run_trial(stage, case_of(utterance="test -d d; ls .."), 2).verdict == PASS

    run_by(way, run)


def test_a_trial_reaches_no_other_workspace_and_not_what_lies_below(
    repo: ScratchRepo, way: str
) -> None:
    make(repo)

    def run() -> None:
        with staged(repo, SCRIPT) as stage:
            root = stage.place.path
            result = run_trial(stage, case_of(utterance=f"find {root} -name a.md"), 1)
            assert result.observation.stdout.count("a.md") == 1

    run_by(way, run)


def test_trials_at_once_keep_apart(repo: ScratchRepo, way: str) -> None:
    make(repo)
    script = "echo $GUARD_TRIAL > mine; sleep 0.2; cat mine; ls | wc -l"

    def run() -> None:
        with staged(repo, SCRIPT) as stage:
            for _ in range(2):
                results = run_together(stage, case_of(utterance=script), 3)
                said = [result.observation.stdout.split() for result in results]
                assert said == [[str(number), "6"] for number in (1, 2, 3)]

    # Threads of a thread that has its own mounts have them too.
    run_by(way, run)


def test_a_folder_is_graded_and_an_observation_again(
    repo: ScratchRepo, way: str, tmp_path: Path
) -> None:
    make(repo)
    left = tmp_path / "left"
    (left / "d").mkdir(parents=True)
    (left / "a.md").write_text("a\n")

    def run() -> None:
        with staged(repo, SCRIPT) as stage:
            case = case_of(expected={"files": {"a.md": {"contains": "a"}}})
            result = check_folder(stage, case, str(left))
            gone = [c.path for c in result.observation.changes if c.status == "D"]
            assert (result.verdict, len(gone)) == (PASS, 6)
            for _ in range(2):
                assert regrade(stage, case, lambda folder: Left(Observation())).verdict == PASS
            assert run_trial(stage, case_of(utterance="test -e d/b.md"), 1).verdict == PASS

    run_by(way, run)


def test_what_a_checker_writes_does_not_reach_the_next_trial(repo: ScratchRepo, way: str) -> None:
    make(repo)
    checker = {"argv": ["sh", "-c", "echo spoiled > a.md; mkdir n"], "exit_code": 0}

    def run() -> None:
        with staged(repo, SCRIPT) as stage:
            writing = case_of(utterance=":", expected={"command": checker})
            assert run_trial(stage, writing, 1).verdict == PASS
            result = run_trial(stage, case_of(utterance="cat a.md; ls"), 2)
            assert "spoiled" not in result.observation.stdout
            assert "\nn\n" not in result.observation.stdout
            assert result.verdict == PASS

    run_by(way, run)


def test_a_target_inside_guard_sees_the_same_place(repo: ScratchRepo, way: str) -> None:
    make(repo)

    def write(trial: Any) -> Observation:
        with open(os.path.join(trial.workspace, "a.md"), "a", encoding="utf-8") as file:
            file.write("more\n")
        return Observation(reply="done")

    def run() -> None:
        with staged(repo, run=write) as stage:
            for number in (1, 2):
                changes = run_trial(stage, case_of(), number).observation.changes
                assert [(c.path, c.insertions) for c in changes] == [("a.md", 1)]

    run_by(way, run)


def test_nothing_is_left_mounted_or_on_disk(repo: ScratchRepo, way: str) -> None:
    make(repo)

    def run() -> None:
        with staged(repo, SCRIPT) as stage:
            root = stage.place.path
            # Something that holds a file open, and outlives its program for a while.
            run_trial(stage, case_of(utterance="sleep 30 < a.md & cd d; sleep 30 &", timeout=9), 1)
            with open("/proc/thread-self/mounts", encoding="utf-8") as file:
                assert not [line for line in file if line.startswith("guard ") and root in line]
        assert not os.path.exists(root)

    run_by(way, run)


def test_a_way_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "magic")
    with pytest.raises(UsageError, match="GUARD_WORKSPACES is magic"):
        wanted(3)


def test_a_small_folder_is_written_anew_and_nothing_is_said(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    make(repo)
    with staged(repo, SCRIPT) as stage:
        assert stage.way.note == ""


def test_without_own_mounts_a_folder_is_used_again_and_the_report_says_why(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "overlay")
    make(repo)
    with staged(repo, SCRIPT) as stage:
        result = run_trial(stage, case_of(utterance=":"), 1)
    assert f"{POOL_NAME} (no overlay: " in result.isolation
