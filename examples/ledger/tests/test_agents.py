"""What holds of the guarded agents, whatever they answer; no agent is run here, no model asked.

The tests that come with `AgentContract`: every served graph is graded, every target drives the
real graph, every expectation is read, every baseline names a key that can fail.
"""

from __future__ import annotations

from pathlib import Path

from guard.testing import AgentContract


class TestLedger(AgentContract):
    root = Path(__file__).parent.parent

    def test_the_typewriter_mis_proposal_check_still_gates(self) -> None:
        # It is known to propose nothing for a delivery note. A wrong type is another matter.
        case = "a-delivery-note-is-typed"
        known = self.grade(case, scores={"schema_type": 0.0}, facts={"n_proposals": 0})
        assert known.verdict == "XFAIL"
        self.assert_still_gates(case, "schema_type", facts={"n_proposals": 1})

    def test_the_auditor_s_known_gap_hides_no_wrong_finding(self) -> None:
        case = "a-paper-is-paid-twice-under-another-spelling"
        self.assert_still_gates(case, "findings_besides", facts={})

    def test_the_anti_fabrication_bound_is_never_excused(self) -> None:
        self.assert_never_excused("grounded")
