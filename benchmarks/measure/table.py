"""What is printed: one line for each measured row, its ratio first, its target beside it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """What the median must be: at least or at most a number."""

    number: float
    least: bool = False

    def met(self, value: float) -> bool:
        return value >= self.number if self.least else value <= self.number

    def show(self, unit: str) -> str:
        return f"{'>=' if self.least else '<='} {self.number:,g}{unit}"


def least(number: float) -> Target:
    return Target(number, True)


def most(number: float) -> Target:
    return Target(number)


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure: the values of all rounds, in `unit` (`x`: a ratio), and what they are made of.

    `ours` and `other` are seconds, the two sides of a ratio. `of` says over what the values range, if not over pairs.
    """

    work: str
    values: Sequence[float]
    target: Target | None = None
    unit: str = "x"
    ours: Sequence[float] = ()
    other: Sequence[float] = ()
    note: str = ""

    def __str__(self) -> str:
        median = statistics.median(self.values)
        spread = f"{_number(min(self.values))} .. {_number(max(self.values))}"
        target = self.target.show(self.unit) if self.target else ""
        met = "" if self.target is None else "yes" if self.target.met(median) else "NO"
        sides = f"{_time(self.ours):>9} {_time(self.other):>9}"
        note = f" ({self.note})" if self.note else ""
        return f"{_number(median) + self.unit:>10}  {spread:<20} {target:>11} {met:>4}  {sides}  {self.work}{note}"


@dataclass(frozen=True, slots=True)
class NoRow:
    """A row without a figure, and why; `failed` when it should have had one."""

    work: str
    why: str
    target: Target | None = None
    unit: str = "x"
    failed: bool = False

    def __str__(self) -> str:
        target = self.target.show(self.unit) if self.target else ""
        return f"{'-':>10}  {'':<20} {target:>11} {'':>4}  {'':>9} {'':>9}  {self.work}: {self.why}"


HEAD = f"{'median':>10}  {'min .. max':<20} {'target':>11} {'met':>4}  {'ours':>9} {'other':>9}  work"


def ratios(upper: Sequence[float], lower: Sequence[float]) -> list[float]:
    """The ratio of each pair."""
    return [a / b for a, b in zip(upper, lower, strict=True)]


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 10 or value < 0.1 else f"{value:.2f}"


def _time(samples: Sequence[float]) -> str:
    if not samples:
        return ""
    median = statistics.median(samples)
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if median * factor >= 1:
            return f"{_number(median * factor)} {unit}"
    return f"{_number(median * 1e6)} us"
