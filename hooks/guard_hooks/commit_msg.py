"""commit-msg: the fix and weakening rules, on the index and the message that git gives it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from guard.change import Change, staged_change
from guard.errors import ExitCode, UnreadableError, UsageError
from guard.git import Repo, find_repo, text_of
from guard.hookruns.between import leaves_to_native
from guard.hookruns.judged_index import committed_unjudged, moved_since
from guard.hookruns.main import is_nested, run_hook
from guard.judging.amend import git_command_line, is_amend
from guard.judging.guarded import concerns
from guard.messages.cleanup import clean_raw, decode_message, effective_cleanup
from guard.output import printable, say, warn
from guard.plugin.switches import disabled_plugins
from guard.project import Project
from guard.store import Store

if TYPE_CHECKING:
    from guard.judging.judge import Judgement
    from guard.rules.commit import JudgedCommit

#: What of git's configuration decides how it will clean the message.
SETTINGS = r"^(core\.comment(char|string)|commit\.(cleanup|verbose)|i18n\.commitencoding)$"
COMMENT_STRING = "core.commentstring"
#: Lines that an accepted commit may cost.
LINES = 8
#: Files that are named one by one where all of a fix is cosmetic.
MOST_COSMETIC = 2


class Start(NamedTuple):
    """What the new commit stands on."""

    base: str | None
    """The revision it is compared with; None for the empty tree."""
    parents: tuple[str, ...] = ()
    """Its parents, where it is a merge."""


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the commit that git is making; ``argv`` is the file of its message."""
    if leaves_to_native("commit-msg"):
        return ExitCode.OK
    words = sys.argv[1:] if argv is None else list(argv)
    # Before anything changes the folder: git names the file from where it started us.
    files = [os.path.abspath(word) for word in words]
    return run_hook(lambda: commit_msg(files))


def commit_msg(files: Sequence[str]) -> int:
    """Judge the commit whose message is in the one file; return the exit code."""
    if len(files) != 1:
        raise UsageError("commit-msg takes the file of the message", "guard hook commit-msg FILE")
    with find_repo() as repo:
        if is_nested(repo):
            return ExitCode.OK
        return _judge(repo, files[0])


def _judge(repo: Repo, file: str) -> int:
    repo.objects.open()
    argv = git_command_line()
    start = find_start(repo, argv)
    change = staged_change(repo, start.base)._replace(parents=start.parents)
    store = Store.open(repo.common_dir)
    disabled = disabled_plugins()
    base, new = (Project(repo, tree, store, disabled) for tree in (change.base, change.new))
    if not (base.has_config or new.has_config):
        warn("no guard.yaml, nothing is guarded")
        return ExitCode.OK
    guarded = concerns(base, change.entries) or concerns(new, change.entries)
    moved = moved_since(repo, change, guarded=guarded)
    if moved:
        raise committed_unjudged(moved, repo, change, argv, _kept_message(repo, file, argv))
    if not (start.parents or guarded or not change.entries):
        return ExitCode.OK
    return _judge_message(repo, base, new, change, file, argv)


def _judge_message(
    repo: Repo, base: Project, new: Project, change: Change, file: str, argv: tuple[str, ...]
) -> int:
    settings = begin_settings(repo)
    # Imported here: most commits touch nothing that is guarded. Git answers meanwhile.
    from guard.judging.judge import judge_commit
    from guard.messages.message import parse_message

    message = read_message(settings(), file, argv)
    change = change._replace(message=message.text.encode("utf-8", "surrogateescape"))
    heard: list[JudgedCommit] = []
    judgement = judge_commit(base, new, change, parse_message(message.text), heard=heard.append)
    if judgement.blocking:
        _remember(judgement, heard)
        _refuse(judgement, repo, new, change, argv, message.cleaned)
        return ExitCode.REGRESSION
    _tell(judgement, heard)
    return ExitCode.OK


def _kept_message(repo: Repo, file: str, argv: tuple[str, ...]) -> str:
    message = read_message(begin_settings(repo)(), file, argv)
    return keep_message(repo, message.cleaned, os.environ.get("GIT_PREFIX", ""))


def find_start(repo: Repo, argv: Sequence[str]) -> Start:
    """Tell what the commit stands on: HEAD, what an amended HEAD stood on, or several."""
    if is_amend(argv):
        parents = _parents_of_head(repo)
        return Start(parents[0] if parents else None, parents if len(parents) > 1 else ())
    merged = _merge_heads(repo)
    return Start("HEAD", (_head(repo), *merged) if merged else ())


def _head(repo: Repo) -> str:
    item = repo.objects.read("HEAD")
    if item is None:
        raise UnreadableError("HEAD names no commit", "git fsck")
    return item.oid


def _parents_of_head(repo: Repo) -> tuple[str, ...]:
    item = repo.objects.read("HEAD")
    headers = item.data.partition(b"\n\n")[0].split(b"\n") if item else []
    return tuple(line[7:].decode() for line in headers if line.startswith(b"parent "))


def _merge_heads(repo: Repo) -> tuple[str, ...]:
    try:
        with open(os.path.join(repo.git_dir, "MERGE_HEAD"), encoding="ascii") as file:
            return tuple(file.read().split())
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise UnreadableError(f"MERGE_HEAD can't be read: {error}") from error


class RawMessage(NamedTuple):
    """The message as git will store it."""

    cleaned: bytes
    text: str


def read_message(settings: Mapping[str, str], file: str, argv: Sequence[str]) -> RawMessage:
    """Return the message of a file, cleaned as git will. Raises `UnreadableError`."""
    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise UnreadableError(f"the message can't be read: {error.strerror}") from error
    cleanup = effective_cleanup(content, settings, argv, os.environ.get("GIT_EDITOR"))
    cleaned = clean_raw(content, cleanup)
    return RawMessage(cleaned, decode_message(cleaned, settings.get("i18n.commitencoding", "")))


def begin_settings(repo: Repo) -> Callable[[], Mapping[str, str]]:
    """Ask for git's settings that matter to a message; the answer has the last of each."""
    # 1: none of them is set.
    listed = repo.begin("config", "-z", "--get-regexp", SETTINGS, ok=(0, 1))

    return lambda: read_settings(repo, listed())


def read_settings(repo: Repo, listed: bytes) -> Mapping[str, str]:
    """Return key → last value, in the order of these: of two names for one thing it counts."""
    found: dict[str, str] = {}
    for item in filter(None, listed.split(b"\0")):
        key, given, value = text_of(item).partition("\n")
        found.pop(key, None)
        found[key] = value if given else "true"
    if COMMENT_STRING in found and not knows_comment_string(repo):
        del found[COMMENT_STRING]
    return found


def knows_comment_string(repo: Repo) -> bool:
    """Tell whether git reads core.commentString: since 2.45. Asked where it is set."""
    words = text_of(repo.out("version")).split()
    numbers = [int(part) for part in words[2].split(".")[:2]]
    return numbers >= [2, 45]


def _refuse(
    judgement: Judgement,
    repo: Repo,
    new: Project,
    change: Change,
    argv: tuple[str, ...],
    message: bytes,
) -> None:
    from guard.judging.refusal import Refused, refusal

    prefix = os.environ.get("GIT_PREFIX", "")
    kept = keep_message(repo, message, prefix)
    say(refusal(judgement.blocking, Refused(repo, new, change, argv, kept, prefix)))


def keep_message(repo: Repo, message: bytes, prefix: str) -> str:
    """Keep a refused message; return its file as seen from where git was called, or nothing."""
    path = os.path.join(repo.git_dir, "guard", "message")
    fresh = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(fresh, "wb") as stream:
            stream.write(message)
        os.replace(fresh, path)
    except OSError:
        return ""
    inside = path.startswith(repo.root + os.sep)
    return os.path.relpath(path, os.path.join(repo.root, prefix)) if inside else path


def _remember(judgement: Judgement, heard: Sequence[JudgedCommit]) -> None:
    """Remember a change that is refused as a fix: it may come again under another name."""
    from guard.judging.renamed import remember
    from guard.rules import fix_needs_case, fix_needs_record

    for violation in judgement.blocking:
        if violation.rule in (fix_needs_case.RULE, fix_needs_record.RULE):
            for commit in heard:
                remember(commit, violation.agents)


def _cosmetic_lines(cosmetic: Sequence[str]) -> Sequence[str]:
    if len(cosmetic) > MOST_COSMETIC:
        from guard.judging.judge import cosmetic_count

        return cosmetic_count(cosmetic)
    return [f"cosmetic: {text}, no case asked" for text in cosmetic]


def _tell(judgement: Judgement, heard: Sequence[JudgedCommit]) -> None:
    """Say what is noted of an accepted commit."""
    lines = [f"! {v.message} ({v.rule})" for v in judgement.violations]
    lines += [f"exempt: {text}" for text in judgement.exempt]
    lines += _cosmetic_lines(judgement.cosmetic)
    lines += judgement.notes
    for commit in heard:
        if commit.owned and not commit.fix:
            from guard.judging.renamed import recall

            lines += filter(None, [recall(commit)])
    for line in lines[: LINES - 1]:
        warn(printable(line))
    if len(lines) >= LINES:
        warn(f"and {len(lines) - LINES + 1} more notes")


if __name__ == "__main__":
    raise SystemExit(main())
