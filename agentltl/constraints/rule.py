"""What makes a formula a rule that loads, beyond its being written correctly.

A variable takes its values by `=` alone, and there are infinitely many values that no call has: for those every
proposition that gives the variable its value is false. Where the formula then still depends on the variable, no finite
look at a trace could decide it, and it does not load.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NoReturn, cast

from agentltl.constraints import facts
from agentltl.constraints.compare import _inside
from agentltl.constraints.formula import Apply, Const, Formula, Limit, Proposition, Quantified
from agentltl.constraints.language.expand import demanding
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.operators import BOUNDED
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.predicates import check_registered
from agentltl.errors import FormulaError

DEEPEST = 200
"""How deeply the operators of a rule may be nested."""

Where = Callable[[Formula], tuple[int, int] | None]
"""Where a proposition or pattern starts in the text, and its width; None for any other formula."""


def check(formula: Formula, text: str | None = None, where: Where | None = None) -> None:
    """Raise `FormulaError` for a formula that cannot be a rule.

    `text` is what it was read from and `where` says where its parts stand there, for the place in the error.
    """
    try:
        every = tuple(formula.walk())
        if len(every) > DEEPEST:
            _check_depth(formula)
        for inner in every:
            _check_one(inner)
        free = formula.free if any(isinstance(f, Proposition) and f.atom.variables for f in every) else frozenset()
        if free:
            _check_patterns(formula, free)
        for variable in sorted(free):
            _check_variable(variable, formula)
        for inner in every:
            if isinstance(inner, Quantified) and inner.domain is None:
                _check_variable(inner.variable, inner.body)
    except _Unfit as unfit:
        start, width = unfit.place(text or "", where)
        raise Fault(unfit.problem, unfit.hint, start=start, width=width).error(text) from None


class _Unfit(Exception):
    """A formula that cannot be part of a rule; `word` is where to point in a text that does not say where it stands."""

    def __init__(self, formula: Formula, problem: str, hint: str | None, word: str | None) -> None:
        super().__init__(problem)
        self.formula, self.problem, self.hint, self.word = formula, problem, hint, word

    def place(self, text: str, where: Where | None) -> tuple[int | None, int]:
        if where is not None and (place := where(self.formula)) is not None:
            return place
        found = None if self.word is None else re.search(rf"{re.escape(self.word)}(?!\w)", text)
        return (None, 1) if found is None else (found.start(), len(found.group()))


def _refuse(formula: Formula, problem: str, hint: str | None, word: str | None = None) -> NoReturn:
    raise _Unfit(formula, problem, hint, word)


def _check_depth(formula: Formula) -> None:
    layer: list[Formula] = [formula]
    for _ in range(DEEPEST):
        layer = [child for inner in layer for child in inner.children]
        if not layer:
            return
    _refuse(
        formula, f"the formula is nested more than {DEEPEST} deep", "name a group of tools, or make several rules of it"
    )


def _check_one(formula: Formula) -> None:
    match formula:
        case Proposition(facts.Predicate(name)):
            _check_registered("predicate", name, formula)
        case Quantified(domain=str() as domain):
            _check_registered("domain", domain, formula)
        case Apply(op, args, window, detail):
            if op.shape == "tally":
                for inner in args[0].walk():
                    if isinstance(inner, Apply) and (inner.op.direction == "future" or inner.op.shape == "place"):
                        word = f"`{inner.op.symbol}`"
                        hint = "inside `count` and `sum` stand past and present only"
                        _refuse(formula, f"{word} in `{op.symbol}` looks at calls to come", hint)
                path = cast(Limit, detail).path
                if path is not None and (inside := _inside(path)):
                    name = sorted(inside)[0]
                    hint = "what is added up is the same for every value; ask for the variable in the call"
                    _refuse(formula, f"`?{name}` cannot stand in the path of a sum", hint, f"?{name}")
            elif window is not None and op.symbol not in BOUNDED:
                _refuse(formula, f"`{op.symbol}` takes no bound", f"a bound stands after {', '.join(sorted(BOUNDED))}")
            elif window is not None and window.timed and op.direction == "future":
                hint = "deadlines in time are said from the past side: `G (b -> O[60s] a)`"
                _refuse(formula, f"`{op.symbol}` looks ahead and takes a number of events, not a time", hint)


def _check_registered(what: Literal["predicate", "domain"], name: str, formula: Formula) -> None:
    try:
        check_registered(what, name)
    except FormulaError as error:
        _refuse(formula, error.problem, error.hint, f"${name}")


def _check_patterns(formula: Formula, free: frozenset[str]) -> None:
    """No pattern that demands an occurrence takes a variable that is free in the rule."""
    written = getattr(formula, "written", None)
    if written is not None:
        taken = sorted(formula.free & free)
        if demanding(written, PATTERNS[written.pattern].demands) and taken:
            instead = {"before": "precedence", "informed": "precedence", "all_before": "precedence"}
            one = instead.get(written.pattern)
            _refuse(
                formula,
                f"`{written.pattern}` demands a call, for every value that `?{taken[0]}` could have: it never holds",
                (f"did you mean `{one}`?" if one else "`precedence` and `response` ask only where there is something;")
                + f" for some value it is `exists ?{taken[0]}. ...`",
                f"?{taken[0]}",
            )
        return
    if isinstance(formula, Quantified):
        free = free - {formula.variable}
    for child in formula.children:
        _check_patterns(child, free)


@dataclass(frozen=True, slots=True)
class _Rest:
    """What a formula is worth for a value that occurs nowhere: surely true or false (`sure`), or not known; and the
    proposition on which it depends there, if it depends on the value."""

    sure: bool | None = None
    culprit: Proposition | None = None

    def __invert__(self) -> _Rest:
        return _Rest(None if self.sure is None else not self.sure, self.culprit)

    def __and__(self, other: _Rest) -> _Rest:
        if self.sure is False or other.sure is False:
            return _Rest(False)
        if self.sure is True:
            return other
        return self if other.sure is True else _either((self, other))

    def __or__(self, other: _Rest) -> _Rest:
        return ~(~self & ~other)


def _either(rests: Iterable[_Rest]) -> _Rest:
    """One of these, not known which."""
    rests = list(rests)
    culprit = next((r.culprit for r in rests if r.culprit is not None), None)
    same = culprit is None and all(r.sure is rests[0].sure for r in rests)
    return rests[0] if same else _Rest(None, culprit)


def _rest(formula: Formula, variable: str) -> _Rest:
    match formula:
        case Const(value):
            return _Rest(value)
        case Proposition(atom):
            if variable in atom.binds:
                return _Rest(False)
            return _Rest(None, formula) if variable in atom.variables else _Rest()
        case Quantified(_, inner, body, domain):
            if inner == variable:
                return _Rest()
            inside = _rest(body, variable)
            return inside if domain is None else _either((inside, _Rest()))
        case Apply(op, args, _, detail):
            values = [_rest(a, variable) for a in args]
            if op.shape == "tally":
                if values[0].sure is False:
                    return _Rest(cast(Limit, detail).holds(0))
                return _Rest(None, values[0].culprit)
            if op.shape == "place":
                return _either((values[0], _Rest(False)))
            assert op.law is not None
            if op.shape == "connective":
                return cast(_Rest, op.law(*values))
            edge = _Rest(bool(op.edge))
            if op.shape == "shift":
                return _either((values[0], edge))
            at_the_end = cast(_Rest, op.law(*values, edge))
            further = cast(_Rest, op.law(*values, at_the_end))
            return _either((at_the_end, further))
    raise TypeError(f"not a formula: {formula!r}")


def _check_variable(variable: str, body: Formula) -> None:
    culprit = _rest(body, variable).culprit
    if culprit is not None:
        _refuse(
            culprit,
            f"`?{variable}` has no value in `{culprit}`",
            f"a variable takes its values by `=`: put a call with `= ?{variable}` on the left of `->`, under `!`,"
            " or on the left of `W`; under `exists`, in the same `&`",
            f"?{variable}",
        )
