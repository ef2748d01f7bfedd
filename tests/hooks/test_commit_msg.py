"""The commit-msg hook under real `git commit`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from guard.nesting import marker_of
from tests.conftest import ScratchRepo
from tests.guarded_repo import (
    BASE,
    CASE,
    CASE_TEXT,
    FIX,
    FIXED_SKILL,
    GUARD_YAML,
    RECORDS,
    RETAINED,
    SKILL,
    SKILL_TEXT,
    record,
    records,
)
from tests.hooked_repo import CALL, HookedRepo
from tests.invariants import unchanged

FIX_MESSAGE = "fix(expense): ask about foreign currency"
#: A further fix, where the case and its record are there already.
STRONGER: dict[str, str | bytes | None] = {
    SKILL: FIXED_SKILL,
    CASE: CASE_TEXT.replace("[euro]", "[euro, currency]"),
    RECORDS: records(eur_taxi=record(reopened=1)),
}


# Refused and accepted ---------------------------------------------------------------------


def test_a_fix_without_a_case_is_refused_in_eight_lines(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    said = hooked.refuse("-m", FIX_MESSAGE)
    lines = said.splitlines()
    assert len(lines) <= 8
    assert lines[0].startswith("guard: refused: this fix changes agent expense")
    assert lines[0].endswith("(fix-needs-case)")
    assert lines[1].split() == ["changed", SKILL]
    assert "guard new-case ID --agent expense" in said
    assert "guard prove ID" in said
    assert "git add evals/cases regressions*" in said
    assert "Guard-Exempt" not in said


def test_the_last_command_repeats_the_commit_with_its_message(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    said = hooked.refuse("-m", FIX_MESSAGE, "-m", "Because.\n\nSigned-off-by: A <a@b.c>")
    command = last_command(said)
    assert command == "git commit -F .git/guard/message"
    hooked.stage({CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    assert hooked.run("sh", "-c", command).returncode == 0
    kept = hooked.git("log", "-1", "--format=%B").strip()
    assert kept == f"{FIX_MESSAGE}\n\nBecause.\n\nSigned-off-by: A <a@b.c>"


def test_a_fix_with_its_case_and_record_is_accepted_without_a_word(hooked: HookedRepo) -> None:
    hooked.stage({**FIX})
    assert hooked.accept("-m", FIX_MESSAGE) == ""


def test_a_case_alone_still_owes_its_record(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL, CASE: CASE_TEXT})
    said = hooked.refuse("-m", FIX_MESSAGE)
    assert "(fix-needs-record)" in said.splitlines()[0]
    assert "guard prove eur-taxi" in said
    assert "git add regressions*" in said


@pytest.mark.parametrize("message", ["docs: reword", "feat: more", "Ask about currency"])
def test_a_commit_that_is_no_fix_owes_nothing(hooked: HookedRepo, message: str) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    assert hooked.accept("-m", message) == ""


def test_a_fix_of_something_unguarded_owes_nothing(hooked: HookedRepo) -> None:
    hooked.stage({"README.md": "A better ledger.\n"})
    assert hooked.accept("-m", "fix: the ledger") == ""


def test_a_fix_that_changes_nothing_owes_nothing_and_says_so(hooked: HookedRepo) -> None:
    said = hooked.accept("--allow-empty", "-m", "fix: nothing")
    assert said == "guard: this fix changes no file, so it owes no case\n"


def test_an_issue_in_the_body_makes_a_fix(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    hooked.refuse("-m", "feat: ask first", "-m", "Fixes #12")


def test_a_near_miss_warns(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    said = hooked.accept("-m", "fix:ask about currency")
    assert said.startswith("guard: ! ")
    assert "(near-miss-header)" in said


def test_an_exemption_is_accepted_and_shown(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    trailer = "Guard-Exempt: the client is going away next week"
    said = hooked.accept("-m", FIX_MESSAGE, "-m", trailer)
    assert "exempt: " in said
    assert "the client is going away next week" in said


def test_an_exemption_too_short_to_be_a_reason_is_named(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    said = hooked.refuse("-m", FIX_MESSAGE, "-m", "Guard-Exempt: hurry")
    assert "too short" in said


def test_an_exemption_of_another_agent_excuses_nothing(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    hooked.refuse("-m", FIX_MESSAGE, "-m", "Guard-Exempt: other -- it is going away soon")


def test_a_cosmetic_fix_owes_nothing_and_says_why(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: SKILL_TEXT.replace("amount that", "amount   that")})
    said = hooked.accept("-m", "fix: white space")
    assert said == f"guard: cosmetic: {SKILL}: white space, no case asked\n"
    hooked.stage({SKILL: SKILL_TEXT})
    assert hooked.accept("-m", "docs: white space") == ""


def test_many_cosmetic_files_are_counted(hooked: HookedRepo) -> None:
    names = [f"skills/expense/{number}.md" for number in range(4)]
    hooked.commit("docs: more", dict.fromkeys(names, "Teh text, and the text.\n"))
    hooked.stage(dict.fromkeys(names[1:], "Teh  text, and the text.\n"))
    hooked.stage({names[0]: "The text, and the text.\n"})
    said = hooked.accept("-m", "fix: spelling")
    assert said == (
        "guard: 4 files of fixes changed only cosmetically, no case asked: "
        "white space (3), word of prose (1)\n"
    )


# A fix of several agents, and a fix by another name ---------------------------------------


def several(hooked: HookedRepo, number: int) -> dict[str, str | bytes | None]:
    """Return a change of as many agents, which are guarded from now on."""
    config = (
        "version: 1\nagents:\n  each: {each: 'skills/*', target: command, "
        "options: {argv: [a]}, cases: ['evals/{name}/*.md']}\n"
    )
    skills = {f"skills/s{n}/SKILL.md": "Do.\n" for n in range(number)}
    hooked.commit("feat: several", {"guard.yaml": config, SKILL: None, **skills}, "--no-verify")
    return dict.fromkeys(skills, "Do it well.\n")


def test_a_fix_of_many_agents_is_refused_once(hooked: HookedRepo) -> None:
    hooked.stage(several(hooked, 5))
    said = hooked.refuse("-m", "fix: all of them")
    lines = said.splitlines()
    assert len(lines) <= 8
    assert lines[0] == (
        "guard: refused: this fix changes agents s0, s1, s2 and 2 more and brings no case "
        "of any of them that fails without it (fix-needs-case)"
    )
    assert said.count("fix-needs-case") == 2  # the rule, and where to read more
    made = 'guard new-case ID --agent s0 --utterance "WHAT WAS SAID"'
    assert f"{made}      # one for each of the 5 agents" in said
    assert "guard prove ID      # one for each of the 5 agents" in said
    folders = " ".join(f"evals/s{number}" for number in range(5))
    assert f"git add {folders} regressions*" in said
    exempt = "Guard-Exempt: s0, s1, s2 -- no behaviour is behind it"
    left = hooked.refuse("-m", "fix: all of them", "-m", exempt)
    assert "agents s3 and s4 and brings no case of either that fails without it" in left
    accepted = hooked.accept("-m", "fix: x", "-m", exempt.replace("s2", "s2, s3, s4"))
    assert "(agent s0, s1, s2, s3, s4)" in accepted


def test_a_refused_fix_by_another_name_is_noticed(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    hooked.refuse("-m", FIX_MESSAGE)
    hooked.stage({"README.md": "Something beside it.\n"})
    said = hooked.accept("-m", "chore: tidy")
    assert "guard: this is the change that was refused at " in said
    assert f'as a fix ("{FIX_MESSAGE}"), now called chore' in said
    assert len(said.splitlines()) == 1


def test_another_change_is_not_noticed(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    hooked.refuse("-m", FIX_MESSAGE)
    hooked.stage({SKILL: FIXED_SKILL + "And more.\n"})
    assert hooked.accept("-m", "docs: more") == ""


def test_a_change_that_brings_its_case_is_not_noticed(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    hooked.refuse("-m", FIX_MESSAGE)
    hooked.stage({**FIX})
    assert hooked.accept("-m", "feat: ask") == ""


def test_a_change_refused_for_something_else_is_not_noticed(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL, RECORDS: records(eur_taxi=record(agent="nobody"))})
    hooked.refuse("-m", "docs: more")
    hooked.stage({RECORDS: None})
    assert hooked.accept("-m", "docs: more") == ""


def test_cosmetic_changes_count_where_guard_yaml_says_so(hooked: HookedRepo) -> None:
    hooked.commit("chore: strict", {"guard.yaml": GUARD_YAML + "fix: {cosmetic: refuse}\n"})
    hooked.stage({SKILL: SKILL_TEXT.replace("amount that", "amount   that")})
    hooked.refuse("-m", "fix: white space")


@pytest.mark.parametrize("prefix", ["fixup!", "squash!", "amend!"])
def test_a_fixup_of_a_fix_is_noted(hooked: HookedRepo, prefix: str) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    said = hooked.accept("-m", f"{prefix} {FIX_MESSAGE}")
    assert "noted, and judged at push" in said


# Which tree -------------------------------------------------------------------------------


def test_a_case_on_disk_alone_does_not_count(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    hooked.write({CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    said = hooked.refuse("-m", FIX_MESSAGE)
    assert f"{CASE} exists but is not staged" in said
    assert "guard prove eur-taxi" in said
    assert f"git add {CASE} regressions*" in said


def test_a_staged_case_counts_although_it_is_gone_from_disk(hooked: HookedRepo) -> None:
    hooked.stage({**FIX})
    hooked.write({CASE: None, RECORDS: "{}", SKILL: "something else\n"})
    hooked.accept("-m", FIX_MESSAGE)


def test_a_fix_on_disk_that_is_not_staged_owes_nothing(hooked: HookedRepo) -> None:
    hooked.stage({"README.md": "A better ledger.\n"})
    hooked.write({SKILL: FIXED_SKILL})
    assert hooked.accept("-m", FIX_MESSAGE) == ""


def test_a_case_that_is_ignored_is_named_with_its_rule(hooked: HookedRepo) -> None:
    hooked.commit("chore: ignore", {".gitignore": "# notes\n\n*.tmp\nevals/\n"})
    hooked.stage({SKILL: FIXED_SKILL, CASE: CASE_TEXT})
    said = hooked.refuse("-m", FIX_MESSAGE)
    assert f"{CASE} is ignored by .gitignore:4" in said
    assert f"git add -f {CASE} regressions*" in said


def test_an_edit_of_a_case_that_is_not_staged_is_named(hooked: HookedRepo) -> None:
    hooked.commit("test: case", {CASE: CASE_TEXT})
    hooked.stage({SKILL: FIXED_SKILL})
    hooked.write({CASE: CASE_TEXT.replace("400 euro", "900 euro")})
    assert f"{CASE} has changes that are not staged" in hooked.refuse("-m", FIX_MESSAGE)


def test_a_record_on_disk_alone_is_named(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL, CASE: CASE_TEXT})
    hooked.write({RECORDS: records(eur_taxi=record())})
    said = hooked.refuse("-m", FIX_MESSAGE)
    assert "regressions.json exists but is not staged" in said


# Ways to commit ---------------------------------------------------------------------------


def test_commit_all_is_judged_and_repeated(hooked: HookedRepo) -> None:
    hooked.write({SKILL: FIXED_SKILL})
    assert last_command(hooked.refuse("-am", FIX_MESSAGE)).startswith("git commit -a -F ")
    hooked.git("add", "--all")
    hooked.write({CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    hooked.git("add", "--all")
    hooked.accept("-am", FIX_MESSAGE)


def test_commit_of_a_path_leaves_out_what_is_staged(hooked: HookedRepo) -> None:
    hooked.stage({**FIX})
    said = hooked.refuse("-m", FIX_MESSAGE, "--", SKILL)
    assert f"{CASE} is left out by `git commit PATH`" in said
    command = last_command(said)
    assert command == f"git commit -F .git/guard/message -- {SKILL} {CASE} regressions*"
    assert hooked.run("sh", "-c", command).returncode == 0
    assert hooked.git("status", "--porcelain") == ""


def test_a_commit_of_paths_that_holds_all_is_accepted(hooked: HookedRepo) -> None:
    hooked.stage({**FIX, "README.md": "unrelated\n"})
    hooked.accept("-m", FIX_MESSAGE, "--", SKILL, CASE, RECORDS)


def test_amend_judges_the_whole_commit(hooked: HookedRepo) -> None:
    hooked.commit("docs: reword", {SKILL: FIXED_SKILL}, "--no-verify")
    said = hooked.refuse("--amend", "-m", FIX_MESSAGE)
    assert last_command(said) == "git commit --amend -F .git/guard/message"
    hooked.stage({CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    hooked.accept("--amend", "-m", FIX_MESSAGE)


def test_amending_a_good_fix_does_not_ask_again(hooked: HookedRepo) -> None:
    hooked.commit(FIX_MESSAGE, {**FIX})
    hooked.stage({SKILL: FIXED_SKILL + "And again.\n"})
    assert hooked.accept("--am", "--no-edit") == ""


def test_a_message_that_speaks_of_amend_is_no_amend(hooked: HookedRepo) -> None:
    hooked.commit(FIX_MESSAGE, {**FIX})
    hooked.stage({SKILL: FIXED_SKILL + "And again.\n"})
    hooked.refuse("-m", "--amend", "-m", "Fixes #3")


def test_amending_the_root_compares_with_nothing(repo: ScratchRepo) -> None:
    hooked = HookedRepo(repo.root)
    hooked.commit("feat: base", BASE)
    hooked.install()
    said = hooked.refuse("--amend", "-m", FIX_MESSAGE)
    assert "no pre-fix tree" in said


def test_the_first_commit_is_judged_against_nothing(repo: ScratchRepo) -> None:
    hooked = HookedRepo(repo.root)
    hooked.install()
    hooked.stage({**BASE})
    said = hooked.refuse("-m", "fix: first")
    assert "no pre-fix tree" in said
    assert '"${EDITOR:-vi}" .git/guard/message      # reword it' in said
    assert "guard prove" not in said
    assert "agent expense has no case yet" in hooked.accept("-m", "feat: first")


def test_an_empty_repository_without_guard_yaml(repo: ScratchRepo) -> None:
    hooked = HookedRepo(repo.root)
    hooked.install()
    hooked.stage({"a": "1\n"})
    assert hooked.accept("-m", "fix: a") == "guard: no guard.yaml, nothing is guarded\n"


def test_a_merge_owes_no_case(hooked: HookedRepo) -> None:
    hooked.git("checkout", "-q", "-b", "topic")
    hooked.commit(FIX_MESSAGE, {SKILL: FIXED_SKILL}, "--no-verify")
    hooked.git("checkout", "-q", "main")
    hooked.commit("docs: other", {"README.md": "Other.\n"})
    done = hooked.run("git", "merge", "-m", "fix: merge topic", "topic")
    assert done.returncode == 0, done.stderr
    assert len(hooked.git("log", "-1", "--format=%P").split()) == 2


def test_a_merge_that_loses_a_retained_case_is_refused(hooked: HookedRepo) -> None:
    hooked.git("checkout", "-q", "-b", "topic")
    hooked.commit(FIX_MESSAGE, {**FIX})
    hooked.git("checkout", "-q", "main")
    hooked.commit("docs: other", {"README.md": "Other.\n"})
    done = hooked.run("git", "merge", "-s", "ours", "-m", "Merge topic", "topic")
    assert done.returncode == 1
    assert "(case-weakened)" in done.stderr


def test_an_amended_merge_stays_a_merge(hooked: HookedRepo) -> None:
    hooked.git("checkout", "-q", "-b", "topic")
    hooked.commit("docs: topic", {"topic": "1\n"})
    hooked.git("checkout", "-q", "main")
    hooked.commit("docs: other", {SKILL: FIXED_SKILL})
    hooked.git("merge", "-q", "-m", "Merge topic", "topic")
    hooked.accept("--amend", "-m", "fix: merge topic")


def test_a_linked_worktree(hooked: HookedRepo, tmp_path: Path) -> None:
    hooked.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = HookedRepo(tmp_path / "linked")
    linked.stage({SKILL: FIXED_SKILL})
    said = linked.refuse("-m", FIX_MESSAGE)
    command = last_command(said)
    assert command == f"git commit -F {hooked.root}/.git/worktrees/linked/guard/message"
    linked.stage({CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    assert linked.run("sh", "-c", command).returncode == 0


def test_a_commit_from_a_subdirectory(hooked: HookedRepo) -> None:
    below = hooked.root / "skills" / "expense"
    hooked.stage({SKILL: FIXED_SKILL})
    said = hooked.refuse("-m", FIX_MESSAGE, cwd=below)
    assert "git add ../../evals/cases ../../regressions*" in said
    assert last_command(said) == "git commit -F ../../.git/guard/message"
    hooked.stage({CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    done = ScratchRepo(below).run("sh", "-c", last_command(said))
    assert done.returncode == 0, done.stderr


def test_a_commit_in_a_rebase_is_judged(hooked: HookedRepo) -> None:
    hooked.commit("docs: one", {"README.md": "1\n"})
    command = f"printf 'more\\n' >>{SKILL}; git add -A; git commit -q -m '{FIX_MESSAGE}'"
    done = hooked.run("git", "rebase", "-q", "-x", command, "HEAD~1")
    assert done.returncode != 0
    assert "(fix-needs-case)" in done.stderr


def test_a_cherry_pick_that_drops_the_case(hooked: HookedRepo) -> None:
    hooked.git("checkout", "-q", "-b", "topic")
    hooked.commit(FIX_MESSAGE, {**FIX})
    hooked.git("checkout", "-q", "main")
    hooked.commit("docs: other words", {SKILL: SKILL_TEXT + "Other words.\n"})
    assert hooked.run("git", "cherry-pick", "topic").returncode == 1
    hooked.write({SKILL: FIXED_SKILL})
    hooked.git("rm", "-qf", "--cached", CASE, RECORDS)
    hooked.git("add", SKILL)
    done = hooked.run("git", "cherry-pick", "--continue", env={"GIT_EDITOR": ":"})
    assert done.returncode != 0
    assert "(fix-needs-case)" in done.stderr
    assert f"{CASE} exists but is not staged" in done.stderr


def test_a_squashed_merge_that_holds_a_fix_warns(hooked: HookedRepo) -> None:
    hooked.git("checkout", "-q", "-b", "topic")
    hooked.commit(FIX_MESSAGE, {SKILL: FIXED_SKILL}, "--no-verify")
    hooked.git("checkout", "-q", "main")
    hooked.git("merge", "--quiet", "--squash", "topic")
    said = hooked.accept("--no-edit")
    assert "this squash holds a fix" in said
    assert "(near-miss-header)" in said


def test_a_revert_of_a_fix_keeps_its_record(hooked: HookedRepo) -> None:
    hooked.commit(FIX_MESSAGE, {**FIX})
    # `git revert` alone doesn't call the hook; the range check meets it.
    hooked.git("revert", "--no-commit", "HEAD")
    assert "record eur-taxi is deleted" in hooked.refuse("--no-edit")


def test_the_user_s_own_settings_of_diff_change_nothing(hooked: HookedRepo) -> None:
    for name, value in {
        "diff.relative": "true",
        "diff.noprefix": "true",
        "diff.external": "sh -c 'echo EXT'",
        "diff.renames": "copies",
        "color.ui": "always",
        "core.quotePath": "false",
        "submodule.recurse": "true",
    }.items():
        hooked.git("config", name, value)
    hooked.stage({SKILL: FIXED_SKILL})
    below = hooked.root / "evals"
    below.mkdir()
    hooked.refuse("-m", FIX_MESSAGE, cwd=below)


def test_a_client_with_buttons(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    home, config = os.environ["HOME"], os.environ["GIT_CONFIG_GLOBAL"]
    bare = ["env", "-i", f"PATH={os.defpath}", f"HOME={home}", f"GIT_CONFIG_GLOBAL={config}"]
    done = hooked.run(*bare, "git", "commit", "-q", "-F", "-", input=FIX_MESSAGE)
    assert done.returncode == 1
    assert "guard: refused: " in done.stderr


def test_a_separate_git_directory(repo: ScratchRepo, tmp_path: Path) -> None:
    hooked = HookedRepo(repo.root)
    hooked.commit("feat: base", BASE)
    hooked.install()
    (repo.root / ".git").rename(tmp_path / "dot.git")
    where = ("--git-dir=../dot.git", "--work-tree=.")
    hooked.run("git", *where, "config", "core.bare", "false")
    hooked.write({SKILL: FIXED_SKILL})
    done = hooked.run("git", *where, "commit", "-q", "-am", FIX_MESSAGE)
    assert done.returncode == 1
    assert "(fix-needs-case)" in done.stderr
    # The repository's fixtures end here: put it back where they look for it.
    (tmp_path / "dot.git").rename(repo.root / ".git")


# Messages ---------------------------------------------------------------------------------


def test_the_diff_below_the_scissors_is_not_the_message(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: SKILL_TEXT + "Fixes #12\n\nfix: a\n"})
    editor = "sed -i '1s/^/docs: reword/'"
    assert hooked.accept("-v", GIT_EDITOR=editor) == ""


def test_a_fix_written_in_the_editor_of_a_verbose_commit(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    said = hooked.refuse("-v", GIT_EDITOR=f"sed -i '1s/^/{FIX_MESSAGE}/'")
    kept = (hooked.root / ".git" / "guard" / "message").read_text()
    assert kept == FIX_MESSAGE + "\n"
    assert last_command(said) == "git commit -F .git/guard/message"


def test_comments_of_another_character(hooked: HookedRepo) -> None:
    hooked.git("config", "core.commentChar", ";")
    hooked.stage({SKILL: FIXED_SKILL})
    editor = 'sh -c \'printf "; fix: no\\ndocs: yes\\n" >"$1"\' -'
    assert hooked.accept(GIT_EDITOR=editor) == ""


def test_a_message_in_another_encoding(hooked: HookedRepo) -> None:
    hooked.git("config", "i18n.commitEncoding", "iso-8859-1")
    hooked.stage({SKILL: FIXED_SKILL})
    done = hooked.judge("fix: Währung".encode("latin-1"))
    assert done.returncode == 1
    assert (hooked.root / ".git" / "guard" / "message").read_bytes() == b"fix: W\xe4hrung\n"


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbffix: a\r\n", b"\n\n  \nfix: a\n", b"FIX(\xff): a"])
def test_a_fix_in_odd_bytes(hooked: HookedRepo, raw: bytes) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    assert hooked.judge(raw).returncode == 1


# Odd paths --------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", [b"a b", b"line\nbreak", "ü".encode(), b"raw\xff", b"[ab]"])
def test_a_skill_in_an_odd_folder(repo: ScratchRepo, folder: bytes) -> None:
    hooked = HookedRepo(repo.root)
    name = os.fsdecode(b"skills/" + folder + b"/SKILL.md")
    guard_yaml = GUARD_YAML.replace("skills/expense/**", "skills/**")
    hooked.commit("feat: base", {"guard.yaml": guard_yaml, name: SKILL_TEXT})
    hooked.install()
    hooked.stage({name: FIXED_SKILL})
    said = hooked.refuse("-m", FIX_MESSAGE, "--", name)
    assert len(said.splitlines()) <= 8
    hooked.write({CASE: CASE_TEXT, RECORDS: records(eur_taxi=record())})
    hooked.git("add", "--all")
    done = hooked.run("bash", "-c", last_command(said))
    assert done.returncode == 0, done.stderr
    assert hooked.git("status", "--porcelain") == ""


def test_a_refusal_survives_an_ascii_terminal(hooked: HookedRepo) -> None:
    guard_yaml = GUARD_YAML.replace("skills/expense/**", "skills/**")
    hooked.commit("chore: all", {"guard.yaml": guard_yaml})
    hooked.stage({"skills/ü/SKILL.md": FIXED_SKILL})
    done = hooked.try_commit("-m", FIX_MESSAGE, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 1
    assert "guard: refused: " in done.stderr


# Configuration and failures ---------------------------------------------------------------


def test_a_wrong_guard_yaml_refuses_with_file_line_and_key(hooked: HookedRepo) -> None:
    hooked.stage({"guard.yaml": GUARD_YAML.replace("paths:", "pahts:")})
    done = hooked.judge("chore: mistake")
    assert done.returncode == 2
    assert done.stderr.startswith("guard: refused: guard.yaml:4: ")
    assert "`paths`" in done.stderr


def test_a_wrong_case_refuses_with_its_line(hooked: HookedRepo) -> None:
    hooked.stage({**FIX, CASE: CASE_TEXT.replace("expected", "expcted")})
    done = hooked.judge(FIX_MESSAGE)
    assert done.returncode == 2
    assert done.stderr.startswith(f"guard: refused: {CASE}:")


def test_two_cases_of_one_id_are_no_new_case(hooked: HookedRepo) -> None:
    hooked.commit("test: case", {CASE: CASE_TEXT})
    copy = {"evals/cases/copy.md": CASE_TEXT}
    hooked.stage({SKILL: FIXED_SKILL, **copy, RECORDS: records(eur_taxi=record())})
    done = hooked.judge(FIX_MESSAGE)
    assert done.returncode == 2
    assert "eur-taxi stands in" in done.stderr


def test_a_wrong_guard_yaml_can_be_mended(hooked: HookedRepo) -> None:
    hooked.commit("chore: break", {"guard.yaml": "version: 1\nagnets: {}\n"}, "--no-verify")
    hooked.stage({"guard.yaml": GUARD_YAML})
    assert "can't be read" in hooked.accept("-m", "chore: mend guard.yaml")


def test_removing_guard_yaml_is_a_weakening(hooked: HookedRepo) -> None:
    hooked.stage({"guard.yaml": None})
    assert "guard.yaml is removed" in hooked.refuse("-m", "chore: no guard")
    hooked.accept(
        "-m", "chore: no guard", "-m", "Case-Weakened: guard.yaml: we moved to other tools"
    )


def test_a_missing_message_can_not_be_judged(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    done = hooked.run(*CALL, ".git/NOPE")
    assert done.returncode == 3
    assert "the message can't be read" in done.stderr


def test_a_missing_object_can_not_be_judged(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    blob = hooked.git("rev-parse", "HEAD:guard.yaml").strip()
    (hooked.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    done = hooked.judge(FIX_MESSAGE)
    assert done.returncode == 3, done.stderr


def test_the_file_is_one_argument(hooked: HookedRepo) -> None:
    assert hooked.run(*CALL).returncode == 2
    assert hooked.run(*CALL, "a", "b").returncode == 2


def test_outside_a_repository(tmp_path: Path) -> None:
    done = ScratchRepo(tmp_path).run(*CALL, "message")
    assert done.returncode == 2
    assert "not in a git repository" in done.stderr


def test_the_file_is_found_from_the_folder_git_started_in(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    (hooked.root / "skills" / "message").write_text(FIX_MESSAGE)
    done = ScratchRepo(hooked.root / "skills").run(*CALL, "message")
    assert done.returncode == 1


def test_a_hook_below_our_own_hook_steps_aside(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    place = str(hooked.root / ".git")
    done = hooked.judge(FIX_MESSAGE, GUARD_HOOK_ACTIVE=marker_of(place))
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    for said in (marker_of(place + "-of-another"), place, f"1 1 {place}"):
        assert hooked.judge(FIX_MESSAGE, GUARD_HOOK_ACTIVE=said).returncode == 1, said


def test_a_disabled_plugin_is_not_asked(hooked: HookedRepo) -> None:
    plugin = "from guard.plugin import hookimpl\n\n@hookimpl\ndef guard_is_fix(commit):\n"
    plugin += "    return 'it mends the ledger' if 'mend' in commit.message else None\n"
    guard_yaml = GUARD_YAML + "plugins: [evals/guard_plugin.py]\n"
    hooked.commit("chore: plugin", {"guard.yaml": guard_yaml, "evals/guard_plugin.py": plugin})
    hooked.stage({SKILL: FIXED_SKILL})
    assert hooked.judge("mend it").returncode == 1
    assert hooked.judge("say more").returncode == 0
    off = hooked.judge("mend it", GUARD_DISABLED_PLUGINS="evals/guard_plugin.py")
    assert off.returncode == 0


# What stays as it is ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "message", "code"),
    [
        ({SKILL: FIXED_SKILL}, FIX_MESSAGE, 1),
        (STRONGER, FIX_MESSAGE, 0),
        ({"README.md": "x\n"}, "docs: x", 0),
        ({"guard.yaml": "version: 2\n"}, "chore: x", 2),
        ({RECORDS: None}, "chore: x", 1),
    ],
)
def test_nothing_of_the_user_changes(
    repo: ScratchRepo, files: dict[str, str | bytes | None], message: str, code: int
) -> None:
    hooked = HookedRepo(repo.root)
    hooked.commit("feat: base", RETAINED)
    hooked.stage(files)
    hooked.write({"README.md": "on disk only\n", "untracked": "x\n"})
    with unchanged(hooked):
        assert hooked.judge(message).returncode == code


def last_command(said: str) -> str:
    """Return the command that repeats the commit, as it would be pasted."""
    line = next(line for line in said.splitlines() if " git commit" in line)
    return line[11:].partition("      # ")[0].strip()
