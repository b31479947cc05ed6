"""What the guards say of one call, one guard or several, and who can answer for those that refuse it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentltl.agents.approval import Approver
from agentltl.guard.decision import Decision
from agentltl.guard.feedback import together
from agentltl.guard.guard import Guard


class Refused(NamedTuple):
    """A guard that refuses a call, who is asked about its rules (None: nobody), and its decision."""

    guard: Guard
    approver: Approver | None
    decision: Decision


class Verdict(NamedTuple):
    """The `decision` that counts, the guards that refuse a call (none, if it has started), and all that `judge` it."""

    decision: Decision
    refused: tuple[Refused, ...]
    judge: tuple[Guard, ...]

    @classmethod
    def refusing(cls, refused: Sequence[Refused], judge: Sequence[Guard]) -> Verdict:
        """The verdict on a call that these guards refuse: the strongest decides, and what no person can lift before
        what one can. The feedback has the others of that severity, too."""
        decision = min((one.decision for one in refused), key=_rank)
        others = [o.decision for o in refused if _rank(o.decision) == _rank(decision) and o.decision is not decision]
        told = together(decision, others)
        return cls(decision._replace(feedback=told), tuple(refused), tuple(judge))

    @property
    def asks(self) -> bool:
        """Whether people can allow the call: each guard that refuses it would let it pass, and has somebody to ask."""
        return bool(self.refused) and all(
            one.approver is not None and one.guard.approvable(one.decision) for one in self.refused
        )

    def by_approver(self) -> list[tuple[Approver, list[Refused]]]:
        """Each of those who are asked, with the guards that they answer for."""
        found: list[tuple[Approver, list[Refused]]] = []
        for one in self.refused:
            assert one.approver is not None
            theirs = next((theirs for approver, theirs in found if approver == one.approver), None)
            if theirs is None:
                found.append((one.approver, [one]))
            else:
                theirs.append(one)
        return found


def _rank(decision: Decision) -> tuple[bool, int]:
    ranks = (violation.severity.value.rank for violation in decision.violations if violation.refuses)
    return decision.action == "ask", min(ranks, default=0)
