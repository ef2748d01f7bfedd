"""Where skills lie, and which agents guard.yaml gets for them."""

from __future__ import annotations

from guard.setup.layouts import declare_agents, find_layouts


def layouts_of(*folders: str) -> dict[str, tuple[str, ...]]:
    found, _ = find_layouts(f"{folder}/SKILL.md".encode() for folder in folders)
    return {layout.glob: layout.folders for layout in found}


def agents_of(*paths: str) -> dict[str, dict[str, str]]:
    listing = [path.encode() for path in paths]
    layouts, _ = find_layouts(listing)
    return {
        f"{entry.name}: {entry.glob}": dict(entry.agents)
        for entry in declare_agents(layouts, listing)
    }


def test_each_of_the_three_layouts_at_any_depth() -> None:
    assert layouts_of("skills/a", "agent/.claude/skills/b", "x/plugins/p/skills/c") == {
        "agent/.claude/skills/*": ("agent/.claude/skills/b",),
        "skills/*": ("skills/a",),
        "x/plugins/*/skills/*": ("x/plugins/p/skills/c",),
    }


def test_skills_in_groups() -> None:
    assert layouts_of("skills/office/pdf", "skills/office/docx") == {
        "skills/*/*": ("skills/office/docx", "skills/office/pdf")
    }


def test_a_skill_inside_a_skill_is_a_file_of_it() -> None:
    assert layouts_of("skills/a", "skills/a/examples/skills/b", "skills/a-b") == {
        "skills/*": ("skills/a", "skills/a-b")
    }


def test_what_is_no_skill() -> None:
    found, left_out = find_layouts([b"SKILL.md", b"docs/SKILL.md", b"skills/a/skill.txt"])
    assert (found, left_out) == ([], 0)


def test_what_others_wrote_is_left_out_and_counted() -> None:
    paths = [
        b"node_modules/x/skills/a/SKILL.md",
        b"tests/fixtures/skills/b/SKILL.md",
        b"skills/\xff/SKILL.md",
        b"skills/ours/SKILL.md",
    ]
    found, left_out = find_layouts(paths)
    assert [layout.folders for layout in found] == [("skills/ours",)]
    assert left_out == 3


def test_only_the_client_finds_skills_in_its_own_folder() -> None:
    found, _ = find_layouts([b"a/.claude/skills/x/SKILL.md", b"skills/y/SKILL.md"])
    assert [layout.in_client for layout in found] == [True, False]


def test_many_of_one_layout_are_one_block() -> None:
    assert agents_of(*(f"skills/{name}/SKILL.md" for name in ("a", "b", "c"))) == {
        "each-skill: skills/*": {"a": "skills/a", "b": "skills/b", "c": "skills/c"}
    }


def test_few_are_one_agent_each() -> None:
    assert agents_of("skills/a/SKILL.md", "skills/ü b/SKILL.md") == {
        "a: skills/a": {"a": "skills/a"},
        "ü b: skills/ü b": {"ü b": "skills/ü b"},
    }


def test_a_folder_that_is_no_skill_is_not_made_one() -> None:
    skills = [f"skills/{name}/SKILL.md" for name in ("a", "b", "c")]
    assert list(agents_of(*skills, "skills/_shared/x.md")) == ["each-skill: skills/[!_.]*"]
    assert list(agents_of(*skills, "skills/shared/x.md")) == [
        "a: skills/a",
        "b: skills/b",
        "c: skills/c",
    ]
    assert list(agents_of(*skills, "skills/README.md")) == ["each-skill: skills/*"]


def test_a_name_that_stands_in_two_layouts_is_told_apart() -> None:
    skills = [f"skills/{name}/SKILL.md" for name in ("a", "b", "c")]
    assert list(agents_of(".claude/skills/a/SKILL.md", *skills)) == [
        "a: .claude/skills/a",
        "skills/a: skills/a",
        "b: skills/b",
        "c: skills/c",
    ]


def test_two_plugins_may_have_a_skill_of_one_name() -> None:
    skills = [f"plugins/{p}/skills/{s}/SKILL.md" for p, s in ("ax", "bx", "by")]
    assert agents_of(*skills) == {
        "each-skill: plugins/*/skills/*": {
            "a/x": "plugins/a/skills/x",
            "b/x": "plugins/b/skills/x",
            "y": "plugins/b/skills/y",
        }
    }


def test_two_blocks_and_a_skill_of_a_blocks_name() -> None:
    first = [f".claude/skills/{name}/SKILL.md" for name in ("each-skill", "a", "b")]
    second = [f"skills/{name}/SKILL.md" for name in ("c", "d", "e")]
    assert list(agents_of(*first, *second)) == [
        "each-skill-2: .claude/skills/*",
        "each-skill-3: skills/*",
    ]


def test_a_name_that_guard_yaml_does_not_take_is_changed_and_its_folder_kept() -> None:
    found = agents_of("skills/a, b#1/SKILL.md", "skills/[x]/SKILL.md")
    assert found == {
        "[x]: skills/[[]x]": {"[x]": "skills/[x]"},
        "a- b-1: skills/a, b#1": {"a- b-1": "skills/a, b#1"},
    }


def test_odd_names_never_share_a_block() -> None:
    skills = [f"skills/{name}/SKILL.md" for name in ("a", "b", "{dir}")]
    assert len(agents_of(*skills)) == 3
