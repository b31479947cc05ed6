"""Expanding a pattern: its text is parsed with the numbers put in, and the formulas take their places in the tree.

A placeholder that the text asks for more, as `a[ok]`, adds those conditions to the call that takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

from agentltl.constraints.compare import Compare, Condition, Flag, Literal_, Present
from agentltl.constraints.formula import (
    Apply,
    Const,
    Formula,
    Limit,
    Order,
    Proposition,
    Quantified,
    Written,
)
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.path import Key, Path
from agentltl.constraints.patterns import Parameter, Pattern
from agentltl.constraints.proposition import Called

Argument = Formula | tuple[Formula, ...] | int | float | tuple[Order, int | float] | Condition | Literal_
Places = Mapping[str, Formula]


def expand(pattern: Pattern, arguments: tuple[Argument, ...]) -> Formula:
    """The formula that a pattern with these arguments stands for; it remembers how it was written."""
    _check(pattern, arguments)
    match pattern.name:
        case "all_before":
            first, b = cast("tuple[tuple[Formula, ...], Formula]", arguments)
            text = " & ".join(f"before(a{i}, b)" for i in range(len(first)))
            formula = _fill(text, {"b": b, **{f"a{i}": a for i, a in enumerate(first)}})
        case "in_order":
            *before, last = cast("tuple[tuple[Formula, ...]]", arguments)[0]
            formula = _fill("F a[ok]", {"a": last})
            for a in reversed(before):
                formula = _fill("F (a[ok] & X rest)", {"a": a, "rest": formula})
        case "called_with":
            called = _asked(cast(Formula, arguments[0]), cast("tuple[Condition, ...]", arguments[1:]), ())
            formula = _fill("called(a)", {"a": called})
        case "called_with_result":
            formula = _with_result(*cast("tuple[Formula, Literal_]", arguments))
        case _:
            formula = _plain(pattern, arguments)
    return _written_as(formula, Written(pattern.name, arguments))


def demanding(written: Written, demands: bool) -> bool:
    """Whether this use of a pattern demands an occurrence: a comparison that 0 calls satisfy does not."""
    if not demands:
        return False
    number = written.arguments[-1]
    limits = {"existence": ">=", "absence": "<", "exactly": "="}
    if written.pattern in limits:
        number = (limits[written.pattern], number)
    return not (isinstance(number, tuple) and isinstance(number[0], str) and Limit(*number).holds(0))


def _plain(pattern: Pattern, arguments: tuple[Argument, ...]) -> Formula:
    text, places = pattern.text, {}
    for parameter, argument in zip(pattern.parameters, arguments, strict=True):
        match argument:
            case Formula():
                places[parameter.name] = argument
            case (str() as op, number):
                truth = Limit(cast(Order, op), cast(int, number)).holds(0)
                text = text.replace(f"0 {parameter.name}", str(truth).lower())
                text = text.replace(parameter.name, f"{op} {number!r}")
            case _:
                text = re.sub(rf"\b{parameter.name}\b", repr(argument), text)
    return _fill(text, places)


def _with_result(a: Formula, *values: Literal_) -> Formula:
    pairs = {k: v for value in values if isinstance(value.value, dict) for k, v in value.value.items()}
    if all(isinstance(value.value, dict) for value in values):
        asked = tuple(Compare(Path("result", (Key(k),)), "=", Literal_(v)) for k, v in pairs.items())
        return _fill("called(a)", {"a": _asked(a, (), asked)})
    whole = [_asked(a, (), (Compare(Path(root), "=", values[0]),)) for root in ("result", "text")]
    return _fill("called(a) | called(b)", dict(zip("ab", whole, strict=True)))


def _fill(text: str, places: Places) -> Formula:
    """The formula of a text with formulas in their places; its own variables are bound around it and are its own."""
    template, free = _template(text)
    if not free:
        return _put(template, places)
    taken = frozenset().union(*(formula.free for formula in places.values()))
    for own in sorted(free & taken):
        fresh = next(name for i in range(1, len(taken) + 2) if (name := f"{own}{i}") not in taken | free)
        text = re.sub(rf"\?{own}\b", f"?{fresh}", text)
    template, free = _template(text)
    formula = _put(template, places)
    for own in sorted(free, reverse=True):
        formula = Quantified("forall", own, formula)
    return formula


@lru_cache(maxsize=512)
def _template(text: str) -> tuple[Formula, frozenset[str]]:
    """The formula of a text, and its free variables."""
    from agentltl.constraints.text import read

    formula = read(text)
    return formula, formula.free


def _put(formula: Formula, places: Places) -> Formula:
    match formula:
        case Proposition(Called(tools, args, outcome)):
            (name,) = tools.members
            return _asked(places[name], args, outcome) if name in places else formula
        case Apply(op, args, window, detail, written):
            return Apply(op, tuple([_put(inner, places) for inner in args]), window, detail, _written(written, places))
        case Quantified(kind, variable, body, domain, written):
            return Quantified(kind, variable, _put(body, places), domain, _written(written, places))
        case _:
            return formula


def _written_as(formula: Formula, written: Written) -> Formula:
    match formula:
        case Const(value):
            return Const(value, written)
        case Proposition(atom):
            return Proposition(atom, written)
        case Apply(op, args, window, detail):
            return Apply(op, args, window, detail, written)
        case Quantified(kind, variable, body, domain):
            return Quantified(kind, variable, body, domain, written)
    raise TypeError(f"not a formula: {formula!r}")


def _written(written: Written | None, places: Places) -> Written | None:
    if written is None:
        return None

    def put(argument: object) -> object:
        match argument:
            case Formula():
                return _put(argument, places)
            case tuple():
                return tuple(put(inner) for inner in argument)
            case _:
                return argument

    return Written(written.pattern, tuple(put(argument) for argument in written.arguments))


def _asked(formula: Formula, args: Sequence[Condition], outcome: Sequence[Condition]) -> Formula:
    """A call that is asked for more than it says itself."""
    if not args and not outcome:
        return formula
    if not isinstance(formula, Proposition) or not isinstance(formula.atom, Called):
        raise Fault(f"the pattern asks how a call went, and `{formula}` is no call", "name a tool, a glob or a group")
    atom = formula.atom
    return Proposition(Called(atom.tools, (*atom.args, *args), (*atom.outcome, *outcome)))


def _check(pattern: Pattern, arguments: tuple[Argument, ...]) -> None:
    wanted = list(pattern.parameters)
    if wanted[-1].kind in ("conditions", "values"):
        wanted += [wanted[-1]] * (len(arguments) - len(wanted))
    for i, (parameter, argument) in enumerate(zip(wanted, arguments, strict=False)):
        if (problem := _unfit(parameter, argument)) is not None:
            raise Fault(f"`{parameter.name}` of `{pattern}` is {problem[0]}", problem[1], argument=i)
    if len(arguments) != len(wanted):
        more = "at least " if wanted[-1].kind in ("conditions", "values") else ""
        takes = f"`{pattern.name}` takes {more}{len(wanted)} argument{'s' * (len(wanted) > 1)}, not {len(arguments)}"
        raise Fault(takes, f"write `{pattern}`")
    if pattern.name == "called_with_result" and len(arguments) > 2:
        scalars = [i for i, a in enumerate(arguments) if isinstance(a, Literal_) and not isinstance(a.value, dict)]
        if scalars:
            raise Fault("a result is one value", "several are keys of an object: `{...}`", argument=scalars[0])


def _unfit(parameter: Parameter, argument: Argument) -> tuple[str, str] | None:
    """What is wrong with an argument, and what to write instead."""
    match parameter.kind:
        case "proposition":
            if not isinstance(argument, Formula):
                return "a proposition", "name a tool, as in `pay` or `pay(amount > 100)`"
            return _no_proposition(argument)
        case "propositions":
            if not isinstance(argument, tuple) or not all(isinstance(a, Formula) for a in argument):
                return "a list of propositions", "write `[a, b]`"
            if not argument:
                return "a list of propositions, and this one is empty", "write `[a, b]`"
            return next((p for a in argument if (p := _no_proposition(cast(Formula, a))) is not None), None)
        case "number":
            whole = isinstance(argument, int) and not isinstance(argument, bool)
            if not whole or cast(int, argument) < 0:
                return "a whole number, not negative", "write a number such as `3`"
            if parameter.name in ("n", "m") and argument == 0:
                return "counted from 1", "the first call is `1`"
            return None
        case "limit":
            if not isinstance(argument, tuple) or len(argument) != 2 or not isinstance(argument[0], str):
                return "a comparison with a number", "write `>= 3` or `= 3`"
            return None
        case "conditions":
            if not isinstance(argument, Compare | Present | Flag):
                return "a condition on an argument", "write `key = value`"
            return None
        case _:
            return (
                None if isinstance(argument, Literal_) else ("a JSON value", 'write `"done"` or `{"status": "done"}`')
            )


def _no_proposition(formula: Formula) -> tuple[str, str] | None:
    if isinstance(formula, Proposition | Const):
        return None
    return f"a proposition, and `{formula}` is more", "write the formula out that the pattern stands for"
