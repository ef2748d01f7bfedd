"""One trial in words: what it was asked, what it did, what it changed, what it said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from guard.drift.comparing import shown_programs
from guard.model import Case
from guard.output import BROKEN, HOLDS, mark_of, printable
from guard.results import Score, ToolCall, TrialResult
from guard.wording.judged import judged_lines
from guard.wording.reasons import one_line, trial_reason
from guard.wording.units import count, duration, money

#: Lines shown of one text, tool calls shown, and characters of one call's input.
SHOWN_LINES: Final = 60
SHOWN_CALLS: Final = 40
SHOWN_INPUT: Final = 120
#: Characters of what a prerequisite saw, and of a structured output.
SHOWN_FOUND: Final = 600


def show_trial(trial: TrialResult, case: Case | None = None, side: str = "") -> str:
    """Return the text of one trial; ``case`` is None where it isn't there any more.

    ``side``: the side of a proof that was asked for, ``before`` or ``after``.
    """
    parts = [
        _head(trial, side),
        _section("asked", _asked(case)),
        _section("did", _did(trial)),
        _section("changed", _changed(trial)),
        _section("said", _said(trial)),
        _section("found", _found(trial)),
        _section("scores", _scores(trial)),
        _section("run", _circumstances(trial)),
    ]
    return "\n".join(part for part in parts if part)


def _head(trial: TrialResult, side: str) -> str:
    reason = trial_reason(trial)
    said = f": {printable(reason)}" if reason else ""
    name = printable(f"{trial.case}#{f'{side}-' if side else ''}{trial.number}")
    return f"{mark_of(trial.verdict)} {name} {trial.verdict}{said}"


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines)]) if lines else ""


def _asked(case: Case | None) -> list[str]:
    if case is None:
        return ["(the case is not there any more)"]
    lines = [*_text(case.utterance)]
    for turn in case.turns:
        lines += ["then:", *_text(turn)]
    if case.input:
        lines.append(f"input: {_json(case.input)}")
    if case.given:
        lines.append(f"given: {', '.join(map(printable, case.given))}")
    for name, what in case.provisions.items():
        lines.append(f"given {printable(name)}: {_json(what)}")
    return lines


def _did(trial: TrialResult) -> list[str]:
    seen = trial.observation
    lines: list[str] = []
    if seen.tool_calls is not None:
        lines += _bounded([_call(call) for call in seen.tool_calls], SHOWN_CALLS, "call")
        lines = lines or ["used no tool"]
    if seen.permission_denials:
        lines.append(f"was denied: {', '.join(map(printable, seen.permission_denials))}")
    if seen.exit_status:
        lines.append(f"exit status {seen.exit_status}")
    if seen.loaded is False:
        lines.append("the agent was not loaded")
    elif seen.used is False:
        lines.append("the agent was loaded, and not used")
    if trial.orphan_pids:
        pids = ", ".join(map(str, trial.orphan_pids))
        lines.append(
            f"left running: {count(len(trial.orphan_pids), 'process', 'processes')} ({pids})"
        )
    return lines


def _call(call: ToolCall) -> str:
    return printable(f"{call.name} {one_line(_json(call.input), SHOWN_INPUT)}")


def _changed(trial: TrialResult) -> list[str]:
    changes = trial.observation.changes
    if not changes:
        return ["nothing"]
    listed = [
        f"{change.status} {printable(change.path)} (+{change.insertions} -{change.deletions})"
        for change in changes
    ]
    return [*_bounded(listed, SHOWN_CALLS, "file"), *_text(trial.diff)]


def _said(trial: TrialResult) -> list[str]:
    seen = trial.observation
    lines = _text(seen.reply)
    if seen.output is not None and not _is_its_text(seen.reply, seen.output):
        lines.append(f"output: {one_line(_json(seen.output), SHOWN_FOUND)}")
    if seen.facts:
        lines.append(f"facts: {one_line(_json(seen.facts), SHOWN_FOUND)}")
    if seen.stdout.strip() and seen.stdout.strip() != seen.reply.strip():
        lines += ["standard output:", *_text(seen.stdout)]
    if seen.stderr.strip():
        lines += ["standard error:", *_text(seen.stderr)]
    return lines or ["nothing"]


def _is_its_text(reply: str, output: Any) -> bool:
    """Tell whether a reply is the structured output itself."""
    try:
        return bool(json.loads(reply) == output)
    except (ValueError, RecursionError):
        return False


def _found(trial: TrialResult) -> list[str]:
    """Return what the prerequisites saw after the run, such as the rows of a database."""
    services = trial.observation.services
    listed = [f"{printable(n)}: {one_line(_json(v), SHOWN_FOUND)}" for n, v in services.items()]
    return _bounded(listed, SHOWN_CALLS, "service")


def _scores(trial: TrialResult) -> list[str]:
    lines: list[str] = []
    for score in trial.scores:
        lines.append(_score(score, trial))
        lines += [f"    {line}" for line in judged_lines(score.evidence)]
    return lines


def _score(score: Score, trial: TrialResult) -> str:
    excused = ", excused by a baseline" if score.key in trial.excused else ""
    reason = f": {printable(one_line(score.reason))}" if score.reason else ""
    mark = HOLDS if score.value >= 1 else BROKEN
    return f"{mark} {printable(score.key)} {score.value:g}{excused}{reason}"


def _circumstances(trial: TrialResult) -> list[str]:
    seen = trial.observation
    facts = [duration(seen.seconds)]
    if trial.cost_usd is not None:
        facts.append(money(trial.cost_usd))
    if seen.turns is not None:
        facts.append(count(seen.turns, "turn"))
    facts += [printable(name) for name in (seen.model, seen.program, trial.started) if name]
    lines = [", ".join(facts)]
    stated = trial.asked._replace(program=shown_programs(trial.asked.program))
    asked = [part for part in stated if part and part not in (seen.model, seen.program)]
    if asked:
        lines.append(f"asked for: {printable(', '.join(asked))}")
    if trial.trial_id:
        lines.append(f"trial {printable(trial.trial_id)}")
    if trial.isolation:
        lines.append(printable(trial.isolation))
    return lines


def _text(text: str) -> list[str]:
    lines = printable(text, keep="\n\t").rstrip().split("\n")
    return _bounded(lines if lines != [""] else [], SHOWN_LINES, "line")


def _bounded(lines: Iterable[str], limit: int, noun: str) -> list[str]:
    listed = list(lines)
    if len(listed) <= limit:
        return listed
    return [*listed[:limit], f"[{count(len(listed) - limit, noun)} more]"]


def _json(value: Any) -> str:
    return printable(json.dumps(value, ensure_ascii=False, default=str))
