"""Hook managers and installation: what they hide, lose or change, and what guard does then."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.blocks import blocks, pages, read_page
from tests.conftest import ScratchRepo
from tests.gitcases.watching import SEEN, Witness
from tests.hooks.installed import (
    BAD_TALK,
    CONFIG,
    FILES,
    GOOD_TALK,
    TALK,
    Installed,
    make_installed,
    skill,
)
from tests.real.managers import CONFIG as FRAMEWORK_FILE
from tests.real.managers import (
    FRAMEWORKS,
    STAGES,
    call,
    commit,
    files_of,
    framework_config,
    push,
    set_up,
    start,
    with_remote,
    write_husky,
)

BETTER_TALK = skill("talk", "say hello, and mean it")
GUARD = (sys.executable, "-P", "-m", "guard")
both = pytest.mark.parametrize("framework", FRAMEWORKS)


@pytest.fixture(autouse=True)
def own_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PRE_COMMIT_HOME", "PREK_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def framed(repo: ScratchRepo, framework: str, text: str, *options: str) -> Installed:
    """Return a guarded repository with this configuration of the framework, installed."""
    found = Installed(repo.root)
    found.bypass("feat: all", {**FILES, FRAMEWORK_FILE: text})
    call(found, framework, "install", *options)
    return found


def one_hook(**settings: object) -> str:
    """Return a configuration with guard-commit-msg alone."""
    hook = {
        "id": "guard-commit-msg",
        "name": "guard",
        "entry": "guard-commit-msg",
        "language": "system",
        "stages": ["commit-msg"],
        **settings,
    }
    return json.dumps({"repos": [{"repo": "local", "hooks": [hook]}]})


# 85: filters ----------------------------------------------------------------------------


@both
def test_085_a_filter_on_commit_msg_skips_it_and_doctor_says_so(
    repo: ScratchRepo, framework: str
) -> None:
    """`files:` on the commit-msg hook: the framework skips it, and `guard doctor` reports that."""
    text = one_hook(files="^skills/")
    found = framed(repo, framework, text, "-t", "commit-msg")
    found.stage({TALK: BETTER_TALK})
    accepted, said = commit(found, "fix(talk): mean it")
    assert (accepted, "no files to check" in said) == (True, True), said
    assert "guard-commit-msg: `files` makes the framework skip it" in found.guard("doctor").stdout


@both
def test_085_without_a_filter_it_is_asked(repo: ScratchRepo, framework: str) -> None:
    """The same hook without a filter refuses; doctor has no filter to report."""
    found = framed(repo, framework, one_hook(), "-t", "commit-msg")
    found.stage({TALK: BETTER_TALK})
    accepted, said = commit(found, "fix(talk): mean it")
    assert (accepted, "(fix-needs-case)" in said) == (False, True), said
    assert "makes the framework skip it" not in found.guard("doctor").stdout


@both
def test_085_a_filter_and_always_run_give_no_message_and_no_pass(
    repo: ScratchRepo, framework: str
) -> None:
    """With `files:` and `always_run` the hook gets no message: it refuses rather than pass."""
    text = one_hook(files="^skills/", always_run=True)
    found = framed(repo, framework, text, "-t", "commit-msg")
    found.stage({TALK: BETTER_TALK})
    accepted, said = commit(found, "fix(talk): mean it")
    assert (accepted, "commit-msg takes the file of the message" in said) == (False, True), said


# 87: types ------------------------------------------------------------------------------


@both
def test_087_hook_types_that_are_not_installed(repo: ScratchRepo, framework: str) -> None:
    """Only the pre-commit stage installed: it warns that no fix is asked, and doctor says why."""
    text = "".join(
        line for line in framework_config().splitlines(True) if not line.startswith("default")
    )
    found = framed(repo, framework, text)
    found.stage({TALK: BETTER_TALK})
    accepted, said = commit(found, "fix(talk): mean it")
    assert (accepted, "there is no commit-msg hook" in said) == (True, True), said
    told = found.guard("doctor").stdout
    assert "no hook calls guard at commit-msg, pre-merge-commit, pre-push" in told
    assert "(default_install_hook_types)" in told


@both
def test_087_with_the_types_named_one_install_is_enough(repo: ScratchRepo, framework: str) -> None:
    """`default_install_hook_types` as the guide has it: all four are installed, the fix refused."""
    found = set_up(framework, repo)
    found.stage({TALK: BETTER_TALK})
    accepted, said = commit(found, "fix(talk): mean it")
    assert (accepted, "(fix-needs-case)" in said) == (False, True), said
    assert "no hook calls guard" not in found.guard("doctor").stdout


# 88: chunks -----------------------------------------------------------------------------


def forty_files(found: Installed) -> None:
    found.stage({TALK: BAD_TALK, **{f"many/{number}.txt": "x\n" for number in range(40)}})


@both
def test_088_one_process_whatever_is_staged(repo: ScratchRepo, framework: str) -> None:
    """Forty staged files: one process of guard's judges the index, and no file name counts."""
    found = set_up(framework, repo)
    forty_files(found)
    accepted, said = commit(found, "feat(talk): say less")
    assert (accepted, said.count("agent talk changed")) == (False, 1), said


@both
def test_088_file_names_say_nothing(repo: ScratchRepo, framework: str) -> None:
    """A user's override hands chunks of names to several processes: each judges all the same."""
    text = framework_config().replace("pass_filenames: false", "pass_filenames: true")
    found = framed(repo, framework, text.replace("require_serial: true", "require_serial: false"))
    forty_files(found)
    accepted, said = commit(found, "feat(talk): say less")
    assert (accepted, "greets fails" in said) == (False, True), said


# 89: what a push is ----------------------------------------------------------------------


@both
def test_089_an_orphan_branch_and_a_deletion(
    repo: ScratchRepo, tmp_path: Path, framework: str
) -> None:
    """A new root, of which pre-commit names no commit: judged. A deletion: guard isn't called."""
    found = set_up(framework, repo)
    with_remote(found, tmp_path / "up")
    found.git("push", "-q", "--no-verify", "up", "main:old")
    found.git("checkout", "-q", "--orphan", "new")
    found.bypass("feat: anew", {TALK: BAD_TALK})
    went, said = push(found, "new")
    assert (went, "greets fails in new" in said) == (False, True), said
    went, said = push(found, ":old")
    assert (went, "guard" in said) == (True, False), said


@pytest.mark.parametrize(
    ("told", "code", "said"),
    [
        ({}, 3, "the framework shows no pushed ref"),
        ({"PRE_COMMIT_LOCAL_BRANCH": "refs/heads/gone"}, 3, "refs/heads/gone is not here"),
        ({"PRE_COMMIT_TO_REF": "main"}, 1, "greets fails"),
        ({"PRE_COMMIT_LOCAL_BRANCH": "refs/heads/main"}, 1, "greets fails"),
        ({"PRE_COMMIT_TO_REF": "better"}, 0, "held when run now"),
    ],
    ids=["nothing", "a branch that is gone", "the tip", "the branch", "a good tip"],
)
def test_089_what_is_not_shown_is_no_pass(
    repo: ScratchRepo, told: Mapping[str, str], code: int, said: str
) -> None:
    """A framework that shows only the tip, or only the branch: judged; nothing: refused."""
    found = make_installed(repo, {**FILES, TALK: BAD_TALK})
    found.git("checkout", "-q", "-b", "better")
    found.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    done = found.run(*GUARD, "hook", "pre-push", env={"PRE_COMMIT": "1", **told})
    assert (done.returncode, said in done.stderr) == (code, True), done


# 90: whose Python -----------------------------------------------------------------------


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "by PATH"])
def test_090_the_hooks_own_environment_is_not_the_agents(
    repo: ScratchRepo, tmp_path: Path, declared: bool
) -> None:
    """A framework puts its environment in front: an agent runs in its own Python, or the user's."""
    for name in ("py_env-python3", "project"):
        call(repo, sys.executable, "-m", "venv", "--without-pip", str(tmp_path / name))
    prints = """[python, -c, "import sys, os; print(sys.prefix, os.environ.get('VIRTUAL_ENV'))"]"""
    config = CONFIG.replace("[cat, SKILL.md]", prints, 1)
    if declared:
        python = f"    python: {tmp_path}/project/bin/python\n    cases: [evals/talk"
        config = config.replace("    cases: [evals/talk", python)
    folders = [str(tmp_path / name / "bin") for name in ("py_env-python3", "project")]
    front = {
        "PRE_COMMIT": "1",
        "VIRTUAL_ENV": str(tmp_path / "py_env-python3"),
        "PATH": os.pathsep.join([*folders, os.environ["PATH"]]),
    }
    found = Installed(repo.root)
    for wanted, code in (("project", 0), ("py_env-python3", 1)):
        wants = f"expected: {{reply_contains: ['{tmp_path}/{wanted}']}}"
        text = f"---\nid: greets\nutterance: go\n{wants}\n---\nWhose Python.\n"
        found.stage({**FILES, "guard.yaml": config, "evals/talk/greets.md": text})
        done = found.run(*GUARD, "run", "greets", env=front)
        assert done.returncode == code, done


# 91: core.hooksPath ---------------------------------------------------------------------


def test_091_hooks_path_of_husky(repo: ScratchRepo, tmp_path: Path) -> None:
    """core.hooksPath leads elsewhere: installed there, theirs called first; doctor warns of it."""
    found = Installed(repo.root)
    found.bypass("feat: all", FILES)
    found.write({".git/hooks/commit-msg": "#!/bin/sh\nexit 1\n"})
    (found.root / ".git/hooks/commit-msg").chmod(0o755)
    write_husky(found)
    said = call(found, sys.executable, "-P", "-m", "guard", "install")
    assert "guard: installed in .husky/_" in said
    assert "a linked worktree has no .husky/_, so no hook" in said
    found.stage({TALK: BETTER_TALK})
    assert "(fix-needs-case)" in found.refuse("fix(talk): mean it")
    assert "untracked, so a linked worktree has none of them" in found.guard("doctor").stdout
    found.accept("feat(talk): mean it")
    found.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = Installed(tmp_path / "linked")
    assert "which is not there" in linked.guard("doctor").stdout


def test_091_a_hooks_path_of_all_repositories(repo: ScratchRepo, tmp_path: Path) -> None:
    """A global core.hooksPath: installed there with a warning, and the hook that was there runs."""
    folder = tmp_path / "hooks of all"
    folder.mkdir()
    (folder / "pre-push").write_text('#!/bin/sh\necho "theirs: $(cat)" >&2\n')
    (folder / "pre-push").chmod(0o755)
    repo.git("config", "--global", "core.hooksPath", str(folder))
    found = make_installed(repo)
    witness = Witness(folder, tmp_path / SEEN)
    witness.wrap()
    with_remote(found, tmp_path / "up")
    found.bypass("feat(talk): say less", {TALK: BAD_TALK})
    went, said = push(found, "main")
    assert (went, "theirs: refs/heads/main" in said, "greets fails" in said) == (False, True, True)
    assert "global" in found.guard("doctor").stdout
    witness.check()


# 92: names of then and now --------------------------------------------------------------


@both
def test_092_old_names_are_accepted_and_ours_are_the_new_ones(
    repo: ScratchRepo, framework: str
) -> None:
    """`language: unsupported` and `stages: [commit]` still work, and doctor takes them as such."""
    text = framework_config().replace("language: system", "language: unsupported")
    old = text.replace("[pre-commit, pre-merge-commit]", "[commit, merge-commit]")
    found = framed(repo, framework, old.replace("[pre-push]", "[push]"))
    found.stage({TALK: BAD_TALK})
    accepted, said = commit(found, "feat(talk): say less")
    assert (accepted, "greets fails" in said) == (False, True), said
    assert "isn't called at" not in found.guard("doctor").stdout
    manifest = yaml.safe_load(read_page(".pre-commit-hooks.yaml"))
    assert {hook["language"] for hook in manifest} == {"python"}
    assert {hook["minimum_pre_commit_version"] for hook in manifest} == {"3.2.0"}
    assert {stage for hook in manifest for stage in hook["stages"]} == set(STAGES)


# 93: staged and dirty -------------------------------------------------------------------


@pytest.mark.parametrize("manager", ["native", *FRAMEWORKS, "lefthook"])
def test_093_the_same_verdict_on_a_dirty_disk(repo: ScratchRepo, manager: str) -> None:
    """lefthook shows the dirty file at commit-msg, pre-commit hides it: the index is judged."""
    found = set_up(manager, repo)
    found.stage({TALK: BETTER_TALK})
    found.write({TALK: GOOD_TALK, "untracked.txt": "mine\n"})
    accepted, said = commit(found, "fix(talk): mean it")
    assert (accepted, "(fix-needs-case)" in said) == (False, True), said
    accepted, said = commit(found, "feat(talk): mean it")
    assert accepted, said
    assert (found.root / TALK).read_text() == GOOD_TALK
    assert found.git("status", "--porcelain") == f" M {TALK}\n?? untracked.txt\n"


# 94: files of guard's own ---------------------------------------------------------------

SEES_CHANGES = "files were modified by this hook"


@both
def test_094_guard_writes_nothing_that_a_framework_would_see(
    repo: ScratchRepo, tmp_path: Path, framework: str
) -> None:
    """Python in the agent and a report kept: no file of the tree is written, under a witness."""
    agent = CONFIG.replace("[cat, SKILL.md]", "[python3, agent.py]", 1)
    program = "import helper\nprint(helper.TEXT)\n"
    files = {"guard.yaml": agent, "skills/talk/agent.py": program}
    files["skills/talk/helper.py"] = 'TEXT = "say hello"\n'
    found = Installed(repo.root)
    found.bypass("feat: all", {**FILES, **files, **files_of(framework)})
    start(framework, found)
    witness = Witness(found.root / ".git" / "hooks", tmp_path / SEEN)
    witness.wrap()
    found.stage({"skills/talk/helper.py": 'TEXT = "say hello!"\n'})
    accepted, said = commit(found, "feat(talk): louder")
    assert (accepted, SEES_CHANGES in said) == (True, False), said
    assert found.git("status", "--porcelain", "--ignored") == ""
    witness.check()


@both
def test_094_a_hook_that_does_write_fails_there(repo: ScratchRepo, framework: str) -> None:
    """The negative control: the framework does see a file that a hook changes."""
    entry = "sh -c 'echo $$ >README.md'"
    text = one_hook(entry=entry, stages=["pre-commit"], always_run=True)
    found = framed(repo, framework, text)
    found.stage({TALK: BETTER_TALK})
    accepted, said = commit(found, "feat(talk): mean it")
    assert (accepted, SEES_CHANGES in said.lower()) == (False, True), said


# 95: worktrees --------------------------------------------------------------------------


def test_095_nothing_is_checked_out(watched: Installed, tmp_path: Path) -> None:
    """A post-checkout hook is not run by anything guard does, and no worktree is registered."""
    ran = tmp_path / "ran"
    hook = watched.root / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    hook.chmod(0o755)
    with_remote(watched, tmp_path / "up")
    watched.stage({TALK: BETTER_TALK})
    watched.accept("feat(talk): mean it")
    assert watched.guard("prove", "greets", "--before", "HEAD~1").returncode in (1, 3)
    went, said = push(watched, "main")
    assert went, said
    assert watched.git("worktree", "list").count("\n") == 1
    assert not ran.exists()
    watched.git("worktree", "add", "-q", str(tmp_path / "linked"), "HEAD")
    assert ran.exists()


# 96: files that don't start -------------------------------------------------------------


def test_096_the_hooks_are_sh_with_plain_line_ends(repo: ScratchRepo) -> None:
    """Hooks are written for /bin/sh with LF, also where git checks out CRLF."""
    repo.git("config", "core.autocrlf", "true")
    found = make_installed(repo)
    for stage in STAGES:
        text = (found.root / ".git/hooks" / stage).read_bytes()
        assert (text.startswith(b"#!/bin/sh\n"), b"\r" in text) == (True, False)
        assert os.access(found.root / ".git/hooks" / stage, os.X_OK)
    found.stage({TALK: BETTER_TALK})
    found.refuse("fix(talk): mean it")


def test_096_an_interpreter_that_is_gone_refuses(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python of the hooks is gone: nothing passes, the line says what to do, doctor too."""
    found = make_installed(repo)
    for stage in STAGES:
        path = found.root / ".git/hooks" / stage
        text = path.read_text().replace(f"python={sys.executable}\n", "python=/gone/python\n")
        path.write_text(text)
    kept = [p for p in os.environ["PATH"].split(os.pathsep) if not (Path(p) / "guard").exists()]
    found.stage({TALK: BETTER_TALK})
    with monkeypatch.context() as patched:
        patched.setenv("PATH", os.pathsep.join(kept))
        said = found.refuse("feat(talk): mean it")
        assert "pre-commit can't be judged: /gone/python is gone" in said
        assert "/gone/python, which the hooks call, is gone" in found.guard("doctor").stdout
    found.install()
    found.accept("feat(talk): mean it")


def test_096_a_lost_exec_bit_is_found(repo: ScratchRepo) -> None:
    """Git skips a hook that isn't executable with a hint; pre-commit warns, doctor finds it."""
    found = make_installed(repo)
    hook = found.root / ".git/hooks/commit-msg"
    hook.chmod(0o644)
    found.stage({TALK: BETTER_TALK})
    assert "there is no commit-msg hook" in found.accept("fix(talk): mean it")
    told = found.guard("doctor")
    assert (told.returncode, "isn't executable: git skips it" in told.stdout) == (1, True)
    found.install()
    assert os.access(hook, os.X_OK)


def test_096_windows_line_ends_are_found(repo: ScratchRepo) -> None:
    """A hook with CRLF doesn't start, so nothing passes; doctor names the file."""
    found = make_installed(repo)
    hook = found.root / ".git/hooks/pre-commit"
    hook.write_bytes(hook.read_bytes().replace(b"\n", b"\r\n"))
    found.stage({TALK: BETTER_TALK})
    found.refuse("feat(talk): mean it")
    assert "Windows line ends" in found.guard("doctor").stdout
    found.install()
    found.accept("feat(talk): mean it")


# 97: exit codes -------------------------------------------------------------------------


def test_097_a_wrapper_that_lets_all_through_is_found(repo: ScratchRepo) -> None:
    """`|| true` behind guard turns each refusal into a pass: doctor names the line."""
    found = make_installed(repo)
    hook = found.root / ".git/hooks/commit-msg"
    found.stage({TALK: BETTER_TALK})
    for ending, accepted in ((" || true", True), ("", False)):
        hook.write_text(f'#!/bin/sh\nguard hook commit-msg "$1"{ending}\n')
        told = found.guard("doctor").stdout
        assert ("turns every refusal of guard into a success" in told) is accepted
        assert commit(found, "fix(talk): mean it")[0] is accepted


def test_097_a_guard_that_is_not_there_refuses(repo: ScratchRepo) -> None:
    """Exit code 127 of a hook that finds no guard is no pass."""
    found = make_installed(repo)
    hook = found.root / ".git/hooks/commit-msg"
    hook.write_text('#!/bin/sh\nguard-that-is-not-here hook commit-msg "$1"\n')
    found.stage({"README.md": "more\n"})
    assert not commit(found, "docs: more")[0]


def test_097_exit_codes_tell_what_happened(repo: ScratchRepo) -> None:
    """0 holds, 1 is broken, 2 wrong, 3 not established: a caller can tell them apart."""
    found = make_installed(repo)
    found.write({"message": "fix(talk): mean it\n", "fine": "docs: x\n"})
    found.git("add", "README.md")
    codes = [found.guard("hook", "commit-msg", "fine").returncode]
    found.write({TALK: BETTER_TALK})
    found.git("add", TALK)
    for name in ("message", "", "gone"):
        codes.append(found.guard("hook", "commit-msg", *filter(None, [name])).returncode)
    assert codes == [0, 1, 2, 3]


def test_097_no_page_shows_a_wrapper_that_lets_all_through() -> None:
    """No snippet of ours ends in `|| true`, and a pipe takes no exit code away."""
    shown = [block.text for page in pages() for block in blocks(read_page(page))]
    assert any("guard hook commit-msg" in text for text in shown)
    assert not [text for text in shown if "|| true" in text or "; exit 0" in text]


# 32: work that isn't staged -------------------------------------------------------------

KEPT_IN = {
    "pre-commit": "PRE_COMMIT_HOME/patch*",
    "prek": "PREK_HOME/patches/*.patch",
    "lefthook": "repo/.git/info/lefthook-unstaged.patch",
}


@pytest.mark.parametrize("manager", KEPT_IN)
def test_032_where_a_killed_manager_leaves_unstaged_work(
    repo: ScratchRepo, tmp_path: Path, manager: str
) -> None:
    """Killed while it hides what isn't staged, a manager leaves a patch where the guide says."""
    found = set_up(manager, repo)
    killer = tmp_path / "bin" / "guard-affected"
    killer.parent.mkdir()
    killer.write_text(KILLER.format(python=sys.executable, manager=manager))
    killer.chmod(0o755)
    killer.with_name("guard").symlink_to(killer)
    found.stage({TALK: BETTER_TALK})
    found.write({TALK: f"{BETTER_TALK}mine, unstaged\n"})
    path = f"{killer.parent}{os.pathsep}{os.environ['PATH']}"
    done = found.try_commit("-m", "feat(talk): mean it", PATH=path)
    assert done.returncode != 0
    assert (found.root / TALK).read_text() == BETTER_TALK
    [patch] = tmp_path.glob(KEPT_IN[manager])
    assert KEPT_IN[manager].replace("repo/", "").partition("/")[2].partition("*")[0] in str(patch)
    call(found, "git", "apply", str(patch))
    assert (found.root / TALK).read_text() == f"{BETTER_TALK}mine, unstaged\n"


#: In guard's place; kills the manager above it, and ends.
KILLER = f"""\
#!{{python}}
import os
pid = os.getppid()
while pid > 1:
    words = open(f"/proc/{{{{pid}}}}/cmdline").read().split("\\0")
    if os.path.basename(words[0]) == "git":
        break
    above = int(open(f"/proc/{{{{pid}}}}/stat").read().rpartition(")")[2].split()[1])
    if any("{{manager}}" in word or "pre_commit" in word for word in words[:3]):
        os.kill(pid, {int(signal.SIGKILL)})
    pid = above
"""


def test_032_guard_itself_takes_nothing_away(watched: Installed) -> None:
    """Guard's own hooks leave what isn't staged where it is, also when they are killed."""
    slow = CONFIG.replace("[cat, SKILL.md]", '[sh, -c, "sleep 5; cat SKILL.md"]', 1)
    watched.bypass("chore: slow", {"guard.yaml": slow})
    watched.stage({TALK: BETTER_TALK})
    watched.write({TALK: f"{BETTER_TALK}mine, unstaged\n"})
    hook = subprocess.Popen(
        [watched.root / ".git/hooks/pre-commit.witnessed"],
        cwd=watched.root,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert hook.stderr is not None
    assert "agent talk changed" in hook.stderr.readline()
    hook.kill()
    hook.stderr.close()
    hook.wait()
    assert (watched.root / TALK).read_text() == f"{BETTER_TALK}mine, unstaged\n"
    assert watched.git("stash", "list") == ""
    watched.write({TALK: BAD_TALK})
    watched.refuse("fix(talk): mean it", "--no-edit")
