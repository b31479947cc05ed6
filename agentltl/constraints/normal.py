"""Normal form: a rule closed by `forall`, negation before propositions only, the rest by each law or its dual."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from agentltl.constraints.formula import Apply, Const, Formula, Limit, Order, Place, Proposition, Quantified
from agentltl.constraints.judgement import YES
from agentltl.constraints.operators import AND, NOT, OR, Bit, Operator, dual
from agentltl.constraints.tally import Tally

FLIPPED: dict[Order, Order] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def close(formula: Formula) -> Formula:
    """The rule that a formula is: variables that no quantifier binds are bound by `forall` around the whole."""
    for variable in sorted(formula.free, reverse=True):
        formula = Quantified("forall", variable, formula)
    return formula


def normal(formula: Formula, negated: bool = False) -> Formula:
    """The negation normal form of a formula, or of its negation.

    Negation stands before propositions only; `->` and `<->` are spelled out by their laws; a quantifier over all values
    whose variable does not occur is dropped. The dual rows are found in the operator table.
    """
    match formula:
        case Const(value):
            return Const(value is not negated)
        case Proposition(atom):
            return Apply(NOT, (Proposition(atom),)) if negated else Proposition(atom)
        case Quantified(kind, variable, body, domain):
            inner = normal(body, negated)
            if domain is None and variable not in inner.free:
                return inner
            other = "exists" if kind == "forall" else "forall"
            return Quantified(cast("Literal['forall', 'exists']", other if negated else kind), variable, inner, domain)
        case Apply(op, args):
            return _normal_apply(op, args, formula, negated)
    raise TypeError(f"not a formula: {formula!r}")


def _normal_apply(op: Operator, args: tuple[Formula, ...], formula: Apply, negated: bool) -> Formula:
    if op is NOT:
        return normal(args[0], not negated)
    if op.shape == "connective":
        if op in (AND, OR):
            swap = {AND: OR, OR: AND}
            return Apply(swap[op] if negated else op, tuple(normal(a, negated) for a in args))
        assert op.law is not None
        return normal(op.law(*args), negated)
    if op.shape == "tally":
        limit = cast(Limit, formula.detail)
        flipped = replace(limit, compare=FLIPPED[limit.compare]) if negated else limit
        return Apply(op, tuple(normal(a) for a in args), formula.window, flipped)
    if op.shape == "place":
        place = cast(Place, formula.detail)
        where = replace(place, edge=not place.edge) if negated else place
        return Apply(op, tuple(normal(a, negated) for a in args), None, where)
    row = dual(op) if negated else op
    return Apply(row, tuple(normal(a, negated) for a in args), formula.window)


def at_the_edge(formula: Formula) -> bool:
    """The value of a formula on the empty trace: what it is worth where there is no event at all."""
    match formula:
        case Const(value):
            return value
        case Proposition():
            return False
        case Quantified(kind, _, body, domain):
            if domain is not None:
                from agentltl.constraints.predicates import domain_values

                if not domain_values(domain, ()):
                    return kind == "forall"
            return at_the_edge(body)
        case Apply(op, args):
            if op.shape == "connective":
                assert op.law is not None
                return bool(op.law(*(Bit(at_the_edge(a)) for a in args)).value)
            if op.shape == "tally":
                return Tally().judge(cast(Limit, formula.detail)) == YES
            if op.shape == "place":
                return cast(Place, formula.detail).edge
            return bool(op.edge)
    raise TypeError(f"not a formula: {formula!r}")
