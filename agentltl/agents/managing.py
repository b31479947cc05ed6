"""A guarded agent as a manager, and as a managed agent: whose rules hold for whom, and what ends the runs of both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentltl.agents.above import Outer, stopped
from agentltl.agents.asks import Asks
from agentltl.agents.member_tree import require_guardable
from agentltl.agents.members import outers_of
from agentltl.guard.decision import Decision


class Manages(Asks):
    """An agent whose rules hold for the agents that it manages, and that asks the guards above it by itself."""

    asks_guards_above = True
    _member_stop: Decision | None = None
    """The decision of another agent's constraint, a managed agent's or a manager's, that has stopped this run."""

    @property
    def _is_judged(self) -> bool:
        """Whether there are rules for its calls, of its own or above."""
        return bool(self.guard.constraints) or bool(outers_of(self))

    def _setup_managed_agents(self, managed_agents: list[Any] | None = None) -> None:
        super()._setup_managed_agents(managed_agents)
        if self.guard.constraints:
            for member in self.managed_agents.values():
                require_guardable(member)

    def _below(self) -> tuple[Outer, ...]:
        """The guards that judge the calls of a managed agent of this one."""
        own = (Outer(self.guard, self, approver=self._approver()),) if self.guard.constraints else ()
        return (*own, *outers_of(self))

    def _stopped_by(self, decision: Decision) -> None:
        """A constraint of another agent has stopped this run, in the step that it is in."""
        here = tuple(replace(violation, step_number=self.step_number) for violation in decision.violations)
        self._member_stop = decision._replace(violations=here)

    def _stopped(self) -> Decision | None:
        """The decision that has stopped this run: of its own guard, or of one above."""
        if self.guard.stopped is not None:
            return self.guard.stopped
        outers = outers_of(self)
        above = stopped(outers) if outers else None
        if above is not None:
            self._stopped_by(above)
        return above
