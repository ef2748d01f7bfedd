"""Honest repositories: how teams work, and what their cases grade."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.clerk import record, regressions
from tests.corpus.honest_repos import (
    BROKEN,
    CASE,
    CONFIG,
    FIXED,
    LATER,
    RECORDS,
    SCRIPT,
    SENTENCE,
    SKILL,
    Stories,
    case,
    fix,
    merge,
    polish,
    start,
)
from tests.scratch_repo import ScratchRepo

SITUATIONS = Stories()
TOLD = "agent/skills/teller/SKILL.md"


def graded(expected: str, more: str = "") -> str:
    """Return a case that grades something else than the reply."""
    stated = 'expected: {reply_contains: ["Which currency"]}'
    return case(more=more).replace(stated, f"expected: {expected}")


# How they work -------------------------------------------------------------------------------


@SITUATIONS.told(taxi="pinned")
def case_and_record_first(repo: ScratchRepo) -> None:
    """The failing case is committed before the fix, as some are taught to."""
    start(repo)
    repo.commit("test: a case that fails", {CASE: case(), RECORDS: regressions(taxi=record())})
    repo.commit("fix(clerk): ask first", {SKILL: FIXED})


@SITUATIONS.told(taxi="live")
def guard_came_with_the_fix(repo: ScratchRepo) -> None:
    """A team's first commit with guard: nothing configured the agent before."""
    skill = {SKILL: BROKEN, "agent/act.sh": SCRIPT}
    repo.commit("start", skill)
    fix(repo, {"guard.yaml": CONFIG})
    polish(repo)


@SITUATIONS.told(taxi="live")
def configured_by_another_guard_before(repo: ScratchRepo) -> None:
    """What stood in guard.yaml before the fix can't be read by this guard."""
    start(repo, {"guard.yaml": 'version: 7\nrequires: ">=99"\nfuture: {a: 1}\n'})
    fix(repo, {"guard.yaml": CONFIG})


@SITUATIONS.told(taxi="pinned", own="agent/skills/teller/")
def moved_by_the_fix_itself(repo: ScratchRepo) -> None:
    start(repo)
    repo.git("mv", "agent/skills/clerk", "agent/skills/teller")
    config = CONFIG.replace("clerk/**", "teller/**")
    kept = {CASE: case(), RECORDS: regressions(taxi=record())}
    repo.commit("fix(clerk): ask, and move", {"guard.yaml": config, TOLD: FIXED, **kept})
    polish(repo, TOLD)


@SITUATIONS.told(taxi="live", own="agent/skills/teller/")
def all_renamed_at_once_since(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    repo.git("mv", "agent/skills/clerk", "agent/skills/teller")
    config = CONFIG.replace("clerk", "teller").replace("evals/", "checks/")
    repo.git("mv", "evals", "checks")
    kept = regressions(taxi=record(agent="teller", case="checks/taxi.md"))
    repo.commit("refactor: teller", {"guard.yaml": config, RECORDS: kept})


@SITUATIONS.told(taxi="live")
def record_written_by_the_merge(repo: ScratchRepo) -> None:
    """The topic has the fix; who merged it wrote case and record into the merge."""
    start(repo)
    repo.git("checkout", "-qb", "topic")
    repo.commit("wip", {SKILL: FIXED})
    repo.git("checkout", "-q", "main")
    repo.commit("chore: meanwhile", {"README.md": "1\n"})
    merge(repo, "--no-ff", "--no-commit", "topic")
    repo.commit("Merge branch 'topic'", {CASE: case(), RECORDS: regressions(taxi=record())})
    polish(repo)


@SITUATIONS.told(taxi="live")
def merge_under_way(repo: ScratchRepo) -> None:
    start(repo)
    repo.git("checkout", "-qb", "topic")
    fix(repo)
    repo.git("checkout", "-q", "main")
    repo.commit("chore: meanwhile", {"README.md": "1\n"})
    merge(repo, "--no-ff", "--no-commit", "topic")


@SITUATIONS.told(taxi="branch")
def spread_over_a_branch_that_followed_main(repo: ScratchRepo) -> None:
    """Main was merged into the branch in between, and the branch into main twice."""
    start(repo)
    repo.git("checkout", "-qb", "topic")
    repo.commit("feat(clerk): half of it", {SKILL: FIXED})
    repo.git("checkout", "-q", "main")
    repo.commit("chore: meanwhile", {"README.md": "1\n"})
    repo.git("checkout", "-q", "topic")
    merge(repo, "main")
    fix(repo, {SKILL: FIXED.replace(*LATER)})
    repo.git("checkout", "-q", "main")
    merge(repo, "--no-ff", "topic")
    repo.git("checkout", "-q", "topic")
    repo.commit("docs: why", {"WHY.md": "1\n"})
    repo.git("checkout", "-q", "main")
    merge(repo, "--no-ff", "topic")


@SITUATIONS.told(taxi="live")
def history_replaced_here(repo: ScratchRepo) -> None:
    """Somebody's own `git replace` cuts the history off: it is nobody else's."""
    start(repo)
    fixed = fix(repo)
    polish(repo)
    repo.git("replace", "--graft", fixed)


@SITUATIONS.told(taxi="live")
def rewritten_from_the_older_list(repo: ScratchRepo) -> None:
    """The file was in another tool's form when the record came in."""
    start(repo)
    older = {"schema": "agentic_evals.regressions.v1", "regressions": [{"regression_id": "taxi"}]}
    fix(repo, {RECORDS: json.dumps(older)})
    repo.commit("chore: guard's own form", {RECORDS: regressions(taxi=record())})


# What is graded ------------------------------------------------------------------------------


@SITUATIONS.told(taxi="live")
def agent_that_is_not_deterministic(repo: ScratchRepo) -> None:
    """Three reds, and as many greens as its gate asks for."""
    config = CONFIG.replace(", deterministic: true", "") + "    gate: quick\n"
    start(repo, {"guard.yaml": config})
    fix(repo)


@SITUATIONS.told(taxi="live")
def files_that_it_must_leave_alone(repo: ScratchRepo) -> None:
    script = 'case $(cat skills/*/*.md) in *"Ask which"*) ;; *) echo 457 >>notes.md ;; esac\n'
    start(repo, {"agent/act.sh": script})
    fix(
        repo,
        {
            CASE: graded("{no_changes: true}"),
            RECORDS: regressions(taxi=record(fails_on=["no_changes"])),
        },
    )


@SITUATIONS.told(taxi="live")
def exit_code_that_is_graded(repo: ScratchRepo) -> None:
    script = 'case $(cat skills/*/*.md) in *"Ask which"*) ;; *) exit 3 ;; esac\n'
    start(repo, {"agent/act.sh": script})
    kept = regressions(taxi=record(fails_on=["exit_code"]))
    fix(repo, {CASE: graded("{exit_code: 0}"), RECORDS: kept})


@SITUATIONS.told(taxi="live")
def files_that_the_case_brings(repo: ScratchRepo) -> None:
    """They lie over the workspace on both sides, one of them in the agent's own folder."""
    given = 'given:\n  files:\n    bill.txt: "400 euro"\n    skills/clerk/today.md: "Monday."\n'
    start(repo, {"agent/act.sh": SCRIPT + "cat bill.txt skills/clerk/today.md\n"})
    fix(repo, {CASE: case(more=given)})


@SITUATIONS.told(taxi="live")
def checker_of_its_own(repo: ScratchRepo) -> None:
    """A program checks what the agent left; it came with the fix, and is the same on both sides."""
    script = 'case $(cat skills/*/*.md) in *"Ask which"*) ;; *) echo 457 >>notes.md ;; esac\n'
    start(repo, {"agent/act.sh": script})
    argv = '{command: {argv: [sh, "{repo}/evals/check.sh"]}}'
    kept = regressions(taxi=record(fails_on=["command"]))
    check = "! grep 457 notes.md\n"
    fix(repo, {CASE: graded(argv), RECORDS: kept, "evals/check.sh": check})


# What it is made of --------------------------------------------------------------------------


@SITUATIONS.told(taxi="live", own=("SKILL.md", "rules/"))
def agent_at_the_root(repo: ScratchRepo) -> None:
    config = CONFIG.replace("agent/skills/clerk/**", "SKILL.md, rules/**")
    config = config.replace("    workspace: agent\n", '    workspace: "."\n')
    script = SCRIPT.replace("skills/*/*.md", "SKILL.md rules/*")
    base = {"guard.yaml": config, "act.sh": script, "SKILL.md": BROKEN, "rules/a": "Be kind.\n"}
    repo.commit("start", base)
    kept = {CASE: case(), RECORDS: regressions(taxi=record())}
    repo.commit("fix: ask", {**kept, "rules/a": "Be kind.\n" + SENTENCE})
    repo.commit("docs", {"SKILL.md": BROKEN.replace(*LATER)})


@SITUATIONS.told(taxi="live", own="agent/skills/clerk/")
def file_renamed_as_the_fix(repo: ScratchRepo) -> None:
    script = SCRIPT.replace("skills/*/*.md", "skills/clerk/*.md")
    start(repo, {"agent/act.sh": script, "agent/skills/clerk/ask.txt": SENTENCE})
    repo.git("mv", "agent/skills/clerk/ask.txt", "agent/skills/clerk/ask.md")
    fix(repo, {SKILL: BROKEN})
    polish(repo)


@SITUATIONS.told(taxi="live", own="agent/skills/clerk/")
def name_in_no_encoding(repo: ScratchRepo) -> None:
    """A path whose bytes are Latin-1."""
    start(repo)
    name = os.fsencode(repo.root) + b"/agent/skills/clerk/caf\xe9.md"
    for text in ("Be kind.\n", SENTENCE):
        with open(name, "w") as file:
            file.write(text)
        if text != SENTENCE:
            repo.commit("feat: more")
    fix(repo, {SKILL: BROKEN})


@SITUATIONS.told(taxi="pinned", own="agent/skills/clerk/")
def text_in_another_encoding(repo: ScratchRepo) -> None:
    """UTF-16 is binary to git: edited since, it is taken as it was."""
    script = "tr -d '\\000' <skills/clerk/rules.txt\n"
    rules = "agent/skills/clerk/rules.txt"
    start(repo, {"agent/act.sh": script, rules: "Book it.\n".encode("utf-16")})
    fixed = "Which currency? Book it.\n"
    fix(repo, {SKILL: BROKEN, rules: fixed.encode("utf-16")})
    repo.commit("docs", {rules: (fixed + "Be kind.\n").encode("utf-16")})


@SITUATIONS.told(taxi="live", own="agent/skills/clerk")
def agent_in_a_submodule(repo: ScratchRepo) -> None:
    """The skill is another repository's: its fix is that the commit it stands at moves."""
    library = ScratchRepo(repo.root.parent / "library")
    library.root.mkdir()
    library.git("init", "-q")
    library.commit("start", {"SKILL.md": BROKEN})
    base = {"guard.yaml": CONFIG, "agent/act.sh": SCRIPT}
    repo.write(base)
    repo.git("submodule", "--quiet", "add", str(library.root), "agent/skills/clerk")
    repo.commit("start")
    library.commit("ask", {"SKILL.md": FIXED})
    repo.git("-C", "agent/skills/clerk", "pull", "-q")
    repo.commit("fix(clerk): ask", {CASE: case(), RECORDS: regressions(taxi=record())})


def in_a_folder_that_git_quotes(repo: ScratchRepo) -> Path:
    """The repository itself lies where names need care."""
    odd = ScratchRepo(repo.root.parent / 'a "b" $c : ü')
    odd.root.mkdir()
    odd.git("init", "-q")
    start(odd)
    fix(odd)
    polish(odd)
    return odd.root


SITUATIONS.told(taxi="live")(in_a_folder_that_git_quotes)
