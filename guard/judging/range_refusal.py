"""The text of a push that the rules refuse: which commit, which rule, and how to mend it there.

A commit that is done is mended in place: amended where it is HEAD, else by a fixup that an
automatic rebase squashes into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from guard.git import Repo, bytes_of, text_of
from guard.judging.left_out import ignored_by
from guard.judging.merges import tree_of
from guard.judging.refusal import case_folders, for_each, new_case_command, trailer_of, with_kept
from guard.model import Violation
from guard.output import printable, shell_path
from guard.project import Project
from guard.regressions import FILE as REGRESSIONS

#: Paths that one line lists before it only counts.
SHOWN: Final = 3
LINES: Final = 8
#: Parents of a merge that are looked at.
MOST_PARENTS: Final = 4
_FIX_RULES: Final = ("fix-needs-case", "fix-needs-record")


def range_refusal(
    violations: Sequence[Violation],
    repo: Repo,
    tip: Project,
    word: str,
    *,
    head: str = "HEAD",
    older_than: str = "",
) -> str:
    """Return the text; the first violation is told in full. ``word``: what is refused.

    ``head`` is what HEAD is where the commands will be called: a server has another one.
    ``older_than`` is the branch whose guard.yaml judges a tip that has none.
    """
    first, others = violations[0], violations[1:]
    if older_than and first.rule in _FIX_RULES:
        why = f"there is no guard.yaml on this branch: {older_than}'s judges it"
        first = first._replace(detail=(why,))
    # What may be left out where there are too many lines has the higher number.
    told = [
        (0, f"guard: {word}: {first.message} ({first.rule})"),
        (0, f"  commit   {first.commit}"),
    ]
    told += [(1, f"  because  {text}") for text in first.detail[:1]]
    told += [(2, f"  changed  {_listed(first.paths)}")] if first.paths else []
    commands = _commands(first, repo, tip, head)
    if older_than and first.rule in _FIX_RULES:
        # Without guard.yaml no command of guard works there.
        commands = iter([f"git pull --rebase origin {shell_path(older_than)}    # and push again"])
    for number, command in enumerate(commands):
        told.append((0, f"  {'' if number else 'do':<8} {command}"))
    if others:
        more = f", and {len(others) - 1} more" if len(others) > 1 else ""
        told.append((3, f"  also     {others[0].commit}: {others[0].rule}{more}"))
    while len(told) > LINES:
        told.remove(max(told, key=lambda one: one[0]))
    return "\n".join(printable(line) for _, line in told)


def _listed(paths: Sequence[str]) -> str:
    more = len(paths) - SHOWN
    shown = ", ".join(shell_path(path) for path in paths[:SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _commands(violation: Violation, repo: Repo, tip: Project, head: str) -> Iterator[str]:
    """Yield the commands that mend the commit where it stands."""
    commit = violation.commit.split(" ", 1)[0]
    branch = _branch_of(commit, repo, tip, head)
    if branch:
        yield f"git checkout {shell_path(branch)}"
    at = branch or head
    if violation.rule in _FIX_RULES and not repo.resolve(f"{commit}^"):
        # Nothing stood before it that could fail: no proof will ever be had.
        yield _renamed(commit, repo, at)
        return
    if violation.rule in _FIX_RULES and _is_of_another_time(violation, tip):
        yield from _where_it_stands(violation, commit, repo, tip)
        return
    if violation.rule == "fix-needs-case":
        yield new_case_command(violation)
    if violation.rule in _FIX_RULES:
        yield f"guard prove ID --before {commit}^{for_each(violation)}"
        yield f"git add {_to_add(violation, tip)}"
        yield _into(commit, repo, at)
    elif trailer := trailer_of(violation):
        yield _reworded(commit, repo, at, trailer.replace('"', '\\"'))
    elif violation.rule in ("case-weakened", "record-invalid") and violation.hint:
        yield from (*violation.hint, f"git add {shell_path(violation.paths[0])}")
        yield _into(commit, repo, at)
    elif violation.rule == "case-weakened":
        paths = violation.paths[:SHOWN]
        before = _parent_with(paths, commit, repo)
        yield f"git checkout {before} -- {' '.join(map(shell_path, paths))}"
        yield _into(commit, repo, at)
    else:
        yield from violation.hint[:1]
        if violation.paths:
            yield f"git add {_forced(violation.paths[:SHOWN], repo)}"
        yield _into(commit, repo, at)


def _is_of_another_time(violation: Violation, tip: Project) -> bool:
    """Tell whether a later commit took away, or renamed, what the commit says of agents."""
    names = violation.agents or (violation.agent,)
    return tip.has_config and not all(name in tip.agents for name in names)


def _where_it_stands(violation: Violation, commit: str, repo: Repo, tip: Project) -> Iterator[str]:
    """Yield the commands for a commit whose agent the tip doesn't know: they work there alone."""
    there = tip.at(tree_of(repo, commit))
    yield f"git rebase -i {_onto(commit, repo)}    # edit {commit}, and there:"
    if violation.rule == "fix-needs-case":
        yield new_case_command(violation)
    yield f"guard prove ID --before HEAD^{for_each(violation)}"
    yield f"git add {_to_add(violation, there)}"
    yield "git commit --amend --no-edit && git rebase --continue"


def _forced(paths: Sequence[str], repo: Repo) -> str:
    """Return paths as they are added; what is ignored here and there all the same, by force."""
    ignored = ignored_by(repo, [bytes_of(path) for path in paths]) if repo.root else {}
    return f"{'-f ' if ignored else ''}{' '.join(map(shell_path, paths))}"


def _parent_with(paths: Sequence[str], commit: str, repo: Repo) -> str:
    """Return the parent that has what a commit deletes: a merge's may be any of them."""
    parents = [f"{commit}^", *(f"{commit}^{number}" for number in range(2, MOST_PARENTS + 1))]
    having = (p for p in parents if all(repo.resolve(f"{p}:{path}") for path in paths))
    return next(having, parents[0])


def _to_add(violation: Violation, tip: Project) -> str:
    wanted = [*(case_folders(violation, tip) if tip.has_config else ()), REGRESSIONS]
    return " ".join(with_kept(path, shell_path(path)) for path in wanted)


def _branch_of(commit: str, repo: Repo, tip: Project, head: str) -> str:
    """Return the branch to check out first; empty where HEAD holds the commit, or no branch.

    Of several the one that is pushed, as far as its tree tells.
    """
    if repo.run("merge-base", "--is-ancestor", commit, head, ok=None).code == 0:
        return ""
    options = ("--contains", commit, "--format=%(tree) %(refname:short)")
    listed = text_of(repo.run("for-each-ref", *options, "refs/heads", ok=None).out).splitlines()
    pushed = [line for line in listed if line.startswith(f"{tip.tree.oid} ")]
    return (pushed or listed or [" "])[0].partition(" ")[2]


def _into(commit: str, repo: Repo, at: str) -> str:
    """Return the command that puts what is staged into a commit."""
    if _is_tip(commit, repo, at):
        return "git commit --amend --no-edit"
    rebase = f"GIT_SEQUENCE_EDITOR=: git rebase -i --autosquash {_onto(commit, repo)}"
    return f"git commit --fixup={commit} && {rebase}"


def _reworded(commit: str, repo: Repo, at: str, trailer: str) -> str:
    if _is_tip(commit, repo, at):
        return f'git commit --amend --no-edit --trailer "{trailer}"'
    return f"git rebase -i {_onto(commit, repo)}    # reword {commit}, add: {trailer}"


def _renamed(commit: str, repo: Repo, at: str) -> str:
    """Return the command that gives a first commit another header."""
    if _is_tip(commit, repo, at):
        return "git commit --amend    # reword it: nothing came before that it could fix"
    return f"git rebase -i --root    # reword {commit}: nothing came before that it could fix"


def _onto(commit: str, repo: Repo) -> str:
    return f"{commit}^" if repo.resolve(f"{commit}^") else "--root"


def _is_tip(commit: str, repo: Repo, at: str) -> bool:
    return (repo.resolve(at) or "").startswith(commit)
