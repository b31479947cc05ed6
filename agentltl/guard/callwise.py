"""A guard for code that calls tools: each call is a step of its own, while its record says in which step of the run the
code was."""

from __future__ import annotations

from typing import Any

from agentltl.constraints.panel import Moved
from agentltl.constraints.trace import Call, Position
from agentltl.constraints.value import Json
from agentltl.guard.decision import Violation
from agentltl.guard.guard import Guard
from agentltl.guard.state import Turn


class CallwiseGuard(Guard):
    """A guard that numbers steps by calls. The `step` of `propose` is the run's, and violations carry it."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._steps_of_run: dict[int, int | None] = {}
        """The run's step of each call, by the call's own."""

    def _call(
        self,
        tool: str,
        args: Json,
        step: int | None,
        id: str | None = None,
        agent: str | None = None,
        start: float | None = None,
        turn: Turn | None = None,
    ) -> Call:
        """The line after a call knows its result, so no two calls share a step."""
        state = self._state
        last = state.calls[-1].step if state.calls else None
        own = 1 if last is None else last + 1 - state.steps_before
        self._steps_of_run[own + state.steps_before] = step
        return super()._call(tool, args, own, id, agent, start)

    def reset(self) -> None:
        """Forget everything: the next call is the first."""
        with self._lock:
            self._steps_of_run.clear()
            super().reset()

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            return {**super().__getstate__(), "_steps_of_run": dict(self._steps_of_run)}

    def _message(self, call: Call) -> int | None:
        return None if call.step is None else self._steps_of_run.get(call.step, call.step)

    def _broken(self, moved: Moved, position: Position, step: int | None) -> tuple[Violation, ...]:
        own = position.call.step
        return super()._broken(moved, position, step if own is None else self._steps_of_run.get(own, step))
