"""The reference meaning of a formula on a trace: short, slow, obviously right.

It follows the definitions of the operators: each law is run over judgements, and `rest` is the same formula at the
neighbouring position. On a finished trace the answer is yes or no; while calls still run it may also rest on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import (
    Apply,
    Const,
    Formula,
    Limit,
    Place,
    Proposition,
    Quantified,
    Window,
)
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.names import hidden_from
from agentltl.constraints.normal import close
from agentltl.constraints.operators import COUNT, Operator
from agentltl.constraints.path import OTHER, Env
from agentltl.constraints.tally import Tally, amount, clock
from agentltl.constraints.trace import Position, Trace
from agentltl.constraints.value import Json, key


def holds(formula: Formula, trace: Trace) -> bool:
    """Whether a finished trace satisfies a rule. Raises `TraceError` where the trace lacks what the rule needs."""
    return judge(formula, trace.finished())[0] == j.T


def judge(formula: Formula, trace: Trace, at: int = 0) -> Judgement:
    """The judgement of a rule at a position (default: the first), while calls of the trace may still run.

    The first part says whether the rule is satisfied there: `T`, `F`, or `U` where that rests on calls that still run.
    """
    rule = close(formula)
    return _Reference(tuple(trace.positions(hidden_from(rule)))).at(rule, at, {})


@dataclass(frozen=True, slots=True)
class _Value:
    """A judgement with the operators of a law."""

    pair: Judgement

    def __and__(self, other: _Value) -> _Value:
        return _Value(j.every((self.pair, other.pair)))

    def __or__(self, other: _Value) -> _Value:
        return _Value(j.some((self.pair, other.pair)))

    def __invert__(self) -> _Value:
        return _Value(j.opposite(self.pair))


class _Reference:
    def __init__(self, positions: tuple[Position, ...]) -> None:
        self.positions = positions
        self.memo: dict[object, Judgement] = {}

    def at(self, formula: Formula, i: int, env: Env) -> Judgement:
        """The judgement of a formula at position i under values for its variables."""
        known = (id(formula), i, tuple((v, env[v] if env[v] is OTHER else key(env[v])) for v in sorted(formula.free)))
        if known not in self.memo:
            self.memo[known] = self._at(formula, i, env)
        return self.memo[known]

    def _at(self, formula: Formula, i: int, env: Env) -> Judgement:
        match formula:
            case Const(value):
                return j.of(value)
            case Proposition(atom):
                return atom.judge(self.positions[i], env) if self.inside(i) else j.NO
            case Quantified(kind, variable, body, domain):
                combine = j.every if kind == "forall" else j.some
                return combine(self.at(body, i, {**env, variable: v}) for v in self.domain(formula, domain, i))
            case Apply(op, args, window, detail):
                if op.shape == "connective":
                    return self.law(op, [self.at(a, i, env) for a in args])
                if op.shape == "tally":
                    return self.tally(op, args[0], i, env, window, cast(Limit, detail))
                if op.shape == "place":
                    place = cast(Place, detail)
                    inside = self.inside(place.index)
                    return self.at(args[0], place.index, env) if inside else j.of(place.edge)
                if window is not None:
                    every = bool(op.edge)
                    near = (self.at(args[0], k, env) for k in self.near(op, i, window))
                    return j.every(near) if every else j.some(near)
                return self.fold(formula, op, args, i, env)
        raise TypeError(f"not a formula: {formula!r}")

    def fold(self, formula: Formula, op: Operator, args: tuple[Formula, ...], i: int, env: Env) -> Judgement:
        step = 1 if op.direction == "future" else -1
        if not self.inside(i):
            return j.of(bool(op.edge))
        if op.shape == "shift":
            return self.law(op, [self.at(args[0], i + step, env) if self.inside(i + step) else j.of(bool(op.edge))])
        ends = len(self.positions) if step == 1 else -1
        value = j.of(bool(op.edge))
        for k in range(ends - step, i - step, -step):  # from the edge to here: the same recursion without its depth
            value = self.law(op, [*(self.at(a, k, env) for a in args), value])
        return value

    def law(self, op: Operator, operands: list[Judgement]) -> Judgement:
        assert op.law is not None
        result: _Value = op.law(*map(_Value, operands))
        return result.pair

    def inside(self, i: int) -> bool:
        return 0 <= i < len(self.positions)

    def near(self, op: Operator, i: int, window: Window) -> Iterator[int]:
        """The positions that a bound reaches from i."""
        if not self.inside(i):
            return
        if op.direction == "future":
            yield from range(i, min(i + window.events, len(self.positions) - 1) + 1)
        elif not window.timed:
            yield from range(max(0, i - window.events), i + 1)
        else:
            now = clock(self.positions[i])
            yield from (k for k in range(i + 1) if now - clock(self.positions[k]) <= window.size)

    def tally(self, op: Operator, counted: Formula, i: int, env: Env, window: Window | None, limit: Limit) -> Judgement:
        total = Tally()
        if self.inside(i):
            if window is None:
                places: Iterable[int] = range(i + 1)
            elif window.timed:
                places = self.near(op, i, window)
            else:  # among the last k events, this one included
                places = range(max(0, i - window.events + 1), i + 1)
            for k in places:
                value = Fraction(1) if op is COUNT else amount(self.positions[k], limit.path)
                total = total.add(self.at(counted, k, env), value)
        return total.judge(limit)

    def domain(self, formula: Quantified, domain: str | None, i: int) -> list[Json]:
        """Values that matter to a quantifier: each that its variable could take anywhere, and one for all others."""
        if domain is not None:
            from agentltl.constraints.predicates import domain_values

            return domain_values(domain, self.positions[: i + 1])
        found: dict[object, Json] = {}
        for inner in formula.body.walk():
            if isinstance(inner, Proposition) and formula.variable in inner.free:
                for position in self.positions:
                    for variable, value in inner.atom.values(position):
                        if variable == formula.variable and key(value) is not None:
                            found.setdefault(key(value), value)
        return [*found.values(), OTHER]
