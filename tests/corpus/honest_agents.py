"""Honest repositories: what the agent is made of, where it lies, and what its fix is."""

from __future__ import annotations

from pathlib import Path

from tests.clerk import record, regressions
from tests.corpus.honest_repos import (
    BROKEN,
    CASE,
    CONFIG,
    FIXED,
    RECORDS,
    SCRIPT,
    SENTENCE,
    SKILL,
    Stories,
    case,
    fix,
    polish,
    start,
)
from tests.scratch_repo import ScratchRepo

AGENTS = Stories()
ODD = "agent/skills/Prüfung für Zoë/SKILL.md"
TOLD = "agent/skills/teller/SKILL.md"
#: A program whose files are the agent: what it does is not written in any prose.
TOOL = CONFIG.replace("[agent/skills/clerk/**]", "[agent/tool/**]").replace("act.sh", "tool/run.sh")


def fix_tool(repo: ScratchRepo, files: dict[str, str | bytes | None], reply: str = "fine") -> None:
    kept = {CASE: case(reply), RECORDS: regressions(taxi=record())}
    repo.commit("fix(tool): mend it", {**kept, **files})


@AGENTS.told(taxi="live", own="agent/skills/Prüfung für Zoë/")
def unicode_path_with_spaces(repo: ScratchRepo) -> None:
    config = CONFIG.replace("[agent/skills/clerk/**]", '["agent/skills/Prüfung für Zoë/**"]')
    config = config.replace("evals/*.md", "prüf fälle/*.md")
    start(repo, {"guard.yaml": config, SKILL: None, ODD: BROKEN})
    moved = record(case="prüf fälle/tâxi.md")
    kept = {CASE: None, "prüf fälle/tâxi.md": case(), RECORDS: regressions(taxi=moved)}
    fix(repo, {**kept, SKILL: None, ODD: FIXED})
    polish(repo, ODD)


@AGENTS.told(taxi="live", own="agent/skills/clerk/")
def path_that_shells_and_git_quote(repo: ScratchRepo) -> None:
    rules = 'agent/skills/clerk/a "quoted"\n*[b]?.md'
    start(repo, {rules: "Be kind.\n"})
    fix(repo, {SKILL: BROKEN, rules: "Be kind.\n" + SENTENCE})


@AGENTS.told(taxi="live", own="agent/rules/")
def symlink_within_the_agent(repo: ScratchRepo) -> None:
    """The skill's file is a link: the text that was fixed lies elsewhere in the agent."""
    rules = "agent/rules/clerk.md"
    config = CONFIG.replace("clerk/**]", "clerk/**, agent/rules/**]")
    (repo.root / "agent/skills/clerk").mkdir(parents=True)
    (repo.root / SKILL).symlink_to("../../rules/clerk.md")
    base = {"guard.yaml": config, "agent/act.sh": SCRIPT, rules: BROKEN}
    repo.commit("start", base)
    repo.write({CASE: case(), RECORDS: regressions(taxi=record()), rules: FIXED})
    repo.commit("fix(clerk): ask first")
    polish(repo, rules)


@AGENTS.told(taxi="live")
def link_that_was_led_elsewhere(repo: ScratchRepo) -> None:
    """The fix is where a link leads."""
    start(repo)
    other = {"old.txt": "Be kind.\n", "new.txt": SENTENCE}
    link = repo.root / "agent/skills/clerk/rules.md"
    repo.write({f"agent/skills/clerk/{name}": text for name, text in other.items()})
    link.symlink_to("old.txt")
    repo.commit("feat(clerk): rules")
    link.unlink()
    link.symlink_to("new.txt")
    fix(repo, {SKILL: BROKEN})


@AGENTS.told(taxi="live", own="agent/skills/teller/")
def skill_folder_renamed_since(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    repo.git("mv", "agent/skills/clerk", "agent/skills/teller")
    repo.commit("refactor: teller", {"guard.yaml": CONFIG.replace("clerk/**", "teller/**")})
    polish(repo, TOLD)


@AGENTS.told(taxi="pinned", own="agent/skills/teller/")
def skill_renamed_and_written_anew_since(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    repo.git("mv", "agent/skills/clerk", "agent/skills/teller")
    anew = FIXED.replace("name: clerk", "name: teller").replace(SENTENCE, f"Stop! {SENTENCE}")
    config = CONFIG.replace("clerk/**", "teller/**")
    repo.commit("refactor: teller", {"guard.yaml": config, TOLD: anew})


@AGENTS.told(taxi="live")
def agent_renamed_since(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    kept = regressions(taxi=record(agent="teller"))
    renamed = CONFIG.replace("  clerk:", "  teller:")
    repo.commit("refactor: teller", {"guard.yaml": renamed, RECORDS: kept})
    polish(repo)


@AGENTS.told(taxi="live", own="desk/skills/clerk/")
def agent_moved_to_another_folder(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    repo.git("mv", "agent", "desk")
    repo.commit(
        "refactor: desk",
        {
            "guard.yaml": CONFIG.replace("agent/", "desk/").replace(
                "workspace: agent", "workspace: desk"
            )
        },
    )
    polish(repo, "desk/skills/clerk/SKILL.md")


@AGENTS.told(taxi="live", own=("agent/skills/clerk/", "agent/shared.md"))
def agent_that_owns_more_since(repo: ScratchRepo) -> None:
    start(repo, {"agent/shared.md": "Be kind.\n"})
    fix(repo)
    wider = CONFIG.replace("clerk/**]", "clerk/**, agent/shared.md]")
    repo.commit("feat: own more", {"guard.yaml": wider, "agent/shared.md": "Be kinder.\n"})


@AGENTS.told(taxi="live", tip="live", own="agent/skills/")
def two_agents_share_a_file(repo: ScratchRepo) -> None:
    """The sentence lies in the file of both: each has a case and a record of its own."""
    shared = "agent/skills/shared/house.md"
    second = CONFIG.split("agents:\n")[1].replace("clerk", "waiter").replace("evals/", "tips/")
    config = (CONFIG + second).replace("/**]", f"/**, {shared}]")
    waiter = BROKEN.replace("clerk", "waiter")
    start(repo, {"guard.yaml": config, "agent/skills/waiter/SKILL.md": waiter, shared: "Smile.\n"})
    tip = record(agent="waiter", case="tips/tip.md")
    kept = {RECORDS: regressions(taxi=record(), tip=tip), "tips/tip.md": case(name="tip")}
    fix(repo, {SKILL: BROKEN, shared: "Smile.\n" + SENTENCE, **kept})
    polish(repo)


@AGENTS.told(taxi="live", own="apps/desk/agents/clerk/.claude/skills/")
def nested_workspace(repo: ScratchRepo) -> None:
    home = "apps/desk/agents/clerk"
    skill = f"{home}/.claude/skills/clerk/SKILL.md"
    paths = f"paths: [{home}/.claude/skills/clerk/**]"
    config = CONFIG.replace("paths: [agent/skills/clerk/**]", paths)
    config = config.replace("    workspace: agent\n", "").replace("evals/*", f"{home}/evals/*")
    script = SCRIPT.replace("skills/*/*", ".claude/skills/*/*")
    repo.commit("start", {"guard.yaml": config, f"{home}/act.sh": script, skill: BROKEN})
    kept = {
        f"{home}/evals/taxi.md": case(),
        RECORDS: regressions(taxi=record(case=f"{home}/evals/taxi.md")),
    }
    repo.commit("fix(clerk): ask", {**kept, skill: FIXED})


@AGENTS.told(taxi="live", own="plugins/books/skills/clerk/")
def one_agent_for_each_folder(repo: ScratchRepo) -> None:
    config = """\
version: 1
agents:
  all:
    each: "plugins/*/skills/*"
    workspace: "{dir}"
    target: command
    options: {argv: [cat, SKILL.md], deterministic: true}
    cases: ["{dir}/evals/*.md"]
"""
    folders = [f"plugins/books/skills/{name}" for name in ("clerk", "teller")]
    skills: dict[str, str] = {f"{folder}/SKILL.md": BROKEN for folder in folders}
    repo.commit("start", {"guard.yaml": config, **skills})
    path = f"{folders[0]}/evals/taxi.md"
    kept = {path: case("Ask which"), RECORDS: regressions(taxi=record(case=path))}
    repo.commit("fix(clerk): ask", {**kept, f"{folders[0]}/SKILL.md": FIXED})
    repo.commit("docs: brief", {f"{folders[0]}/SKILL.md": FIXED + "\nBe kind.\n"})


@AGENTS.told(taxi="live", own="agent/tool/")
def executable_bit(repo: ScratchRepo) -> None:
    start(repo, {"guard.yaml": TOOL, "agent/tool/run.sh": "tool/step || echo no step\n"})
    repo.commit("feat: step", {"agent/tool/step": "#!/bin/sh\necho fine\n"})
    (repo.root / "agent/tool/step").chmod(0o755)
    fix_tool(repo, {})
    repo.commit("docs: why", {"agent/tool/step": "#!/bin/sh\n# A step.\necho fine\n"})


@AGENTS.told(taxi="live", own="agent/tool/")
def file_taken_away(repo: ScratchRepo) -> None:
    run = "[ -e tool/stale ] && echo stale || echo fine\n"
    start(repo, {"guard.yaml": TOOL, "agent/tool/run.sh": run, "agent/tool/stale": "1\n"})
    fix_tool(repo, {"agent/tool/stale": None})


@AGENTS.told(taxi="live", own="agent/tool/")
def file_added(repo: ScratchRepo) -> None:
    start(repo, {"guard.yaml": TOOL, "agent/tool/run.sh": "cat tool/rules || echo none\n"})
    fix_tool(repo, {"agent/tool/rules": "fine\n"})
    repo.commit("feat: more", {"agent/tool/more": "1\n"})


@AGENTS.told(taxi="live", own="agent/tool/")
def empty_file_added(repo: ScratchRepo) -> None:
    """Its content is the same as of any other empty file, and it is there or it isn't."""
    run = "[ -e tool/on ] && echo fine || echo off\n"
    start(repo, {"guard.yaml": TOOL, "agent/tool/run.sh": run, "agent/empty": ""})
    fix_tool(repo, {"agent/tool/on": ""})


@AGENTS.told(taxi="live", own="agent/tool/")
def file_that_became_a_folder(repo: ScratchRepo) -> None:
    run = "cat tool/rules/* 2>&1 || true\n"
    start(repo, {"guard.yaml": TOOL, "agent/tool/run.sh": run, "agent/tool/rules": "old\n"})
    (repo.root / "agent/tool/rules").unlink()
    fix_tool(repo, {"agent/tool/rules/one": "fine\n"})


@AGENTS.told(taxi="pinned", own="agent/tool/")
def binary_file(repo: ScratchRepo) -> None:
    """A binary file can't be merged: it is taken as it was."""
    run = "tr -d '\\0\\200-\\377' < tool/table.bin\n"
    table = bytes(range(128, 256)) * 4
    broken: dict[str, str | bytes] = {
        "agent/tool/run.sh": run,
        "agent/tool/table.bin": b"\0wrong\n" + table,
    }
    start(repo, {"guard.yaml": TOOL, **broken})
    fix_tool(repo, {"agent/tool/table.bin": b"\0fine\n" + table})
    repo.commit("feat: more", {"agent/tool/table.bin": b"\0fine\n" + table + b"\xff"})


@AGENTS.told(taxi="live", own="agent/skills/clerk/")
def binary_file_beside(repo: ScratchRepo) -> None:
    """A picture lies in the agent, changed by the fix's commit and since."""
    picture = "agent/skills/clerk/logo.png"
    start(repo, {picture: b"\x89PNG\0\1"})
    fix(repo, {picture: b"\x89PNG\0\2"})
    polish(repo)


@AGENTS.told(taxi="live")
def sentence_taken_away(repo: ScratchRepo) -> None:
    eager = BROKEN.replace("Say what", "Round up.\n\nSay what")
    script = SCRIPT.replace('echo "Rounded."', 'echo "Rounded." ;;\n*) echo "To the cent."')
    start(repo, {SKILL: eager, "agent/act.sh": script})
    fix(repo, {SKILL: BROKEN, CASE: case("To the cent")})


@AGENTS.told(taxi="live", own="agent/skills/clerk/")
def sentence_moved(repo: ScratchRepo) -> None:
    """Nothing was added or taken away: what stands first is done first."""
    script = "grep -m1 -e Receipt -e Currency skills/clerk/SKILL.md\n"
    lines = "First:\n{}\nThen:\n{}\nEnd.\n"
    start(repo, {"agent/act.sh": script, SKILL: lines.format("Receipt", "Currency")})
    fix(repo, {SKILL: lines.format("Currency", "Receipt"), CASE: case("Currency")})


@AGENTS.told(taxi="live", own="agent/skills/clerk/")
def white_space_alone(repo: ScratchRepo) -> None:
    """An indented line belongs to the item above it: the fix is four spaces."""
    script = "grep -q '^    Ask' skills/clerk/SKILL.md && echo in the list || echo alone\n"
    start(repo, {"agent/act.sh": script, SKILL: BROKEN + "\n- Euros\n\nAsk.\n"})
    fix(repo, {SKILL: BROKEN + "\n- Euros\n\n    Ask.\n", CASE: case("in the list")})


@AGENTS.told(taxi="live", own="agent/skills/clerk/")
def attributes_of_the_repository(repo: ScratchRepo) -> None:
    """The skill is kept out of archives, has CRLF in work trees, and merges by union."""
    said = "*.md export-ignore merge=union text eol=crlf\nact.sh text eol=lf\n"
    start(repo, {".gitattributes": said})
    fix(repo)
    polish(repo)


@AGENTS.told(taxi="live", own="agent/skills/clerk/")
def settings_of_the_user(repo: ScratchRepo) -> None:
    """A configuration that changes what git prints, merges and checks out."""
    settings = {
        "core.quotePath": "true",
        "core.autocrlf": "true",
        "core.safecrlf": "false",
        "diff.noprefix": "true",
        "diff.renames": "copies",
        "diff.external": "false",
        "merge.renames": "false",
        "merge.conflictStyle": "diff3",
        "log.showSignature": "true",
        "color.ui": "always",
        "core.pager": "false",
    }
    start(repo)
    fix(repo)
    polish(repo)
    for name, value in settings.items():
        repo.git("config", name, value)


@AGENTS.told(taxi="live", own="agent/skills/clerk/")
def submodule_elsewhere(repo: ScratchRepo) -> None:
    library = ScratchRepo(repo.root.parent / "library")
    library.root.mkdir()
    library.git("init", "-q")
    library.commit("start", {"lib.txt": "1\n"})
    start(repo)
    repo.git("submodule", "--quiet", "add", str(library.root), "vendor/library")
    repo.commit("feat: a library")
    fix(repo)
    library.commit("more", {"lib.txt": "2\n"})
    repo.git("-C", "vendor/library", "pull", "-q")
    repo.commit("chore: library")


@AGENTS.told(taxi="live", own="agent/skills/clerk/")
def sparse_checkout(repo: ScratchRepo) -> None:
    """Most of the repository isn't on disk."""
    start(repo, {"other/a.md": "1\n", "third/b.md": "1\n"})
    fix(repo)
    repo.git("sparse-checkout", "set", "agent", "evals")


def sha256(repo: ScratchRepo) -> Path:
    """A repository whose ids are longer."""
    longer = ScratchRepo(repo.root.parent / "sha256")
    longer.root.mkdir()
    longer.git("init", "-q", "--object-format=sha256")
    start(longer)
    fix(longer)
    polish(longer)
    return longer.root


AGENTS.told(taxi="live")(sha256)
