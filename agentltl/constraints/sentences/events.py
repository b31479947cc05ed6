"""The positions of a trace as a rule sees them, each made when it is looked at.

A sentence often needs the last one only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import overload

from agentltl.constraints.trace import Position, Trace


class Events(Sequence[Position]):
    """The events of a trace for a rule to which the tools in `hidden` are none."""

    def __init__(self, trace: Trace, hidden: frozenset[str]) -> None:
        self._trace, self._hidden = trace, hidden
        self._indices = [i for i, call in enumerate(trace.calls) if call.tool not in hidden]
        self._made: dict[int, Position] = {}

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, i: int) -> Position: ...
    @overload
    def __getitem__(self, i: slice) -> list[Position]: ...
    def __getitem__(self, i: int | slice) -> Position | list[Position]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        index = self._indices[i]
        if index not in self._made:
            trace = self._trace
            self._made[index] = Position(trace.calls[index], index, trace.calls, trace.messages, self._hidden)
        return self._made[index]

    def place(self, index: int | None) -> int | None:
        """The number among the events of the call at an index of the trace; None where it is no event."""
        if index is None:
            return None
        i = bisect_left(self._indices, index)
        return i if self._indices[i : i + 1] == [index] else None
