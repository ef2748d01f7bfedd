"""Cases in a format that a plugin reads: checked like our own, and read again with new code."""

from __future__ import annotations

import pytest

from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, clerk, config

READER = """\
from guard.plugin import hookimpl


@hookimpl
def guard_load_cases(path, text):
    if path.endswith(".txt"):
        return {returned}
"""
GOOD = '[{"id": "mine", "utterance": text.strip(), "trials": 1, "body": "Why."}]'


def plugged(returned: str, expected: str = "") -> dict[str, str | bytes | None]:
    agents = clerk(cases=["evals/*.md", "evals/*.txt"], always={"reply_contains": ["hello"]})
    return {
        **config(agents, plugins=["plugins/reader.py"]),
        "plugins/reader.py": READER.format(returned=returned),
        "evals/mine.txt": "echo hello\n",
    }


def test_it_leaves_alone_what_the_plugin_does_not_claim(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.write({**plugged("None"), **case(trials=1)})
    guard("run").refuses("evals/mine.txt: ", "no known case format")
    repo.write({"evals/mine.txt": None})
    assert guard.verdicts() == {"one": "PASS"}


def test_it_reads_what_the_plugin_claims_beside_our_own(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.write({**plugged(GOOD), **case(trials=1)})
    assert guard.verdicts() == {"mine": "PASS", "one": "PASS"}
    assert guard.verdicts("evals/mine.txt", "--no-cache") == {"mine": "PASS"}


def test_the_plugin_comes_before_our_own_formats(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write({**plugged(GOOD), **case(trials=1)})
    guard.verdicts()  # the store knows the file as a Markdown case now
    source = READER.format(returned="[{'id': 'renamed'}]").replace(".txt", ".md")
    repo.write({"plugins/reader.py": source, "evals/mine.txt": None})
    assert guard("affected").ends_in(0).out.startswith("renamed  ")


def test_new_code_reads_the_same_file_anew(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write(plugged(GOOD))
    assert guard.verdicts() == {"mine": "PASS"}
    repo.write(plugged(GOOD.replace('"mine"', '"other"')))
    assert guard.verdicts() == {"other": "PASS"}
    guard("run", "-p", "no:plugins/reader.py").refuses("no known case format")
    assert guard.verdicts() == {"other": "PASS"}


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ('[{"utterance": "x"}]', "the key `id` is missing"),
        ('[{"id": "a b"}]', "id: 'a b' is not an id"),
        ('[{"id": "a", "utterence": "x"}]', "did you mean `utterance`"),
        ('[{"id": "a", "trials": 0}]', "trials: must be at least 1"),
        ('[{"id": "a", "expected": {"no_changes": 1}}]', "expected.no_changes: "),
        ('[{"id": "a", "input": {"x": {1, 2}}}]', "read no cases from it"),
        ("3", "read no cases from it"),
        ("['a']", "must be a mapping"),
        ('[{"id": "a"}, {"id": "a"}]', "id: a stands in evals/mine.txt too"),
    ],
)
def test_what_the_plugin_reads_is_checked_by_the_same_table(
    repo: ScratchRepo, guard: GuardCommand, returned: str, said: str
) -> None:
    repo.write(plugged(returned))
    guard("run").refuses("evals/mine.txt", said)


def test_a_plugin_that_breaks_on_a_file_is_named(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.write(plugged("int(text)"))
    outcome = guard("run")
    outcome.refuses("plugin plugins/reader.py (guard.yaml): guard_load_cases raised ValueError")
    assert "GUARD_DISABLED_PLUGINS=plugins/reader.py" in outcome.err


def test_tuples_and_generators_will_do(repo: ScratchRepo, guard: GuardCommand) -> None:
    returned = (
        '({"id": n, "utterance": "echo hello", "turns": (), "trials": 1} for n in ("a", "b"))'
    )
    repo.write(plugged(returned))
    assert guard.verdicts() == {"a": "PASS", "b": "PASS"}
