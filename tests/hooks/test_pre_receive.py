"""pre-receive on a real bare repository: real pushes, and the verdict that they get."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hooks.installed import (
    BAD_WALK,
    CONFIG,
    FILES,
    TALK,
    TALK_CASE,
    WALK,
    case,
    skill,
)
from tests.hooks.served import (
    BAD_FIX,
    BETTER_TALK,
    FIX_MESSAGE,
    GOOD_FIX,
    RECORDS,
    RETAINED,
    WEAK_CASE,
    Clone,
    Server,
    make_served,
    records,
    said,
)

REFUSED = "this fix changes agent talk and brings no case that fails without it (fix-needs-case)"
WEAKENED = "chore: less\n\nCase-Weakened: guard.yaml: for this test"
WARNS = "enforce: {fix-needs-case: {warn, until: 2099-12-31}}\n"


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A clone of a guarded server; main is there, with two agents and their cases."""
    return make_served(tmp_path)


# What is refused, and how it is told ----------------------------------------------------------


def test_fix_without_case_is_refused_and_told_in_eight_lines(clone: Clone) -> None:
    commit = clone.commit(FIX_MESSAGE, BAD_FIX)
    lines = clone.refuse().splitlines()
    assert lines == [
        f"guard: not pushed: {REFUSED}",
        f"  commit   {commit[:10]} {FIX_MESSAGE}",
        f"  changed  {TALK}",
        '  do       guard new-case ID --agent talk --utterance "WHAT WAS SAID"',
        f"           guard prove ID --before {commit[:10]}^",
        "           git add evals/talk regressions*",
        "           git commit --amend --no-edit",
    ]


def test_the_same_push_made_good_goes_through(clone: Clone) -> None:
    clone.commit(FIX_MESSAGE, BAD_FIX)
    clone.refuse()
    clone.write(GOOD_FIX)
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--amend", "--no-edit")
    assert clone.accept() == "? 1 regression owed: parts (a server runs no case; CI proves them)"


def test_commands_mend_a_commit_that_is_not_the_last(clone: Clone) -> None:
    commit = clone.commit(FIX_MESSAGE, BAD_FIX)
    clone.commit("docs: more", {"README.md": "More.\n"})
    told = clone.refuse().splitlines()[-1].strip()
    rebase = f"GIT_SEQUENCE_EDITOR=: git rebase -i --autosquash {commit[:10]}^"
    assert told == f"git commit --fixup={commit[:10]} && {rebase}"
    clone.write(GOOD_FIX)
    clone.git("add", "--all")
    done = clone.run("sh", "-c", told)
    assert done.returncode == 0, done.stderr
    clone.accept()


@pytest.mark.parametrize(
    ("message", "files", "rule"),
    [
        ("test: easier", {TALK_CASE: WEAK_CASE}, "case-weakened"),
        ("chore: no case", {TALK_CASE: None}, "case-weakened"),
        ("chore: no records", {RECORDS: None}, "case-weakened"),
        ("chore: no guard", {"guard.yaml": None}, "case-weakened"),
        ("test: record", {RECORDS: records("greets", "nothing")}, "record-invalid"),
    ],
)
def test_what_a_local_hook_refuses_is_refused(
    tmp_path: Path, message: str, files: dict[str, str | None], rule: str
) -> None:
    clone = make_served(tmp_path, RETAINED)
    clone.commit(message, files)
    assert f"({rule})" in clone.refuse().splitlines()[0]


def test_any_other_change_goes_through_without_a_word(clone: Clone) -> None:
    clone.commit("feat(walk): run", {WALK: BAD_WALK})
    assert clone.accept() == ""


def test_exemption_goes_through_and_is_named(clone: Clone) -> None:
    clone.commit(f"{FIX_MESSAGE}\n\nGuard-Exempt: the service it calls is gone", BAD_FIX)
    assert "exempt: " in clone.accept()


def test_odd_bytes_in_paths_and_messages_are_shown(clone: Clone) -> None:
    (clone.root / "skills" / "talk").mkdir(parents=True, exist_ok=True)
    odd = os.fsencode(clone.root) + b"/skills/talk/\xff\x1b[31m.md"
    Path(os.fsdecode(odd)).write_bytes(b"x\n")
    clone.commit("fix: \u200bé", {})
    told = clone.refuse()
    assert "\x1b" not in told
    assert "fix-needs-case" in told


# Which commits --------------------------------------------------------------------------------


def test_new_branch_brings_its_own_commits_alone(clone: Clone) -> None:
    clone.git("checkout", "-q", "-b", "topic")
    clone.commit("docs: more", {"README.md": "More.\n"})
    clone.accept("topic")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse("topic:other")


def test_commit_in_the_middle_is_judged(clone: Clone) -> None:
    clone.commit(FIX_MESSAGE, BAD_FIX)
    clone.commit("feat(talk): as before", {TALK: FILES[TALK]})
    assert REFUSED in clone.refuse()


def test_one_bad_ref_refuses_all_of_the_push(clone: Clone) -> None:
    clone.git("checkout", "-q", "-b", "bad")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    clone.git("checkout", "-q", "-b", "good", "main")
    clone.commit("docs: more", {"README.md": "More.\n"})
    assert REFUSED in clone.refuse("good", "bad")
    clone.accept("good")


def test_commit_of_several_refs_is_judged_once(clone: Clone) -> None:
    clone.commit(f"{FIX_MESSAGE}\n\nGuard-Exempt: the service it calls is gone", BAD_FIX)
    told = clone.accept("main", "main:a", "main:b")
    assert told.count("exempt: ") == 1


def test_published_commits_are_not_judged_again(tmp_path: Path) -> None:
    clone = make_served(tmp_path)
    (clone.server.root / "hooks" / "pre-receive").unlink()
    clone.commit(FIX_MESSAGE, BAD_FIX)
    clone.accept("main:old")
    clone.server.install()
    assert clone.accept("main") == ""
    clone.commit(FIX_MESSAGE, {TALK: skill("talk", "say nothing more")})
    assert REFUSED in clone.refuse()


def test_what_lies_beside_branches_was_judged_by_nobody(clone: Clone) -> None:
    """A host writes `refs/pull/1/head` from elsewhere, past the hook."""
    clone.commit(FIX_MESSAGE, BAD_FIX)
    source = "+main:refs/pull/1/head"
    clone.server.git("fetch", "-q", str(clone.root), source)
    assert REFUSED in clone.refuse()


def test_deletions_bring_nothing(clone: Clone) -> None:
    clone.accept("main:a", "main:b")
    assert clone.accept(":a") == ""
    clone.commit("docs: more", {"README.md": "More.\n"})
    assert clone.accept(":b", "main") == ""
    clone.accept("main:a")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse(":a", "main")


def test_tags_are_peeled(clone: Clone) -> None:
    clone.commit(FIX_MESSAGE, BAD_FIX)
    clone.git("tag", "-a", "-m", "one", "v1")
    clone.git("tag", "-a", "-m", "two", "v1-again", "v1")
    assert REFUSED in clone.refuse("v1-again")
    clone.git("tag", "light")
    assert REFUSED in clone.refuse("light")


def test_refs_that_name_no_commit_bring_nothing(clone: Clone) -> None:
    blob = clone.git("rev-parse", "HEAD:README.md").strip()
    clone.git("tag", "file", blob)
    clone.git("tag", "-a", "-m", "of a folder", "folder", "HEAD^{tree}")
    assert clone.accept("file", "folder") == ""


def test_forced_push_brings_what_is_new_of_it(clone: Clone) -> None:
    clone.commit("docs: more", {"README.md": "More.\n"})
    clone.accept()
    clone.git("reset", "-q", "--hard", "HEAD^")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse("--force", "main")
    clone.git("reset", "-q", "--hard", "HEAD^")
    assert clone.accept("--force", "main") == ""


def test_push_without_news_is_no_push(clone: Clone) -> None:
    assert clone.accept() == ""
    assert clone.server.call_hook("").returncode == 0


def test_root_commit_is_judged(clone: Clone) -> None:
    clone.git("checkout", "-q", "--orphan", "other")
    clone.commit(FIX_MESSAGE, {TALK: BETTER_TALK})
    assert "(fix-needs-record)" in clone.refuse("other")
    clone.git("commit", "-q", "--amend", "-m", "feat: again")
    clone.accept("other")


def test_merge_that_drops_a_retained_case_is_refused(tmp_path: Path) -> None:
    clone = make_served(tmp_path)
    clone.git("checkout", "-q", "-b", "topic")
    clone.commit(FIX_MESSAGE, GOOD_FIX)
    clone.git("checkout", "-q", "main")
    clone.commit("docs: more", {"README.md": "More.\n"})
    clone.git("merge", "-q", "-s", "ours", "-m", "Merge topic", "topic")
    told = clone.refuse()
    assert "case-weakened" in told
    assert "Merge topic" in told
    clone.git("reset", "-q", "--hard", "HEAD^")
    clone.git("merge", "-q", "-m", "Merge topic", "topic")
    clone.accept()


def test_two_thousand_refs(clone: Clone) -> None:
    commit = clone.commit("docs: more", {"README.md": "More.\n"})
    names = [f"refs/heads/branch-with-a-rather-long-name-{n}" for n in range(2000)]
    clone.git("update-ref", "--stdin", input="".join(f"create {n} {commit}\n" for n in names))
    started = time.monotonic()
    assert clone.accept("refs/heads/branch*") == ""
    assert time.monotonic() - started < 30
    bad = clone.commit(FIX_MESSAGE, BAD_FIX)
    clone.git("update-ref", "--stdin", input="".join(f"update {n} {bad}\n" for n in names))
    assert REFUSED in clone.refuse("refs/heads/branch*")


def test_many_tips_each_with_a_commit(clone: Clone) -> None:
    tree = clone.git("rev-parse", "HEAD^{tree}").strip()
    lines: list[str] = []
    for number in range(60):
        commit = clone.git("commit-tree", tree, "-p", "HEAD", "-m", f"docs: {number}").strip()
        lines.append(f"create refs/heads/b{number} {commit}\n")
    clone.git("update-ref", "--stdin", input="".join(lines))
    assert clone.accept("refs/heads/b*") == ""


def test_sha256_repository(tmp_path: Path) -> None:
    clone = make_served(tmp_path, FILES, "--object-format=sha256")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse()
    clone.commit("docs: more", {"README.md": "More.\n"})
    clone.git("reset", "-q", "--hard", "HEAD~2")
    clone.commit(FIX_MESSAGE, GOOD_FIX)
    clone.accept()


def test_later_commit_may_bring_the_case_where_the_policy_says_so(tmp_path: Path) -> None:
    files = {**FILES, "guard.yaml": CONFIG + "fix: {unit: range}\n"}
    clone = make_served(tmp_path, files)
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse()
    clone.commit("test: its case", GOOD_FIX)
    assert REFUSED in clone.refuse("main~1:main", "main:other")
    clone.accept()


# The policy is the protected branch's ---------------------------------------------------------


@pytest.mark.parametrize(
    "weaker",
    [
        CONFIG + WARNS,
        CONFIG + "fix: {types: []}\n",
        "version: 1\n",
        CONFIG.replace("skills/talk/**", "skills/other/**"),
        CONFIG.replace("[skills/talk/**]", "[skills/talk/**]\n    depends: [skills/**]"),
    ],
)
def test_weaker_guard_yaml_of_a_side_branch_excuses_nothing(clone: Clone, weaker: str) -> None:
    clone.git("checkout", "-q", "-b", "side")
    clone.commit(WEAKENED, {"guard.yaml": weaker})
    clone.accept("side")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse("side")
    assert REFUSED in clone.refuse("side:main")
    assert REFUSED in clone.refuse("side:other", "HEAD^:main")
    clone.commit(WEAKENED, {"guard.yaml": CONFIG})
    assert REFUSED in clone.refuse("side")


def test_a_branch_that_is_older_than_guard_is_told_to_go_on_from_it(clone: Clone) -> None:
    clone.git("checkout", "-q", "--orphan", "old")
    clone.git("rm", "-q", "-r", "--cached", ".")
    clone.git("clean", "-q", "-f", "-d", "-x")
    clone.commit("feat: old", {TALK: FILES[TALK]})
    clone.accept("old")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    told = clone.refuse("old")
    assert "  because  there is no guard.yaml on this branch: main's judges it" in told
    assert told.endswith("  do       git pull --rebase origin main    # and push again")


def test_weaker_guard_yaml_holds_once_the_protected_branch_has_it(clone: Clone) -> None:
    clone.commit(WEAKENED, {"guard.yaml": CONFIG + WARNS})
    clone.accept()
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED.partition(" (")[0] in clone.accept()


def test_guard_yaml_that_loses_something_needs_its_trailer(clone: Clone) -> None:
    clone.commit("chore: less", {"guard.yaml": "version: 1\n"})
    told = clone.refuse()
    assert "guard.yaml guards less: agent talk is gone (case-weakened)" in told
    assert "Case-Weakened: guard.yaml: REASON" in told
    clone.git("commit", "-q", "--amend", "-m", WEAKENED)
    clone.accept()


def test_stricter_guard_yaml_goes_through(clone: Clone) -> None:
    clone.commit("chore: more", {"guard.yaml": CONFIG + "fix: {types: [fix, bug]}\n"})
    assert clone.accept() == ""


def test_force_push_of_the_protected_branch_keeps_guard_yaml(clone: Clone) -> None:
    clone.git("checkout", "-q", "--orphan", "other")
    clone.git("rm", "-q", "--cached", "guard.yaml")
    (clone.root / "guard.yaml").unlink()
    clone.commit("feat: again", {})
    told = clone.refuse("--force", "other:main")
    assert "guard.yaml guards less: guard.yaml is removed" in told
    clone.git("commit", "-q", "--amend", "-m", WEAKENED)
    clone.accept("--force", "other:main")


BROKEN = "version: 1\nagent: {}\n"


def test_broken_guard_yaml_is_refused_and_told(clone: Clone) -> None:
    clone.commit("chore: oops", {"guard.yaml": BROKEN})
    told = clone.refuse()
    assert "guard.yaml:2: agent: unknown key; did you mean `agents`?" in told
    clone.git("checkout", "-q", "-b", "side")
    assert "unknown key" in clone.refuse("side")


def test_guard_yaml_for_a_newer_guard_is_refused(clone: Clone) -> None:
    clone.commit("chore: new", {"guard.yaml": 'requires: ">=99"\n' + CONFIG})
    assert "this repository asks for guard >=99" in clone.refuse()


def break_the_protected_branch(clone: Clone, files: dict[str, str | bytes | None]) -> None:
    """Push past the hook what it would have refused."""
    hook = clone.server.root / "hooks" / "pre-receive"
    hook.rename(hook.with_name("aside"))
    clone.commit("chore: oops", files)
    clone.accept()
    hook.with_name("aside").rename(hook)


def test_broken_protected_branch_is_judged_by_its_last_good_guard_yaml(clone: Clone) -> None:
    break_the_protected_branch(clone, {"guard.yaml": BROKEN})
    clone.git("checkout", "-q", "-b", "side")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert "guard.yaml:2: agent: unknown key" in clone.refuse("side")
    clone.git("checkout", "-q", "-b", "older", "main^")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    told = clone.refuse("older")
    assert "guard.yaml of main can't be used: guard.yaml:2: agent: unknown key" in told
    assert REFUSED in told
    clone.git("checkout", "-q", "main")
    clone.commit("chore: mend", {"guard.yaml": CONFIG})
    assert "until main has it mended" in clone.accept()
    clone.commit("docs: more", {"README.md": "More.\n"})
    assert clone.accept() == ""


def test_protected_branch_that_never_was_good_takes_only_what_mends_it(tmp_path: Path) -> None:
    clone = make_served(tmp_path, {**FILES, "guard.yaml": BROKEN})
    clone.commit("docs: more", {"README.md": "More.\n"})
    told = clone.refuse("main:side")
    assert "guard.yaml of main can't be used: guard.yaml:2: agent: unknown key" in told
    assert "mend it, and push that to main" in told
    clone.refuse()
    clone.git("reset", "-q", "--hard", "HEAD^")
    clone.commit("chore: mend", {"guard.yaml": CONFIG})
    clone.refuse("main:side")
    clone.accept()
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse()


def test_empty_server_enforces_nothing_yet_and_says_so(tmp_path: Path) -> None:
    clone = make_served(tmp_path, None)
    clone.commit("docs: start", {"README.md": "Hello.\n"})
    told = clone.accept()
    assert told == ("guard: nothing is enforced yet: HEAD names main, and there is no such branch")
    clone.commit(FIX_MESSAGE, FILES)
    assert clone.accept() == "guard: nothing is enforced yet: there is no guard.yaml on main"
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse()


def test_empty_server_takes_no_guard_yaml_that_it_could_not_use(tmp_path: Path) -> None:
    clone = make_served(tmp_path, None)
    clone.commit("feat: all", {**FILES, "guard.yaml": BROKEN})
    assert "main at " in clone.refuse()
    clone.accept("main:side")


def test_protected_is_the_branch_that_head_names(clone: Clone) -> None:
    clone.git("checkout", "-q", "-b", "lax")
    clone.commit(WEAKENED, {"guard.yaml": "version: 1\n"})
    clone.accept("lax")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    clone.refuse("lax")
    clone.server.git("symbolic-ref", "HEAD", "refs/heads/lax")
    clone.accept("lax")


# Nothing that is pushed runs ------------------------------------------------------------------


def plugin(mark: Path, body: str = "pass") -> str:
    """Return a module that leaves a mark where it is imported."""
    return (
        "from pathlib import Path\n"
        "from guard.plugin import hookimpl\n"
        f"Path({str(mark)!r}).write_text('imported')\n"
        f"{body}\n"
    )


IS_FIX = "@hookimpl\ndef guard_is_fix(commit):\n    return {}"
WITH_PLUGIN = CONFIG + "plugins: [evals/plugin.py]\n"


def test_pushed_plugin_is_never_imported(clone: Clone, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = plugin(mark, IS_FIX.format("'all'"))
    config = WITH_PLUGIN.replace("  walk:", "    evaluators: [evals/plugin.py:f]\n  walk:")
    clone.commit("feat: plugin", {"guard.yaml": config, "evals/plugin.py": code})
    clone.commit("feat: more", BAD_FIX)
    clone.accept("main:side")
    assert not mark.exists()


def test_plugin_is_the_protected_branch_s(clone: Clone, tmp_path: Path) -> None:
    trusted, pushed = tmp_path / "trusted", tmp_path / "pushed"
    says = plugin(trusted, IS_FIX.format("'all' if commit.message[:3] != 'cho' else None"))
    clone.commit("chore: plugin", {"guard.yaml": WITH_PLUGIN, "evals/plugin.py": says})
    clone.accept()
    assert not trusted.exists()
    clone.commit("chore: no say", {"evals/plugin.py": plugin(pushed, IS_FIX.format("None"))})
    clone.commit("feat: more", BAD_FIX)
    assert REFUSED in clone.refuse()
    assert trusted.exists()
    assert not pushed.exists()


def test_plugin_that_breaks_on_the_protected_branch_locks_nobody_out(clone: Clone) -> None:
    clone.commit("chore: plugin", {"guard.yaml": WITH_PLUGIN, "evals/plugin.py": "1 / 0\n"})
    clone.accept()
    clone.commit(FIX_MESSAGE, BAD_FIX)
    told = clone.refuse()
    assert "guard.yaml of main can't be used: evals/plugin.py does not load" in told
    assert REFUSED in told
    clone.git("reset", "-q", "--hard", "HEAD^")
    clone.commit("chore: mend", {"evals/plugin.py": "\n"})
    clone.accept()
    clone.commit("docs: more", {"README.md": "More.\n"})
    assert clone.accept() == ""


# How it is run --------------------------------------------------------------------------------

BARE_ENVIRONMENT = "env -i PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C git-receive-pack"


def test_no_home_no_path_no_locale_no_terminal(clone: Clone) -> None:
    clone.commit("fix: é", BAD_FIX)
    done = clone.push(f"--receive-pack={BARE_ENVIRONMENT}", "main")
    assert done.returncode == 1
    assert REFUSED in said(done)
    clone.git("reset", "-q", "--hard", "HEAD^")
    clone.commit("docs: more", {"README.md": "More.\n"})
    done = clone.push(f"--receive-pack={BARE_ENVIRONMENT}", "main")
    assert (done.returncode, said(done)) == (0, "")


def test_push_options_change_nothing(clone: Clone) -> None:
    clone.server.git("config", "receive.advertisePushOptions", "true")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse("-o", "guard.skip", "-o", "ci.skip", "main")


def test_variables_that_a_pusher_may_set_switch_nothing_off(clone: Clone) -> None:
    clone.commit(FIX_MESSAGE, BAD_FIX)
    active = str(clone.server.root.resolve())
    assert REFUSED in clone.refuse(GUARD_HOOK_ACTIVE=active, SKIP="guard-pre-receive")


def test_over_a_url(clone: Clone) -> None:
    clone.commit(FIX_MESSAGE, BAD_FIX)
    url = clone.server.root.as_uri()
    done = clone.run("git", "push", url, "main")
    assert done.returncode == 1
    assert REFUSED in said(done)


def test_over_the_git_protocol(clone: Clone) -> None:
    """A real `git daemon`, spoken to through its standard input as inetd does."""
    base = clone.server.root.parent
    daemon = f"git daemon --inetd --export-all --enable=receive-pack --base-path={base}"
    url = f"ext::{daemon} %G/server.git"
    clone.git("config", "protocol.ext.allow", "always")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    done = clone.run("git", "push", url, "main")
    assert done.returncode == 1, done.stderr
    assert REFUSED in said(done)
    clone.git("reset", "-q", "--hard", "HEAD^")
    clone.commit(FIX_MESSAGE, GOOD_FIX)
    done = clone.run("git", "push", url, "main")
    assert done.returncode == 0, done.stderr


def test_clone_with_a_work_tree_receives_too(tmp_path: Path) -> None:
    clone = make_served(tmp_path)
    workers = Server(tmp_path / "workers")
    workers.root.mkdir()
    workers.git("init", "-q")
    workers.git("fetch", "-q", str(clone.root), "main:main", "--update-head-ok")
    workers.git("reset", "-q", "--hard")
    workers.install("--server")
    other = Clone(clone.root, workers)
    other.commit(FIX_MESSAGE, BAD_FIX)
    done = other.push("main:topic")
    assert done.returncode == 1
    assert REFUSED in said(done)
    other.git("reset", "-q", "--hard", "HEAD^")
    other.commit(FIX_MESSAGE, GOOD_FIX)
    other.accept("main:topic")
    assert workers.git("status", "--porcelain") == ""


def test_store_that_can_not_be_written_is_done_without(clone: Clone, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = plugin(mark, IS_FIX.format("'all'"))
    clone.commit("chore: plugin", {"guard.yaml": WITH_PLUGIN, "evals/plugin.py": code})
    clone.accept()
    store = clone.server.root / "guard"
    for path in store.iterdir():
        path.unlink()
    store.rmdir()
    store.write_text("in the way")
    clone.commit("feat: more", BAD_FIX)
    told = clone.refuse()
    assert told.startswith(f"guard: not pushed: {REFUSED}")
    assert mark.exists()
    assert store.read_text() == "in the way"


def test_interpreter_that_is_gone_refuses_in_clear_words(clone: Clone, tmp_path: Path) -> None:
    hook = clone.server.root / "hooks" / "pre-receive"
    hook.write_text(hook.read_text().replace(sys.executable, "/gone/python"))
    clone.commit("docs: more", {"README.md": "More.\n"})
    done = clone.push(f"--receive-pack={BARE_ENVIRONMENT}", "main")
    assert done.returncode == 1
    assert "pre-receive can't be judged: /gone/python is gone" in said(done)


def test_what_git_did_not_say_refuses(clone: Clone) -> None:
    done = clone.server.call_hook("no refs here\n")
    assert done.returncode == 3
    assert "isn't a ref" in done.stderr
    gone = "1" * 40
    done = clone.server.call_hook(f"{'0' * 40} {gone} refs/heads/x\n")
    assert done.returncode == 3
    assert "not here" in done.stderr


# Its time is limited --------------------------------------------------------------------------


def test_git_that_hangs_is_killed_in_time(clone: Clone, tmp_path: Path) -> None:
    real = subprocess.run(["which", "git"], capture_output=True, text=True).stdout.strip()
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    slow = f'#!/bin/sh\ncase "$*" in *rev-list*) sleep 98761;; esac\nexec {real} "$@"\n'
    wrapper.write_text(slow)
    wrapper.chmod(0o755)
    clone.commit("chore: fast", {"guard.yaml": CONFIG + "hooks: {pre-receive: {max_seconds: 2}}\n"})
    clone.git("commit", "-q", "--amend", "-m", WEAKENED)
    clone.accept()
    tip = clone.git("rev-parse", "HEAD").strip()
    path = f"{wrapper.parent}:{os.environ['PATH']}"
    started = time.monotonic()
    done = clone.server.call_hook(f"{'0' * 40} {tip} refs/heads/x\n", PATH=path)
    assert done.returncode == 3
    assert "what this push brings: it could not be established within 2 s" in done.stderr
    assert "push it in parts" in done.stderr
    assert time.monotonic() - started < 20
    left = subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True).stdout
    assert "sleep 98761" not in left


def test_pattern_that_never_ends_refuses_the_push(clone: Clone) -> None:
    slow = 'fix: {patterns: ["(a+)+b"]}\nhooks: {pre-receive: {max_seconds: 2}}\n'
    clone.commit(WEAKENED, {"guard.yaml": CONFIG + slow})
    clone.accept()
    clone.commit("a" * 60, {TALK: BETTER_TALK})
    assert "could not be established within 2 s" in clone.refuse()
    clone.git("commit", "-q", "--amend", "-m", "feat: more")
    clone.accept()


# Installing it --------------------------------------------------------------------------------


def test_earlier_hook_is_kept_called_first_and_restored(tmp_path: Path) -> None:
    clone = make_served(tmp_path)
    clone.server.guard("uninstall")
    hook = clone.server.root / "hooks" / "pre-receive"
    assert not hook.exists()
    earlier = f'#!/bin/sh\ncat >>"{tmp_path}/said"\nexit 0\n'
    hook.write_text(earlier)
    hook.chmod(0o755)
    clone.server.install()
    clone.commit(FIX_MESSAGE, BAD_FIX)
    tip = clone.git("rev-parse", "HEAD").strip()
    assert REFUSED in clone.refuse()
    assert f"{tip} refs/heads/main\n" in (tmp_path / "said").read_text()
    (hook.with_name("pre-receive.guard-kept")).write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    clone.git("reset", "-q", "--hard", "HEAD^")
    clone.commit("docs: more", {"README.md": "More.\n"})
    assert clone.refuse() == "no"
    (hook.with_name("pre-receive.guard-kept")).write_text(earlier)
    clone.server.guard("uninstall")
    assert hook.read_text() == earlier
    clone.accept()


def test_bare_repository_gets_no_other_hook(clone: Clone) -> None:
    ours = [
        path.name
        for path in (clone.server.root / "hooks").iterdir()
        if "regression-guard" in path.read_text()
    ]
    assert ours == ["pre-receive"]
    assert "as it was" in clone.server.guard("install").stdout


def test_doctor_of_a_bare_repository_ends_well(clone: Clone) -> None:
    done = clone.server.guard("doctor")
    assert done.returncode in (0, 1, 3)
    assert "bug in guard" not in done.stdout + done.stderr


def test_console_script_is_the_same(clone: Clone) -> None:
    hook = clone.server.root / "hooks" / "pre-receive"
    program = "from guard_hooks.pre_receive import main; raise SystemExit(main())"
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -E -P -c '{program}'\n")
    clone.commit(FIX_MESSAGE, BAD_FIX)
    assert REFUSED in clone.refuse()


def test_new_agent_may_come_with_its_case_in_one_push(clone: Clone) -> None:
    config = CONFIG + (
        "  sit:\n    paths: [skills/sit/**]\n    target: command\n"
        "    options: {argv: [cat, SKILL.md]}\n    cases: [evals/sit/*.md]\n"
    )
    files = {
        "guard.yaml": config,
        "skills/sit/SKILL.md": skill("sit", "sit down"),
        "evals/sit/sits.md": case("sits", "sit down"),
    }
    clone.commit("feat(sit): sit", files)
    clone.commit("fix(sit): up", {"skills/sit/SKILL.md": skill("sit", "sit down and up")})
    assert "agent sit" in clone.refuse("main:side")
    clone.git("reset", "-q", "--hard", "HEAD^")
    clone.accept("main:side")
