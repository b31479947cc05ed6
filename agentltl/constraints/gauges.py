"""What is measured beside the numbered states: `count`, `sum`, and whatever looks back over a window.

A gauge keeps a register of its own, so a limit of ten thousand needs no ten thousand states. All that the automaton
learns of it at an event is how far it says yes. Registers are canonical: what cannot matter any more is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import NamedTuple, cast

from immutables import Map

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Apply, Formula, Limit, Quantified, Window
from agentltl.constraints.operators import AT, COUNT, SUM
from agentltl.constraints.tally import Number, Tally, amount, clock
from agentltl.constraints.trace import Position


class Mark(NamedTuple):
    """One event in a window: when it was (its number, or seconds), how it was judged, and what it counts."""

    at: Fraction | int
    judged: j.Judgement
    amount: Number | None = 1


class Marks(NamedTuple):
    """The events of a window that matter, each under its number, and what they count together.

    The oldest is `first`, and the next will be `next`; the map is persistent, so a long window is not copied.
    """

    queue: Map[int, Mark] = Map()
    first: int = 0
    next: int = 0
    total: Tally = Tally()

    def events(self) -> Iterator[Mark]:
        """The oldest first."""
        return (self.queue[number] for number in range(self.first, self.next))

    @property
    def size(self) -> int:
        """How many there are."""
        return self.next - self.first

    def add(self, mark: Mark) -> Marks:
        """With one more event."""
        total = self.total.add(mark.judged, mark.amount)
        return Marks(self.queue.set(self.next, mark), self.first, self.next + 1, total)

    def without(self, number: int) -> Marks:
        """Without the oldest ones."""
        total: Tally | None = self.total
        queue, first = self.queue, self.first + number
        for gone in range(self.first, first):
            mark = queue[gone]
            total = None if total is None else total.less(mark.judged, mark.amount)
            queue = queue.delete(gone)
        kept = Marks(queue, first, self.next, Tally() if total is None else total)
        if total is None:
            for mark in kept.events():
                total = (total or Tally()).add(mark.judged, mark.amount)
            kept = kept._replace(total=total or Tally())
        return kept


Register = Tally | Marks
FEW = 12
"""Up to which limit a `count` is part of the numbered states."""


def is_gauge(formula: Formula) -> bool:
    """Whether a formula looks back by counting or over a window, at what an event and the events before it decide."""
    if not isinstance(formula, Apply) or not _measures(formula) or small(formula):
        return False
    return all(map(_decided, formula.args))


def small(formula: Apply) -> bool:
    """Whether it is a `count` with a limit so low that the numbered states keep it themselves."""
    return formula.op is COUNT and formula.window is None and abs(cast(Limit, formula.detail).number) <= FEW


def _decided(formula: Formula) -> bool:
    """Whether nothing inside waits for later events, or is a gauge itself."""
    return not any(
        isinstance(f, Quantified)
        or (isinstance(f, Apply) and (f.op is AT or f.op.direction == "future" or _measures(f)))
        for f in formula.walk()
    )


def _measures(formula: Apply) -> bool:
    return formula.op.shape == "tally" or (formula.op.direction == "past" and formula.window is not None)


@dataclass(frozen=True)
class Gauge:
    """One `count`, `sum`, or `O` or `H` with a bound."""

    node: Apply

    @property
    def timed(self) -> bool:
        return self.node.window is not None and self.node.window.timed

    @property
    def moves(self) -> bool:
        """Every event, and not only one that counts, could change it."""
        return self.node.window is not None

    @property
    def start(self) -> Register:
        return Tally() if self.node.window is None else Marks()

    def much(self, position: Position) -> Number | None:
        """By how much an event counts."""
        return amount(position, cast(Limit, self.node.detail).path) if self.node.op is SUM else 1

    def add(self, register: Register, judged: j.Judgement, much: Number | None, now: Fraction | int) -> Register:
        """With one more event, judged so far."""
        if isinstance(register, Tally):
            return register.add(judged, much)
        expired, reach = 0, self.reach
        while expired < register.size and now - register.queue[register.first + expired].at > reach:
            expired += 1
        kept = register.without(expired) if expired else register
        if self.node.op.shape != "tally":
            neutral, decisive = (j.YES, j.NO) if self.node.op.edge else (j.NO, j.YES)
            if judged == neutral:
                return kept
            # What decides the matter makes all before it superfluous: it stays in the window for longer.
            return (Marks() if judged == decisive else kept).add(Mark(now, judged))
        if judged == j.NO or much == 0:
            return kept
        return self._shortened(kept.add(Mark(now, judged, much)))

    def _shortened(self, marks: Marks) -> Marks:
        """Without the oldest events that count beyond the limit, where all are certain."""
        if self.node.op is COUNT and self.enough is not None and marks.size > self.enough:
            total = marks.total
            if not total.high and not total.running_high:
                return marks.without(marks.size - self.enough)
        return marks

    @cached_property
    def reach(self) -> Fraction | int:
        """How far back the window goes: seconds, or events."""
        window = cast(Window, self.node.window)
        if window.timed:
            return window.size
        return window.events - (self.node.op.shape == "tally")

    @cached_property
    def enough(self) -> int | None:
        """How many events that count say all there is to say; None for a limit that is not finite."""
        number = cast(Limit, self.node.detail).number
        return max(0, floor(number) + 1) if number - number == 0 else None

    def level(self, register: Register) -> int:
        """How far the gauge says yes: `T`, `F`, or `U` where that rests on calls that still run."""
        if self.node.op.shape == "tally":
            total = register if isinstance(register, Tally) else register.total
            return total.judge(cast(Limit, self.node.detail))[0]
        sides = [mark.judged[0] for mark in cast(Marks, register).events()]
        return min(sides, default=j.T) if self.node.op.edge else max(sides, default=j.F)

    def running(self, register: Register) -> bool:
        """Whether it rests on a call that still runs."""
        if isinstance(register, Marks) and self.node.op.shape != "tally":
            return any(j.U in mark.judged for mark in register.events())
        total = register if isinstance(register, Tally) else register.total
        return bool(total.running_low or total.running_high or total.risk)

    def name(self, register: Register, now: Fraction | int) -> Hashable:
        """What of a register still matters: equal names have equal futures."""
        if isinstance(register, Tally):
            return saturated(register, cast(Limit, self.node.detail)) if self.node.op is COUNT else register
        return tuple((now - mark.at, mark.judged, mark.amount) for mark in register.events())


def saturated(tally: Tally, limit: Limit) -> Tally:
    """What of a count still matters: once past its limit, it says no more."""
    if limit.number - limit.number != 0:
        return tally
    past = max(0, floor(limit.number) + 1)
    if tally.sure + tally.high + tally.running_high <= past:
        return tally
    sure = min(tally.sure, past)
    high = min(tally.high, past - sure)
    return replace(tally, sure=sure, high=high, running_high=min(tally.running_high, past - sure - high))


def gauges(past: tuple[Apply, ...]) -> Iterator[Gauge]:
    """The gauges among the nodes of the past."""
    return (Gauge(node) for node in past if is_gauge(node))


def moment(gauge: Gauge, position: Position, index: int) -> Fraction | int:
    """When an event is, as the gauge's window measures it."""
    return clock(position) if gauge.timed else index
