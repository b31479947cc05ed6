"""What stays of a rule once a breach is forgiven: what was due now is dropped, what would be owed had it held stays.

The laws are run over pairs of what is owed and what of it stays.
A conjunction keeps what stays of each side; of several ways to have held, those that leave something stay.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import cast

from agentltl.constraints.formula import Apply, Formula, Quantified
from agentltl.constraints.here import Here
from agentltl.constraints.operators import NOT
from agentltl.constraints.path import OTHER
from agentltl.constraints.residual import FALSE, TRUE, Obligation, Owed, Part, Parts, Residual, Unnamed, quantified


@dataclass(frozen=True, slots=True)
class _Pair:
    """What is owed, and what of it stays (the same, unless it is broken)."""

    owed: Residual
    stays: Residual

    def __and__(self, other: _Pair) -> _Pair:
        return _Pair(self.owed & other.owed, self.stays & other.stays)

    def __or__(self, other: _Pair) -> _Pair:
        owed = self.owed | other.owed
        return _Pair(owed, owed if owed is not FALSE else _alternatives(self.stays, other.stays))


def _alternatives(*ways: Residual) -> Residual:
    result = FALSE
    for way in ways:
        if way is not TRUE:
            result = result | way
    return TRUE if result is FALSE else result


def forgiven(here: Here, residual: Residual) -> Residual:
    """What stays, after this event, of what was owed before it."""
    if here.progress(residual) is not FALSE:
        return here.progress(residual)
    result = TRUE
    for clause in residual.clauses:
        met = FALSE
        for obligation in clause:
            met = met | here.discharge(obligation)
        result = result & (met if met is not FALSE else _alternatives(*(_discharge(here, o) for o in clause)))
    return result


def _discharge(here: Here, obligation: Obligation) -> Residual:
    match obligation:
        case Owed(formula, _):
            return _stays(here, formula)
        case Parts(node, known, other):
            rest = forgiven(here.inside(node, OTHER, OTHER), other)
            return _over(node, here.advanced(node, known, other, rest, forgiven), rest)
    return TRUE


def _over(node: Quantified, parts: Mapping[Hashable, Part], other: Residual) -> Residual:
    """A broken quantifier over what stays for each value."""
    if node.kind == "forall":
        return quantified(node, parts, other)
    left = {k: Part(p.value, _left(p.residual)) for k, p in parts.items()}
    result = quantified(node, left, _left(other))
    return TRUE if result is FALSE else result


def _left(residual: Residual) -> Residual:
    """What a value leaves of a broken `exists`; `FALSE` if nothing. What rested on its name was due now, too."""
    clauses = frozenset(c for c in residual.clauses if not all(isinstance(o, Unnamed) for o in c))
    return Residual(clauses) if clauses else FALSE


def _stays(here: Here, formula: Formula) -> Residual:
    """What stays of a formula that was due here."""
    owed = here.value(formula)
    if owed is not FALSE:
        return owed
    match formula:
        case Quantified(_, _, body, domain):
            rest = TRUE if formula.kind == "forall" else FALSE
            if domain is None:
                rest = _stays(here.inside(formula, OTHER, OTHER), body)
            return _over(formula, here.parts(formula, rest, lambda room: _stays(room, body)), rest)
        case Apply(op, args) if op is not NOT and op.law is not None and op.direction != "past":
            operands = () if op.shape == "shift" else tuple(_Pair(here.value(a), _stays(here, a)) for a in args)
            if op.shape == "connective":
                return cast(_Pair, op.law(*operands)).stays
            rest = here.rest(formula, weak=True)
            return cast(_Pair, op.law(*operands, _Pair(rest, rest))).stays
    return TRUE
