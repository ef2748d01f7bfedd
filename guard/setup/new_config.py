"""The text of a new guard.yaml: short enough to read, with the reason behind what isn't obvious."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date, timedelta

from guard.setup.case_places import Places
from guard.setup.layouts import Declared
from guard.setup.replay import Replay

TARGET = "claude-code"
#: Above the agents: that target is the only one a skill tells of, and runs nothing yet.
HOW_IT_IS_RUN = """\
# `target: claude-code` runs nothing yet. Say how your agent is run, such as
#   target: command
#   options: {argv: [python3, agent.py, "{utterance}"]}"""
#: Days in which the fix rule only warns, where the history would have broken it.
WARNED_DAYS = 30
#: Share of squash merges from which on a pull request, not a commit, is what carries a case.
SQUASHED = 0.5

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./*-]*")
_NOT_TEXT = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "."})


def quoted(text: str) -> str:
    """Return the text as a YAML scalar, in quotes where YAML might read something else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    return json.dumps(text, ensure_ascii=False)


def warned_until(replay: Replay, today: date) -> str:
    """Return the day until which the fix rule only warns; empty where it blocks at once.

    It warns for 30 days where a fix of the recent history would have been asked for a case: a
    team that has such fixes gets time to learn; one that has none loses nothing by a block.
    """
    return str(today + timedelta(days=WARNED_DAYS)) if replay.asked else ""


def judges_ranges(replay: Replay) -> bool:
    """Say whether a case may come in a later commit of the same pull request."""
    return bool(replay.commits) and replay.squashed / replay.commits >= SQUASHED


def config_text(
    declared: Sequence[Declared], places: Sequence[Places], replay: Replay, today: date
) -> str:
    """Return the text of guard.yaml for these agents."""
    lines = ["# Regression Guard. Every key: guard schema guard.yaml", HOW_IT_IS_RUN]
    lines += ["version: 1", "agents:"]
    for entry, place in zip(declared, places, strict=True):
        lines += _agent_lines(entry, place)
    if judges_ranges(replay):
        share = f"{replay.squashed} of the last {replay.commits} commits are squash merges"
        lines.append(f"fix: {{unit: range}}  # {share}")
    until = warned_until(replay, today)
    enforced = f"{{warn, until: {until}}}" if until else "block"
    lines.append(f"enforce: {{fix-needs-case: {enforced}}}{'  # then it blocks' if until else ''}")
    return "\n".join(lines) + "\n"


def _agent_lines(entry: Declared, place: Places) -> list[str]:
    lines = [f"  {quoted(entry.name)}:"]
    if entry.each:
        lines.append(f"    each: {quoted(entry.glob)}  # one agent for each folder, of its name")
    else:
        lines.append(f"    paths: [{quoted(entry.glob + '/**')}]")
    lines.append(f"    target: {TARGET}")
    if not entry.layout.in_client:
        # Elsewhere the client would not find the skill in a trial's workspace.
        lines.append("    options: {mount: skill}")
    lines.append(f"    cases: [{', '.join(map(quoted, place.cases))}]")
    if place.depends:
        lines.append(f"    depends: [{', '.join(map(quoted, place.depends))}]")
    return lines
