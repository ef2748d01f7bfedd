"""What an example of a dataset is made of a case, and whether a remote one is still that."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from guard.plugin import Agent, Case

#: The key of the metadata that names the case.
CASE: Final = "case"
DIGEST: Final = "digest"
#: Where the case was read; says nothing of what it asks.
BLOB: Final = "blob"
#: Set by LangSmith itself: the splits that people sort examples into, and whatever begins so.
SPLIT: Final = "dataset_split"
THEIRS: Final = "ls_"
#: Beyond it a number of JSON is another one for half of its readers.
LARGEST: Final = 2**53
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Example(NamedTuple):
    """One example, as LangSmith stores it: three JSON objects."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    metadata: Mapping[str, Any]

    @property
    def case(self) -> str:
        """The id of its case; empty where it names none."""
        found = self.metadata.get(CASE)
        return found if isinstance(found, str) else ""


def example_of(agent: Agent, case: Case) -> Example:
    """Return the example of a case."""
    metadata: dict[str, Any] = {
        CASE: case.id,
        "agent": agent.name,
        "path": case.path,
        BLOB: case.blob,
    }
    if case.expected_baseline:
        metadata["baseline"] = case.expected_baseline
    expected = {**agent.always, **case.expected}
    found = Example(plain(_inputs(case)), plain(expected), plain(metadata))
    return found._replace(metadata={**found.metadata, DIGEST: digest_of(found)})


def _inputs(case: Case) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    if case.utterance:
        asked["utterance"] = case.utterance
    if case.turns:
        asked["turns"] = case.turns
    if any(name in case.input and case.input[name] != asked[name] for name in asked):
        return {"input": case.input, **asked}
    return {**case.input, **asked}


def is_whole(remote: Example) -> bool:
    """Tell whether an example is as `guard sync` left it, by the digest that it carries."""
    return remote.metadata.get(DIGEST) == digest_of(remote)


def says_the_same(remote: Example, wanted: Example) -> bool:
    """Tell whether a remote example needs no update.

    A file of many cases gets a new blob when one of them changes: the others need none, as long
    as nobody touched the blob that they name.
    """
    return is_whole(remote) and _without_blob(remote) == _without_blob(wanted)


def digest_of(example: Example) -> str:
    """Return a digest of all that an example says, its blob too."""
    said = _said(example, DIGEST, SPLIT)
    return "sha256:" + hashlib.sha256(said.encode()).hexdigest()


def _without_blob(example: Example) -> str:
    return _said(example, DIGEST, SPLIT, BLOB)


def _said(example: Example, *ignored: str) -> str:
    metadata = {
        name: value
        for name, value in example.metadata.items()
        if name not in ignored and not name.startswith(THEIRS)
    }
    return canonical([example.inputs, example.outputs, metadata])


def canonical(value: Any) -> str:
    """Return JSON that is the same for the same value, however a database spells its numbers."""
    return json.dumps(_whole_numbers(value), sort_keys=True)


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {name: _whole_numbers(item) for name, item in items}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in cast("Any", value)]
    return value


def plain(value: Any) -> Any:
    """Return a value fit for JSON and for a database: no lone surrogate, no NUL, no NaN."""
    if isinstance(value, str):
        return _SURROGATE.sub(_escape, value).replace("\0", "\\x00")
    if isinstance(value, Mapping):
        items = cast("Any", value).items()
        return {plain(str(name)): plain(item) for name, item in items}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in cast("Sequence[Any]", value)]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= LARGEST:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
