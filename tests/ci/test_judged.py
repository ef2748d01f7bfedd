from __future__ import annotations

from guard.ci.judged import squash_message, without_repetition
from guard.ci.services import Told
from guard.judging.judge import Judgement
from guard.judging.ranges import CommitInfo
from guard.messages.message import exemption, parse_message, weakenings
from guard.model import Violation


def commit(message: str) -> CommitInfo:
    return CommitInfo("a" * 40, "b" * 40, (), message)


def test_the_squash_has_the_title_the_text_and_our_trailers() -> None:
    told = Told(title=" fix: a ", body="One.\r\n\r\nTwo.\r\n")
    commits = [
        commit("fix: a\n\nGuard-Exempt: the client goes away\nSigned-off-by: me\n"),
        commit("test: b\n\nGuard-Exempt: the client goes away\nCase-Weakened: taxi: it moved\n"),
        commit("docs: c\n"),
    ]
    text = squash_message(told, commits)
    assert text == (
        "fix: a\n\nOne.\n\nTwo.\n\n"
        "Guard-Exempt: the client goes away\nCase-Weakened: taxi: it moved\n"
    )
    message = parse_message(text)
    assert message.header == "fix: a"
    assert weakenings(message) == {"taxi": "it moved"}
    excused = exemption(message)
    assert excused is not None
    assert excused.reason == "the client goes away"


def test_a_title_alone_is_a_message() -> None:
    assert squash_message(Told(title="fix: a"), [commit("fix: a\n")]) == "fix: a\n"


def test_what_a_commit_breaks_is_not_said_of_the_tree_again() -> None:
    of_commit = Violation("record-invalid", "record a guards nothing", commit="1234 fix: a")
    judged = Judgement((of_commit,))
    of_tree = [of_commit._replace(commit=""), Violation("record-invalid", "record b")]
    assert without_repetition(of_tree, judged) == (of_commit, of_tree[1])
