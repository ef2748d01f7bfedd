"""The weakening rule, by what is allowed: each difference in both directions."""

from __future__ import annotations

import pytest

from guard.model import FAIL, PASS
from guard.storage.records import Receipt
from guard.store import Store
from tests.guarded_repo import (
    BASE,
    CASE,
    CASE_TEXT,
    FIXED_SKILL,
    GUARD_YAML,
    RECORDS,
    SKILL,
    record,
    records,
)
from tests.judged_repo import Bench

#: A case with one of everything; `KEYS` replaces single lines of it.
FULL = """\
---
id: eur-taxi
agent: expense
utterance: EuroStar taxis were 400 euro
input: {currency: EUR}
turns: [go on]
given: {files: {budget.md: "taxi 1"}}
preconditions:
  - file_exists: SKILL.md
  - no_match: "%"
expected:
  no_changes: true
  reply_contains: [euro, taxi]
  changes_only: [a/**, b/**]
  files: {a.md: {contains: [x, y], excludes: [z]}}
  fields: {total: 3, tags: [p, q]}
  min_accuracy: 0.9
  command: {argv: [check, one]}
  max_seconds: 60
expected_baseline:
  - {failing_keys: [fields], note: known}
counter_examples:
  - {reply: "457 CZK", fails: [reply_contains]}
trials: 10
min_pass_rate: 0.9
timeout: 100
prerequisites: [program:git]
type: negative
required: true
---
Prose.
"""


def edited(**changes: str | None) -> str:
    """Return `FULL` with the lines that begin with these keys replaced, or left out."""
    lines: list[str] = []
    for line in FULL.splitlines():
        key = line.strip().removeprefix("- ").partition(":")[0]
        replacement = changes.pop(key, line)
        if replacement is not None:
            lines.append(replacement)
    assert not changes
    return "\n".join(lines) + "\n"


#: Old text, new text. The first may become the second; the second may not become the first.
ONE_WAY = {
    "an expectation more": (edited(no_changes=None), FULL),
    "a list item more": (edited(reply_contains="  reply_contains: [euro]"), FULL),
    "a file's check more": (edited(files="  files: {a.md: {contains: [x, y]}}"), FULL),
    "a text more in a file's check": (
        edited(files="  files: {a.md: {contains: [x], excludes: [z]}}"),
        FULL,
    ),
    "a file more": (
        FULL,
        edited(files="  files: {a.md: {contains: [x, y], excludes: [z]}, b.md: {min_bytes: 1}}"),
    ),
    "a field more": (edited(fields="  fields: {tags: [p, q]}"), FULL),
    "a checker more": (FULL, edited(command="  command: [{argv: [check, one]}, {argv: [two]}]")),
    "a higher accuracy": (edited(min_accuracy="  min_accuracy: 0.8"), FULL),
    "more trials": (FULL, edited(trials="trials: 20")),
    "a higher rate": (edited(min_pass_rate="min_pass_rate: 0.8"), FULL),
    "a lower time-out": (FULL, edited(timeout="timeout: 60")),
    "a precondition less": (FULL, edited(no_match=None)),
    "a prerequisite less": (FULL, edited(prerequisites=None)),
    "a counter-example more": (edited(counter_examples=None, **{"{reply": None}), FULL),
    "a stricter gate": (
        edited(trials="gate: quick", min_pass_rate=None),
        edited(trials="gate: firm", min_pass_rate=None),
    ),
    "a stricter gate beside trials": (
        edited(trials="gate: quick\ntrials: 22", min_pass_rate=None),
        edited(trials="gate: critical\ntrials: 22", min_pass_rate=None),
    ),
    "a gate that may go on": (
        edited(trials="gate: standard\ntrials: 8", min_pass_rate=None),
        edited(trials="gate: standard", min_pass_rate=None),
    ),
    "the default gate, then a stricter one as far as it goes": (
        edited(trials=None, min_pass_rate=None),
        edited(trials="gate: critical\ntrials: 22", min_pass_rate=None),
    ),
    "the default gate, then a stricter one": (
        edited(trials=None, min_pass_rate=None),
        edited(trials="gate: critical", min_pass_rate=None),
    ),
}
#: Differences that weaken in neither direction.
NO_MATTER = {
    "prose": (FULL, FULL.replace("Prose.", "Other prose.")),
    "the order of keys": (FULL, edited(type=None).replace("id: eur", "type: negative\nid: eur")),
    "the order of preconditions": (
        FULL,
        FULL.replace("  - file_exists: SKILL.md\n", "").replace(
            '  - no_match: "%"\n', '  - no_match: "%"\n  - file_exists: SKILL.md\n'
        ),
    ),
    "the order of items": (FULL, edited(reply_contains="  reply_contains: [taxi, euro]")),
    "an exit code that is the default": (
        FULL,
        edited(command="  command: {argv: [check, one], exit_code: 0}"),
    ),
    "one checker as a list": (FULL, edited(command="  command: [{argv: [check, one]}]")),
    "quotes": (FULL, edited(no_match="  - no_match: '%'")),
    "more trials than a gate ever takes": (
        edited(trials="gate: strict\ntrials: 25", min_pass_rate=None),
        edited(trials="gate: strict\ntrials: 30", min_pass_rate=None),
    ),
    "the standard gate by name": (
        edited(trials=None, min_pass_rate=None),
        edited(trials="gate: standard", min_pass_rate=None),
    ),
}
#: Differences that weaken in both directions: they aren't among what is allowed.
BOTH_WAYS = {
    "what may change": (FULL, edited(changes_only="  changes_only: [a/**]")),
    "a field's value": (FULL, edited(fields="  fields: {total: 4, tags: [p, q]}")),
    "a field's list": (FULL, edited(fields="  fields: {total: 3, tags: [p, q, r]}")),
    "true and one": (FULL, edited(fields="  fields: {total: true, tags: [p, q]}")),
    "a checker's words": (FULL, edited(command="  command: {argv: [check, two]}")),
    "a checker's exit code": (
        FULL,
        edited(command="  command: {argv: [check, one], exit_code: 3}"),
    ),
    "a number": (FULL, edited(max_seconds="  max_seconds: 50")),
    "what blocks": (FULL, edited(type='blocked_when_stdout_contains: ["no net"]\ntype: negative')),
    "its type": (FULL, edited(type="type: positive")),
    "whether it is required": (FULL, edited(required="required: false")),
    "a gate for trials": (FULL, edited(trials="gate: standard", min_pass_rate=None)),
    "a gate beside trials": (
        edited(trials="trials: 15", min_pass_rate=None),
        edited(trials="gate: standard\ntrials: 15", min_pass_rate=None),
    ),
    "a stricter gate that ends sooner": (
        edited(trials="gate: standard", min_pass_rate=None),
        edited(trials="gate: firm\ntrials: 8", min_pass_rate=None),
    ),
    "its id": (FULL, FULL.replace("id: eur-taxi", "id: eur-taxis")),
}
#: What the agent is asked: it makes the record PENDING and weakens nothing.
ASKED = {
    "utterance": edited(utterance="utterance: Taxis were 500 euro"),
    "input": edited(input="input: {currency: USD}"),
    "turns": edited(turns="turns: [stop]"),
    "given": edited(given='given: {files: {budget.md: "taxi 2"}}'),
}


def broken(bench: Bench, old: str, new: str, message: str = "test: edit") -> list[str]:
    bench.repo.commit("test: before", {CASE: old})
    return bench.rules({CASE: new}, message)


@pytest.mark.parametrize("name", ONE_WAY)
def test_the_stronger_needs_nothing_and_the_weaker_a_trailer(retained: Bench, name: str) -> None:
    weak, strong = ONE_WAY[name]
    assert broken(retained, weak, strong) == []
    assert broken(retained, strong, weak) == ["case-weakened"]
    assert retained.rules({CASE: weak}, "test: x\n\nCase-Weakened: eur-taxi: it is true") == []


@pytest.mark.parametrize("name", NO_MATTER)
def test_what_makes_no_difference_needs_nothing(retained: Bench, name: str) -> None:
    one, other = NO_MATTER[name]
    assert one != other
    assert broken(retained, one, other) == []
    assert broken(retained, other, one) == []


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_any_other_difference_needs_a_trailer(retained: Bench, name: str) -> None:
    one, other = BOTH_WAYS[name]
    assert broken(retained, one, other) == ["case-weakened"]
    assert broken(retained, other, one) == ["case-weakened"]


@pytest.mark.parametrize("key", ASKED)
def test_what_is_asked_may_change_and_the_record_is_pending(retained: Bench, key: str) -> None:
    retained.repo.commit("test: before", {CASE: FULL})
    judgement = retained.judge({CASE: ASKED[key]}, "test: edit")
    assert judgement.violations == ()
    (note,) = judgement.notes
    assert note == f"eur-taxi is PENDING until it is proven again: {key} changes"


def test_a_record_that_is_proven_again_is_not_pending(retained: Bench) -> None:
    store = Store.open(retained.opened.common_dir)
    red = Receipt("before", "eur-taxi", "expense", FAIL, 0, 2, "2031-01-01")
    digests = [store.put_red(red), store.put_receipt(red._replace(key="after", verdict=PASS))]
    sides = {side: {"passed": 0, "trials": 2} for side in ("before", "after")}
    proof = {**sides, "date": "2031-01-01", "receipts": digests}
    files = {
        CASE: CASE_TEXT.replace("400", "500"),
        RECORDS: records(eur_taxi=record(proof=proof, reopened=1)),
    }
    assert retained.judge(files, "test: edit").notes == ()
    by_hand = {**proof, "receipts": ["sha256:0", "sha256:1"]}
    files[RECORDS] = records(eur_taxi=record(proof=by_hand, reopened=1))
    assert "PENDING" in retained.judge(files, "test: edit").notes[0]


def test_the_message_names_what_is_lost(retained: Bench) -> None:
    lines = CASE_TEXT.replace("  no_changes: true\n", "").replace("[euro]", "[eur]")
    (violation,) = retained.judge({CASE: lines}, "test: edit").violations
    assert violation.message == (
        "the retained case eur-taxi gets weaker: expected.no_changes is gone"
    )
    assert violation.detail == ("and expected.reply_contains lost euro",)
    assert violation.paths == (CASE,)
    assert violation.agent == "expense"
    assert violation.hint == ("Case-Weakened: eur-taxi: REASON",)


def test_a_trailer_of_another_case_excuses_nothing(retained: Bench) -> None:
    weaker = {CASE: CASE_TEXT.replace("  no_changes: true\n", "")}
    assert retained.rules(weaker, "test: x\n\nCase-Weakened: other: because") == ["case-weakened"]
    assert retained.rules(weaker, "test: x\n\nCase-Weakened: eur-taxi") == ["case-weakened"]


def test_an_exemption_does_not_excuse_a_weakening(retained: Bench) -> None:
    weaker = {CASE: CASE_TEXT.replace("  no_changes: true\n", "")}
    message = "test: x\n\nGuard-Exempt: there is no time left for this"
    assert retained.rules(weaker, message) == ["case-weakened"]


def test_moving_the_file_needs_nothing(retained: Bench) -> None:
    moved = "evals/cases/moved.md"
    files = {CASE: None, moved: CASE_TEXT, RECORDS: records(eur_taxi=record(case=moved))}
    assert retained.rules(files, "test: move") == []


def test_moving_the_file_without_its_record_leaves_the_record_behind(retained: Bench) -> None:
    files = {CASE: None, "evals/cases/moved.md": CASE_TEXT}
    (violation,) = retained.judge(files, "test: move").blocking
    assert violation.rule == "case-weakened"
    said = f"it is in evals/cases/moved.md now, and record eur-taxi still names {CASE}"
    assert violation.message.endswith(said)


def test_a_case_no_record_names_is_free(bench: Bench) -> None:
    bench.repo.commit("test: case", {CASE: CASE_TEXT})
    weaker = CASE_TEXT.replace("  no_changes: true\n", "")
    assert bench.rules({CASE: weaker}, "test: edit") == []
    assert bench.rules({CASE: None}, "test: drop") == ["agent-without-case"]


def test_a_case_of_a_retired_record_is_free(retained: Bench) -> None:
    over = {"reason": "the client is gone", "date": "2031-01-01"}
    retired = records(eur_taxi=record(status="retired", retirement=over))
    retained.repo.commit("chore: retire", {RECORDS: retired})
    weaker = CASE_TEXT.replace("  no_changes: true\n", "")
    assert retained.rules({CASE: weaker}, "test: edit") == []


# Deletion ---------------------------------------------------------------------------------


def test_deleting_a_case_needs_its_retirement(retained: Bench) -> None:
    other = {"evals/cases/other.md": CASE_TEXT.replace("eur-taxi", "other")}
    retained.repo.commit("test: other", other)
    trailer = "test: drop\n\nCase-Weakened: eur-taxi: not wanted any longer"
    assert retained.rules({CASE: None}, trailer) == ["case-weakened"]
    over = {"reason": "the client is gone", "date": "2031-01-01"}
    retired = records(eur_taxi=record(status="retired", retirement=over))
    assert retained.rules({RECORDS: retired}, "chore: retire") == []


@pytest.mark.parametrize("left", [None, records()])
def test_deleting_a_record_needs_its_retirement(retained: Bench, left: str | None) -> None:
    (violation,) = retained.judge({RECORDS: left}, "chore: tidy").blocking
    assert violation.rule == "case-weakened"
    assert "record eur-taxi is deleted" in violation.message


def test_a_retired_record_may_be_deleted(retained: Bench) -> None:
    over = {"reason": "the client is gone", "date": "2031-01-01"}
    retired = records(eur_taxi=record(status="retired", retirement=over))
    retained.repo.commit("chore: retire", {RECORDS: retired})
    assert retained.rules({RECORDS: records()}, "chore: tidy") == []


def test_an_exact_revert_of_a_fix_is_a_deletion(bench: Bench) -> None:
    fix = {SKILL: FIXED_SKILL, CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())}
    commit = bench.repo.commit("fix: ask", fix)
    back = {SKILL: BASE[SKILL], CASE: None, RECORDS: None}
    message = f'Revert "fix: ask"\n\nThis reverts commit {commit}.\n'
    assert "case-weakened" in bench.rules(back, message)


def test_a_record_that_names_another_case_leaves_the_retained_one(retained: Bench) -> None:
    other = "evals/cases/other.md"
    files = {other: CASE_TEXT.replace("eur-taxi", "other")}
    files[RECORDS] = records(eur_taxi=record(case=other))
    assert retained.rules(files, "test: swap") == ["case-weakened"]
    message = "test: swap\n\nCase-Weakened: eur-taxi: the other one sees more"
    assert retained.rules(files, message) == []


def test_a_case_that_becomes_another_agents(retained: Bench) -> None:
    guard_yaml = GUARD_YAML + GUARD_YAML.split("agents:\n")[1].replace("expense", "travel")
    retained.repo.commit("chore: two agents", {"guard.yaml": guard_yaml, "skills/travel/x": "x\n"})
    retained.repo.commit("test: owner", {CASE: CASE_TEXT.replace("id:", "agent: expense\nid:")})
    found = retained.rules({CASE: CASE_TEXT.replace("id:", "agent: travel\nid:")}, "test: give")
    assert "case-weakened" in found


@pytest.mark.parametrize(
    "named", [SKILL, "skills/expense", "skills/expense/", "skills", "skills/expense/not-yet.md"]
)
def test_a_record_may_not_take_the_agents_own_text(retained: Bench, named: str) -> None:
    taking = {RECORDS: records(eur_taxi=record(observations={"rejected": named}))}
    (found,) = retained.judge(taking, "chore: x").blocking
    assert found.message == (
        f"regressions.json guards less: record eur-taxi names {named}, "
        "which belongs to agent expense"
    )
    patch = {RECORDS: records(eur_taxi=record(before={"kind": "patch", "path": named}))}
    assert "case-weakened" in retained.rules(patch, "chore: x")
    over = {"reason": "the client is gone", "date": "2031-01-01"}
    retired = record(status="retired", retirement=over, observations={"accepted": named})
    assert retained.rules({RECORDS: records(eur_taxi=retired)}, "chore: x") == ["case-weakened"]
    trailer = "chore: x\n\nCase-Weakened: regressions.json: it is kept beside the skill"
    assert retained.rules({}, trailer) == []


def test_a_record_keeps_what_is_its_own_where_it_likes_elsewhere(retained: Bench) -> None:
    named = {"rejected": "kept/red.json", "accepted": "regressions/eur-taxi/green.json"}
    kept = {RECORDS: records(eur_taxi=record(observations=named))}
    assert retained.rules(kept, "chore: x") == []


def test_guards_own_folder_is_taken_from_no_agent_that_has_nothing_there(bench: Bench) -> None:
    everything = {"guard.yaml": GUARD_YAML.replace("skills/expense/**", '"**"')}
    bench.repo.commit("chore: all", everything)
    fix = {SKILL: FIXED_SKILL, CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())}
    assert bench.rules(fix) == []
    bench.repo.commit(
        "feat: text", {"regressions/eur-taxi/rules.md": "Ask.\n", **dict.fromkeys(fix)}
    )
    bench.repo.write({SKILL: BASE[SKILL]})
    assert bench.rules(fix) == ["case-weakened"]


def test_a_record_may_not_take_what_a_pattern_will_find(retained: Bench) -> None:
    each = 'version: 1\nagents:\n  all: {each: "skills/*", target: command, options: {argv: [a]}, '
    each += "cases: [evals/cases/*.md]}\n"
    retained.repo.commit("chore: each", {"guard.yaml": each})
    taking = record(observations={"rejected": "skills/later/SKILL.md"})
    assert retained.rules({RECORDS: records(eur_taxi=taking)}, "chore: x") == ["case-weakened"]
