"""Looking ahead: whether the blocking rules can still be kept together, though each of them alone can."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from agentltl.constraints.ahead import Ahead
from agentltl.constraints.joint import Answer, conflict, reach
from agentltl.constraints.monitor import Monitor

MOST = 10_000
"""How many joint states are remembered."""


class Lookahead:
    """Remembers of which joint states it is known whether a continuation satisfies all rules."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self._dead: dict[Hashable, tuple[int, ...]] = {}

    def conflict(self, monitors: Sequence[Monitor], ahead: Ahead) -> tuple[int, ...]:
        """The places of the fewest rules that no continuation satisfies together; none if there may be one.

        Nothing is assumed of calls that still run: a rule that rests on one is left out.
        """
        places = [i for i, monitor in enumerate(monitors) if not monitor.open]
        name = (tuple(places), tuple(monitors[i].future for i in places))
        known = self._dead.get(name)
        if known is None or None in name[1]:
            known = self._found([monitors[i] for i in places], ahead)
            known = tuple(places[i] for i in known)
            if None not in name[1]:
                if len(self._dead) >= MOST:
                    self._dead.clear()
                self._dead[name] = known
        return known

    def _found(self, monitors: Sequence[Monitor], ahead: Ahead) -> tuple[int, ...]:
        if reach(monitors, ahead=ahead, cap=self.cap).answer is not Answer.NO:
            return ()
        return conflict(monitors, ahead=ahead, cap=self.cap) or tuple(range(len(monitors)))
