"""A guard for code that calls tools: each call is a step of its own, while its record says in which step of the run the
code was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.panel import Moved
from agentltl.constraints.trace import Call, Position
from agentltl.constraints.value import Json
from agentltl.guard.decision import Decision, Violation
from agentltl.guard.ending import End
from agentltl.guard.guard import Guard
from agentltl.guard.state import Turn


class _Place(NamedTuple):
    """Where a call was made: in which step of the run, and in which message of the conversation."""

    step: int | None
    message: int | None


class CallwiseGuard(Guard):
    """A guard that numbers steps by calls. The `step` of `propose` is the run's, and violations carry it."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._places: dict[int, _Place] = {}
        """Where each call was made, by the step that is its own."""
        self._messages_before = 0
        self._apart = 0, 0
        """The step of a call that comes after one of a managed agent, and how many calls there are before it."""
        self._asked_in: int | None = None
        """The message whose answer the model was last sent back from."""

    def said(self, text: str) -> None:
        """A message of the user: the task, or a later one. It lifts a stop, and the run's steps start anew."""
        with self._lock:
            self._messages_before += self._state.latest_step
            super().said(text)

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
        """The line after a call knows its result, so no two calls share a step. Those of a managed agent have the steps
        of its messages, and what comes after them has others."""
        state = self._state
        if turn is not None:
            return super()._call(tool, args, step, id, agent, start, turn)
        last = state.calls[-1].step if state.calls else None
        if last is None:
            own = 1
        elif last in state.turns:
            if self._apart[0] != len(state.calls):  # a call can be judged more than once before it starts
                self._apart = len(state.calls), state.apart()
            own = self._apart[1] - state.steps_before
        else:
            own = last + 1 - state.steps_before
        self._places[own + state.steps_before] = _Place(step, self._number(step))
        return super()._call(tool, args, own, id, agent, start)

    def _number(self, step: int | None) -> int | None:
        """The number that a message of this run has in the conversation."""
        if step is None:
            return None
        return self._messages_before + step

    @contextmanager
    def _unnumbered(self, turn: Turn | None = None) -> Iterator[None]:
        apart = self._apart
        try:
            with super()._unnumbered(turn):
                yield
        finally:
            self._apart = apart

    def _sent_back(self, end: End, due: Sequence[Constraint]) -> Decision | None:
        """The model hears what its code was told when the code is over: however often the code answers, that is once
        for a message."""
        number = self._number(end.step)
        again = number is not None and number == self._asked_in
        state = self._state
        state.asked -= again
        asked = super()._sent_back(end, due)
        if asked is None:
            state.asked += again
        else:
            self._asked_in = number
        return asked

    def reset(self) -> None:
        """Forget everything: the next call is the first."""
        with self._lock:
            self._places.clear()
            self._messages_before = 0
            self._asked_in, self._apart = None, (0, 0)
            super().reset()

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            return {**super().__getstate__(), "_places": dict(self._places)}

    def _message(self, call: Call) -> int | None:
        known = None if call.step is None else self._places.get(call.step)
        return super()._message(call) if known is None else known.message

    def _broken(self, moved: Moved, position: Position, step: int | None) -> tuple[Violation, ...]:
        own = position.call.step
        return super()._broken(moved, position, step if own is None else self._places.get(own, _Place(step, None)).step)
