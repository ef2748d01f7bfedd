"""The run that a new baseline names, where this machine's store knows it and where it doesn't."""

from __future__ import annotations

from typing import Any

import pytest

from guard.model import ERROR, FAIL, PASS, XFAIL
from guard.results import CaseResult, Observation, Report, TrialResult
from guard.storage.records import Receipt, evidence_of
from guard.store import Store
from tests.guarded_repo import CASE, CASE_TEXT
from tests.judged_repo import Bench

TRAILER = "test: known\n\nCase-Weakened: eur-taxi: the defect is known, and not mended yet"
RUN, TRIAL, OTHER = "a" * 16, "b" * 16, "c" * 16


def with_baseline(*groups: str, text: str = CASE_TEXT) -> dict[str, str]:
    """Return the case with these groups, in YAML."""
    listed = "".join(f"  - {{{group}}}\n" for group in groups)
    before, found, prose = text.rpartition("---\n")
    return {CASE: f"{before}expected_baseline:\n{listed}{found}{prose}"}


def observe(bench: Bench, failing: tuple[str, ...], side: str = "", **changed: Any) -> Store:
    """Keep a run of one trial that failed on these keys."""
    store = Store.open(bench.opened.common_dir)
    verdict = FAIL if failing else PASS
    trial = TrialResult("eur-taxi", 1, verdict, trial_id=TRIAL, failing=failing)
    store.put_trial(RUN, "expense", trial._replace(**changed), side=side)
    return store


def messages(bench: Bench, files: dict[str, str], message: str = TRAILER) -> list[str]:
    return [violation.message for violation in bench.judge(files, message).blocking]


NO_CHANGES = "failing_keys: [no_changes]"
SAID = "the baseline of eur-taxi excuses no_changes"


def test_a_new_excuse_names_its_run_and_has_a_trailer(retained: Bench) -> None:
    observe(retained, ("no_changes",))
    found = retained.judge(with_baseline(NO_CHANGES), "test: known").blocking
    assert [violation.message for violation in found] == [
        f"{SAID}, and names no run that showed it (observed_in)",
        "the retained case eur-taxi gets weaker: expected_baseline excuses no_changes",
    ]
    assert found[0].paths == (CASE,)
    assert found[0].hint[0].startswith("guard run eur-taxi ")
    # The one without the other is not enough.
    named = with_baseline(f"{NO_CHANGES}, observed_in: {RUN}")
    assert messages(retained, with_baseline(NO_CHANGES)) == [found[0].message]
    assert messages(retained, named, "test: known") == [found[1].message]
    assert messages(retained, named) == []


@pytest.mark.parametrize("name", [RUN, TRIAL])
def test_a_run_or_a_trial_shows_it(retained: Bench, name: str) -> None:
    observe(retained, ("no_changes",), verdict=XFAIL)
    judged = retained.judge(with_baseline(f"{NO_CHANGES}, observed_in: {name}"), TRAILER)
    assert (judged.blocking, judged.notes) == ((), ())


def test_a_receipt_shows_it(retained: Bench) -> None:
    failed = TrialResult("eur-taxi", 1, FAIL, failing=("no_changes",))
    result = CaseResult("eur-taxi", "expense", FAIL, (failed,))
    made = Receipt("key", "eur-taxi", "expense", FAIL, 0, 1, "2031-01-01", evidence_of(result))
    store = Store.open(retained.opened.common_dir)
    digest = store.put_receipt(made)
    assert messages(retained, with_baseline(f'{NO_CHANGES}, observed_in: "{digest}"')) == []
    of_another = store.put_receipt(made._replace(case="lunch"))
    red = store.put_red(made._replace(evidence={**made.evidence, "exact": "key"}))
    for other in (of_another, red):
        (said,) = messages(retained, with_baseline(f'{NO_CHANGES}, observed_in: "{other}"'))
        assert said == f"{SAID}; in {other} no_changes never failed"


@pytest.mark.parametrize(
    ("failing", "changed"),
    [
        ((), {}),
        (("reply_contains",), {}),
        (("no_changes",), {"verdict": ERROR}),
        (("no_changes",), {"case": "lunch"}),
        (("no_changes",), {"side": "before"}),
    ],
)
def test_a_run_that_is_known_and_shows_something_else_is_refused(
    retained: Bench, failing: tuple[str, ...], changed: dict[str, Any]
) -> None:
    store = observe(retained, failing, **changed)
    store.put_run(Report("run", RUN))
    (said,) = messages(retained, with_baseline(f"{NO_CHANGES}, observed_in: {RUN}"))
    assert said == f"{SAID}; in {RUN} no_changes never failed"


def test_every_key_must_have_failed_there(retained: Bench) -> None:
    observe(retained, ("no_changes",))
    both = f"failing_keys: [no_changes, reply_contains], observed_in: {RUN}"
    (said,) = messages(retained, with_baseline(both))
    assert said.endswith(f"; in {RUN} reply_contains never failed")


@pytest.mark.parametrize(("fact", "refused"), [(0, False), (1, True), (False, True)])
def test_a_key_must_have_failed_under_its_condition(
    retained: Bench, fact: object, *, refused: bool
) -> None:
    observe(retained, ("no_changes",), observation=Observation(facts={"n": fact}))
    group = f"{NO_CHANGES}, only_when: {{n: 0}}, observed_in: {RUN}"
    said = messages(retained, with_baseline(group))
    assert bool(said) is refused
    if refused:
        assert said[0].endswith(
            f"where n is 0; in {RUN}, under that condition, no_changes never failed"
        )


@pytest.mark.parametrize("name", [OTHER, f"sha256:{'0' * 64}", "https://ci.example/runs/12"])
def test_a_run_that_is_not_known_here_is_accepted_and_said(retained: Bench, name: str) -> None:
    observe(retained, ())
    judged = retained.judge(with_baseline(f'{NO_CHANGES}, observed_in: "{name}"'), TRAILER)
    assert judged.blocking == ()
    assert judged.notes == (
        f"eur-taxi: {name} isn't known here, so that no_changes failed there can't be checked",
    )


def test_a_run_whose_trials_are_no_longer_kept_cannot_be_checked(retained: Bench) -> None:
    store = Store.open(retained.opened.common_dir)
    store.put_run(Report("run", RUN, cases=(CaseResult("eur-taxi", "expense", FAIL),)))
    judged = retained.judge(with_baseline(f"{NO_CHANGES}, observed_in: {RUN}"), TRAILER)
    assert judged.blocking == ()
    assert "can't be checked" in judged.notes[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"{NO_CHANGES}, only_when: {{n: 0}}", NO_CHANGES),
        (NO_CHANGES, f"{NO_CHANGES}, intermittent: true"),
        (NO_CHANGES, "failing_keys: [no_changes, reply_contains]"),
    ],
)
def test_a_wider_excuse_is_a_new_one(retained: Bench, old: str, new: str) -> None:
    observe(retained, ("no_changes", "reply_contains"))
    retained.repo.commit("test: known", dict(with_baseline(old)))
    assert len(messages(retained, with_baseline(new))) == 1
    assert messages(retained, with_baseline(f"{new}, observed_in: {RUN}")) == []
    retained.repo.commit("test: wider", dict(with_baseline(new)))
    assert messages(retained, with_baseline(old), "test: narrower") == []


@pytest.mark.parametrize(
    "new", [f"{NO_CHANGES}, note: other", f"{NO_CHANGES}, observed_in: {OTHER}", NO_CHANGES]
)
def test_prose_of_a_group_is_free(retained: Bench, new: str) -> None:
    retained.repo.commit("test: known", dict(with_baseline(f"{NO_CHANGES}, note: one")))
    judged = retained.judge(with_baseline(new), "test: words")
    assert (judged.violations, judged.notes) == ((), ())


def test_what_guard_yaml_excuses_in_all_cases_is_asked_the_same(retained: Bench) -> None:
    config = retained.repo.root.joinpath("guard.yaml").read_text()
    wider = f"{config}defaults: {{expected_baseline: [{{{NO_CHANGES}}}]}}\n"
    trailer = "chore: x\n\nCase-Weakened: guard.yaml: it is known"
    found = retained.judge({"guard.yaml": wider}, trailer).blocking
    assert [v.message for v in found] == [f"{SAID}, and names no run that showed it (observed_in)"]


# Cases that no record names ---------------------------------------------------------------


def test_a_case_no_record_names_is_free_and_told(bench: Bench) -> None:
    bench.repo.commit("test: case", {CASE: CASE_TEXT})
    judged = bench.judge(with_baseline(NO_CHANGES), "test: known")
    assert judged.violations == ()
    assert judged.notes == (f"{SAID}, and names no run that showed it (observed_in)",)
    observe(bench, ())
    judged = bench.judge(with_baseline(f"{NO_CHANGES}, observed_in: {RUN}"), "test: known")
    assert judged.violations == ()
    assert judged.notes == (f"{SAID}; in {RUN} no_changes never failed",)


def test_a_new_case_with_a_baseline_is_told_too(bench: Bench) -> None:
    judged = bench.judge(with_baseline(NO_CHANGES), "test: known")
    assert judged.violations == ()
    assert judged.notes == (f"{SAID}, and names no run that showed it (observed_in)",)
