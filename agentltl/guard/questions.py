"""What a guard can be asked about what may follow: what is allowed or owed, what would repair, how far a breach is.

A question changes nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from agentltl.constraints.ahead import Ahead
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.limits import Limits
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.trace import Call
from agentltl.constraints.value import Json, hold
from agentltl.guard.allowed import Allowed, allowed
from agentltl.guard.planned import PlannedCall
from agentltl.guard.planning import Owed, Plan, distance, owed, repair
from agentltl.guard.scene import Scene
from agentltl.guard.severity import ConstraintSeverity

if TYPE_CHECKING:
    from agentltl.guard.state import State


class Questions:
    """The questions of a guard."""

    constraints: tuple[Constraint, ...]
    severities: Mapping[str, ConstraintSeverity]
    limits: Limits
    _effective: Mapping[str, ConstraintSeverity]
    _lock: threading.RLock
    _state: State

    def monitors(self) -> dict[str, Monitor]:
        """The monitor of each constraint."""
        panel = self._state.panel
        return {constraint.name: panel.monitor(place) for place, constraint in enumerate(self.constraints)}

    def allowed(self, tools: Sequence[str] | None = None, *, yielding: Iterable[str] = ()) -> Allowed:
        """Which tools (default: those that the rules name) could be called now with some arguments, and why the others
        could not. A stopped guard allows none.

        Constraints that a call may pass by an approval that is not used, or by insisting, make none impossible; nor do
        those of the names `yielding`.
        """
        with self._lock:
            state = self._state
            passed = {*yielding, *state.counts.insisted_on}.union(*(g.constraints for g in state.approvals.grants))
            return allowed(self._scene().without(passed), tools, state.stopped)

    def repair(self, tool: str, args: Json = None) -> tuple[PlannedCall, ...] | None:
        """The shortest calls after which this call is allowed: `()` if it is so now, None if there are none or none
        were found. A stop is looked past. Only constraints that refuse count."""
        return self.plan(tool, args).calls

    def plan(self, tool: str, args: Json = None) -> Plan:
        """`repair`, and where there is no plan, whether that is proved."""
        return repair(self._scene(), Call(tool, hold({} if args is None else args)))

    def owed(self) -> Owed:
        """The constraints with an open obligation, and the shortest calls after which nothing is owed."""
        return owed(self._scene())

    def distance(self) -> int | None:
        """How many calls away the nearest violation is: 1 if the next call can be one; None if none can come any more,
        or none was found. What is owed at the end does not count."""
        return distance(self._scene())

    def _scene(self) -> Scene:
        """What questions about what may follow are asked of."""
        with self._lock:
            return Scene(self.constraints, self._effective, self.monitors(), self._ahead(), self.limits.joint)

    def _ahead(self) -> Ahead:
        state = self._state
        step = max((call.step for call in state.calls if call.step is not None), default=0)
        now = max(time.time(), state.latest)
        return Ahead(tuple(state.calls), tuple(state.messages), now, max(step, state.steps_before))
