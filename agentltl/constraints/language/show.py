"""Writing a formula as text, so that parsing the text gives an equal formula.

A pattern is written as it was written, everything else with as few parentheses as the operators need.
"""

from __future__ import annotations

from typing import cast

from agentltl.constraints.compare import Compare, Flag, Literal_, Present
from agentltl.constraints.formula import Apply, Const, Formula, Limit, Place, Proposition, Quantified, Written
from agentltl.constraints.language.lexicon import literal, window_text
from agentltl.constraints.language.show_conditions import atom_text, condition_text, path_text
from agentltl.constraints.operators import NOT, Operator


def show(formula: Formula) -> str:
    """The text of a formula; `parse` reads an equal formula from it (with the same groups)."""
    return _show(formula, True)


def _show(formula: Formula, last: bool) -> str:
    """`last` says that nothing stands to the right before the next closing parenthesis: a quantifier would take it."""
    written = getattr(formula, "written", None)
    if written is not None:
        return _pattern(written)
    match formula:
        case Const(value):
            return "true" if value else "false"
        case Proposition(atom):
            return atom_text(atom)
        case Quantified():
            return _quantified(formula) if last else f"({_quantified(formula)})"
        case Apply():
            return _apply(formula, last)
    raise TypeError(f"not a formula: {formula!r}")


def _quantified(formula: Quantified) -> str:
    kind, variables, body = formula.kind, [formula.variable], formula.body
    if formula.domain is not None:
        return f"{kind} ?{formula.variable} in ${formula.domain}. {show(body)}"
    while isinstance(body, Quantified) and body.kind == kind and body.domain is None and body.written is None:
        variables.append(body.variable)
        body = body.body
    return f"{kind} {', '.join(f'?{v}' for v in variables)}. {show(body)}"


def _apply(formula: Apply, last: bool) -> str:
    op, args = formula.op, formula.args
    if op.shape == "tally":
        return _tally(formula)
    if op.shape == "place":
        place = cast(Place, formula.detail)
        if place.edge:  # only in a normal form: what stands beyond the end is true
            return f"!at({place.index}, {show(Apply(NOT, args))})"
        return f"at({place.index}, {show(args[0])})"
    if op.arity == 1:
        bound = f"[{window_text(formula.window)}]" if formula.window else ""
        space = " " if op.symbol.isalpha() else ""
        return f"{op.symbol}{bound}{space}{_operand(args[0], op, last)}"
    return f"{_operand(args[0], op, False, left=True)} {op.symbol} {_operand(args[1], op, last)}"


def _operand(formula: Formula, outer: Operator, last: bool, left: bool = False) -> str:
    """A formula inside an operator: in parentheses where that operator would take it apart."""
    if isinstance(formula, Apply) and formula.written is None and formula.op.law is not None:
        op = formula.op
        against = outer.arity == 2 and (outer.right is left or op.direction != outer.direction)
        if op.binds < outer.binds or (op.binds == outer.binds and against):
            return f"({show(formula)})"
    return _show(formula, last)


def _tally(formula: Apply) -> str:
    limit = cast(Limit, formula.detail)
    inside = [show(formula.args[0])]
    if limit.path is not None:
        inside.append(path_text(limit.path, "call"))
    if formula.window is not None:
        inside.append(window_text(formula.window))
    return f"{formula.op.symbol}({', '.join(inside)}) {limit.compare} {literal(limit.number)}"


def _pattern(written: Written) -> str:
    return f"{written.pattern}({', '.join(_argument(a) for a in written.arguments)})"


def _argument(argument: object) -> str:
    match argument:
        case Formula():
            return show(argument)
        case (str() as op, number):
            return f"{op} {literal(number)}"
        case tuple():
            return f"[{', '.join(_argument(a) for a in argument)}]"
        case Literal_(value):
            return literal(value)
        case Compare() | Present() | Flag():
            return condition_text(argument, "call")
        case _:
            return literal(argument)
