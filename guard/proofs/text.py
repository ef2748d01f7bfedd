"""What ``guard prove`` tells: at most some lines, the last ones commands that can be pasted."""

from __future__ import annotations

import os
from collections.abc import Sequence

from guard import model
from guard.change import diff_trees
from guard.engine import Engine
from guard.git import bytes_of, text_of
from guard.model import Case
from guard.output import LOOK, mark_of, path_from_here, printable, shell_path
from guard.project import Project
from guard.proofs.past_agent import agent_in
from guard.proofs.prove import Proved
from guard.regressions import FILE
from guard.reports.wording import by_receipt, each_took
from guard.results import CaseResult, ProofResult, Side
from guard.skills import is_skill
from guard.snapshot import head_tree
from guard.wording.intervals import describe_rate, wilson
from guard.wording.reasons import group_reasons, one_line
from guard.wording.units import count

#: Different reasons shown of one side.
SHOWN = 2


def describe(proved: Proved, case: Case, engine: Engine, *, recorded: bool) -> str:
    """Return the whole report for people."""
    if proved.red:
        return "\n".join(_red(proved, case, engine.project))
    if proved.proof.verdict == model.PROVEN:
        return "\n".join(_proven(proved, case, engine, recorded=recorded))
    return "\n".join(_unproven(proved.proof, case, engine.project))


# Red ---------------------------------------------------------------------------------------


def _red(proved: Proved, case: Case, project: Project) -> list[str]:
    proof, name = proved.proof, shell_path(case.id)
    result = proof.before_result
    took = (each_took(result) or by_receipt(result)) if result else ""
    kept = "Kept; nothing recorded yet." if proved.kept else "It can't be kept: it will run again."
    return [
        f"✗ {printable(case.id)} on the skill as it is: {_counted(proof.before)} passed    {took}",
        *_groups(result, case),
        f"RED, as it should be before a fix: this case sees the bug. {kept}",
        f"next: edit {_entry_file(case, project)}, then again: guard prove {name}",
    ]


def _groups(result: CaseResult | None, case: Case) -> list[str]:
    trials = result.trials if result else ()
    lines: list[str] = []
    for group in group_reasons(trials)[:SHOWN]:
        share = (
            f"all {len(trials)}"
            if len(group.numbers) == len(trials)
            else f"{len(group.numbers)} of {len(trials)}"
        )
        show = f"guard show {shell_path(case.id)}#before-{group.numbers[0]}"
        lines.append(f"  {share}: {printable(group.reason)}    {show}")
    return lines


def _entry_file(case: Case, project: Project) -> str:
    own = project.own_paths(project.agents[case.agent])
    paths = sorted(path for path in project.tree.entries() if own(path))
    skills = [path for path in paths if is_skill(path)]
    found = [text_of(path) for path in skills or paths][:1]
    return path_from_here(project.repo.root, found[0]) if found else "the agent's files"


def _counted(side: Side | None) -> str:
    return f"{side.passed} of {side.trials}" if side else "0 of 0"


# Green -------------------------------------------------------------------------------------


def _proven(proved: Proved, case: Case, engine: Engine, *, recorded: bool) -> list[str]:
    proof = proved.proof
    mine = "your change" if proof.state == "live" else "the fix"
    keys = ", ".join(proved.record.fails_on)
    shown = f"fails without {mine} ({printable(keys)}), passes with it"
    if proof.state == "command":
        shown = printable(proof.reason)
    lines = [f"✓ {printable(proof.id)} PROVEN: {shown}", f"  {_sides(proof)}"]
    if proof.after:
        said = describe_rate(proof.after.passed, proof.after.trials)
        lines.append(f"  {said}, for this model version, today")
    if not recorded:
        return [*lines, "nothing is recorded (--no-record)"]
    lines.append(f"recorded in {FILE}{_note(proved)}.{_owed(case, engine)}")
    if proved.unkept:
        lines.append(f"{LOOK} no observation of it is kept: {printable(proved.unkept)}")
    return lines + _next(proved, case, engine.project)


def _sides(proof: ProofResult) -> str:
    before, after = proof.before_result, proof.after_result
    told = [f"before {_side(proof.before, before)}", f"after {_side(proof.after, after)}"]
    if proof.p_value is not None:
        told.append(f"p = {proof.p_value:.3f}" if proof.p_value >= 0.001 else "p < 0.001")
    return "   ".join(told)


def _side(side: Side | None, result: CaseResult | None) -> str:
    low, high = wilson(side.passed, side.trials) if side else (0.0, 1.0)
    counted = f"{_counted(side)} ({100 * low:.0f} to {100 * high:.0f} %)"
    if result and result.reused:
        return f"{counted}, {by_receipt(result)}"
    took = each_took(result) if result else ""
    return f"{counted}, {took}" if took else counted


def _note(proved: Proved) -> str:
    path = proved.record.before.get("path", "")
    if path in proved.files:
        return f", its state before in {printable(path)}"
    if proved.record.before["kind"] != "revision":
        return ""
    return f" with its state before at {proved.record.before['rev']}; a tag keeps that commit"


def _owed(case: Case, engine: Engine) -> str:
    others = [c for c in engine.project.cases.values() if c.agent == case.agent and c.id != case.id]
    owed = [other for other in others if engine.is_owed(other)]
    if not owed:
        return ""
    use = "uses" if len(owed) == 1 else "use"
    return f" Owed: {count(len(owed), 'other case')} {use} this skill: guard run --owed"


def _next(proved: Proved, case: Case, project: Project) -> list[str]:
    own = _changed_own(case, project)
    if not own and _is_committed(proved, case, project):
        return []
    subject = f"fix({case.agent}): {case.id}" if own else f"test({case.agent}): keep {case.id}"
    paths = dict.fromkeys([*own, case.path, FILE, *proved.files, *_uncommitted(proved, project)])
    return [
        f"next: git add {' '.join(path_from_here(project.repo.root, path) for path in paths)}",
        f"      git commit -m {_quoted(subject)}",
    ]


def _uncommitted(proved: Proved, project: Project) -> list[str]:
    """Return what the record names as its broken state and HEAD doesn't have as it is."""
    head, before = head_tree(project.repo), proved.record.before
    named = [str(before[key]) for key in ("path", "capsule") if key in before]
    return [path for path in named if project.tree.get(bytes_of(path)) != head.get(bytes_of(path))]


def _is_committed(proved: Proved, case: Case, project: Project) -> bool:
    """Tell whether the case and the record, as they are on disk now, are HEAD's."""
    head, path = head_tree(project.repo), bytes_of(case.path)
    written = {**proved.files}
    with open(os.path.join(project.repo.root, FILE), "rb") as file:
        written[FILE] = file.read()
    same = all(head.read(name) == content for name, content in written.items())
    return project.tree.get(path) == head.get(path) and same


def _quoted(text: str) -> str:
    return shell_path(text) if set(text) & set('$`"\\!') else f'"{text}"'


def _changed_own(case: Case, project: Project) -> list[str]:
    """Return the agent's own paths that the commit of the fix is to bring."""
    head = head_tree(project.repo)
    agent = project.agents[case.agent]
    past = agent_in(project, head, [agent.name])
    tests = [project.own_paths(agent), *([past.owns] if past else [])]
    changed = [entry.path for entry in diff_trees(project.repo, head, project.tree)]
    return [text_of(path) for path in changed if any(owns(path) for owns in tests)]


# Neither -----------------------------------------------------------------------------------


def _unproven(proof: ProofResult, case: Case, project: Project) -> list[str]:
    state = f" ({proof.state})" if proof.state else ""
    lines = [
        f"{mark_of(proof.verdict)} {printable(proof.id)} {proof.verdict}{state}: "
        f"{printable(one_line(proof.reason))}"
    ]
    if proof.before or proof.after:
        halves = (("before", proof.before), ("after", proof.after))
        lines.append("  " + "   ".join(f"{n} {_counted(side)}" for n, side in halves if side))
    lines += [f"  {line}" for line in likely_causes(proof, case, project)]
    if proof.hint:
        lines.append(f"  do  {printable(proof.hint)}")
    return [*lines, "nothing is recorded: the case is not proven"]


def likely_causes(proof: ProofResult, case: Case, project: Project) -> Sequence[str]:
    """Say what most often lies behind a case that can't see its bug."""
    if proof.verdict != model.VACUOUS:
        return ()
    paths = ", ".join(project.agents[case.agent].paths)
    return (
        f"likely  the utterance of {shell_path(case.path)} isn't the one that went wrong, "
        f"or the fix lies outside {printable(paths)}",
        f"or      the fix is committed already: guard prove {shell_path(case.id)} --before REV",
    )
