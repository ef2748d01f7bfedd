"""Counter-examples: what a case's checks must reject, and on exactly which keys.

A counter-example is what a wrong run would have left behind: files laid over a fresh
workspace, a patch of it, a reply, or several of these. What it doesn't state is as before the
run: the files untouched. A reply that isn't stated is not an empty one: then no key that reads
what the agent said is judged. No target is run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from guard.errors import GuardError, UnreadableError, UsageError
from guard.evaluators.json_values import is_mapping
from guard.evaluators.workspace_files import Unmet, find_place
from guard.git import bytes_of
from guard.model import Policy
from guard.patching import apply_patch
from guard.plugin.api import Evaluator, Expectations
from guard.results import Observation, Score
from guard.trials.asking import Asking
from guard.trials.grading import grade_of_error, is_own
from guard.workspace import compare_folders

#: Expectation keys that read what the agent said.
_READ_THE_REPLY = frozenset(
    (
        *("reply_contains", "reply_excludes", "reply_matches"),
        *("stdout_contains", "stdout_excludes"),
        *("fields", "min_accuracy", "ratio_gates", "output"),
    )
)
#: Expectation keys about which a counter-example says nothing.
_NEVER_STATED = frozenset(("stderr_contains", "max_seconds"))

#: Returns the content of a file that a case names, from the tree under test.
ReadFixture = Callable[[str], bytes]


class Judgement(NamedTuple):
    """Whether the checks reject a counter-example as recorded."""

    problem: str = ""
    """What is wrong, in one sentence; empty where exactly the stated keys fail."""
    not_judged: tuple[str, ...] = ()
    """Stated keys whose evaluator was not run."""


def judge_counter_example(
    example: Mapping[str, Any],
    observation: Observation,
    expected: Mapping[str, Any],
    evaluators: Iterable[Evaluator],
    *,
    inputs: Mapping[str, Any] = {},
    leave_out: Collection[str] = (),
    seconds: float = Policy().timeout,
) -> Judgement:
    """Put a counter-example's observation through the evaluators; compare with its ``fails``.

    ``leave_out`` are expectation keys that are not to be judged, such as ``command`` where no
    checker may be started. Each evaluator has so many ``seconds``; `UnreadableError` where one
    takes longer. What an evaluator raises is passed on, or named where it isn't guard's.
    """
    unstated = _NEVER_STATED if "reply" in example else _NEVER_STATED | _READ_THE_REPLY
    judged = {k: v for k, v in expected.items() if k not in leave_out and k not in unstated}
    scores = grade(observation, judged, evaluators, inputs, seconds)
    wanted = [key for key in example["fails"] if key not in leave_out]
    not_judged = tuple(key for key in example["fails"] if key in leave_out)
    return Judgement(_find_problem(wanted, scores), not_judged)


def _find_problem(wanted: Collection[str], scores: Mapping[str, Score]) -> str:
    unscored = [key for key in wanted if key not in scores]
    if unscored:
        return f"nothing scores {_names(unscored)} here, so it can't be seen to fail"
    accepted = [key for key in wanted if scores[key].value >= 1]
    if accepted:
        return f"{_names(accepted)} accepts it: {scores[accepted[0]].reason}"
    others = [key for key, score in scores.items() if score.value < 1 and key not in wanted]
    if others:
        return f"{_names(others)} fails too: {scores[others[0]].reason}"
    return ""


def _names(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


def grade(
    observation: Observation,
    expected: Mapping[str, Any],
    evaluators: Iterable[Evaluator],
    inputs: Mapping[str, Any] = {},
    seconds: float = Policy().timeout,
) -> dict[str, Score]:
    """Return key → score; of two scores of one key the lower."""
    to_ask = [*evaluators]
    asking: Asking[dict[str, Score]] = Asking(seconds, apart=not all(map(is_own, to_ask)))
    found = asking.run(lambda: _ask_all(asking, to_ask, observation, expected, inputs))
    if found is None:
        raise UnreadableError(asking.overdue)
    return found


def _ask_all(
    asking: Asking[dict[str, Score]],
    evaluators: Iterable[Evaluator],
    observation: Observation,
    expected: Mapping[str, Any],
    inputs: Mapping[str, Any],
) -> dict[str, Score]:
    found: dict[str, Score] = {}
    for evaluator in evaluators:
        asking.ask(evaluator)
        try:
            scores = [*evaluator.evaluate(observation, Expectations(expected, inputs))]
        except GuardError:
            raise
        except asking.anything as error:
            if is_own(evaluator):
                raise
            who = f"evaluator {evaluator.name}"
            raise UnreadableError(grade_of_error(error, who, evaluator.evaluate).reason) from error
        for score in scores:
            if score.key not in found or score.value < found[score.key].value:
                found[score.key] = score
    return found


def observe(example: Mapping[str, Any], before: str, after: str, repo: str = "") -> Observation:
    """Return what a run would have left behind that ended as the counter-example does.

    ``after`` is a copy of ``before`` that `lay_over` was applied to. An example without any
    of its keys stands for a run that did nothing and said nothing.
    """
    reply = str(example.get("reply", ""))
    return Observation(
        reply=reply,
        stdout=reply,
        output=_read_document(reply),
        changes=compare_folders(before, after),
        workspace=after,
        repo=repo,
    )


def _read_document(reply: str) -> Any:
    try:
        return json.loads(reply)
    except (ValueError, RecursionError):
        return None


def lay_over(example: Mapping[str, Any], folder: str, read_fixture: ReadFixture) -> None:
    """Write the counter-example's files and patch into a fresh workspace.

    Raises `UsageError` where a path leaves the workspace or the patch doesn't apply.
    """
    for path, content in example.get("files", {}).items():
        if is_mapping(content):
            _write(folder, path, read_fixture(str(content["from"])))
        else:
            _write(folder, path, bytes_of(content))
    if "patch" in example:
        apply_patch(_patch_of(example["patch"], read_fixture), folder)


def _patch_of(stated: str, read_fixture: ReadFixture) -> bytes:
    # One line is no patch; it names a file that holds one.
    if "\n" not in stated.strip():
        return read_fixture(stated.strip())
    return bytes_of(stated if stated.endswith("\n") else stated + "\n")


def _write(folder: str, path: str, content: bytes) -> None:
    try:
        place = find_place(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        mode = os.stat(place).st_mode if os.path.isfile(place) else None
        if os.path.lexists(place):
            # Never through a link, nor into a file that a clone may share with the original.
            os.unlink(place)
        with open(place, "wb") as file:
            file.write(content)
        if mode is not None:
            os.chmod(place, mode & 0o7777)
    except Unmet as error:
        raise UsageError(f"{path}: {error}") from error
    except OSError as error:
        raise UsageError(
            f"{path}: can't be written over the workspace: {error.strerror}"
        ) from error
