"""The left sides of a rule's implications: what must be so before the rule asks for anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentltl.constraints.formula import Apply, Formula, Quantified
from agentltl.constraints.operators import AND, IMPLIES, SYMBOLS

_ALWAYS, _EVENTUALLY = SYMBOLS["G"], SYMBOLS["F"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """`left` is what the rule says; `fires` is true of the traces in which it is true where the rule looks."""

    left: Formula
    fires: Formula


def triggers(formula: Formula) -> Iterator[Trigger]:
    """The left sides of implications in the conjuncts of a rule, under `G` or at the start of the trace."""
    match formula:
        case Quantified("forall", _, body, None):
            yield from triggers(body)
        case Apply(op, (left, right)) if op is AND:
            yield from triggers(left)
            yield from triggers(right)
        case Apply(op, (left, right)) if op is IMPLIES:
            yield Trigger(left, left)
            for inner in triggers(right):
                yield Trigger(left & inner.left, left & inner.fires)
        case Apply(op, (body,), None) if op is _ALWAYS:
            for inner in triggers(body):
                yield Trigger(inner.left, Apply(_EVENTUALLY, (inner.fires,)))
