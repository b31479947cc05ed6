"""An agent that has an approver: how it puts a refused call to a person, whatever kind of agent it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentltl.agents.approval import Approver
from agentltl.agents.asking import Asked, Asking, Propose
from agentltl.agents.members import outers_of
from agentltl.constraints.value import Json
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard
from agentltl.record.events import EventKind

if TYPE_CHECKING:
    from smolagents.agents import MultiStepAgent as Base
else:
    Base = object


class Asks(Base):
    """An agent that asks `approve` about calls that a person can allow; without one they stay refused."""

    guard: Guard
    approve: Approver | None = None

    def _asked(self, decision: Decision, propose: Propose, *, step: int | None, id: str | None = None) -> Asked:
        """What holds of a call once a person has been asked, if it is for a person to allow it. `id` is that of the
        call in the record of the run."""
        if self.approve is None or decision.allowed or outers_of(self):
            return Asked(decision)

        def tell(kind: EventKind, data: dict[str, Json]) -> None:
            self._told_of_approval(kind, data, id, step)

        return Asking(self.guard, self.approve, tell, self.task, step, self.name).ask(decision, propose)

    def _told_of_approval(self, kind: EventKind, data: dict[str, Json], id: str | None, step: int | None) -> None:
        """A person is asked about a call, or has answered."""
