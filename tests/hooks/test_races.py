"""What changes the index between the hooks of one commit: it is refused, and only then.

An editor that stages something stands for another terminal while the message is being written;
a hook of another program behind ours for a formatter that stages what it rewrote.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.hooks.installed import CONFIG, FILES, GOOD_TALK, TALK, WALK, skill
from tests.hooks.quick_repo import BOTH, Done, QuickRepo, make_quick, write_program
from tests.invariants import unchanged

BETTER, STILL = GOOD_TALK + "Again.\n", skill("walk", "stop at red, always")
MOVED = "the index changed after pre-commit judged it"


def editing(*commands: str) -> str:
    """Return an editor that writes a message, and does something else meanwhile."""
    return "sh -c '" + "; ".join([*commands, 'echo "docs: x" >"$0"']) + "'"


def staging(path: str, text: str = "more") -> str:
    return f"echo {text} >>{path}; git add {path}"


def commit_with(quick: QuickRepo, *commands: str, all_files: bool = False) -> Done:
    args = ["-a"] if all_files else []
    quick.started()
    return quick.try_commit(*args, env={"GIT_EDITOR": editing(*commands)})


def refused(quick: QuickRepo, done: Done, again: str = "git commit -F .git/guard/message") -> None:
    assert done.returncode == 1, done.stderr
    told = done.stderr[done.stderr.index("guard: refused: ") :].splitlines()
    assert told[0].startswith(f"guard: refused: {MOVED}")
    assert told[1] == f"  do       {again}    # once what is to go into it is staged"
    assert len(told) == 2
    assert (quick.root / ".git/guard/message").read_text() == "docs: x\n"


def test_control(quick: QuickRepo) -> None:
    quick.stage({TALK: BETTER})
    assert commit_with(quick, "true").returncode == 0


def test_skill_is_staged_while_the_message_is_written(quick: QuickRepo) -> None:
    """Nothing guarded was staged before: no Python had started yet."""
    quick.stage({"README.md": "more\n"})
    done = commit_with(quick, staging(TALK))
    refused(quick, done)
    assert quick.started() == ["commit-msg"]
    again = quick.try_commit("-F", ".git/guard/message")
    assert again.returncode == 0, again.stderr


def test_skill_is_unstaged_while_the_message_is_written(quick: QuickRepo) -> None:
    """Git commits it all the same: the fix rule must not be told of an index without it."""
    quick.stage({"README.md": "more\n", TALK: BETTER})
    refused(quick, commit_with(quick, f"git reset -q {TALK}"))


def test_other_content_of_a_judged_skill(quick: QuickRepo) -> None:
    quick.stage({TALK: BETTER})
    refused(quick, commit_with(quick, staging(TALK)))


def test_other_skill_beside_a_judged_one(quick: QuickRepo) -> None:
    quick.stage({TALK: BETTER})
    refused(quick, commit_with(quick, staging(WALK)))


def test_other_file_beside_a_judged_skill(quick: QuickRepo) -> None:
    quick.stage({TALK: BETTER})
    refused(quick, commit_with(quick, staging("README.md")))


def test_other_file_beside_nothing_guarded(quick: QuickRepo) -> None:
    """There is nothing that was judged, and nothing to judge."""
    quick.stage({"docs/a.md": "1\n"})
    assert commit_with(quick, staging("README.md")).returncode == 0
    assert quick.started() == []
    quick.listed.unlink()
    quick.stage({"docs/a.md": "2\n"})
    assert commit_with(quick, staging("README.md")).returncode == 0
    assert quick.started() == ["pre-commit"]


def test_what_was_staged_and_taken_back(quick: QuickRepo) -> None:
    quick.stage({TALK: BETTER})
    assert commit_with(quick, staging("new.txt"), "git rm -q -f new.txt").returncode == 0


def test_index_of_a_commit_of_all_files(quick: QuickRepo) -> None:
    """Git commits from an index of its own: what happens to the user's changes nothing."""
    quick.write({TALK: BETTER})
    assert commit_with(quick, "true", all_files=True).returncode == 0
    assert quick.started() == BOTH


def test_the_commit_is_repeated_as_it_was_asked_for(quick: QuickRepo) -> None:
    """Amending, of all files, of some paths: the command can be pasted and does the same."""
    kept = "-F .git/guard/message"
    for args, again in (
        (("--amend",), f"git commit --amend {kept}"),
        (("-a",), f"git commit -a {kept}"),
        (("README.md",), f"git commit {kept} -- README.md"),
    ):
        quick.write({"README.md": f"more {args}\n"})
        file = "${GIT_INDEX_FILE:-.git/index}"
        other = f"GIT_INDEX_FILE={file} git update-index --add --cacheinfo"
        blob = quick.git("rev-parse", f"HEAD:{TALK}").strip()
        env = {"GIT_EDITOR": editing(f"{other} 100644,{blob},{WALK}")}
        done = quick.try_commit(*args, env=env)
        assert done.returncode == 1, (args, done.stderr)
        assert f"  do       {again}" in done.stderr.replace(f", {WALK}", ""), done.stderr


def test_formatter_behind_ours(quick: QuickRepo) -> None:
    """The second try passes: by then what it rewrote is what is staged."""
    after(quick, f"grep -q pretty {TALK} || {{ {staging(TALK, 'pretty')}; }}")
    quick.stage({TALK: BETTER})
    done = quick.try_commit("-m", "feat(talk): say more")
    assert done.returncode == 1
    assert MOVED in done.stderr
    assert quick.try_commit("-F", ".git/guard/message").returncode == 0


def test_formatter_behind_ours_of_nothing_guarded(quick: QuickRepo) -> None:
    after(quick, staging("README.md", "pretty"))
    quick.stage({"README.md": "more\n"})
    assert quick.starts() == ["pre-commit"]


def after(quick: QuickRepo, command: str) -> None:
    """Put a program behind our pre-commit hook, as a hook manager does."""
    hook = quick.root / ".git" / "hooks" / "pre-commit"
    hook.rename(hook.with_suffix(".ours"))
    write_program(hook, f"#!/bin/sh\n.git/hooks/pre-commit.ours || exit\n{command}\n")


def test_index_that_moves_while_rules_are_judged(tmp_path: Path) -> None:
    """No case runs: the plugin that is asked about them takes the time."""
    plugin = (
        "import os\nfrom guard.plugin import hookimpl\n\n@hookimpl\n"
        "def guard_affected(change, agent, case):\n"
        "    os.system('unset GIT_DIR GIT_INDEX_FILE; echo more >>new.txt; git add new.txt')\n"
    )
    named = {"guard.yaml": CONFIG + "plugins: [tools/own.py]\n", "tools/own.py": plugin}
    quick = make_quick(tmp_path / "quick", {**FILES, **named})
    quick.stage({"README.md": "more\n"})
    done = quick.try_commit("-m", "docs: x")
    assert done.returncode == 1
    assert "the index changed while it was judged" in done.stderr


def test_two_commits_at_once_in_two_worktrees(quick: QuickRepo) -> None:
    quick.git("worktree", "add", "-q", "../linked", "-b", "other")
    linked = quick.folder / "linked"
    quick.stage({TALK: BETTER})
    inner = f"cd {linked} && unset GIT_DIR GIT_INDEX_FILE && echo more >>README.md"
    inner += " && git commit -q -a -m inner"
    done = commit_with(quick, f"( {inner} )")
    assert done.returncode == 0, done.stderr
    assert ScratchRepo(linked).git("log", "-1", "--format=%s") == "inner\n"


def test_commit_inside_another_one_of_the_same_worktree(quick: QuickRepo) -> None:
    """The inner one wins, git itself refuses the outer one; its record is another git's."""
    quick.stage({TALK: BETTER})
    inner = "echo more >>README.md; git add README.md; git commit -q -m inner"
    done = commit_with(quick, f"( unset GIT_INDEX_FILE; {inner} )")
    assert done.returncode != 0
    assert quick.git("log", "-1", "--format=%s") == "inner\n"
    assert "Traceback" not in done.stderr


def test_head_that_moves_meanwhile(quick: QuickRepo) -> None:
    """Git would refuse it in the end, and not say what to do."""
    quick.stage({TALK: BETTER})
    tree = "git commit-tree -p HEAD -m other HEAD~1^{tree}"
    done = commit_with(quick, f"git update-ref HEAD $({tree})")
    assert done.returncode == 1
    assert "guard: refused: HEAD changed after pre-commit judged it" in done.stderr


def test_merge_keeps_its_record_too(quick: QuickRepo) -> None:
    from guard_hooks.shim import shim_text

    hook = quick.root / ".git" / "hooks" / "pre-merge-commit"
    write_program(hook, shim_text("pre-merge-commit", str(quick.python)).decode())
    quick.git("checkout", "-q", "-b", "topic")
    quick.bypass("feat: theirs", {TALK: BETTER})
    quick.git("checkout", "-q", "main")
    quick.bypass("feat: ours", {"README.md": "ours\n"})
    edited = {"GIT_EDITOR": editing(staging(WALK)), "GIT_MERGE_AUTOEDIT": "yes"}
    done = quick.run("git", "merge", "-q", "--edit", "topic", env=edited)
    assert done.returncode != 0
    assert MOVED in done.stderr
    quick.git("reset", "-q", "--hard")
    assert quick.run("git", "merge", "-q", "-m", "feat: both", "topic").returncode == 0
    assert quick.started() == ["pre-merge-commit", "commit-msg"] * 2


def test_amended_commit(quick: QuickRepo) -> None:
    quick.bypass("feat: more", {WALK: STILL})
    quick.stage({TALK: BETTER})
    assert quick.starts("--amend", "-m", "feat: both") == BOTH
    quick.stage({TALK: BETTER + "And again.\n"})
    done = quick.try_commit("--amend", env={"GIT_EDITOR": editing(staging(TALK))})
    assert done.returncode == 1
    assert MOVED in done.stderr


@pytest.mark.parametrize(
    "record",
    ["", "\n", "quiet", "judged 1 2 -\nabc\n", "quiet 1 1 x\n", "\0\xff", "x" * 100_000, None],
)
def test_record_of_others_or_none_refuses_nothing(quick: QuickRepo, record: str | None) -> None:
    """Written between the hooks: what commit-msg then knows nothing of, it judges alone."""
    file = quick.root / ".git" / "guard" / "judged"
    other = quick.folder / "other"
    if record is not None:
        other.write_bytes(record.encode("latin-1"))
    after(quick, f"rm -f '{file}'; cp '{other}' '{file}' 2>/dev/null; :")
    quick.stage({TALK: BETTER})
    done = quick.try_commit("-m", "feat(talk): say more")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_commit_that_was_killed_in_the_middle(quick: QuickRepo) -> None:
    quick.stage({TALK: BETTER})
    done = commit_with(quick, "read kind git rest <.git/guard/judged; kill -KILL $git")
    assert done.returncode == -signal.SIGKILL
    (quick.root / ".git" / "index.lock").unlink(missing_ok=True)
    quick.stage({WALK: STILL})
    assert quick.starts("-m", "feat: both") == BOTH


def test_hook_called_by_hand_leaves_no_record_that_refuses(quick: QuickRepo) -> None:
    quick.stage({TALK: BETTER})
    hooks = quick.root / ".git" / "hooks"
    assert quick.run(str(hooks / "pre-commit")).returncode == 0
    quick.stage({WALK: STILL})
    quick.write({".git/COMMIT_EDITMSG": "feat: x\n"})
    assert quick.run(str(hooks / "commit-msg"), ".git/COMMIT_EDITMSG").returncode == 0


def test_refusal_changes_nothing(quick: QuickRepo) -> None:
    record = quick.root / ".git" / "guard" / "judged"
    after(quick, f"sed -i 's/^quiet/judged/' '{record}'; echo more >>new.txt; git add new.txt")
    quick.listed.unlink()
    quick.stage({"README.md": "more\n"})
    assert quick.try_commit("-m", "docs: x").returncode == 1
    (quick.root / ".git" / "hooks" / "pre-commit").rename(quick.folder / "off")
    with unchanged(quick):
        subprocess.run(
            [str(quick.root / ".git/hooks/commit-msg"), ".git/COMMIT_EDITMSG"],
            cwd=quick.root,
            env={**os.environ, **quick.env},
            check=False,
        )
