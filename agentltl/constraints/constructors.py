"""Formulas from Python: each function returns a formula equal to the one that its text form is parsed to."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_, or_
from typing import TypeVar

from agentltl.constraints import facts
from agentltl.constraints.compare import Var
from agentltl.constraints.formula import Apply, Formula, Place, Proposition, Quantified, _formula
from agentltl.constraints.language import lexicon
from agentltl.constraints.operators import AT, IFF, IMPLIES, NOT, WORDS
from agentltl.constraints.pattern_constructors import to_operand
from agentltl.constraints.predicates import DomainFunction, PredicateFunction, register_domain, register_predicate
from agentltl.constraints.value import Json
from agentltl.errors import FormulaError

_Function = TypeVar("_Function", bound=Callable[..., object])


def Globally(a: Formula, within: int | str | None = None) -> Formula:
    """a holds now and at every later event; `within=3`: at those at most 3 events away."""
    return _unary("always", a, within)


def Eventually(a: Formula, within: int | str | None = None) -> Formula:
    """a holds now or later; `within=5`: at most 5 events away."""
    return _unary("eventually", a, within)


def Once(a: Formula, within: int | str | None = None) -> Formula:
    """a holds now or held before; `within=2` counts events, `within="60s"` seconds (ms, s, m, h)."""
    return _unary("once", a, within)


def Historically(a: Formula, within: int | str | None = None) -> Formula:
    """a holds now and held at every event before; `within` as in `Once`."""
    return _unary("historically", a, within)


def Next(a: Formula) -> Formula:
    """There is a next event, and a holds there."""
    return _unary("next", a)


def WeakNext(a: Formula) -> Formula:
    """a holds at the next event, if there is one."""
    return _unary("weak_next", a)


def Previous(a: Formula) -> Formula:
    """There is an event before, and a holds there."""
    return _unary("previous", a)


def WeakPrevious(a: Formula) -> Formula:
    """a holds at the event before, if there is one."""
    return _unary("weak_previous", a)


def Until(a: Formula, b: Formula) -> Formula:
    """b comes, and a holds until then."""
    return _binary("until", a, b)


def WeakUntil(a: Formula, b: Formula) -> Formula:
    """a holds until b, or to the end."""
    return _binary("weak_until", a, b)


def Release(a: Formula, b: Formula) -> Formula:
    """b holds up to and with the first a, or to the end."""
    return _binary("release", a, b)


def StrongRelease(a: Formula, b: Formula) -> Formula:
    """a comes, and b holds up to and with it."""
    return _binary("strong_release", a, b)


def Since(a: Formula, b: Formula) -> Formula:
    """b has come, and a has held since."""
    return _binary("since", a, b)


def WeakSince(a: Formula, b: Formula) -> Formula:
    """a has held since b, or from the start."""
    return _binary("weak_since", a, b)


def Triggered(a: Formula, b: Formula) -> Formula:
    """b has held since and with the last a, or from the start."""
    return _binary("triggered", a, b)


def StrongTriggered(a: Formula, b: Formula) -> Formula:
    """a has come, and b has held since and with it."""
    return _binary("strong_triggered", a, b)


def Not(a: Formula) -> Formula:
    """a does not hold."""
    return Apply(NOT, (_formula(a),))


def And(first: Formula, *more: Formula) -> Formula:
    """All hold."""
    return reduce(and_, more, _formula(first))


def Or(first: Formula, *more: Formula) -> Formula:
    """One of them holds."""
    return reduce(or_, more, _formula(first))


def Implies(a: Formula, b: Formula) -> Formula:
    """If a holds, so does b."""
    return Apply(IMPLIES, (_formula(a), _formula(b)))


def Iff(a: Formula, b: Formula) -> Formula:
    """Both hold or neither."""
    return Apply(IFF, (_formula(a), _formula(b)))


def ForAll(variable: Var | str, domain: DomainFunction | str | Formula | None, body: Formula | None = None) -> Formula:
    """body holds for every value of a variable.

    `domain` is the name of a registered domain, or a function `(trace, metrics) -> values`, which is registered under
    its name; None, or leaving it out, means every value there is.
    """
    return _quantified("forall", variable, domain, body)


def Exists(variable: Var | str, domain: DomainFunction | str | Formula | None, body: Formula | None = None) -> Formula:
    """body holds for some value of a variable; `domain` as in `ForAll`."""
    return _quantified("exists", variable, domain, body)


def Predicate(predicate: PredicateFunction | str, /, *operands: Json) -> Formula:
    """A named Python predicate over the prefix; a function is registered under its name.

    An operand is a variable (`Var("x")`), an argument of the call (`Arg("url")`) or a JSON value.
    """
    name = predicate if isinstance(predicate, str) else _registered(predicate, register_predicate)
    _check_name(name, "predicate")
    return Proposition(facts.Predicate(name, tuple(to_operand(o) for o in operands)))


def AtPosition(i: int, a: Formula) -> Formula:
    """a holds at position i of the trace, from 0; false beyond the end."""
    if type(i) is not int or i < 0:
        raise FormulaError(f"`{i}` is no position", hint="positions are counted from 0")
    return Apply(AT, (_formula(a),), None, Place(i))


def _unary(word: str, a: Formula, within: int | str | None = None) -> Formula:
    op = WORDS[word]
    if within is None:
        return Apply(op, (_formula(a),))
    if type(within) not in (int, str):
        raise FormulaError(f"`{within}` is no bound", hint='write a number of events, or a time such as "60s"')
    return Apply(op, (_formula(a),), lexicon.window(str(within), future=op.direction == "future"))


def _binary(word: str, a: Formula, b: Formula) -> Formula:
    return Apply(WORDS[word], (_formula(a), _formula(b)))


def _quantified(
    kind: str, variable: Var | str, domain: DomainFunction | str | Formula | None, body: Formula | None
) -> Formula:
    name = variable.name if isinstance(variable, Var) else variable.removeprefix("?")
    _check_name(name, "variable")
    if isinstance(domain, Formula):
        domain, body = None, domain
    if domain is not None:
        domain = domain.removeprefix("$") if isinstance(domain, str) else _registered(domain, register_domain)
        _check_name(domain, "domain")
    return Quantified("forall" if kind == "forall" else "exists", name, _formula(body), domain)


def _registered(function: _Function, register: Callable[[str, _Function], object]) -> str:
    name = str(getattr(function, "__name__", ""))
    if not lexicon.is_name(name):
        raise FormulaError("a function without a name cannot stand in a rule", hint="define it with `def`")
    register(name, function)
    return name


def _check_name(name: str, what: str) -> None:
    if not lexicon.is_name(name):
        raise FormulaError(f"`{name}` cannot be the name of a {what}", hint="use letters, digits and `_`")
