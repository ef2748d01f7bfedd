"""README is true: its commands are run, its output is compared, its snippets are read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from guard.cli import COMMANDS, TO_COME
from guard.demo.scratch import FILES
from tests.blocks import Block, blocks, pages, read_page
from tests.commands.test_demo import play_demo
from tests.conftest import ScratchRepo

README = read_page("README.md")
INSTALL = "pip install regression-guard\n"
SKILL = ".claude/skills/expense/SKILL.md"
#: What of a line differs from one play of the demo to the next.
VARYING = re.compile(r"\d+")


def under(*headings: str) -> list[Block]:
    return [b for b in blocks(README) if b.heading in headings and b.language in ("sh", "yaml")]


# The way into one's own repository -----------------------------------------------------


@pytest.fixture
def owner(repo: ScratchRepo, tmp_path: Path) -> ScratchRepo:
    """A repository with a skill and its agent, and `guard` on PATH."""
    demo = Path(FILES, "agent")
    program = (demo / "expense.py").read_text().replace('"SKILL.md"', f'"{SKILL}"')
    files = {path: (demo / path).read_text() for path in ("trips/london.md", "SKILL.md")}
    files[SKILL] = files.pop("SKILL.md")
    repo.commit("An agent", {**files, "agent.py": program})
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, arguments in (("guard", "-E -P -m guard"), ("python3", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        (programs / name).chmod(0o755)
    return repo


def paste(owner: ScratchRepo, text: str) -> subprocess.CompletedProcess[str]:
    """Paste a block into a shell, line by line as a user does: it goes on until one fails."""
    programs = owner.root.parent / "bin"
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return owner.run("sh", "-e", "-c", text, env={"PATH": path})


def follow(owner: ScratchRepo, found: list[Block]) -> list[subprocess.CompletedProcess[str]]:
    """Paste the shell blocks and write the YAML block to guard.yaml, in order."""
    done: list[subprocess.CompletedProcess[str]] = []
    for block in found:
        if block.language == "yaml":
            owner.write({"guard.yaml": block.text})
        else:
            done.append(paste(owner, block.text.removeprefix(INSTALL)))
    return done


def test_the_first_line_installs_what_is_published() -> None:
    assert under("With guard's own hooks")[0].text.startswith(INSTALL)


def test_an_own_repository_is_set_up_and_gets_a_first_case(owner: ScratchRepo) -> None:
    setup = follow(owner, under("With guard's own hooks"))
    assert [done.returncode for done in setup] == [0, 0], setup
    assert owner.git("log", "-1", "--format=%s") == "Guard the expense skill\n"
    written, red, green = follow(owner, under("A first case"))
    assert written.returncode == 0, written
    assert (red.returncode, "RED" in red.stdout) == (3, True), red
    assert (green.returncode, "PROVEN" in green.stdout) == (0, True), green
    assert owner.git("log", "-1", "--format=%s").startswith("fix(expense): ")
    assert owner.git("status", "--porcelain") == ""


def test_a_fix_without_its_case_is_refused_there(owner: ScratchRepo) -> None:
    follow(owner, under("With guard's own hooks"))
    refused = paste(owner, f'echo "Ask." >> {SKILL}; git commit -q -a -m "fix(expense): ask"')
    assert refused.returncode == 1
    assert shape(refused.stderr.splitlines()) >= shape(
        line for line in refusal().splitlines() if line.startswith(("guard: refused", "  more"))
    )


def test_an_agent_that_needs_no_mending_turns_no_case_red(owner: ScratchRepo) -> None:
    follow(owner, under("With guard's own hooks"))
    sentence = "If an amount is in another currency, ask for the rate and change nothing."
    owner.commit("docs: ask first", {SKILL: f"{sentence}\n"})
    _, red, _ = follow(owner, under("A first case"))
    assert "RED" not in red.stdout


# What it shows -------------------------------------------------------------------------


def excerpt() -> str:
    [found] = [b.text for b in blocks(README, "text") if "$ cd agent" in b.text]
    return found


def refusal() -> str:
    [found] = [b.text for b in blocks(README, "text") if b.text.startswith("guard: refused")]
    return found


def shape(lines: Any) -> set[str]:
    return {VARYING.sub("N", line) for line in lines}


@pytest.mark.slow
def test_the_output_shown_is_the_demos_own(tmp_path: Path) -> None:
    real = [VARYING.sub("N", line) for line in play_demo(tmp_path).stdout.splitlines()]
    position = 0
    for line in excerpt().splitlines():
        if line and line != "…":
            wanted = VARYING.sub("N", line)
            assert wanted in real[position:], line
            position += real[position:].index(wanted) + 1
    assert "\n".join(shape_of(refusal())) in "\n".join(real)


def shape_of(text: str) -> list[str]:
    return [VARYING.sub("N", line) for line in text.splitlines()]


def test_a_refusal_is_at_most_eight_lines() -> None:
    assert len(refusal().splitlines()) <= 8


# What it says of other files -----------------------------------------------------------


def framework_snippets() -> list[tuple[str, str]]:
    return [
        (name, block.text)
        for name in pages()
        for block in blocks(read_page(name), "yaml")
        if "default_install_hook_types" in block.text
    ]


@pytest.mark.parametrize(("page", "text"), framework_snippets())
def test_the_framework_snippet_has_the_published_hooks(page: str, text: str) -> None:
    snippet = yaml.safe_load(text)
    published = yaml.safe_load(read_page(".pre-commit-hooks.yaml"))
    [source] = snippet["repos"]
    assert [hook["id"] for hook in source["hooks"]] == [hook["id"] for hook in published]
    stages = {stage for hook in published for stage in hook["stages"]}
    assert set(snippet["default_install_hook_types"]) == stages


def test_the_snippet_is_there_and_in_the_guide() -> None:
    assert [page for page, _ in framework_snippets()] == ["README.md", "docs/hooks.md"]


def test_the_snippet_names_this_version() -> None:
    version = re.search(r'^version = "(.+)"$', read_page("pyproject.toml"), re.MULTILINE)
    assert version
    for _, text in framework_snippets():
        assert f"rev: v{version[1]}\n" in text


def test_every_make_target_it_names_is_there() -> None:
    makefile = read_page("Makefile")
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", pages())
def test_every_command_it_names_is_known(page: str) -> None:
    shell = "".join(b.text for b in blocks(read_page(page)) if b.language in ("", "sh", "text"))
    named = set(re.findall(r"^(?:\$ )?guard ([a-z-]+)(?![\w:])", shell, re.MULTILINE))
    named |= set(re.findall(r"(?<!`)`guard ([a-z-]+)", read_page(page)))
    assert named <= {*COMMANDS, *TO_COME}


def test_what_it_calls_missing_is_missing() -> None:
    section = README.split("## What it can't do yet")[1].split("\n## ")[0]
    named = set(re.findall(r"\(`guard ([a-z-]+)`\)", section))
    assert named
    assert named <= set(TO_COME)


def test_what_the_guide_calls_missing_is_missing() -> None:
    for command in re.findall(r"`guard ([a-z-]+)` is not there yet", read_page("docs/hooks.md")):
        assert command in TO_COME
