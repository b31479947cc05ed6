"""Why a formula has its value on a trace: every law is run over proofs, which carry the facts that decide it.

A proof is a judgement and, for each of its two sides, the facts from which that side follows. Where one of several
facts is enough the cheapest is kept, first of all one that concerns the event in focus.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Apply, Const, Formula, Limit, Place, Proposition, Quantified, Window
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.operators import COUNT
from agentltl.constraints.path import OTHER, Env
from agentltl.constraints.proposition import Called
from agentltl.constraints.tally import Tally, amount, clock
from agentltl.constraints.trace import Position
from agentltl.constraints.value import Json, key

EFFORT = 300_000
"""How many judgements a proof may cost: some seconds."""


class TooMuch(Exception):
    """The facts cannot be found with the effort allowed."""


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One fact: what a proposition, a `count` or a `sum` was worth at a position (its number among the rule's events).

    `node` is None for the edge of the trace: `index` is then the first or the last position, and `beyond` the formula
    that looked past it.
    `tally` is what was added up.
    """

    node: Proposition | Apply | None
    index: int
    env: Env
    judgement: Judgement
    tally: Tally | None = None
    beyond: Apply | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Why:
    """Facts that together decide something: one, or those of two others. `focus`: one concerns the event in focus."""

    cost: int
    focus: bool
    leaf: Leaf | None = None
    parts: tuple[Why, ...] = ()

    def leaves(self) -> list[Leaf]:
        """Every fact, each once."""
        found: dict[int, Leaf] = {}
        seen: set[int] = set()
        stack = [self]
        while stack:
            why = stack.pop()
            if id(why) in seen:
                continue
            seen.add(id(why))
            if why.leaf is not None:
                found[id(why.leaf)] = why.leaf
            stack.extend(reversed(why.parts))
        return list(found.values())


NOTHING = Why(0, False)


def _both(a: Why, b: Why) -> Why:
    if a is NOTHING or a is b:
        return b
    return a if b is NOTHING else Why(a.cost + b.cost, a.focus or b.focus, None, (a, b))


def _better(a: Why, b: Why) -> Why:
    return b if (not b.focus, b.cost) < (not a.focus, a.cost) else a


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """A judgement, and why each of its sides is what it is: `T`, or no more than it is."""

    judgement: Judgement
    true: Why = NOTHING
    false: Why = NOTHING

    def __invert__(self) -> Proof:
        return Proof(j.opposite(self.judgement), self.false, self.true)

    def __and__(self, other: Proof) -> Proof:
        (at, af), (bt, bf) = self.judgement, other.judgement
        return Proof(
            (min(at, bt), max(af, bf)),
            _both(self.true, other.true) if at == bt == j.T else _lowest(at, bt, self.true, other.true),
            _both(self.false, other.false) if j.T not in (af, bf) else _lowest(-af, -bf, self.false, other.false),
        )

    def __or__(self, other: Proof) -> Proof:
        return ~(~self & ~other)


def _lowest(a: int, b: int, why_a: Why, why_b: Why) -> Why:
    """Of two things the one that is less true; the better of the two if they are alike."""
    if a == b:
        return _better(why_a, why_b)
    return why_a if a < b else why_b


def _leaf(node: Proposition | Apply | None, index: int, env: Env, judged: Judgement, cost: int, focus: bool,
          tally: Tally | None = None, beyond: Apply | None = None) -> Proof:  # fmt: skip
    why = Why(cost, focus, Leaf(node, index, env, judged, tally, beyond))
    return Proof(judged, why, why)


class Proofs:
    """The proofs of formulas at the positions of a trace.

    `focus` is the position of the event in focus; beyond the last one it means the end of the trace.
    `growing`: the trace goes on, so what lies beyond its end is not known; else it ends there.
    """

    def __init__(
        self, positions: Sequence[Position], focus: int | None = None, *, growing: bool = False, effort: int = EFFORT
    ) -> None:
        self.positions, self.focus, self.growing = positions, focus, growing
        self.effort = effort
        self._known: dict[Hashable, list[Proof]] = {}

    def at(self, formula: Formula, i: int, env: Env) -> Proof:
        """The proof of a formula at a position."""
        if isinstance(formula, Quantified):
            return self._quantified(formula, i, env)
        if not 0 <= i < len(self.positions):
            raise IndexError(f"there is no position {i}")
        return self._along(formula, env)[i]

    def _everywhere(self, formula: Formula, env: Env) -> list[Proof]:
        """The proofs at all positions."""
        if isinstance(formula, Quantified):
            return [self._quantified(formula, i, env) for i in range(len(self.positions))]
        return self._along(formula, env)

    def _along(self, formula: Formula, env: Env) -> list[Proof]:
        """The proofs at all positions of what is no quantifier, kept."""
        names = sorted(formula.free)
        known = (formula, tuple(env[v] if env[v] is OTHER else key(env[v]) for v in names))
        found = self._known.get(known)
        if found is None:
            self.effort -= len(self.positions)
            if self.effort < 0:
                raise TooMuch
            found = self._known[known] = self._compute(formula, {v: env[v] for v in names})
        return found

    def _compute(self, formula: Formula, env: Env) -> list[Proof]:
        places = range(len(self.positions))
        match formula:
            case Const(value):
                return [Proof(j.of(value))] * len(places)
            case Proposition():
                return [self._proposition(formula, i, env) for i in places]
            case Apply(op, args, window, detail):
                if op.shape == "connective":
                    assert op.law is not None
                    return [op.law(*proofs) for proofs in zip(*(self._everywhere(a, env) for a in args), strict=True)]
                if op.shape == "tally":
                    return self._tallies(formula, env)
                if op.shape == "place":
                    place = cast(Place, detail)
                    inside = place.index < len(places)
                    one = self.at(args[0], place.index, env) if inside else self._beyond(place.edge)
                    return [one] * len(places)
                if window is not None:
                    return [self._near(formula, window, i, env) for i in places]
                return self._fold(formula, env)
        raise TypeError(f"not a formula: {formula!r}")

    def _beyond(self, edge: bool) -> Proof:
        """What holds beyond the end of the trace."""
        judged = j.RUNNING if self.growing else j.of(edge)
        focus = self.focus == len(self.positions)
        why = Why(0, True) if focus else NOTHING
        return Proof(judged, why, why)

    def _proposition(self, node: Proposition, i: int, env: Env) -> Proof:
        position = self.positions[i]
        judged = node.atom.judge(position, env)
        other_tool = isinstance(node.atom, Called) and not node.atom.tools.match(position.call.tool)
        return _leaf(node, i, env, judged, 1 if other_tool else 50, i == self.focus)

    def _fold(self, formula: Apply, env: Env) -> list[Proof]:
        op, size = formula.op, len(self.positions)
        future, edge = op.direction == "future", bool(op.edge)
        order = range(size - 1, -1, -1) if future else range(size)
        result = [Proof(j.NO)] * size
        if op.shape == "shift":
            step = 1 if future else -1
            for i in order:
                if 0 <= i + step < size:
                    result[i] = self.at(formula.args[0], i + step, env)
                else:
                    judged = j.RUNNING if future and self.growing else j.of(edge)
                    focus = future and self.focus == size
                    result[i] = _leaf(None, i, env, judged, 1, focus, beyond=formula)
            return result
        assert op.law is not None
        rest = self._beyond(edge) if future else Proof(j.of(edge))
        proofs = [self._everywhere(a, env) for a in formula.args]
        for i in order:
            rest = result[i] = op.law(*(known[i] for known in proofs), rest)
        return result

    def _near(self, formula: Apply, window: Window, i: int, env: Env) -> Proof:
        op, size = formula.op, len(self.positions)
        every, result = bool(op.edge), Proof(j.of(bool(op.edge)))
        if op.direction == "future":
            places: Iterator[int] = iter(range(i, min(i + window.events, size - 1) + 1))
            if i + window.events >= size and self.growing:
                result = self._beyond(every)
        elif window.timed:
            now = clock(self.positions[i])
            places = (k for k in range(i + 1) if now - clock(self.positions[k]) <= window.size)
        else:
            places = iter(range(max(0, i - window.events), i + 1))
        for k in places:
            one = self.at(formula.args[0], k, env)
            result = result & one if every else result | one
        return result

    def _tallies(self, formula: Apply, env: Env) -> list[Proof]:
        limit, window = cast(Limit, formula.detail), formula.window
        judged = [self.at(formula.args[0], k, env).judgement for k in range(len(self.positions))]
        much = [Fraction(1) if formula.op is COUNT else amount(p, limit.path) for p in self.positions]
        total, result = Tally(), []
        for i in range(len(self.positions)):
            if window is None:
                total = total.add(judged[i], much[i])
            else:
                total = Tally()
                for k in _window(self.positions, i, window):
                    total = total.add(judged[k], much[k])
            result.append(_leaf(formula, i, env, total.judge(limit), 20, i == self.focus, total))
        return result

    def _quantified(self, formula: Quantified, i: int, env: Env) -> Proof:
        forall = formula.kind == "forall"
        result = Proof(j.of(forall))
        for value in self._values(formula, i):
            one = self.at(formula.body, i, {**env, formula.variable: value})
            result = result & one if forall else result | one
            decided, why = (result.judgement[1], result.false) if forall else (result.judgement[0], result.true)
            if decided == j.T and (self.focus is None or why.focus):
                break
        return result

    def _values(self, formula: Quantified, i: int) -> list[Json]:
        """The values of a quantifier that matter, those of the event in focus first, and one for all others."""
        if formula.domain is not None:
            from agentltl.constraints.predicates import domain_values

            return domain_values(formula.domain, self.positions[: i + 1])
        atoms = [f.atom for f in formula.body.walk() if isinstance(f, Proposition) and formula.variable in f.free]
        found: dict[Hashable, Json] = {}
        first = self.positions[self.focus : self.focus + 1] if self.focus is not None else ()
        for position in (*first, *self.positions):
            for atom in atoms:
                for variable, value in atom.values(position):
                    if variable == formula.variable and (known := key(value)) is not None:
                        found.setdefault(known, value)
        return [*found.values(), OTHER]


def _window(positions: Sequence[Position], i: int, window: Window) -> Iterator[int]:
    if not window.timed:
        yield from range(max(0, i - window.events + 1), i + 1)
        return
    now = clock(positions[i])
    yield from (k for k in range(i + 1) if now - clock(positions[k]) <= window.size)


def counted(proofs: Proofs, leaf: Leaf) -> list[int]:
    """The positions that a `count` or `sum` has taken in."""
    node = cast(Apply, leaf.node)
    places = range(leaf.index + 1) if node.window is None else _window(proofs.positions, leaf.index, node.window)
    return [k for k in places if proofs.at(node.args[0], k, leaf.env).judgement != j.NO]
