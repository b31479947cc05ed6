"""What is remembered of the past: a register for each past node of a scope, and for each quantifier one set a value."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from agentltl.constraints.formula import Apply, Quantified
from agentltl.constraints.judgement import NO, Judgement
from agentltl.constraints.residual import FALSE, TRUE, Residual
from agentltl.constraints.scope import Scope
from agentltl.constraints.tally import Tally
from agentltl.constraints.value import Json


@dataclass(frozen=True, slots=True)
class Slot:
    """One event in a window: when it was (its number, or seconds), what an operand was worth there, what it counts."""

    at: Fraction
    value: Residual
    judged: Judgement = NO
    amount: Fraction | float | int | None = 0


Register = Residual | Tally | tuple[Slot, ...] | None
Values = Mapping[Hashable, Json]
"""Values of a variable, each under its key."""
FEW = 8
"""How many groups are searched one after another."""


@dataclass(frozen=True, slots=True, eq=False)
class Registers:
    """The registers of one scope, for one choice of values. Equal ones are interchangeable."""

    slots: Mapping[Apply, Register]
    partitions: Mapping[Quantified, Partition]
    _identity: tuple[object, ...] = field(init=False, repr=False)
    _hash: list[int] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_identity", (tuple(self.slots.values()), tuple(self.partitions.values())))

    def __hash__(self) -> int:
        if not self._hash:  # those of the whole rule are never asked for it
            self._hash.append(hash(self._identity))
        return self._hash[0]

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Registers) and self._identity == other._identity)


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The infinite domain of a variable: values with registers of their own, alike ones together, and all others.

    An event changes the registers of all alike values that it does not name in the same way, so it costs the number of
    groups and not of values.
    """

    groups: Mapping[Registers, Values]
    other: Registers
    _index: dict[Hashable, Registers] = field(default_factory=dict, init=False, repr=False)
    _hash: list[int] = field(default_factory=list, init=False, repr=False)

    def __hash__(self) -> int:
        if not self._hash:
            self._hash.append(
                hash((frozenset((r, frozenset(values)) for r, values in self.groups.items()), self.other))
            )
        return self._hash[0]

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Partition)
            and self.other == other.other
            and self.groups.keys() == other.groups.keys()
            and all(
                values is (same := other.groups[r]) or values.keys() == same.keys() for r, values in self.groups.items()
            )
        )

    def of(self, value: Hashable) -> Registers:
        """The registers of a value."""
        if len(self.groups) > FEW:
            if not self._index:
                self._index.update((k, registers) for registers, values in self.groups.items() for k in values)
            return self._index.get(value, self.other)
        return next((registers for registers, values in self.groups.items() if value in values), self.other)


def fresh(scope: Scope) -> Registers:
    """The registers before the first event: each operator's edge."""
    return Registers(
        {node: _edge(node) for node in scope.past},
        {node: Partition({}, fresh(inner)) for node, inner in scope.quantifiers.items()},
    )


def _edge(node: Apply) -> Register:
    if node.op.shape == "place":
        return None
    if node.window is not None:
        return ()
    if node.op.shape == "tally":
        return Tally()
    return TRUE if node.op.edge else FALSE
