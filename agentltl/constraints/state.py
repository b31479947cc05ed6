"""The state of a rule after the events so far: what is owed, what is remembered, what must be known to look again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from agentltl.constraints.formula import Quantified
from agentltl.constraints.here import Here, Seen
from agentltl.constraints.registers import Registers, Values, fresh
from agentltl.constraints.residual import Residual, owed
from agentltl.constraints.scope import Rule
from agentltl.constraints.trace import Position


@dataclass(frozen=True, slots=True)
class State:
    """What is owed, what is remembered, and how many events there were.

    `named` are the values that have been named to the quantifiers whose scope is late, and `forgiven` the events whose
    breach was: with them the same events can be applied again once a new value is named. `running`: it rests on a call
    that still runs.
    """

    residual: Residual
    registers: Registers
    index: int = 0
    clock: Fraction | None = None
    named: Mapping[Quantified, Values] = field(default_factory=dict)
    forgiven: frozenset[int] = frozenset()
    running: bool = False

    @classmethod
    def first(cls, rule: Rule) -> Self:
        """Before the first event."""
        return cls(owed(rule.normal), fresh(rule.scope))

    def here(self, rule: Rule, position: Position, seen: Seen) -> Here:
        """The next event, before it is applied."""
        return Here(position, self.index, rule.scope, self.registers, {}, seen, self.named)
