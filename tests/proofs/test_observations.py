"""The files in which a proof's trials are kept: without secrets, bounded, sealed."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from guard.proofs.observations import (
    REJECTED,
    Kept,
    ObservationError,
    read_kept,
    scores_of,
    write_kept,
)
from guard.results import (
    FileChange,
    Fingerprint,
    KeptFile,
    Observation,
    Score,
    ToolCall,
    TrialResult,
)

PLACE = "/dev/shm/guard-x1/slot-2/0123456789abcdef"
SEEN = Observation(
    reply=f"Wrote {PLACE}/ws/für.md with s3cr3t-value",
    stdout="s3cr3t-value",
    stderr="",
    exit_status=0,
    output={"at": f"{PLACE}/ws", "n": 1.5},
    facts={"ok": True},
    changes=(FileChange("für.md", "A", 1, 0), FileChange("\udcff.bin", "A")),
    tool_calls=(ToolCall("Write", {"path": f"{PLACE}/ws/für.md"}, "done"),),
    permission_denials=("Bash",),
    cost_usd=0.25,
    tokens={"in": 4},
    turns=2,
    seconds=1.25,
    argv=("/home/ann/bin/claude", "-p"),
)
FILES = (
    KeptFile("für.md", "file", False, 6, "ab", "Grüße s3cr3t-value"),
    KeptFile(
        "\udcff.bin", "file", True, 2, "cd", None, base64.b64encode(b"\0s3cr3t-value").decode()
    ),
)
TRIAL = TrialResult(
    "taxi",
    3,
    "FAIL",
    (Score("no_changes", 0.0, f"{PLACE}/ws/a"), Score("timeout", 0.0)),
    observation=SEEN,
    trial_id="0123456789abcdef",
    failing=("no_changes",),
    files=FILES,
    asked=Fingerprint(program="/opt/venv/bin/clerk 17584.1778312132"),
)
ENVIRON = {"MY_API_KEY": "s3cr3t-value", "HOME": "/home/ann", "PATH": "/usr/bin", "TOKEN": "short"}


def written(trial: TrialResult = TRIAL, environ: dict[str, str] = ENVIRON) -> bytes:
    return write_kept("taxi", REJECTED, "clerk", trial, {"no_changes": True}, environ)


def kept(content: bytes) -> Kept:
    return read_kept(content, "taxi", REJECTED)


def test_what_was_written_is_read_again() -> None:
    found = kept(written(environ={}))
    assert found.expected == {"no_changes": True}
    left = found.left_in(f"{PLACE}/ws")
    assert left.observation == SEEN
    assert left.files == FILES
    # The engine's own scores are no evaluator's to give again.
    assert left.own == (Score("timeout", 0.0),)


def test_neither_secrets_nor_folders_of_the_machine_are_in_it() -> None:
    content = written()
    text = content.decode()
    for secret in ("s3cr3t-value", "/dev/shm", "/home/ann", "/opt", "0123456789abcdef/"):
        assert secret not in text
    found = kept(content).left_in("/new/place/ws")
    assert found.observation.reply == "Wrote /new/place/ws/für.md with [redacted MY_API_KEY]"
    assert found.observation.tool_calls == (
        ToolCall("Write", {"path": "/new/place/ws/für.md"}, "done"),
    )
    assert found.observation.argv[0] == "~/bin/claude"
    assert found.files[0].text == "Grüße [redacted MY_API_KEY]"
    assert base64.b64decode(found.files[1].base64 or "") == b"\0[redacted MY_API_KEY]"


def test_the_repository_of_this_machine_is_not_named() -> None:
    """It may lie in the user's home, and a folder beside it may begin as it does."""
    said = "/home/ann/app/x.py, /home/ann/app: /home/ann/apple /home/anna /srv/home/ann/x"
    said += r' "is\n/home/ann/app/x"'
    trial = TRIAL._replace(observation=SEEN._replace(reply=said))
    content = write_kept("taxi", REJECTED, "clerk", trial, {}, ENVIRON, "/home/ann/app")
    reply = kept(content).trial.observation.reply
    assert reply == (
        r'/guard-repo/x.py, /guard-repo: ~/apple /home/anna /srv/home/ann/x "is\n/guard-repo/x"'
    )


def test_a_value_that_is_no_secret_stays() -> None:
    """A short value, or a variable of another name, is in too many texts."""
    trial = TRIAL._replace(observation=SEEN._replace(reply="short /usr/bin"))
    assert kept(written(trial)).trial.observation.reply == "short /usr/bin"


def test_it_is_readable_where_its_names_are_unicode_and_written_where_they_are_none() -> None:
    readable = TRIAL._replace(files=FILES[:1], observation=SEEN._replace(changes=()))
    assert "Grüße" in written(readable).decode()
    assert b"\\udcff.bin" in written()
    assert written().isascii()


def test_long_texts_are_cut() -> None:
    long = TRIAL._replace(observation=SEEN._replace(reply="x" * (1 << 20)))
    content = written(long)
    assert len(content) < 60_000
    assert kept(content).trial.observation.reply.endswith("characters more]")


def edited(**changes: Any) -> bytes:
    return json.dumps({**json.loads(written()), **changes}).encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not valid JSON"),
        (b"[" * 100_000, "is not valid JSON"),
        (b"null", "is not an observation"),
        (b"x" * (3 << 20), "more than 2 MiB"),
        (edited(schema="guard.observation.v9"), "is not of schema"),
        (edited(failing=[]), "was edited"),
        (edited(digest=""), "was edited"),
        (edited(more=1), "was edited"),
    ],
)
def test_what_is_no_observation_is_named(content: bytes, said: str) -> None:
    with pytest.raises(ObservationError, match=said):
        kept(content)


def test_one_of_another_record_or_side_is_named() -> None:
    with pytest.raises(ObservationError, match="is the rejected one of record taxi"):
        read_kept(written(), "other", REJECTED)
    with pytest.raises(ObservationError, match="is the rejected one"):
        read_kept(written(), "taxi", "accepted")


def test_another_layout_of_the_same_is_the_same() -> None:
    """A formatter that ran over it changes nothing."""
    assert kept(json.dumps(json.loads(written())).encode()) == kept(written())


def test_of_two_scores_of_one_key_the_lower_counts() -> None:
    scores = (Score("a", 1.0), Score("a", 0.5), Score("b", 1.0), Score("command", 0.0))
    assert scores_of(scores, frozenset(["command"])) == {"a": 0.5, "b": 1.0}
