"""What `count` and `sum` have added up: a range, because an undecidable event is taken both ways."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Limit, exact
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.path import Frame, Path, collect
from agentltl.constraints.trace import Position
from agentltl.errors import TraceError

Number = Fraction | float | int
"""A float is an infinity, or NaN: an infinity less another."""


def plus(a: Number, b: Number) -> Number:
    """The sum, exact for all finite numbers however large."""
    if isinstance(a, float):
        return a + b if isinstance(b, float) else a
    return b if isinstance(b, float) else a + b


@dataclass(frozen=True, slots=True)
class Tally:
    """`sure` is what certainly counts; `low` and `high` how far undecidable events could move it; `running_low` and
    `running_high` how far calls that still run could. `lost` says that something was no number, `risk` that a running
    call may turn out to count something that is none."""

    sure: Number = 0
    low: Number = 0
    high: Number = 0
    running_low: Number = 0
    running_high: Number = 0
    lost: bool = False
    risk: bool = False

    def add(self, judgement: Judgement, amount: Number | None) -> Tally:
        """With one more event, which counts by `amount` (None: no number) as far as the judgement is true."""
        if judgement == j.NO or amount == 0:
            return self
        certain = judgement in (j.YES, j.UNDECIDABLE)
        if amount is None:
            return replace(self, lost=True) if certain else replace(self, risk=True)
        if judgement == j.YES:
            return replace(self, sure=plus(self.sure, amount))
        down, up = min(amount, 0), max(amount, 0)
        if certain:
            return replace(self, low=plus(self.low, down), high=plus(self.high, up))
        return replace(self, running_low=plus(self.running_low, down), running_high=plus(self.running_high, up))

    def less(self, judgement: Judgement, amount: Number | None) -> Tally | None:
        """Without an event that was added; None where that cannot be told (something was no number, or infinite)."""
        parts = (self.sure, self.low, self.high, self.running_low, self.running_high)
        if amount is None or self.lost or self.risk or any(isinstance(part, float) for part in (amount, *parts)):
            return None
        if judgement == j.YES:
            return replace(self, sure=self.sure - amount)
        down, up = min(amount, 0), max(amount, 0)
        if judgement == j.UNDECIDABLE:
            return replace(self, low=self.low - down, high=self.high - up)
        return replace(self, running_low=self.running_low - down, running_high=self.running_high - up)

    def judge(self, limit: Limit) -> Judgement:
        """The comparison: undecidable unless both ways agree, open while it rests on calls that still run."""
        lowest, highest = plus(self.sure, self.low), plus(self.sure, self.high)
        if self.lost or lowest != lowest or highest != highest:
            return j.UNDECIDABLE
        last = (plus(lowest, self.running_low), plus(highest, self.running_high))
        risk = self.risk or any(number != number for number in last)
        true, false = self._holds(limit, True), self._holds(limit, False)
        return (min(true, j.U), min(false, j.U)) if risk else (true, false)

    def _holds(self, limit: Limit, wanted: bool) -> int:
        """Whether every total in the range makes the comparison `wanted`; `U` if that rests on running calls."""
        lowest, highest = plus(self.sure, self.low), plus(self.sure, self.high)
        if self.running_low == self.running_high == 0:
            return j.T if _all(lowest, highest, limit, wanted) else j.F
        if _all(plus(lowest, self.running_low), plus(highest, self.running_high), limit, wanted):
            return j.T
        return j.U if self._reachable(lowest, highest, limit, wanted) else j.F

    def _reachable(self, lowest: Number, highest: Number, limit: Limit, wanted: bool) -> bool:
        """Whether running calls could bring the whole range to one side of the comparison."""
        first, last = plus(lowest, self.running_low), plus(lowest, self.running_high)
        edges = [first, last, *(plus(exact(limit.number), by) for by in (-1, 0, 1))]
        width = plus(highest, -lowest)
        return any(first <= edge <= last and _all(edge, plus(edge, width), limit, wanted) for edge in edges)


def _all(lowest: Number, highest: Number, limit: Limit, wanted: bool) -> bool:
    """Whether every number from lowest to highest makes the comparison `wanted`."""
    number = exact(limit.number)
    ends = limit.holds(lowest) is wanted and limit.holds(highest) is wanted
    if limit.compare in ("=", "!=") and lowest < highest:
        outside = number < lowest or number > highest
        return outside and (limit.compare == "!=") is wanted
    return ends


def amount(position: Position, path: Path | None) -> Number | None:
    """What a call adds to a sum: the numbers at the path; 0 for a missing value, None for one that is no number."""
    assert path is not None
    values = collect(path, Frame(position.call))
    if values is None or any(isinstance(v, bool) or not isinstance(v, int | float) or v != v for v in values):
        return None
    total: Number = Fraction(0)
    for value in values:
        total = plus(total, exact(value))
    return None if isinstance(total, float) and math.isnan(total) else total  # an infinity less another


def clock(position: Position) -> Fraction:
    """The start of a call in seconds, as the decimal it is written as."""
    start = position.call.start
    if start is None:
        raise TraceError(
            f"the rule looks back in time, and a call of `{position.call.tool}` has no start\n"
            "record when each call started, or use a window in events"
        )
    return _seconds(start)


@lru_cache(maxsize=1024)
def _seconds(start: float) -> Fraction:
    return Fraction(repr(start))
