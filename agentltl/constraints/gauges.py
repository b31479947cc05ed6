"""What is measured beside the numbered states: `count`, `sum`, and whatever looks back over a window.

A gauge keeps a register of its own, so a limit of ten thousand needs no ten thousand states. All that the automaton
learns of it at an event is how far it says yes. Registers are canonical: what cannot matter any more is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Apply, Formula, Limit, Quantified, Window
from agentltl.constraints.operators import AT, COUNT, SUM
from agentltl.constraints.tally import Number, Tally, amount, clock
from agentltl.constraints.trace import Position


@dataclass(frozen=True, slots=True)
class Mark:
    """One event in a window: when it was (its number, or seconds), how it was judged, and what it counts."""

    at: Fraction | int
    judged: j.Judgement
    amount: Number | None = 1


Register = Tally | tuple[Mark, ...]
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


@dataclass(frozen=True, slots=True)
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
        return Tally() if self.node.window is None else ()

    @property
    def limit(self) -> Limit | None:
        return cast("Limit | None", self.node.detail)

    def much(self, position: Position | None) -> Number | None:
        """By how much an event counts."""
        return amount(position, cast(Limit, self.node.detail).path) if self.node.op is SUM and position else 1

    def add(self, register: Register, judged: j.Judgement, much: Number | None, now: Fraction | int) -> Register:
        """With one more event, judged so far."""
        if isinstance(register, Tally):
            return register.add(judged, much)
        window = cast(Window, self.node.window)
        counts = self.node.op.shape == "tally"
        reach = window.size if window.timed or not counts else window.size - 1
        kept = register
        if register and now - register[0].at > reach:
            kept = tuple(mark for mark in register if now - mark.at <= reach)
        if judged == (j.NO if counts or not self.node.op.edge else j.YES) or (counts and much == 0):
            return kept
        return self._shortened((*kept, Mark(now, judged, much)))

    def _shortened(self, marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
        """Without the events that a later one makes superfluous for as long as they stay in the window."""
        if self.node.op.shape != "tally":
            decisive = j.NO if self.node.op.edge else j.YES
            last = max((i for i, mark in enumerate(marks) if mark.judged == decisive), default=0)
            return marks[last:]
        if self.node.op is COUNT:
            enough = max(0, floor(cast(Limit, self.node.detail).number) + 1) if self._finite else len(marks)
            if len(marks) > enough and all(mark.judged == j.YES for mark in marks):
                return marks[len(marks) - enough :]
        return marks

    @property
    def _finite(self) -> bool:
        number = cast(Limit, self.node.detail).number
        return number - number == 0

    def level(self, register: Register) -> int:
        """How far the gauge says yes: `T`, `F`, or `U` where that rests on calls that still run."""
        if self.node.op.shape == "tally":
            total = register if isinstance(register, Tally) else _total(register)
            return total.judge(cast(Limit, self.node.detail))[0]
        marks = cast("tuple[Mark, ...]", register)
        sides = [mark.judged[0] for mark in marks]
        return min(sides, default=j.T) if self.node.op.edge else max(sides, default=j.F)

    def running(self, register: Register) -> bool:
        """Whether it rests on a call that still runs."""
        if isinstance(register, Tally):
            return bool(register.running_low or register.running_high or register.risk)
        return any(j.U in mark.judged for mark in register)

    def name(self, register: Register, now: Fraction | int) -> Hashable:
        """What of a register still matters: equal names have equal futures."""
        if isinstance(register, Tally):
            return saturated(register, cast(Limit, self.node.detail)) if self.node.op is COUNT else register
        return tuple((now - mark.at, mark.judged, mark.amount) for mark in register)


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


def _total(marks: tuple[Mark, ...]) -> Tally:
    total = Tally()
    for mark in marks:
        total = total.add(mark.judged, mark.amount)
    return total


def gauges(past: tuple[Apply, ...]) -> Iterator[Gauge]:
    """The gauges among the nodes of the past."""
    return (Gauge(node) for node in past if is_gauge(node))


def moment(gauge: Gauge, position: Position | None, index: int) -> Fraction | int:
    """When an event is, as the gauge's window measures it."""
    return clock(position) if gauge.timed and position is not None else index
