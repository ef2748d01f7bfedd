"""lefthook: what in its configuration would keep guard's hooks from judging."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from guard.doctor import Finding, broken, look, unknown
from guard.doctor.swallowed import swallowing_line
from guard.git import Repo
from guard.output import printable
from guard.setup.lefthook import Job, Lefthook, read_lefthook

#: In every hook that lefthook writes, or that someone wrote to call it.
MARK = b"lefthook"
#: Keys by which lefthook leaves a job out, by files that may not be there.
FILTERS = ("glob", "files", "file_types", "exclude")
CONDITIONS = ("skip", "only")
_RECORDED = re.compile(rb"^  elif (/.+?) -h >/dev/null", re.MULTILINE)


def check_lefthook(
    repo: Repo, hooks: list[bytes], *, beside_ours: bool = False
) -> Iterator[Finding]:
    """Check guard's jobs; ``hooks`` are the texts of the hook files that are lefthook's.

    ``beside_ours``: whether guard's own pre-push hook judges what lefthook doesn't show.
    """
    found = read_lefthook(repo.root)
    for job in found.jobs:
        yield from _check_job(job)
    if not beside_ours:
        yield from _check_push_jobs(found)
    if not hooks:
        return
    yield from _check_switches()
    if not _can_start(repo.root, hooks[0]):
        yield broken(
            "lefthook is gone: its hooks let everything through",
            "install lefthook, or: guard install",
        )


def calls_guard(found: Lefthook, stage: str) -> str:
    """Return what is known of a stage: own, missing, or other where there may be more."""
    if any(job.stage == stage for job in found.jobs):
        return "own"
    return "other" if found.unread or not found.files else "missing"


def _check_job(job: Job) -> Iterator[Finding]:
    where = f"{job.file}: {job.stage}"
    filters = [key for key in FILTERS if key in job.settings]
    if filters:
        yield broken(
            f"{where}: `{filters[0]}` makes lefthook skip guard, "
            "which decides itself what is affected",
            f"take `{filters[0]}` out",
        )
    conditions = [key for key in CONDITIONS if job.settings.get(key)]
    if conditions:
        yield look(f"{where}: by `{conditions[0]}` guard is not always asked")
    if job.stage == "pre-push" and job.settings.get("use_stdin") is not True:
        yield broken(
            f"{where}: without `use_stdin: true` guard is shown nothing of a push",
            "add `use_stdin: true` to that job",
        )
    if swallowing_line(job.run, errexit=False):
        yield broken(f"{where}: `{printable(job.run.strip())}` loses a refusal of guard's")


def _check_push_jobs(found: Lefthook) -> Iterator[Finding]:
    """Find a push that guard isn't asked of.

    lefthook asks a `run` only where HEAD differs from what was pushed, whichever branches are:
    of `git push origin other` it says "no matching push files". A script it always asks.
    """
    pushing = [job for job in found.jobs if job.stage == "pre-push"]
    if pushing and not any(job.script for job in pushing):
        yield broken(
            f"{pushing[0].file}: pre-push: lefthook skips a `run` where HEAD has nothing to push, "
            "so that another branch goes unjudged",
            "guard install (beside it); or make the job a `script`, as docs/hooks.md does",
        )


def _check_switches() -> Iterator[Finding]:
    if os.environ.get("LEFTHOOK") in ("0", "false"):
        yield broken("LEFTHOOK=0 switches every hook off", "unset LEFTHOOK")
    if os.environ.get("LEFTHOOK_EXCLUDE"):
        yield unknown("LEFTHOOK_EXCLUDE leaves jobs out", "unset LEFTHOOK_EXCLUDE")


def _can_start(root: str, hook: bytes) -> bool:
    """Tell whether a hook of lefthook's finds the program: on PATH, as recorded, or by npm."""
    recorded = _RECORDED.search(hook)
    return bool(
        os.environ.get("LEFTHOOK_BIN")
        or shutil.which("lefthook")
        or (recorded and os.access(os.fsdecode(recorded[1]), os.X_OK))
        or os.path.isdir(os.path.join(root, "node_modules", "lefthook"))
    )
