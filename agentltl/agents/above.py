"""The guards above a managed agent: its calls are events of its manager's guard too, and of the guards above that."""

from __future__ import annotations

import builtins
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from agentltl.agents.approval import Approver
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard

if TYPE_CHECKING:
    from smolagents.agents import MultiStepAgent

    from agentltl.agents.recorder import Recorder

RUNS = itertools.count(time.time_ns() // 1000)
"""Numbers for the runs of managed agents; a guard that another process has saved knows none of them."""


Place = tuple[int] | tuple[int, int]
"""The step in the run of a managed agent, and the number of the message if that has several steps."""


class Outer(NamedTuple):
    """A guard above, and the `manager` whose it is. `agent` is the name of the managed agent, `run` the number of its
    run. `approver` answers for the guard's rules: the manager's own, else the nearest above it."""

    guard: Guard
    manager: MultiStepAgent
    agent: str = ""
    run: int = 0
    approver: Approver | None = None

    @property
    def recorder(self) -> Recorder | None:
        """What records the manager's run, if anything does."""
        recorder: Recorder | None = getattr(self.manager, "recorder", None)
        return recorder


@contextmanager
def locked(guards: Iterable[Guard]) -> Iterator[None]:
    """Hold the locks of all these guards, taken in one order, so that nobody waits in a circle."""
    with ExitStack() as locks:
        for guard in sorted(guards, key=builtins.id):
            locks.enter_context(guard.lock)
        yield


def stopped(outers: Sequence[Outer]) -> Decision | None:
    """The decision that has stopped a run above, if one did."""
    return next((decision for outer in outers if (decision := outer.guard.stopped) is not None), None)
