"""The grader proof of what a server receives: asked of the protected branch's evaluators.

Only records are asked that a push changes, or whose agent it does: of the others the protected
branch has the answer already.
"""

from __future__ import annotations

from collections.abc import Sequence

from guard.errors import ExitCode
from guard.hookruns.checks import push_refusal, tell_checks
from guard.hookruns.pushes import Tip
from guard.judging.asked import Asked, ask_by_policy
from guard.judging.policy import Policy
from guard.output import UNKNOWN, printable, say
from guard.rules.grader_proof import GraderProof
from guard.tree import Tree
from guard_hooks.pushed import name_of


def judge_checks(tips: Sequence[Tip], policy: Policy) -> int:
    """Ask the checks on each tip's tree, equal ones once; return the exit code."""
    done: list[Asked] = []
    for tip in {tip.tree: tip for tip in reversed(tips)}.values():
        asked = ask_by_policy(policy, Tree(policy.project.repo, tip.tree))
        if refused := push_refusal(asked.proof, name_of(tip), None):
            say(refused)
            broken = asked.proof.violations
            return ExitCode.REGRESSION if broken else ExitCode.NOT_ESTABLISHED
        done.append(asked)
    _tell(done)
    return ExitCode.OK


def _tell(asked: Sequence[Asked]) -> None:
    """Say what was told of all trees, once where it is the same."""
    told = {(t.record.id, t.verdict, t.said): t for one in asked for t in one.proof.told}
    tell_checks(GraderProof(tuple(told.values())), unkept=False)
    for left in dict.fromkeys(left for one in asked for left in one.left):
        say(printable(f"{UNKNOWN} {left} (CI tells)"))
