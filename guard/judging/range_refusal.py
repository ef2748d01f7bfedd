"""The text of a push that the rules refuse: which commit, which rule, and how to mend it there.

A commit that is done is mended in place: amended where it is HEAD, else by a fixup that an
automatic rebase squashes into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from guard.git import Repo
from guard.globs import literal_prefix
from guard.model import Violation
from guard.output import printable, shell_path
from guard.project import Project
from guard.regressions import FILE as REGRESSIONS

#: Paths that one line lists before it only counts.
SHOWN: Final = 3


def range_refusal(violations: Sequence[Violation], repo: Repo, tip: Project, word: str) -> str:
    """Return the text; the first violation is told in full. ``word``: what is refused."""
    first, others = violations[0], violations[1:]
    lines = [f"guard: {word}: {first.message} ({first.rule})", f"  commit   {first.commit}"]
    lines += [f"  because  {text}" for text in first.detail[:1]]
    lines += [f"  changed  {_listed(first.paths)}"] if first.paths else []
    for number, command in enumerate(_commands(first, repo, tip)):
        lines.append(f"  {'' if number else 'do':<8} {command}")
    if others:
        more = f", and {len(others) - 1} more" if len(others) > 1 else ""
        lines.append(f"  also     {others[0].commit}: {others[0].rule}{more}")
    return "\n".join(map(printable, lines))


def _listed(paths: Sequence[str]) -> str:
    more = len(paths) - SHOWN
    shown = ", ".join(shell_path(path) for path in paths[:SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _commands(violation: Violation, repo: Repo, tip: Project) -> Iterator[str]:
    """Yield the commands that mend the commit where it stands."""
    commit = violation.commit.split(" ", 1)[0]
    if violation.rule == "fix-needs-case":
        yield f"guard new-case ID --agent {shell_path(violation.agent)}"
    if violation.rule in ("fix-needs-case", "fix-needs-record"):
        yield f"guard prove ID --before {commit}^"
        yield f"git add {_to_add(violation, tip)}"
        yield _into(commit, repo)
    elif violation.rule == "case-weakened" and violation.hint:
        yield _reworded(commit, repo, violation.hint[0].replace('"', '\\"'))
    elif violation.rule == "case-weakened":
        yield f"git checkout {commit}^ -- {' '.join(map(shell_path, violation.paths[:SHOWN]))}"
        yield _into(commit, repo)
    else:
        yield from violation.hint[:1]
        if violation.paths:
            yield f"git add {' '.join(map(shell_path, violation.paths[:SHOWN]))}"
        yield _into(commit, repo)


def _to_add(violation: Violation, tip: Project) -> str:
    agent = tip.agents.get(violation.agent) if tip.has_config else None
    folders = [literal_prefix(glob) for glob in agent.cases] if agent else []
    wanted = [*[folder for folder in folders if folder][:1], REGRESSIONS]
    return " ".join(shell_path(path) for path in wanted[-2:])


def _into(commit: str, repo: Repo) -> str:
    """Return the command that puts what is staged into a commit."""
    if is_head(commit, repo):
        return "git commit --amend --no-edit"
    rebase = f"GIT_SEQUENCE_EDITOR=: git rebase -i --autosquash {_onto(commit, repo)}"
    return f"git commit --fixup={commit} && {rebase}"


def _reworded(commit: str, repo: Repo, trailer: str) -> str:
    if is_head(commit, repo):
        return f'git commit --amend --no-edit --trailer "{trailer}"'
    return f"git rebase -i {_onto(commit, repo)}    # reword {commit}, add: {trailer}"


def _onto(commit: str, repo: Repo) -> str:
    return f"{commit}^" if repo.resolve(f"{commit}^") else "--root"


def is_head(commit: str, repo: Repo) -> bool:
    """Tell whether an abbreviated id is that of HEAD."""
    return (repo.resolve("HEAD") or "").startswith(commit)
