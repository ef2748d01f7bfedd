"""From what the agent's own Python wrote to an observation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
        facts={
            **_state_facts(result),
            **result["doubles"],
            **_run_facts(result, [said] if said else []),
            "recursion_limit_reached": stopped,
        },
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
    return dict(
        fact for name, value in {**missing, **state}.items() for fact in _facts_of(name, value)
    )


def _facts_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, dict)):
        yield f"n_{name}", len(cast("list[Any]", value))
    elif value is None:
        yield f"state.{name}", None
        yield f"n_{name}", 0
    elif not isinstance(value, str) or len(value) <= SHORT:
        yield f"state.{name}", value
