"""The guards above a managed agent: its calls are events of its manager's guard too, and of the guards above that.

A call is judged by all of them at once, each holding its lock: it starts for all of them or for none.
"""

from __future__ import annotations

import builtins
import itertools
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from agentltl.constraints.value import Json, as_text
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard

if TYPE_CHECKING:
    from smolagents.agents import MultiStepAgent

    from agentltl.agents.call_log import LoggedCall
    from agentltl.agents.recorder import Recorder

RUNS = itertools.count(time.time_ns() // 1000)
"""Numbers for the runs of managed agents; a guard that another process has saved knows none of them."""


class Outer(NamedTuple):
    """A guard above, and the `manager` whose it is. `agent` is the name of the managed agent, `run` the number of its
    run."""

    guard: Guard
    manager: MultiStepAgent
    agent: str
    run: int

    @property
    def recorder(self) -> Recorder | None:
        """What records the manager's run, if anything does."""
        recorder: Recorder | None = getattr(self.manager, "recorder", None)
        return recorder


@dataclass(slots=True)
class Above:
    """What the guards above said of one call: those for which it has started, and where it is recorded."""

    started: list[tuple[Guard, Decision]] = field(default_factory=list)
    logs: list[tuple[Recorder, LoggedCall]] = field(default_factory=list)

    def settle(self, result: object = None, error: BaseException | None = None) -> list[Decision]:
        """What came of the call, for each guard."""
        text = None if error is None else as_text(error) or type(error).__name__
        decisions = [guard.settle(decision, result=result, error=text) for guard, decision in self.started]
        for recorder, log in self.logs:
            if error is None:
                recorder.calls.returned(log, result)
            else:
                recorder.calls.raised(log, error, entered=True)
            recorder.judged()
        return decisions


def judged(
    own: Guard | None,
    outers: Sequence[Outer],
    tool: str,
    args: Json,
    *,
    own_step: int,
    id: str | None = None,
    step: int | None = None,
) -> tuple[Decision, Above]:
    """Judge a call of a managed agent by its `own` guard (None: it has none) and those above it.

    `own_step` is the number of the agent's message; `step` is what its own guard is told. A call that any guard refuses
    starts for none; those that refuse it have that on record, and the strongest decides.
    """
    asked: list[tuple[Guard, dict[str, Any]]] = [] if own is None else [(own, {"step": step})]
    for outer in outers:
        turn = (outer.run, own_step)
        asked.append((outer.guard, {"step": outer.manager.step_number, "agent": outer.agent, "turn": turn}))
    above = Above()
    with ExitStack() as locks:
        for guard in sorted((guard for guard, _ in asked), key=builtins.id):  # one order, so nobody waits in a circle
            locks.enter_context(guard.lock)
        refusing = [one for one in asked if one[0].refuses(tool, args, **one[1])]
        answers = [(guard, guard.propose(tool, args, id=id, **said)) for guard, said in refusing or asked]
    above.logs = [
        (recorder, recorder.calls.made(outer.manager.step_number, id, tool, args))
        for outer in outers
        if (recorder := outer.recorder) is not None
    ]
    if refusing:
        decision = min((one for _, one in answers), key=_rank)
        for recorder, log in above.logs:
            recorder.calls.refused(log, decision.feedback)
            recorder.judged()
        return decision, above
    above.started = answers if own is None else answers[1:]
    return answers[0][1], above


def stopped(outers: Sequence[Outer]) -> Decision | None:
    """The decision that has stopped a run above, if one did."""
    return next((decision for outer in outers if (decision := outer.guard.stopped) is not None), None)


def _rank(decision: Decision) -> int:
    return min((violation.severity.value.rank for violation in decision.violations if violation.refuses), default=0)
