"""The part of a hook that lets a commit through without Python, where nothing guarded is staged.

It takes the list that `guard.hookruns.fastpath` writes, and only for a plain ``git commit`` that
stands on HEAD: whatever is unclear, missing or odd is Python's. Plain POSIX `sh`; but for what it
asks git, all is done by the shell itself.
"""

from __future__ import annotations

from typing import Final

from guard.hookruns.fastpath import FORMAT

#: Set by git or a user, they change what a path, an index or a repository means, or what guard is.
ODD: Final = (
    *("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS"),
    *("GIT_ICASE_PATHSPECS", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"),
    *("GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_SHALLOW_FILE"),
    *("GUARD_DISABLED_PLUGINS", "GUARD_HOOK_ACTIVE", "GUARD_TRIAL", "GUARD_TRIAL_TAG"),
    *("GUARD_FOLLOWS", "GUARD_PR_TITLE", "GUARD_PR_BODY", "GUARD_WORKSPACES"),
    *("PRE_COMMIT", "PRE_COMMIT_RUNNING_LEGACY", "PREK_RUNNING_LEGACY"),
)
#: Files and folders of a git directory while something else than a plain commit goes on.
BUSY: Final = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"),
    *("rebase-merge", "rebase-apply", "sequencer"),
)
QUICK: Final = """\
nothing_guarded() {{
    [ -z "{odd}" ] || return
    dir=${{GIT_DIR:-.git}}
    list=$dir/guard/fast
    [ -f "$list" ] && [ -x "$python" ] || return
    for state in {busy}; do [ ! -e "$dir/$state" ] || return; done
    # The 22nd word is when it started: with its number it is this git and no other.
    read -r _ name _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ began _ <"/proc/$PPID/stat" || return
    [ "$name" = "(git)" ] || return
    line=
    while IFS= read -r words || [ -n "$words" ]; do line=$line$words; done <"/proc/$PPID/cmdline"
    # Its words without what is between them. Only commit and merge run these hooks.
    case $line in
        *--am* | *--allow-e* | *--fix*) return 1 ;;
        gitcommit*) ;;
        *merg*) return 1 ;;
        git*commit* | /*/git*commit*) ;;
        *) return 1 ;;
    esac
    for_shim= for_python= id= whole=
    command . "$list" || return
    [ "$for_shim" = {format} ] && [ "$for_python" = "$python" ] || return
    [ -n "$id" ] && [ "$id" = "$whole" ] && settled || return
    seen="quiet $PPID $began $id"
{ask}}}
nothing_guarded 2>/dev/null && exit 0
"""
#: Before the message: HEAD may have moved since the list was written.
ASK_FIRST: Final = """\
    at_head && untouched || return
    echo "$seen" >"$dir/guard/judged" || :
"""
#: After it: what this very git was let through with must still be so.
ASK_AGAIN: Final = """\
    IFS= read -r said <"$dir/guard/judged" && [ "$said" = "$seen" ] && untouched
"""
ASKED: Final = {"pre-commit": ASK_FIRST, "commit-msg": ASK_AGAIN}


def quick_text(stage: str) -> str:
    """Return the part for a stage; nothing for those that always have something to judge."""
    if stage not in ASKED:
        return ""
    odd = "".join(f"${name}" for name in ODD)
    return QUICK.format(odd=odd, busy=" ".join(BUSY), format=FORMAT, ask=ASKED[stage])
