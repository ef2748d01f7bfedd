from __future__ import annotations

import pytest

from guard.model import ERROR, PASS, Agent
from tests.conftest import ScratchRepo
from tests.staging import run_script

AGENT = Agent("expense", paths=("agent/**",), workspace="agent")


def link(repo: ScratchRepo, name: str, target: str) -> None:
    path = repo.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize(
    "target",
    ["/etc/hostname", "../README.md", "../../elsewhere", "..", "deep/../../x", "../agent/SKILL.md"],
)
def test_a_link_of_the_agents_that_leads_out_is_named_and_not_followed(
    repo: ScratchRepo, target: str
) -> None:
    repo.write({"agent/SKILL.md": "x\n", "README.md": "not in the workspace\n"})
    link(repo, "agent/more.md", target)
    result = run_script(repo, "cat more.md; true", agent=AGENT)
    said = f"agent/more.md is a symbolic link to {target}, outside its workspace"
    assert (result.verdict, result.reason) == (ERROR, said)


@pytest.mark.parametrize("target", ["SKILL.md", "deep/../SKILL.md", "./deep", "."])
def test_one_that_stays_inside_is_an_ordinary_file(repo: ScratchRepo, target: str) -> None:
    repo.write({"agent/SKILL.md": "x\n", "agent/deep/y": "y\n"})
    link(repo, "agent/more.md", target)
    assert run_script(repo, "test -e more.md", agent=AGENT).verdict == PASS


def test_one_that_is_no_part_of_the_agent_is_data(repo: ScratchRepo) -> None:
    repo.write({"agent/SKILL.md": "x\n"})
    link(repo, "agent/data", "/nowhere")
    agent = AGENT._replace(paths=("agent/SKILL.md",))
    assert run_script(repo, "test -L data", agent=agent).verdict == PASS


def test_in_a_workspace_that_is_the_whole_tree_nothing_leads_out_but_above(
    repo: ScratchRepo,
) -> None:
    repo.write({"agent/SKILL.md": "x\n", "README.md": "here\n"})
    link(repo, "agent/more.md", "../README.md")
    agent = AGENT._replace(workspace="")
    result = run_script(repo, "cat agent/more.md", agent=agent)
    assert (result.verdict, result.observation.stdout) == (PASS, "here\n")
    link(repo, "agent/out.md", "../../README.md")
    assert run_script(repo, "true", agent=agent).verdict == ERROR
