"""The plain list of what is served: JSON, YAML or lines; anything else isn't its own."""

from __future__ import annotations

import pytest

from guard.plugin import TargetError
from guard_list import guard_served_agents, read_names
from tests.plugins.trees import view


@pytest.mark.parametrize(
    ("path", "content", "names"),
    [
        ("served.json", '["a", "b c"]', ["a", "b c"]),
        ("served.json", '\ufeff["ä"]', ["ä"]),
        ("served.json", "[]", []),
        ("served.json", '{"graphs": {}}', None),
        ("served.yaml", "- a\n- 'b c'  # why\n", ["a", "b c"]),
        ("served.yml", "a: 1\n", None),
        ("served.yml", "", None),
        ("served.txt", "# what runs\na\n\n  b c  \r\n", ["a", "b c"]),
        ("AGENTS", "a\n", ["a"]),
        ("served.list", "", []),
        ("served.toml", "a = 1\n", None),
        ("skills/a.md", "a\n", None),
        (".served", "a\n", ["a"]),
    ],
)
def test_what_it_reads(path: str, content: str, names: list[str] | None) -> None:
    assert read_names(content.encode(), path) == names


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("s.json", b'[\n"a",\n', r"s\.json:3: not valid JSON"),
        ("s.json", b'["a", 7]', r"s\.json: item 2 of the list is no name: 7"),
        ("s.json", b'["a", NaN]', r"NaN is no number there"),
        ("s.json", b'{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ("s.json", b"\xff", "not UTF-8"),
        ("s.json", b"[" * 100_000, "nested too deep"),
        ("s.yaml", b"- a\n- yes\n", r"s\.yaml: item 2 of the list is no name: True"),
        ("s.yaml", b"- ''\n", "item 1"),
        ("s.yaml", b"- a\n- [b\n", r"s\.yaml:3: not valid YAML"),
        ("s.yaml", b"- !!python/object/apply:os.system [id]\n", "not valid YAML"),
        ("s.txt", b"a\n\xff\n", r"s\.txt:2: not UTF-8 text"),
    ],
)
def test_what_it_refuses(path: str, content: bytes, said: str) -> None:
    with pytest.raises(TargetError, match=said):
        read_names(content, path)


def test_an_entry_for_each_name_and_one_for_an_empty_list() -> None:
    files = {"a.txt": "x\ny\n", "b.txt": "", "langgraph.json": "{}"}
    found = guard_served_agents(view(files, "a.txt", "b.txt", "langgraph.json"))
    assert [tuple(entry) for entry in found] == [
        ("x", "a.txt", ""),
        ("y", "a.txt", ""),
        ("", "b.txt", ""),
    ]
