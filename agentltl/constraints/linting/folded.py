"""Working out the constants in a formula."""

from __future__ import annotations

from agentltl.constraints.formula import Apply, Const, Formula
from agentltl.constraints.operators import NOT, Bit


def folded(formula: Formula) -> Formula:
    """The formula with constants worked out, as far as that is the same on every trace."""
    if not isinstance(formula, Apply) or formula.op.shape in ("tally", "place"):
        return formula
    op, args = formula.op, tuple(map(folded, formula.args))
    known = [a.value if isinstance(a, Const) else None for a in args]
    if op.shape == "connective" and op.law is not None:
        if None not in known:
            return Const(bool(op.law(*(Bit(bool(v)) for v in known)).value))
        return _connective(Apply(op, args), known)
    if len(args) == 1 and known[0] is not None and known[0] is op.edge:
        return Const(bool(op.edge))
    return Apply(op, args, formula.window, formula.detail)


def _connective(formula: Apply, known: list[bool | None]) -> Formula:
    """A connective of two formulas, one of which may be constant."""
    op = formula.op
    if len(known) != 2 or op.law is None or known == [None, None]:
        return formula
    place = 0 if known[0] is not None else 1
    left = formula.args[1 - place]
    worth = []
    for other in (False, True):
        row = [Bit(other), Bit(other)]
        row[place] = Bit(bool(known[place]))
        worth.append(bool(op.law(*row).value))
    match worth:
        case [False, True]:
            return left
        case [True, False]:
            return Apply(NOT, (left,))
        case [value, _]:
            return Const(value)
    raise AssertionError("two rows of a truth table")
