"""Graphs of a workspace, run for real in a fork of a Python that has LangGraph imported."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from guard.plugin import Finished, Observation, StorageDouble, TargetError, Trial
from guard_langgraph.target import OPTIONS, run
from tests.plugins.langgraph.zygote import Zygote

#: The beginning of most graphs' files.
HEAD = """\
from typing import Any, TypedDict
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

def chain(*nodes, state=dict):
    builder = StateGraph(state)
    names = [START, *(node.__name__ for node in nodes), END]
    for node in nodes:
        builder.add_node(node.__name__, node)
    for one, other in zip(names, names[1:]):
        builder.add_edge(one, other)
    return builder

class State(TypedDict, total=False):
    n: int
    said: str
    lines: list
    thing: Any

"""


class Lab:
    """A workspace whose graphs are run."""

    def __init__(self, root: Path, zygote: Zygote) -> None:
        self.workspace = root / "workspace"
        self._own = root / "own"
        self._zygote = zygote
        for folder in (self.workspace, self._own):
            folder.mkdir()
        self.doubles: list[StorageDouble] = []
        self.write({"langgraph.json": json.dumps({"graphs": {"desk": "./desk.py:graph"}})})

    def write(self, files: Mapping[str, str]) -> None:
        """Write files of the workspace."""
        for path, text in files.items():
            (self.workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (self.workspace / path).write_text(textwrap.dedent(text))

    def desk(self, text: str) -> None:
        """Write the graph's file, behind what most begin with."""
        (self.workspace / "desk.py").write_text(HEAD + textwrap.dedent(text))

    def run(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        utterance: str = "",
        turns: tuple[str, ...] = (),
        laid: tuple[str, ...] = (),
        env: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Observation:
        """Run one trial of the graph ``desk``. Raises what the target does."""
        env = {"TMPDIR": str(self._own), **(env or {})}

        def run_program(
            argv: list[str], input: None = None, env: Mapping[str, str] = {}
        ) -> Finished:
            return self._zygote.run(argv[1:], {**stated, **env}, self._own)

        stated = env
        trial = Trial(
            agent="desk",
            case="one",
            number=1,
            workspace=str(self.workspace),
            utterance=utterance,
            input={"n": 1} if given is None and not utterance else given or {},
            turns=turns,
            options={**{option.name: option.default for option in OPTIONS}, **options},
            env=env,
            timeout=60,
            run_program=run_program,
            fill=str,
            python=(),
            given=laid,
            doubles=tuple(self.doubles),
        )
        return run(trial)

    def refuses(self, *args: Any, **named: Any) -> str:
        """Return what the target says where it runs no graph."""
        with pytest.raises(TargetError) as raised:
            self.run(*args, **named)
        assert "\n" not in raised.value.message
        return raised.value.message


@pytest.fixture(scope="session")
def zygote() -> Generator[Zygote]:
    """A Python that has LangGraph imported."""
    process = Zygote()
    yield process
    process.close()


@pytest.fixture
def lab(tmp_path: Path, zygote: Zygote) -> Lab:
    """A workspace with a manifest that names ``desk.py:graph``."""
    return Lab(tmp_path, zygote)
