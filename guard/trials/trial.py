"""One trial: workspace, preconditions, target, what it left behind, evaluators, verdict.

lay the workspace → preconditions (STALE) → set up its prerequisites (`guard.trials.provisions`)
→ the target, in time (`guard.trials.attempt`) → end what it left running (orphans)
→ what changed, and where (TAINTED) → ask what was set up what there is now
→ evaluators → scores → verdict (`guard.trials.grading`) → take away what was set up
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from guard import model
from guard.errors import UnreadableError, UsageError
from guard.model import Case
from guard.plugin.api import Evaluator
from guard.process import CheckerPlace, checkers_run_in
from guard.references import named_in_repo
from guard.results import SNAPSHOT, KeptFile, Observation, Score, TrialResult
from guard.trials import stopping
from guard.trials.attempt import Attempt, Outcome
from guard.trials.changes import Changes
from guard.trials.children import DirectStarter
from guard.trials.environment import TAG, trial_environment
from guard.trials.filters import BY_FILTER
from guard.trials.grading import BUILT_IN, Grade, grade, grade_of_error
from guard.trials.imports import CACHE
from guard.trials.kept import LeftIn, keep_files, lay_kept, named_files
from guard.trials.manifest import Manifest, digest_of, same_content
from guard.trials.provisions import ProvisionError, Provisions
from guard.trials.reading import files_read
from guard.trials.redaction import without_secrets
from guard.trials.sandbox import NOT_CONTROLLED
from guard.trials.stage import Slot, Stage, told
from guard.workspace import Reuse, Workspace, clear_folder, copy_over

#: Seconds that processes may take to end by themselves after the program that started them.
GRACE: Final = 0.25
#: What shells return for a program that isn't there or can't be executed.
NOT_STARTED: Final = (126, 127)


def run_trial(stage: Stage, case: Case, number: int) -> TrialResult:
    """Run one trial of a case. Raises `UsageError` where its ``given`` files can't be laid."""
    with stage.slot() as slot:
        return _OneTrial(stage, case, number, slot).run()


def check_folder(stage: Stage, case: Case, folder: str) -> TrialResult:
    """Grade a copy of ``folder`` as if a trial had left it; no target is run."""
    with stage.slot() as slot:
        return _OneTrial(stage, case, 1, slot).check(folder)


def regrade(stage: Stage, case: Case, left_in: LeftIn, leave_out: Collection[str] = ()) -> Grade:
    """Grade what a trial left behind by today's checks, in a workspace laid anew.

    No target is run, and no model is asked. ``leave_out`` are expectation keys that are not
    judged. Raises `KeptError` for files that can't be laid.
    """
    with stage.slot() as slot:
        return _OneTrial(stage, case, 1, slot).regrade(left_in, leave_out)


class _OneTrial:
    """The state of one trial; used once."""

    def __init__(self, stage: Stage, case: Case, number: int, slot: Slot) -> None:
        self.stage = stage
        self.case = case
        self.number = number
        self.slot = slot
        self.id = os.urandom(8).hex()
        self.started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.expected = {**stage.agent.always, **case.expected}
        self.env: Mapping[str, str] = {}
        self.isolation = ""
        self.files: tuple[KeptFile, ...] = ()
        self.runs = False
        """Whether the target is run, and not its kept observation graded."""
        self.evaluators: Sequence[Evaluator] = stage.evaluators
        self.reuse = Reuse.NEVER
        self.provisions = Provisions(stage, case, number)
        self.unseen: Grade | None = None
        """The verdict where what was set up can't tell what came of it."""

    def run(self) -> TrialResult:
        self.runs = True
        if self.stage.missing:
            return self._result(Grade(model.SKIP, self.stage.missing))
        if lacking := self.stage.lacking(self.case):
            return self._result(_unreadable(lacking))
        try:
            workspace = self._lay()
        except OSError as error:
            said = f"the workspace can't be laid: {error.strerror}"
            return self._result(Grade(model.ERROR, said))
        try:
            return self._stale(workspace) or self._run_on_ground(workspace)
        finally:
            workspace.remove(self.reuse if self.slot.usable else Reuse.NEVER)

    def _run_on_ground(self, workspace: Workspace) -> TrialResult:
        """Run it with what its prerequisites set up, which is taken away again in any case."""
        failed: Grade | None = None
        try:
            self.env = self.provisions.set_up(self.env)
            result = self._run_in(workspace)
        except ProvisionError as error:
            result = self._result(error.grade, workspace)
        finally:
            failed = self.provisions.close()
        if failed is None or result.verdict in (model.TAINTED, model.ERROR):
            return result
        return self._redacted(
            result._replace(verdict=failed.verdict, reason=failed.reason, blame=failed.blame)
        )

    def check(self, folder: str) -> TrialResult:
        if lacking := self.stage.lacking(self.case):
            return self._result(_unreadable(lacking))
        workspace = self._lay()
        try:
            copy_over(folder, workspace.path)
            outcome = Outcome(Observation())
            # Nobody said anything that there would be to judge.
            self.evaluators = _all_but_judges(self.stage)
            after = workspace.scan(0)
            return self._stale(workspace) or self._graded(workspace, outcome, after, ())
        finally:
            workspace.remove()

    def regrade(self, left_in: LeftIn, leave_out: Collection[str]) -> Grade:
        if lacking := self.stage.lacking(self.case):
            return _unreadable(lacking)
        self.expected = {k: v for k, v in self.expected.items() if k not in leave_out}
        workspace = self._lay()
        try:
            if broken := self.stage.stale(self.case, workspace):
                return Grade(model.STALE, f"stale, needs review: {broken}")
            left = left_in(workspace.path)
            lay_kept(left.files, workspace.path)
            evaluators = _all_but_judges(self.stage)
            verdict = self._asked(workspace, left.observation, evaluators, left.own)
            self.reuse = Reuse.NEVER if verdict.late else Reuse.LOOKED_OVER
            return verdict
        finally:
            workspace.remove(self.reuse)

    def _lay(self) -> Workspace:
        given = self.stage.given(self.case)
        try:
            workspace = self.stage.lay(self.slot, self.id, given)
        except UsageError as error:
            raise UsageError(f"{self.case.path}: {error.message}", error.hint) from error
        self.env = trial_environment(workspace.folder, self.stage.shared_env, self.number)
        if self.runs or self._has_checkers:
            # Costs the start of an interpreter: not where no program is run at all.
            self.env = self.stage.imports.settled(self.env, workspace.path)
        return workspace

    @property
    def _has_checkers(self) -> bool:
        """Whether evaluators may run programs."""
        return "command" in self.expected or self._has_plugins

    @property
    def _has_plugins(self) -> bool:
        return any(e.source != BUILT_IN for e in self.stage.evaluators)

    def _stale(self, workspace: Workspace) -> TrialResult | None:
        broken = self.stage.stale(self.case, workspace)
        if not broken:
            return None
        return self._result(Grade(model.STALE, f"stale, needs review: {broken}"), workspace)

    def _run_in(self, workspace: Workspace) -> TrialResult:
        began, started_ns = time.monotonic(), time.time_ns()
        outcome = Attempt(
            self.stage, self.case, self.number, self.slot, workspace.path, self.env
        ).run()
        seconds = time.monotonic() - began
        orphans = self._end_leftovers(outcome)
        stopping.check()
        self.isolation = self.slot.sandbox.isolation if outcome.sandboxed else NOT_CONTROLLED
        if self.stage.way.note:
            self.isolation += f" + {self.stage.way.note}"
        if self.stage.template.filters:
            self.isolation += f" + {BY_FILTER}: {', '.join(self.stage.template.filters)}"
        outcome = self._with_loaded(outcome, workspace)
        outcome = outcome._replace(observation=outcome.observation._replace(seconds=seconds))
        tainted = self._tainted(workspace, outcome.sandboxed, began, started_ns)
        if tainted:
            workspace.remove()
            clear_folder(self.slot.folder)
            said = f"written outside the workspace: {tainted}"
            return self._result(
                Grade(model.TAINTED, said), workspace, outcome.observation, orphans=orphans
            )
        after = workspace.scan(started_ns)
        self.reuse = self._reuse(outcome)
        return self._graded(workspace, outcome, after, orphans)

    def _reuse(self, outcome: Outcome) -> Reuse:
        """Tell whether all that wrote has ended for sure; more may be written by checkers."""
        # What ran in guard itself may go on in a thread, out of everyone's reach.
        if not outcome.sandboxed or not self.slot.usable:
            return Reuse.NEVER
        if isinstance(self.slot.sandbox.starter, DirectStarter):
            return Reuse.NEVER
        return Reuse.AS_LISTED if self.slot.sandbox.controlled else Reuse.LOOKED_OVER

    def _end_leftovers(self, outcome: Outcome) -> tuple[int, ...]:
        """Kill what the target left running; return the pids of what is to be held against it."""
        starter = self.slot.sandbox.starter if outcome.sandboxed else DirectStarter(self.env[TAG])
        left = starter.clean(0 if outcome.timed_out else GRACE)
        # What a time-out kills is no orphan: it was never given the chance to end.
        return () if outcome.timed_out else left

    def _with_loaded(self, outcome: Outcome, workspace: Workspace) -> Outcome:
        """Add what is known of the files that were loaded; checkers haven't run yet."""
        observation = outcome.observation
        found = self.stage.imports.loaded(workspace.path, self.env[CACHE], observation.argv)
        if found.elsewhere:
            loaded = observation._replace(loaded=False)
        elif observation.loaded is None:
            loaded = observation._replace(loaded=found.from_workspace)
        else:
            return outcome
        return outcome._replace(observation=loaded, elsewhere=found.elsewhere)

    def _tainted(self, workspace: Workspace, sandboxed: bool, began: float, started_ns: int) -> str:
        """Return what was written outside the workspace."""
        strays = workspace.strays() + self.stage.place.strays_since(began)
        if not sandboxed or not self.slot.sandbox.controlled:
            strays += filter(None, [self.stage.target_repo.spoiled(started_ns)])
        return ", ".join(strays[:5])

    def _graded(
        self, workspace: Workspace, outcome: Outcome, after: Manifest, orphans: tuple[int, ...]
    ) -> TrialResult:
        changes = workspace.changes(after)
        observation = outcome.observation._replace(
            changes=changes.files,
            files_read=files_read(outcome.observation, workspace.path),
            services=self._seen(outcome),
        )
        # Before the evaluators: a checker may write into the workspace.
        paths = [change.path for change in changes.files]
        self.files = keep_files(workspace.path, after, paths, named_files(self.expected))
        verdict = self._early(outcome, observation) or self._asked(
            workspace, observation, self.evaluators, _orphan_scores(orphans)
        )
        return self._result(verdict, workspace, observation, after, changes, orphans)

    def _seen(self, outcome: Outcome) -> Mapping[str, Any]:
        """Ask what was set up what there is now: what breaks there is none of the agent's doing."""
        if outcome.error is not None:
            return {}
        try:
            return self.provisions.observe(self.expected)
        except ProvisionError as error:
            self.unseen = error.grade
            return {}

    def _early(self, outcome: Outcome, observation: Observation) -> Grade | None:
        """Return the verdict where the evaluators have nothing to say."""
        for text in self.case.blocked_when_stdout_contains:
            if text in observation.stdout or text in outcome.stdout:
                return Grade(model.BLOCKED, f'it said "{text}"')
        if self.unseen is not None:
            return self.unseen
        if outcome.elsewhere:
            return Grade(model.ERROR, outcome.elsewhere)
        if outcome.timed_out:
            reason = f"not done within {self.case.policy.timeout:g} s"
            score = Score(model.TIMEOUT_KEY, 0.0, reason)
            said = f"{model.TIMEOUT_KEY}: {reason}"
            return Grade(model.FAIL, said, (score,), (model.TIMEOUT_KEY,))
        if isinstance(outcome.error, UnreadableError):
            return _unreadable(told(outcome.error))
        if outcome.error is not None:
            target = self.stage.target
            who = f"target {target.name}"
            return grade_of_error(outcome.error, who, target.run, blame="target")
        broken = self._broken_program(outcome, observation)
        return Grade(model.ERROR, broken, blame="target") if broken else None

    def _broken_program(self, outcome: Outcome, observation: Observation) -> str:
        """Return how the target's program broke, where no evaluator is asked about it."""
        status = observation.exit_status
        if status is None and outcome.signal is not None:
            return f"the program was ended by signal {outcome.signal}{_last_line(observation)}"
        if status in NOT_STARTED:
            return f"the program can't be started ({status}){_last_line(observation)}"
        if status and "exit_code" not in self.expected:
            said = f"the program ended in {status}, and the case states no exit_code"
            return said + _last_line(observation)
        return ""

    def _asked(
        self,
        workspace: Workspace,
        observation: Observation,
        evaluators: Sequence[Evaluator],
        own: Sequence[Score],
    ) -> Grade:
        """Ask the evaluators."""
        try:
            repo = self._lay_checker_repo(workspace)
        except UnreadableError as error:
            return _unreadable(told(error))
        seen = observation._replace(workspace=workspace.path, repo=repo)
        # A judge hands on what it is shown.
        redactor = self.stage.redactor.knowing(self.provisions.secrets)
        evaluators = [without_secrets(e, redactor) if e.judge else e for e in evaluators]
        with checkers_run_in(CheckerPlace(self.slot.sandbox.starter, self.env)):
            verdict = grade(self.case, self.expected, seen, evaluators, own)
        if verdict.late:
            self.reuse = Reuse.NEVER
        return verdict

    def _lay_checker_repo(self, workspace: Workspace) -> str:
        """Lay ``{repo}`` for checkers, where one may ask for it."""
        named = named_in_repo(self.expected)
        if self.reuse is Reuse.AS_LISTED and self._has_checkers:
            self.reuse = Reuse.LOOKED_OVER
        if not self._has_plugins and "{repo}" not in repr(self.expected):
            return ""
        folder = os.path.join(workspace.folder, "repo")
        os.mkdir(folder)
        self.stage.checker_repo.template(named).lay(os.fsencode(folder))
        return folder

    def _result(
        self,
        verdict: Grade,
        workspace: Workspace | None = None,
        observation: Observation | None = None,
        after: Manifest | None = None,
        changes: Changes | None = None,
        orphans: tuple[int, ...] = (),
    ) -> TrialResult:
        digest_before = digest_after = ""
        if workspace is not None:
            digest_before = digest_after = workspace.digest()
            if after is not None and not same_content(workspace.before, after):
                digest_after = digest_of(after)
        result = TrialResult(
            case=self.case.id,
            number=self.number,
            verdict=verdict.verdict,
            scores=verdict.scores,
            reason=verdict.reason,
            observation=observation or Observation(),
            orphan_pids=orphans,
            trial_id=self.id,
            started=self.started,
            workspace_before=digest_before,
            workspace_after=digest_after,
            diff=changes.diff if changes else "",
            isolation=self.isolation,
            failing=verdict.failing,
            excused=verdict.excused,
            blame=verdict.blame,
            files=self.files,
            asked=self.stage.asked,
            unread=verdict.unread if self.runs else (),
        )
        return self._redacted(result)

    def _redacted(self, result: TrialResult) -> TrialResult:
        return self.stage.redactor.knowing(self.provisions.secrets).result(result)


def _all_but_judges(stage: Stage) -> list[Evaluator]:
    """Return who is asked about what no run has just left behind."""
    return [evaluator for evaluator in stage.evaluators if not evaluator.judge]


def _unreadable(reason: str) -> Grade:
    return Grade(model.ERROR, reason, blame=SNAPSHOT)


def _last_line(observation: Observation) -> str:
    lines = observation.stderr.strip().splitlines()
    return f": {lines[-1][:200]}" if lines else ""


def _orphan_scores(pids: tuple[int, ...]) -> list[Score]:
    if not pids:
        return []
    count = "1 process" if len(pids) == 1 else f"{len(pids)} processes"
    said = f"left {count} running (pid {', '.join(map(str, pids[:5]))})"
    return [Score(model.ORPHANS_KEY, 0.0, said)]
