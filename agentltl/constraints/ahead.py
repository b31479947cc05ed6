"""What may follow a trace: planned calls, each in a message of its own, at the time that it is now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

from agentltl.constraints.trace import Call, Message, Position


@dataclass(frozen=True, slots=True)
class _Joined(Sequence[Call]):
    """Two sequences as one, without a copy of the first."""

    first: Sequence[Call]
    then: tuple[Call, ...]

    def __len__(self) -> int:
        return len(self.first) + len(self.then)

    def __iter__(self) -> Iterator[Call]:
        yield from self.first
        yield from self.then

    @overload
    def __getitem__(self, place: int) -> Call: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Call, ...]: ...
    def __getitem__(self, place: int | slice) -> Call | tuple[Call, ...]:
        if isinstance(place, slice):
            return tuple(self)[place]
        if place < 0:
            place += len(self)
        known = len(self.first)
        return self.first[place] if place < known else self.then[place - known]


@dataclass(frozen=True, slots=True)
class Ahead:
    """A trace and the calls planned after it.

    `calls` and `messages` are the trace's, `now` the time in seconds and `step` the number of the latest message.
    No time passes between planned calls.
    """

    calls: Sequence[Call] = ()
    messages: Sequence[Message] = ()
    now: float = 0.0
    step: int = 0
    planned: tuple[Call, ...] = field(default=())

    def stamped(self, call: Call) -> Call:
        """The call as the next one: with its step and times."""
        outcome = None if call.outcome is None else call.outcome._replace(end=self.now)
        return call._replace(step=self.step + len(self.planned) + 1, start=self.now, outcome=outcome)

    def position(self, call: Call) -> Position:
        """The position of a stamped call that is the next one."""
        calls = _Joined(self.calls, (*self.planned, call))
        return Position(call, len(calls) - 1, calls, self.messages)

    def then(self, call: Call) -> Ahead:
        """With a stamped call that is the next one."""
        return replace(self, planned=(*self.planned, call))
