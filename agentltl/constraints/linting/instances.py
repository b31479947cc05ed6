"""Rules with variables made into rules without: what they say of single values.

A rule over every value says something of each of them, so what follows from its instances follows from the rule.
And where a variable is compared by `=` and `!=` alone, with arguments that nothing compares in another way, values that
no literal names are alike: what holds of one of them holds of all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import cast

from agentltl.constraints import facts
from agentltl.constraints.alphabet import alphabet
from agentltl.constraints.compare import Compare, Condition, Flag, Literal_, Operand, Present, Var
from agentltl.constraints.formula import FALSE, TRUE, Apply, Const, Formula, Proposition, Quantified
from agentltl.constraints.linting.folded import folded
from agentltl.constraints.path import Filter, Path
from agentltl.constraints.proposition import Atom, Called
from agentltl.constraints.scope import rule
from agentltl.constraints.value import Json, key

MOST = 8
"""How many instances of one rule are looked at."""

_ALIKE = frozenset({"=", "!=", "in", "not in"})
_FRESH = ("some value", "another value", "a third value", "a fourth value")


@dataclass(frozen=True, slots=True)
class Instances:
    """What a rule says of single values.

    `every`: what holds of each of the formulas holds of the rule. `unnamed` is what it says of values that no call
    names, where that is anything.
    """

    formulas: tuple[Formula, ...]
    every: bool
    unnamed: tuple[Formula, ...] = ()

    @property
    def all(self) -> tuple[Formula, ...]:
        """All that follows from the rule."""
        return (*self.formulas, *self.unnamed)


@dataclass(frozen=True, slots=True)
class Values:
    """The values for the variables of some rules: those that literals name, and others that none names.

    `alike`: values that no literal names are alike to all these rules.
    """

    named: tuple[Json, ...]
    fresh: tuple[Json, ...]
    alike: bool

    @classmethod
    def of(cls, formulas: Iterable[Formula]) -> Values:
        """The values that matter to the variables of these rules, wherever they stand."""
        conditions = [c for f in formulas for c in _conditions(f)]
        bound = {c.path for c in conditions if isinstance(c, Compare) and isinstance(c.right, Var)}
        named: dict[object, Json] = {}
        alike = all(not path.length and len(path.steps) == 1 for path in bound)
        for condition in conditions:
            if isinstance(condition, Flag) or condition.path not in bound:
                continue
            if isinstance(condition, Compare):
                alike = alike and condition.op in _ALIKE
                named |= {key(v): v for v in _literals(condition)}
        taken = {key(v) for c in conditions if isinstance(c, Compare) for v in _literals(c)}
        fresh = tuple(v for v in _FRESH if v not in taken)
        return cls(tuple(named.values()), fresh, alike and len(fresh) == len(_FRESH))

    def instances(self, formula: Formula) -> Instances:
        """The instances of a rule that can be looked at exactly."""
        variables, body = opened(formula)
        if not variables:
            return Instances((formula,) if exact(formula) else (), exact(formula))
        choices = (*self.fresh[: len(variables)], *self.named)
        found, every = [], self.alike and len(variables) <= len(self.fresh)
        for number, values in enumerate(product(choices, repeat=len(variables))):
            if number == MOST:
                every = False
                break
            instance = with_values(body, dict(zip(variables, values, strict=True)))
            if exact(instance):
                found.append(instance)
            else:
                every = False
        asked = folded(unnamed(body, variables))
        return Instances(tuple(found), every, (asked,) if asked != TRUE and exact(asked) else ())


def opened(formula: Formula) -> tuple[tuple[str, ...], Formula]:
    """The variables over which the whole of a rule speaks, and what stands inside."""
    bound = []
    while isinstance(formula, Quantified) and formula.kind == "forall" and formula.domain is None:
        bound.append(formula.variable)
        formula = formula.body
    return tuple(sorted({*bound, *formula.free})), formula


@lru_cache(maxsize=4096)
def exact(formula: Formula) -> bool:
    """Whether a formula has no variables and all that matters to it can be tried."""
    return not formula.free and alphabet([rule(formula)]).complete


def with_values(formula: Formula, values: Mapping[str, Json]) -> Formula:
    """The formula with values in the place of variables."""

    def put(operand: Operand) -> Operand:
        if isinstance(operand, Var) and operand.name in values:
            return Literal_(values[operand.name])
        return _in_path(operand, put) if isinstance(operand, Path) else operand

    def proposition(found: Proposition) -> Formula:
        return Proposition(_in_atom(found.atom, put)) if found.free & values.keys() else found

    return rewritten(formula, proposition, values.keys())


def unnamed(formula: Formula, variables: Collection[str]) -> Formula:
    """The formula for values of variables that no call names: what would give them a value is false."""

    def put(found: Proposition) -> Formula:
        return FALSE if found.free & found.atom.binds & set(variables) else found

    return rewritten(formula, put, variables)


def rewritten(
    formula: Formula, proposition: Callable[[Proposition], Formula], variables: Iterable[str] = ()
) -> Formula:
    """The formula with each proposition replaced; inside a quantifier that binds one of `variables`, nothing is."""
    match formula:
        case Proposition():
            return proposition(formula)
        case Quantified(kind, variable, body, domain):
            if variable in set(variables):
                return formula
            return Quantified(kind, variable, rewritten(body, proposition, variables), domain)
        case Apply(op, args, window, detail):
            return Apply(op, tuple(rewritten(a, proposition, variables) for a in args), window, detail)
        case Const():
            return formula
    raise TypeError(f"not a formula: {formula!r}")


def _in_atom(atom: object, put: Callable[[Operand], Operand]) -> Atom:
    match atom:
        case Called(tools, args, outcome):
            return Called(tools, _in_conditions(args, put), _in_conditions(outcome, put))
        case facts.Said(what):
            return facts.Said(put(what))
        case facts.Seen(what, tools):
            return facts.Seen(put(what), tools)
        case facts.Words(which, op, right):
            return facts.Words(which, op, put(right))
        case facts.Predicate(name, operands):
            return facts.Predicate(name, tuple(map(put, operands)))
    return cast(Atom, atom)


def _in_conditions(conditions: Sequence[Condition], put: Callable[[Operand], Operand]) -> tuple[Condition, ...]:
    found: list[Condition] = []
    for condition in conditions:
        match condition:
            case Compare(path, op, right):
                found.append(Compare(_in_path(path, put), op, put(right)))
            case Present(path):
                found.append(Present(_in_path(path, put)))
            case _:
                found.append(condition)
    return tuple(found)


def _in_path(path: Path, put: Callable[[Operand], Operand]) -> Path:
    steps = (Filter(_in_conditions(s.conditions, put)) if isinstance(s, Filter) else s for s in path.steps)
    return replace(path, steps=tuple(steps))


def _conditions(formula: Formula) -> Iterator[Condition]:
    for inner in formula.walk():
        if isinstance(inner, Proposition) and isinstance(inner.atom, Called):
            yield from (*inner.atom.args, *inner.atom.outcome)


def _literals(condition: Compare) -> list[Json]:
    if not isinstance(condition.right, Literal_):
        return []
    value = condition.right.value
    return list(value) if isinstance(value, list) and condition.op in ("in", "not in") else [value]
