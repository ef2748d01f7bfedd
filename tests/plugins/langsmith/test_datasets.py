"""``guard sync langsmith``: LangSmith's own client against a server with real state."""

from __future__ import annotations

from functools import partial

import pytest

from tests.commands.calling import Outcome
from tests.plugins.langsmith.conftest import DATASET, LISTS, Kept
from tests.servers.langsmith import KEY, Answer, Asked

FIRST = [
    *("+ dataset clerk (guard)", "+ example ask of dataset clerk (guard)"),
    "+ example one of dataset clerk (guard)",
    *("+ dataset filer (guard)", "+ example ten of dataset filer (guard)"),
    "+ example two of dataset filer (guard)",
]


def steps(outcome: Outcome) -> list[str]:
    return [line for line in outcome.out.splitlines() if line[:2] in ("+ ", "~ ", "- ")]


def is_synced(kept: Kept) -> bool:
    done = kept.sync()
    assert (done.code, done.err) == (0, ""), done
    return kept.sync("--dry-run").out.startswith("nothing to do")


def test_the_copy_is_what_the_cases_say(kept: Kept) -> None:
    done = kept.sync()
    assert (done.code, done.err) == (0, ""), done
    assert f"langsmith ({kept.server.url}, live: false) becomes" in done.out
    assert steps(done) == FIRST
    assert done.out.endswith("done: 6 steps\nlangsmith holds what the repository says\n")
    found = kept.server.examples_of(DATASET)
    assert sorted(found) == ["ask", "one"]
    assert found["ask"]["inputs"] == {"rate": 0.5, "utterance": "echo hello again"}
    assert found["one"]["inputs"] == {"utterance": "echo hello"}
    assert found["one"]["outputs"] == {"no_changes": True, "reply_contains": ["hello"]}
    metadata = found["one"]["metadata"]
    blob = kept.repo.git("rev-parse", "HEAD:evals/one.md").strip()
    assert metadata["path"] == "evals/one.md"
    assert metadata["blob"] == blob
    assert metadata["agent"] == "clerk"
    (dataset,) = (d for d in kept.server.datasets.values() if d["name"] == DATASET)
    assert "edited here is overwritten" in dataset["description"]


def test_what_is_there_is_left_alone(kept: Kept) -> None:
    assert is_synced(kept)
    before = kept.server.state
    kept.server.asked.clear()
    done = kept.sync()
    assert done.code == 0
    assert done.out.startswith("nothing to do: langsmith (http://127.0.0.1:")
    assert kept.server.written == []
    assert kept.server.state == before


def test_a_dry_run_changes_nothing_there(kept: Kept) -> None:
    before = kept.server.state
    done = kept.sync("--dry-run")
    assert (done.code, done.err) == (0, "")
    assert steps(done) == FIRST
    assert kept.server.state == before
    assert kept.server.written == []
    assert is_synced(kept)
    kept.server.examples_of(DATASET)["one"]["outputs"] = {}
    edited = kept.server.state
    assert steps(kept.sync("--dry-run")) == ["~ example one of dataset clerk (guard)"]
    assert kept.server.state == edited


EDITS: list[tuple[str, dict[str, object]]] = [
    ("inputs", {"utterance": "echo hello, world"}),
    ("outputs", {"reply_contains": ["hello"]}),
    ("outputs", {"no_changes": 1, "reply_contains": ["hello"]}),
    ("metadata", {"path": "elsewhere.md"}),
    ("metadata", {"blob": "0" * 40}),
    ("metadata", {"note": "please keep"}),
]


def test_an_edit_in_the_dashboard_is_overwritten(kept: Kept) -> None:
    assert is_synced(kept)
    for field, value in EDITS:
        row = kept.server.examples_of(DATASET)["one"]
        right = {name: row[name] for name in ("id", "inputs", "outputs", "metadata")}
        row[field] = {**row["metadata"], **value} if field == "metadata" else value
        assert steps(kept.sync()) == ["~ example one of dataset clerk (guard)"], (field, value)
        found = kept.server.examples_of(DATASET)["one"]
        assert {name: found[name] for name in right} == right
    assert kept.sync().out.startswith("nothing to do")


def test_what_langsmith_adds_by_itself_is_no_edit(kept: Kept) -> None:
    assert is_synced(kept)
    row = kept.server.examples_of(DATASET)["one"]
    row["metadata"] |= {"dataset_split": ["base", "mine"], "ls_something": 1}
    row["inputs"] = {"utterance": "echo hello"}
    assert kept.sync().out.startswith("nothing to do")
    row["outputs"] = {}
    assert is_synced(kept)
    # Where people sorted it into is theirs.
    assert kept.server.examples_of(DATASET)["one"]["metadata"]["dataset_split"] == ["base", "mine"]


def test_what_is_added_there_is_deleted_and_what_is_deleted_is_made_again(kept: Kept) -> None:
    assert is_synced(kept)
    found = kept.server.examples_of(DATASET)
    home = found["one"]["dataset_id"]
    del kept.server.examples[found["one"]["id"]]
    stray = kept.server.add_example(home, {})
    kept.server.add_example(home, {"case": "gone"})
    twin = kept.server.add_example(home, {"case": "ask"})
    done = kept.sync()
    assert done.code == 0, done
    assert steps(done) == [
        "+ example one of dataset clerk (guard)",
        f"- example {stray}, which names no case, of dataset clerk (guard)",
        "- example ask of dataset clerk (guard)",
        "- example gone of dataset clerk (guard)",
    ]
    assert sorted(kept.server.examples_of(DATASET)) == ["ask", "one"]
    assert found["ask"]["id"] in kept.server.examples
    assert twin not in kept.server.examples


def test_a_change_of_one_example_of_a_file_leaves_the_others_alone(kept: Kept) -> None:
    assert is_synced(kept)
    first, second = LISTS["examples"]
    assert isinstance(first, dict)
    kept.write_lists({**LISTS, "examples": [{**first, "outputs": {"exit_code": 1}}, second]})
    assert steps(kept.sync()) == ["~ example ten of dataset filer (guard)"]
    found = kept.server.examples_of("filer (guard)")
    assert found["ten"]["outputs"] == {"exit_code": 1}
    assert found["ten"]["metadata"]["blob"] != found["two"]["metadata"]["blob"]
    assert kept.sync().out.startswith("nothing to do")
    kept.write_lists({**LISTS, "examples": [second]})
    assert steps(kept.sync()) == ["- example ten of dataset filer (guard)"]


def test_an_agent_that_loses_its_last_case_keeps_no_example(kept: Kept) -> None:
    assert is_synced(kept)
    (kept.repo.root / "lists/filer.json").unlink()
    assert len(steps(kept.sync())) == 2
    assert kept.server.examples_of("filer (guard)") == {}


def test_more_examples_than_one_page(kept: Kept) -> None:
    many = [
        {
            "id": f"n{number}",
            "inputs": {"n": number, "utterance": "true"},
            "outputs": {"exit_code": 0},
        }
        for number in range(103)
    ]
    kept.write_lists({**LISTS, "examples": many})
    assert is_synced(kept)
    assert len(kept.server.examples_of("filer (guard)")) == 103


def test_a_dataset_that_guard_did_not_make_is_left_alone(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = kept.server.add_dataset(DATASET, {"owner": "someone"})
    kept.server.add_example(home, {})
    before = kept.server.state
    done = kept.sync()
    assert done.code == 3
    assert "LangSmith has a dataset clerk (guard) that guard did not make" in done.err
    assert kept.server.state == before
    monkeypatch.setenv("LANGSMITH_GUARD_PREFIX", "desk ")
    assert is_synced(kept)
    assert sorted(kept.server.examples_of("desk clerk (guard)")) == ["ask", "one"]


# What goes wrong ------------------------------------------------------------------------------


def test_without_a_key_it_is_one_line(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGSMITH_API_KEY")
    said = "guard: sync langsmith: the environment variable LANGSMITH_API_KEY is not set\n"
    assert kept.sync() == Outcome(3, "", said)
    assert kept.server.asked == []
    monkeypatch.setenv("LANGCHAIN_API_KEY", KEY)
    assert is_synced(kept)


def test_a_key_that_is_refused(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_pt_wrong")
    done = kept.sync()
    assert (done.code, done.out) == (3, "")
    assert done.err.endswith(
        "reading dataset clerk (guard): 401 the key in LANGSMITH_API_KEY is refused\n"
    )
    assert "lsv2_pt_wrong" not in done.err


#: Answer → what is said of it, and how often it is asked for.
BROKEN = [
    (Answer(429, {"detail": "slow down"}), '429 {"detail": "slow down"}', 4),
    (Answer(500, {"detail": f"what is {KEY}?"}), "[redacted LANGSMITH_API_KEY]?", 4),
    (Answer(403, {"detail": "no"}), "403 the key in LANGSMITH_API_KEY is refused", 1),
    (Answer(200, raw=b"<html>hello"), "the answer is no JSON: is that its API?", 1),
    (Answer(200, [{"name": DATASET}]), "ValidationError", 1),
    (Answer(200, "hello"), "TypeError", 1),
    (Answer(0), "it can't be reached, or hangs up", 2),
]


def test_a_server_that_does_not_answer(kept: Kept) -> None:
    for answer, said, tries in BROKEN:
        kept.server.reset()
        kept.server.breaks = partial(answer_datasets, answer)
        done = kept.sync()
        assert (done.code, done.out) == (3, ""), done
        assert said in done.err
        assert len(done.err.splitlines()) == 1
        assert sum(one.path == "/datasets" for one in kept.server.asked) == tries, said


def answer_datasets(answer: Answer, asked: Asked) -> Answer | None:
    return answer if asked.path == "/datasets" else None


def test_what_passes_is_tried_again(kept: Kept) -> None:
    left = [Answer(429, {}, {"retry-after": "0"}), Answer(503, {}), Answer(500, {})]
    kept.server.breaks = lambda asked: left.pop() if left else None
    assert is_synced(kept)


def test_a_server_is_not_waited_for_as_long_as_it_asks(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guard_langsmith.transport.LONGEST_PAUSE", 0.01)
    kept.server.breaks = lambda asked: Answer(429, {}, {"retry-after": "3600"})
    assert kept.sync().code == 3


def test_one_that_hangs_is_not_waited_for(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guard_langsmith.client.TIMEOUTS", (200, 200))
    kept.server.breaks = lambda asked: Answer(200, [], seconds=2)
    done = kept.sync()
    assert done.code == 3
    assert "no answer in time" in done.err


def test_one_that_is_not_there(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    for endpoint, said in [
        ("http://someone:secret@127.0.0.1:9", "LangSmith (http://127.0.0.1:9, live: false)"),
        ("127.0.0.1:9", "LANGSMITH_ENDPOINT is no address"),
        ("http://[", "LANGSMITH_ENDPOINT is no address"),
    ]:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", endpoint)
        done = kept.sync()
        assert (done.code, done.out) == (3, ""), done
        assert said in done.err
        assert "secret" not in done.err


def test_one_that_dies_in_the_middle_is_made_whole_by_the_next_call(kept: Kept) -> None:
    def die(asked: Asked) -> Answer | None:
        late = asked.method == "POST" and b'"ten"' in asked.data
        return Answer(500, {"detail": "the disk is full"}) if late else None

    kept.server.breaks = die
    done = kept.sync()
    assert done.code == 3
    assert steps(done) == FIRST
    assert "done: 4 of 6 steps" in done.out
    assert "not done: + example ten of dataset filer (guard), nor the 1 step after it" in done.out
    assert "adding example ten: 500" in done.err
    assert "do  guard sync langsmith    # safe to run again" in done.err
    kept.server.breaks = lambda asked: None
    assert steps(kept.sync()) == FIRST[4:]
    assert kept.sync().out.startswith("nothing to do")


def test_one_that_keeps_nothing_of_what_it_takes_is_no_copy(kept: Kept) -> None:
    done = Answer(200, {"example_ids": [], "count": 0})
    kept.server.breaks = lambda asked: done if asked.path.startswith("/v1/") else None
    outcome = kept.sync()
    assert outcome.code == 3
    assert "still lacks + example ask of dataset clerk (guard)" in outcome.err
