"""The pages for people: complete, true where a test can tell, and about nothing else."""

from __future__ import annotations

import inspect
import re

import pytest

from guard import model
from guard.casekeys import CASE_KEYS, GATES, PRECONDITIONS
from guard.cases import parse_cases
from guard.config import AGENT_KEYS, DEFAULTS, ENFORCEABLE, KEYS
from guard.errors import ExitCode
from guard.explanations import all_explanations
from guard.plugin import spec
from guard.regressions import RECORD_KEYS
from guard.yamlfile import load_yaml
from tests.blocks import ROOT, blocks, pages, read_page
from tests.commands.calling import start_guard
from tests.conftest import ScratchRepo

HOOKS = {
    name: function
    for name, function in inspect.getmembers(spec, inspect.isfunction)
    if name.startswith("guard_")
}
EXPECTATIONS = [item.name for item in all_explanations() if item.kind == "expectations"]
VERDICTS = [item.name for item in all_explanations() if item.kind == "verdicts"]


def signature(name: str) -> str:
    return f"{name}({', '.join(inspect.signature(HOOKS[name]).parameters)})"


# docs/plugins.md -----------------------------------------------------------------------


def test_every_hook_is_described_with_its_arguments_in_the_order_of_the_spec() -> None:
    headings = re.findall(r"^### `(guard_.+)`$", read_page("docs/plugins.md"), re.MULTILINE)
    source = inspect.getsource(spec)
    in_order = sorted(HOOKS, key=lambda name: source.index(f"def {name}("))
    assert headings == [signature(name) for name in in_order]


@pytest.mark.parametrize("name", sorted(HOOKS))
def test_the_protocol_names_every_hook(name: str) -> None:
    protocol = read_page("docs/plugins.md").split("## The protocol")[1].split("\n## ")[0]
    listed = re.findall(r"^\d+\. ((?:.|\n   )+)", protocol, re.MULTILINE)
    assert any(f"`{signature(name)}`" in item for item in listed)


def test_a_hook_that_is_gone_is_not_described() -> None:
    named = set(re.findall(r"\bguard_[a-z_]+(?=\()", read_page("docs/plugins.md")))
    assert named == set(HOOKS)


def plugin_project(repo: ScratchRepo, most: int) -> None:
    page = read_page("docs/plugins.md")
    [plugin] = [b for b in blocks(page, "python") if "guard_targets" in b.text]
    config = blocks(page, "yaml")[0]
    repo.commit(
        "A plugin",
        {
            "guard.yaml": config.text,
            "evals/guard_plugin.py": plugin.text,
            "agent/agent.py": "import sys\nprint('you said', sys.argv[1])\n",
            "evals/cases/short.md": f"---\nid: short\nutterance: hello there\n"
            f"expected: {{max_words: {most}}}\n---\nIt is asked to be short.\n",
        },
    )


def test_the_plugin_of_the_guide_passes_a_case(repo: ScratchRepo) -> None:
    plugin_project(repo, most=4)
    done = start_guard(repo, "run")
    assert (done.code, "short PASS" in done.out) == (0, True), done


def test_the_plugin_of_the_guide_fails_a_case(repo: ScratchRepo) -> None:
    plugin_project(repo, most=3)
    done = start_guard(repo, "run")
    assert (done.code, "4 words, 3 allowed" in done.out) == (1, True), done


def test_the_function_of_the_guide_grades_a_case(repo: ScratchRepo) -> None:
    [function] = [
        b for b in blocks(read_page("docs/plugins.md"), "python") if "is_polite" in b.text
    ]
    plugin_project(repo, most=4)
    config = (repo.root / "guard.yaml").read_text().rstrip()
    repo.commit(
        "A function",
        {
            "evals/checks.py": function.text,
            "guard.yaml": f"{config}\n    evaluators: [evals/checks.py:is_polite]\n",
        },
    )
    done = start_guard(repo, "run")
    assert (done.code, "is_polite" in done.out) == (1, True), done


# docs/files.md -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    sorted({*KEYS, *AGENT_KEYS, *CASE_KEYS, *RECORD_KEYS, *EXPECTATIONS, *PRECONDITIONS, *GATES}),
)
def test_every_key_of_a_file_is_in_the_reference(key: str) -> None:
    assert f"`{key}`" in read_page("docs/files.md")


def test_the_defaults_in_the_reference_are_the_real_ones() -> None:
    page = read_page("docs/files.md")
    found = [load_yaml(block.text, "docs/files.md") for block in blocks(page, "yaml")]
    assert {"fix": DEFAULTS["fix"]} in found
    told = [load_yaml(text, "docs/files.md") for text in re.findall(r"\| `(\{.+?\})` \|", page)]
    for key in ("defaults", "enforce", "receipts"):
        assert DEFAULTS[key] in told, key


@pytest.mark.parametrize("rule", ENFORCEABLE)
def test_every_rule_that_can_be_softened_is_named(rule: str) -> None:
    assert f"`{rule}`" in read_page("docs/files.md")


def test_the_files_of_the_reference_are_accepted(repo: ScratchRepo) -> None:
    page = read_page("docs/files.md")
    files = {"agent.py": "", "agent/CLAUDE.md": "Be exact.\n", "trips/london.md": "taxi\n"}
    dataset, files["regressions.json"] = (block.text for block in blocks(page, "json")[:2])
    assert parse_cases("evals/books.json", dataset.encode())
    files["guard.yaml"] = blocks(page, "yaml")[0].text
    files["evals/cases/eur-taxi.md"] = blocks(page, "markdown")[0].text
    repo.commit("What the reference shows", files)
    done = start_guard(repo, "check")
    assert done.code == 0, done


# docs/verdicts.md ----------------------------------------------------------------------


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_has_a_row(verdict: str) -> None:
    assert re.search(rf"^\| `{verdict}` \|", read_page("docs/verdicts.md"), re.MULTILINE)


@pytest.mark.parametrize("code", list(ExitCode))
def test_every_exit_code_has_a_row(code: ExitCode) -> None:
    assert re.search(rf"^\| {code.value} \|", read_page("docs/verdicts.md"), re.MULTILINE)


def test_no_verdict_is_made_up() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \|", read_page("docs/verdicts.md"), re.MULTILINE)
    known = {value for name, value in vars(model).items() if name == value}
    assert set(rows) == known


# All pages -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", pages())
def test_links_between_pages_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read_page(name)):
        assert (ROOT / name).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("name", pages())
def test_links_into_a_page_name_a_heading(name: str) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", read_page(name)):
        path = (ROOT / name).parent / target if target else ROOT / name
        headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
        assert anchor in slugs, f"{target}#{anchor}"


@pytest.mark.parametrize("name", pages())
def test_pages_name_no_folder_of_anyone(name: str) -> None:
    assert not re.search(r"/(?:tmp|work|home|root|Users|private|var)/", read_page(name))


# docs/server.md ------------------------------------------------------------------------


def test_the_limit_of_the_server_page_is_the_default() -> None:
    [block] = blocks(read_page("docs/server.md"), "yaml")
    stated = load_yaml(block.text, "docs/server.md")
    assert stated == {"hooks": {"pre-receive": DEFAULTS["hooks"]["pre-receive"]}}
