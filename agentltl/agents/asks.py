"""An agent that puts refused calls to people, whatever kind of agent it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentltl.agents.approval import Approver
from agentltl.agents.asking import Asked, Asking
from agentltl.agents.joint_call import JointCall
from agentltl.agents.members import approver_above
from agentltl.agents.verdict import Refused, Verdict
from agentltl.constraints.value import Json
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard
from agentltl.record.events import EventKind

if TYPE_CHECKING:
    from smolagents.agents import MultiStepAgent as Base
else:
    Base = object


class Asks(Base):
    """An agent with an approver: `approve`, or, while it is called by a manager, the nearest one above."""

    guard: Guard
    approve: Approver | None = None
    """Who is asked about calls that a person can allow."""

    def _approver(self) -> Approver | None:
        """Who answers for the agent's own rules."""
        return approver_above(self) if self.approve is None else self.approve

    def _verdict(self, said: Decision | Verdict) -> Verdict:
        """What is said of a call; a decision is that of the agent's own guard, which no other judges with it."""
        if isinstance(said, Verdict):
            return said
        refused = () if said.allowed else (Refused(self.guard, self._approver(), said),)
        return Verdict(said, refused, (self.guard,))

    def _asked(
        self,
        said: Decision | Verdict,
        propose: Callable[[Json], Decision | Verdict | None],
        *,
        step: int | None,
        id: str | None = None,
        joint: JointCall | None = None,
    ) -> Asked:
        """What holds of a call once people have been asked, if it is for people to allow it. `id` is that of the call
        in the record of the run; `joint` is the call as managers record it."""

        def tell(kind: EventKind, data: dict[str, Json]) -> None:
            self._told_of_approval(kind, data, id, step)
            if joint is not None:
                joint.tell(kind, data)

        def judged(args: Json) -> Verdict | None:
            again = propose(args)
            return None if again is None else self._verdict(again)

        return Asking(tell, self.task, step, self.name).ask(self._verdict(said), judged)

    def _told_of_approval(self, kind: EventKind, data: dict[str, Json], id: str | None, step: int | None) -> None:
        """A person is asked about a call, or has answered."""
