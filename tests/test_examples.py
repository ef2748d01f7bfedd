"""Each worked example: what it says of itself holds, and its cases can fail."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.blocks import ROOT, blocks
from tests.commands.calling import start_guard
from tests.conftest import ScratchRepo

EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/guard.yaml"))
#: Tested in a file of its own: it takes a server, and models.
LARGE = {"ledger"}


def lay_example(repo: ScratchRepo, name: str) -> None:
    shutil.copytree(
        ROOT / "examples" / name,
        repo.root,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("__pycache__"),
    )


@pytest.mark.parametrize("name", sorted({*EXAMPLES} - LARGE))
def test_the_commands_of_its_page_hold(repo: ScratchRepo, name: str) -> None:
    lay_example(repo, name)
    page = (ROOT / "examples" / name / "README.md").read_text(encoding="utf-8")
    [block] = blocks(page, "sh")
    git, *guard = block.text.splitlines()
    assert repo.run("sh", "-c", git).returncode == 0
    for command in guard:
        done = start_guard(repo, *command.removeprefix("guard ").split())
        assert done.code == 0, done


def test_without_its_line_the_support_desk_fails_that_case_alone(repo: ScratchRepo) -> None:
    lay_example(repo, "support-desk")
    prompt = repo.root / "agent/PROMPT.md"
    lines = prompt.read_text(encoding="utf-8").splitlines(keepends=True)
    repo.commit(
        "Tidy up", {"agent/PROMPT.md": "".join(line for line in lines if "discount" not in line)}
    )
    done = start_guard(repo, "run")
    assert done.code == 1, done
    assert "✗ no-invented-discount FAIL" in done.out
    assert "✓ asks-for-the-number PASS" in done.out


def test_its_counter_example_is_rejected_on_just_those_keys(repo: ScratchRepo) -> None:
    lay_example(repo, "support-desk")
    case = Path("evals/cases/no-invented-discount.md")
    text = (repo.root / case).read_text(encoding="utf-8")
    repo.commit("Claim less", {str(case): text.replace("fails: [polite, ", "fails: [")})
    done = start_guard(repo, "check")
    assert done.code == 1, done


def test_there_is_an_example() -> None:
    assert EXAMPLES == ["every-hook", "ledger", "support-desk"]


def test_every_hook_is_implemented_by_the_example_that_says_so(repo: ScratchRepo) -> None:
    lay_example(repo, "every-hook")
    repo.commit("Begin")
    hooks = start_guard(repo, "plugins", "--hooks")
    assert hooks.code == 0, hooks
    assert "nobody" not in hooks.out
    done = start_guard(repo, "run", "--report", "table=results.tsv")
    assert done.code == 0, done
    assert "letter offer-ana#1: PASS" in done.err
    assert "2 letters looked at" in done.err
    assert (repo.root / "results.tsv").read_text() == (
        "case\tverdict\noffer-ana\tPASS\nshipped-bo\tPASS\n"
    )


def test_the_example_s_plugin_has_its_say(repo: ScratchRepo) -> None:
    lay_example(repo, "every-hook")
    repo.commit("Begin")
    repo.write({"customers.txt": "Ana\nBo\nCy\n"})
    assert "offer-ana  plugin:evals/guard_plugin.py" in start_guard(repo, "affected").out
    repo.write({"prompts/offer.txt": "Dear {name},\nthe offer is attached, and it is free.\n"})
    repo.git("add", "-A")
    repo.write({"message": ":bug: say what it costs\n"})
    refused = start_guard(repo, "hook", "commit-msg", "message")
    assert refused.code == 1, refused
    assert "fix-needs-case" in refused.err
    failed = start_guard(repo, "run", "offer-ana")
    assert failed.code == 1, failed
