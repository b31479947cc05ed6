"""The name of what is still to come of a rule: states with one name are worth the same whatever follows.

A count says no more once it is past its limit, and a window in events looks at ages, not at numbers.
What follows are calls of later messages, so `same_step` is the same after every state.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import cast

from agentltl.constraints.facts import First, Predicate, Seen
from agentltl.constraints.formula import Apply, Limit, Place, Proposition, Quantified
from agentltl.constraints.operators import AT, COUNT
from agentltl.constraints.registers import Partition, Register, Registers
from agentltl.constraints.residual import FALSE, TRUE
from agentltl.constraints.scope import Rule
from agentltl.constraints.state import State
from agentltl.constraints.tally import Tally


def future(rule: Rule, state: State) -> Hashable | None:
    """The name; None for a rule that looks back at the calls themselves (`seen`, predicates, domains, late scopes)."""
    reach = _reach(rule)
    if reach is None:
        return None
    if state.residual is TRUE or state.residual is FALSE:
        return state.residual
    now = state.clock if rule.windowed else None
    return state.residual, _named(state.registers, state.index), min(state.index, reach), now


def looks_back(rule: Rule) -> bool:
    """Whether a rule asks for earlier calls themselves, and not only for what is remembered of them."""
    return _reach(rule) is None


@lru_cache(maxsize=4096)
def _reach(rule: Rule) -> int | None:
    """From which number of events on the number itself says no more; None where states have no names."""
    reach = 0
    for formula in rule.normal.walk():
        match formula:
            case Proposition(Seen() | Predicate()) | Quantified(domain=str()):
                return None
            case Proposition(First()):
                reach = max(reach, 1)
            case Apply(op, _, _, detail) if op is AT:
                reach = max(reach, cast(Place, detail).index + 1)
    return None if rule.late else reach


def _named(registers: Registers, index: int) -> Hashable:
    slots = tuple(_slot(node, slot, index) for node, slot in registers.slots.items())
    return slots, tuple(_partition(partition, index) for partition in registers.partitions.values())


def _partition(partition: Partition, index: int) -> Hashable:
    """Values whose registers have the name of all others are among them."""
    other = _named(partition.other, index)
    groups: dict[Hashable, frozenset[Hashable]] = {}
    for registers, values in partition.groups.items():
        if (name := _named(registers, index)) != other:
            groups[name] = groups.get(name, frozenset()).union(values)
    return frozenset(groups.items()), other


def _slot(node: Apply, slot: Register, index: int) -> Hashable:
    if isinstance(slot, Tally) and node.op is COUNT:
        past = max(0, floor(cast(Limit, node.detail).number) + 1)
        return min(slot.sure, past), min(slot.sure + slot.high, past)
    if isinstance(slot, tuple) and node.window is not None:
        start = Fraction(0) if node.window.timed else Fraction(index)  # a time is a time, a number is an age
        return tuple((start - s.at, s.value, s.judged, s.amount) for s in slot)
    return slot
