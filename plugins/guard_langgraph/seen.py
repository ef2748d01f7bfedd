"""From what the agent's own Python wrote to an observation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from guard.plugin import Finished, Observation, Skip, TargetError, ToolCall, Trial
from guard_langgraph.workspace import Named

#: Characters of a text of the state that is a fact, too.
SHORT: Final = 200


def observe(trial: Trial, named: Named, done: Finished, result: Mapping[str, Any]) -> Observation:
    """Return the observation. Raises `Skip` or `TargetError` where no graph was run."""
    end, said = str(result["end"]), str(result["said"])
    graph = f"{named.manifest}: graph {named.graph} ({named.entry})"
    if end == "missing":
        raise Skip(_missing(result, said))
    if end == "unloadable":
        raise TargetError(f"{graph} can't be loaded: {said}")
    if end == "unwritable":
        raise TargetError(
            f"the state of {named.graph} can't be written: {said}; keep it out of the state, or "
            "make it a plain value, a dataclass or a pydantic model"
        )
    if end == "refused":
        raise TargetError(said if "double " in said[:8] else f"{graph}: {said}")
    _refuse_other_files(trial, named, result)
    raised, stopped = end == "raised", end == "limit"
    return Observation(
        reply=result["reply"],
        stdout=done.stdout,
        stderr=f"{done.stderr.rstrip()}\n{said}\n".lstrip() if raised else done.stderr,
        exit_status=None if stopped else int(raised),
        output=result["values"],
        facts=_facts(result, said, stopped=stopped),
        tool_calls=_tool_calls(result),
        tokens=result["tokens"] or None,
        turns=result["answers"] or None,
        model=", ".join(result["models"]) or None,
        program=f"langgraph {result['langgraph']}",
        loaded=True,
        response_ids=tuple(result["response_ids"]),
        files_read=tuple(result["read"]),
        argv=("langgraph", named.manifest, named.graph),
    )


def _missing(result: Mapping[str, Any], said: str) -> str:
    python = str(result["python"])
    why = "" if said == "No module named 'langgraph'" else f" ({said})"
    return f"LangGraph isn't in the agent's Python{why}: {python} -m pip install langgraph"


def _refuse_other_files(trial: Trial, named: Named, result: Mapping[str, Any]) -> None:
    """Raise `TargetError` where code of the agent's isn't what its tree holds."""
    if result["elsewhere"]:
        raise TargetError(f"agent_not_loaded: {result['elsewhere']}")
    loaded: list[str] = result["files"]
    for laid in trial.given:
        code = [p for p in (named.manifest, *loaded) if p == laid or p.startswith(f"{laid}/")]
        if code:
            raise TargetError(
                f"a stand-in graph is refused: the case's `given` lays {code[0]}, which is the "
                "agent's own"
            )


def _tool_calls(result: Mapping[str, Any]) -> tuple[ToolCall, ...] | None:
    """Return the uses of tools; None where no model was heard of, so that nobody can tell."""
    calls = tuple(ToolCall(c["name"], c["input"], c["result"]) for c in result["tools"])
    return calls if calls or result["answers"] else None


def _facts(result: Mapping[str, Any], said: str, *, stopped: bool) -> dict[str, Any]:
    of_run = _run_facts(result, [said] if said else [])
    of_run["recursion_limit_reached"] = stopped
    state = _state_facts(result)
    # A name that both have is the run's; the state's has its prefix.
    hidden = {f"state.{name}": state[name] for name in state.keys() & of_run.keys()}
    return {**state, **hidden, **result["doubles"], **of_run}


def _run_facts(result: Mapping[str, Any], errors: list[str]) -> dict[str, Any]:
    gates: list[dict[str, Any]] = result["gates"]
    found: dict[str, Any] = {
        "paused": result["paused"],
        "gates": len(gates),
        "turns_left": result["turns_left"],
        "next": result["next"],
        "steps": result["steps"],
        "nodes": result["nodes"],
        "errors": errors,
    }
    for number, gate in enumerate(gates, 1):
        found |= {f"gate.{number}.node": gate["node"], f"gate.{number}.shows": gate["value"]}
        if "answer" in gate:
            found[f"gate.{number}.answer"] = gate["answer"]
    return found


def _state_facts(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what conditions ask about the state: how long lists are, and short values."""
    values = result["values"]
    state = cast("dict[str, Any]", values) if isinstance(values, dict) else {}
    missing = {name: None for name in result["channels"] if name not in state}
    items = {**missing, **state}.items()
    counts = {f"n_{name}": count for name, value in items if (count := _count(value)) is not None}
    return {**counts, **{name: value for name, value in items if _is_short(value)}}


def _count(value: Any) -> int | None:
    """Return how many a list or mapping holds, none of what isn't there; None for other values."""
    if value is None:
        return 0
    return len(cast("list[Any]", value)) if isinstance(value, (list, dict)) else None


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT
    return not isinstance(value, (list, dict))
