"""Datasets: a JSON file with ``examples``, each ``{id, inputs, outputs, metadata}``, is a case.

``inputs`` are the case's ``input`` (a text ``utterance`` among them is its utterance), ``outputs``
its ``expected``; of ``metadata`` each key of a case is that, and the rest means nothing to guard.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from guard.casekeys import CASE_KEYS
from guard.cases.fields import check_fields
from guard.errors import ConfigError
from guard.jsonfile import line_of, load_json
from guard.schema import Invalid, Path, dotted, is_list, is_mapping, kind_of, some_mapping, text

Fields = Mapping[str, Any]

HINT: Final = "guard explain dataset"
TOP: Final = ("examples", "agent", "name", "description")
EXAMPLE: Final = ("id", "inputs", "outputs", "metadata")
#: What others call the same → the key.
ALIASES: Final = {
    "input": "inputs",
    "output": "outputs",
    "expected": "outputs",
    "reference_outputs": "outputs",
}
#: Keys of a case that an example may state under ``metadata``.
OF_A_CASE: Final = CASE_KEYS.keys() - {"id", "agent", "input", "expected"}
#: How much alike a free key and a key of a case are where the one was meant for the other.
_ALIKE: Final = 0.85
_WHERE: Final = {"input": "inputs", "expected": "outputs", "id": "id"}


def claims(path: str) -> bool:
    """Tell whether a file of this name may be a dataset."""
    return path.lower().endswith(".json")


def parse(path: str, text: str) -> Sequence[Fields]:
    """Return the fields of each example, as a case. Raises `ConfigError` with line and key."""
    document = load_json(text, path)
    try:
        return list(_cases(document, text))
    except Invalid as error:
        line = line_of(text, error.path)
        raise ConfigError(path, line, dotted(error.path), error.message, HINT) from error


def place_of(path: str, source: str, key: str, case_id: str) -> tuple[int, str]:
    """Return the line and the name of a case's key, as the dataset has it."""
    try:
        examples: Any = load_json(source, path)["examples"]
        ids = [str(example.get("id")) for example in examples]
        place = _place(examples[ids.index(case_id)], ids.index(case_id), _steps(key))
    except (ConfigError, LookupError, TypeError, ValueError, AttributeError):
        return 0, key
    return line_of(source, place), dotted(place)


def _steps(key: str) -> Path:
    head, dot, rest = key.partition(".")
    return (head, rest) if dot else (head,)


def _cases(document: Any, source: str) -> Iterator[Fields]:
    top = some_mapping(document)
    examples = top.get("examples")
    if not is_list(examples):
        said = "is missing" if examples is None else f"must be a list, not {kind_of(examples)}"
        raise Invalid(f"not a dataset: the key `examples` {said}", ("examples",))
    agent = {} if top.get("agent") is None else {"agent": _checked(top, "agent", ())}
    unknown = [key for key in top if key not in TOP]
    numbers: dict[str, int] = {}
    for number, example in enumerate(examples):
        fields = _fields_of(example, number)
        name, place = fields["id"], ("examples", number, "id")
        if name in numbers:
            first = line_of(source, ("examples", numbers[name], "id"))
            raise Invalid(f"{name} is the id of line {first} too", place)
        numbers[name] = number
        yield {**fields, **agent, "unread": [*unknown, *fields["unread"]]}


def _checked(stated: Mapping[str, Any], key: str, above: Path) -> str:
    try:
        return text(stated[key])
    except Invalid as error:
        raise Invalid(error.message, (*above, key)) from error


def _fields_of(example: Any, number: int) -> dict[str, Any]:
    """Return one example as a case. Raises `Invalid` with the path as the dataset has it."""
    at: Path = ("examples", number)
    if not is_mapping(example):
        raise Invalid(f"must be a mapping, not {kind_of(example)}", at)
    stated, remarks = _named_right(example, at)
    inputs, outputs, metadata = (_mapping(stated, key, example, at) for key in EXAMPLE[1:])
    fields = {key: value for key, value in metadata.items() if key in OF_A_CASE}
    free = {key: value for key, value in metadata.items() if key not in OF_A_CASE}
    if isinstance(inputs.get("utterance"), str) and inputs["utterance"].strip():
        if "utterance" in fields:
            raise Invalid("stands in inputs too", (*at, "metadata", "utterance"))
        fields["utterance"] = inputs["utterance"]
    fields |= {"id": stated.get("id"), "input": inputs, "expected": outputs}
    try:
        checked = check_fields(fields)
    except Invalid as error:
        raise Invalid(error.message, _place(example, number, error.path)) from error
    remarks += [said for key in free if (said := _meant(key))]
    return {
        **checked,
        "body": told if isinstance(told := free.get("description"), str) else "",
        "metadata": free,
        "remarks": remarks,
        "unread": [key for key in example if key not in EXAMPLE and key not in ALIASES],
    }


def _named_right(example: Mapping[str, Any], at: Path) -> tuple[dict[str, Any], list[str]]:
    """Return an example with its keys as they are named here, and what is said of the others."""
    found: dict[str, Any] = {}
    for name, value in example.items():
        key = ALIASES.get(name, name)
        if key in found:
            said = f"stands beside another key that says the same: it is `{key}`"
            raise Invalid(said, (*at, name))
        found[key] = value
    taken = [name for name in example if name in ALIASES]
    return found, [f"`{name}` is read as `{ALIASES[name]}`, which is the key" for name in taken]


def _mapping(stated: Mapping[str, Any], key: str, example: Mapping[str, Any], at: Path) -> Any:
    if stated.get(key) is None:
        return {}
    try:
        return some_mapping(stated[key])
    except Invalid as error:
        raise Invalid(error.message, (*at, _written(example, key))) from error


def _written(example: Mapping[str, Any], key: str) -> str:
    """Return the name under which an example states a key."""
    return next((name for name in example if ALIASES.get(name, name) == key), key)


def _meant(key: str) -> str:
    near = difflib.get_close_matches(key, OF_A_CASE, n=1, cutoff=_ALIKE)
    return f"`{key}` under metadata means nothing to guard: `{near[0]}` would" if near else ""


def _place(example: Mapping[str, Any], number: int, path: Path) -> Path:
    """Return where a key of a case stands in its example."""
    at: Path = ("examples", number)
    head, *rest = path or ("",)
    inputs = example.get(_written(example, "inputs"))
    if head == "agent":
        return ("agent",)
    if head == "utterance" and is_mapping(inputs) and "utterance" in inputs:
        return (*at, _written(example, "inputs"), "utterance")
    if head in _WHERE:
        return (*at, _written(example, _WHERE[str(head)]), *rest)
    return (*at, "metadata", head, *rest) if head else at
