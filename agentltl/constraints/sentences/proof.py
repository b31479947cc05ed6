"""Why a formula has its value on a trace: laws are run over proofs, which carry the facts that decide it.

A proof is a judgement and, for each of its two sides, the facts from which that side follows. Where one of several
facts is enough the cheapest is kept, first of all one that concerns the event in focus.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints.facts import Predicate, Said, Seen, Words
from agentltl.constraints.formula import Apply, Const, Formula, Limit, Place, Proposition, Quantified, Window
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.operators import COUNT
from agentltl.constraints.path import OTHER, Env
from agentltl.constraints.proposition import Called
from agentltl.constraints.tally import Tally, amount, clock
from agentltl.constraints.trace import Position
from agentltl.constraints.value import Json, key

EFFORT = 10_000
"""How many steps a sentence may cost: some 50 ms."""


class TooMuch(Exception):
    """The facts cannot be found with the effort allowed."""


class Effort:
    """What several proofs together may still cost, in steps. A step is a proof made or a call looked at."""

    def __init__(self, left: int = EFFORT) -> None:
        self.left = left

    def spend(self, steps: int) -> None:
        """Raises `TooMuch` when nothing is left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch


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
            if why.leaf is not None:
                found[id(why.leaf)] = why.leaf
            elif id(why) not in seen:
                seen.add(id(why))
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
        (at, af), (bt, bf) = self.judgement, other.judgement
        return Proof(
            (max(at, bt), min(af, bf)),
            _both(self.true, other.true) if j.T not in (at, bt) else _lowest(-at, -bt, self.true, other.true),
            _both(self.false, other.false) if af == bf == j.T else _lowest(af, bf, self.false, other.false),
        )


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
    """The proofs of formulas at the positions of a trace, each made when it is asked for and then kept.

    `focus` is the position of the event in focus; beyond the last one it means the end of the trace.
    `growing`: the trace goes on, so what lies beyond its end is not known; else it ends there.
    """

    def __init__(
        self,
        positions: Sequence[Position],
        focus: int | None = None,
        *,
        growing: bool = False,
        effort: Effort | None = None,
    ) -> None:
        self.positions, self.focus, self.growing = positions, focus, growing
        self.effort = Effort() if effort is None else effort
        self._known: dict[Hashable, dict[int, Proof]] = {}
        self._same: dict[Formula, Formula] = {}
        self._names: dict[int, tuple[Formula, Formula, list[str]]] = {}
        self._values: dict[Formula, tuple[list[Json], Iterator[Json]]] = {}

    def at(self, formula: Formula, i: int, env: Env) -> Proof:
        """The proof of a formula at a position. Raises `TooMuch` when the effort is used up."""
        if isinstance(formula, Quantified):
            return self._quantified(formula, i, env)
        if not 0 <= i < len(self.positions):
            raise IndexError(f"there is no position {i}")
        known = self._names.get(id(formula))
        if known is None:  # equal formulas share their proofs; a formula is hashed once, for that takes long
            known = formula, self._same.setdefault(formula, formula), sorted(formula.free)
            self._names[id(formula)] = known
        _, same, names = known
        values = tuple(env[v] if env[v] is OTHER else key(env[v]) for v in names)
        kept = self._known.setdefault((id(same), values), {})
        if i not in kept:
            self._add(kept, formula, i, {v: env[v] for v in names})
        return kept[i]

    def _add(self, kept: dict[int, Proof], formula: Formula, i: int, env: Env) -> None:
        """Add the proof at a position to those that are kept of a formula."""
        if isinstance(formula, Apply) and formula.op.shape == "tally" and formula.window is None:
            for k in range(len(kept), i + 1):
                self.effort.spend(1)
                before = kept[k - 1].true.leaf if k else None
                kept[k] = self._tally(formula, k, env, None if before is None else before.tally)
        elif isinstance(formula, Apply) and formula.op.shape == "fold" and formula.window is None:
            self._fold(kept, formula, i, env)
        else:
            self.effort.spend(1)
            kept[i] = self._one(formula, i, env)

    def _one(self, formula: Formula, i: int, env: Env) -> Proof:
        match formula:
            case Const(value):
                return Proof(j.of(value))
            case Proposition():
                return self._proposition(formula, i, env)
            case Apply(op, args, window, detail):
                if op.shape == "connective":
                    assert op.law is not None
                    return cast(Proof, op.law(*[self.at(a, i, env) for a in args]))
                if op.shape == "tally":
                    return self._tally(formula, i, env, None)
                if op.shape == "place":
                    place = cast(Place, detail)
                    inside = place.index < len(self.positions)
                    return self.at(args[0], place.index, env) if inside else self._beyond(place.edge)
                return self._shift(formula, i, env) if window is None else self._near(formula, window, i, env)
        raise TypeError(f"not a formula: {formula!r}")

    def _beyond(self, edge: bool) -> Proof:
        """What holds beyond the end of the trace."""
        judged = j.RUNNING if self.growing else j.of(edge)
        focus = self.focus == len(self.positions)
        why = Why(0, True) if focus else NOTHING
        return Proof(judged, why, why)

    def _proposition(self, node: Proposition, i: int, env: Env) -> Proof:
        position, atom = self.positions[i], node.atom
        if isinstance(atom, Seen | Predicate):
            self.effort.spend(position.index)  # it looks at every call before
        elif isinstance(atom, Said | Words):
            self.effort.spend(len(position.messages or ()))
        judged = atom.judge(position, env)
        other_tool = isinstance(atom, Called) and not atom.tools.match(position.call.tool)
        return _leaf(node, i, env, judged, 1 if other_tool else 50, i == self.focus)

    def _shift(self, formula: Apply, i: int, env: Env) -> Proof:
        future, size = formula.op.direction == "future", len(self.positions)
        there = i + 1 if future else i - 1
        if 0 <= there < size:
            return self.at(formula.args[0], there, env)
        judged = j.RUNNING if future and self.growing else j.of(bool(formula.op.edge))
        return _leaf(None, i, env, judged, 1, future and self.focus == size, beyond=formula)

    def _fold(self, kept: dict[int, Proof], formula: Apply, i: int, env: Env) -> None:
        """Add the proofs up to a position to those kept: from the start of the trace, of the future from its end."""
        op, size, done = formula.op, len(self.positions), len(kept)
        assert op.law is not None
        if op.direction == "future":
            order = range(size - 1 - done, i - 1, -1)
            rest = kept[size - done] if done else self._beyond(bool(op.edge))
        else:
            order = range(done, i + 1)
            rest = kept[done - 1] if done else Proof(j.of(bool(op.edge)))
        self.effort.spend(len(order))
        for k in order:
            rest = kept[k] = op.law(*[self.at(a, k, env) for a in formula.args], rest)

    def _near(self, formula: Apply, window: Window, i: int, env: Env) -> Proof:
        op, size = formula.op, len(self.positions)
        every, result = bool(op.edge), Proof(j.of(bool(op.edge)))
        if op.direction == "future":
            places: Iterator[int] = iter(range(i, min(i + window.events, size - 1) + 1))
            if i + window.events >= size and self.growing:
                result = self._beyond(every)
        elif window.timed:
            places = iter(_window(self.positions, i, window))
        else:
            places = iter(range(max(0, i - window.events), i + 1))
        for k in places:
            self.effort.spend(1)
            one = self.at(formula.args[0], k, env)
            result = result & one if every else result | one
        return result

    def _tally(self, formula: Apply, i: int, env: Env, before: Tally | None) -> Proof:
        """`before`: what has been added up at the position before; without a window only the last event is added."""
        limit, window = cast(Limit, formula.detail), formula.window
        total = Tally() if before is None else before
        for k in (i,) if window is None else _window(self.positions, i, window):
            self.effort.spend(1)
            much = Fraction(1) if formula.op is COUNT else amount(self.positions[k], limit.path)
            total = total.add(self.at(formula.args[0], k, env).judgement, much)
        return _leaf(formula, i, env, total.judge(limit), 20, i == self.focus, total)

    def _quantified(self, formula: Quantified, i: int, env: Env) -> Proof:
        return self.over(formula, i, lambda value: self.at(formula.body, i, {**env, formula.variable: value}))

    def over(self, formula: Quantified, i: int, body: Callable[[Json], Proof]) -> Proof:
        """The proof of a quantifier from those of its body, which is asked for the values that matter."""
        forall = formula.kind == "forall"
        result = Proof(j.of(forall))
        for value in self._each(formula, i):
            self.effort.spend(1)
            one = body(value)
            result = result & one if forall else result | one
            decided, why = (result.judgement[1], result.false) if forall else (result.judgement[0], result.true)
            if decided == j.T and (self.focus is None or why.focus):
                break
        return result

    def _each(self, formula: Quantified, i: int) -> Iterator[Json]:
        """The values of a quantifier that matter, those of the event in focus first, and one for all others."""
        if formula.domain is not None:
            from agentltl.constraints.predicates import domain_values

            self.effort.spend(i)
            yield from domain_values(formula.domain, self.positions[: i + 1])
            return
        if formula not in self._values:
            self._values[formula] = [], self._named(formula)
        known, more = self._values[formula]
        for place in count():
            if place == len(known):
                known.extend(islice(more, 1))
            if place == len(known):
                return
            yield known[place]

    def _named(self, formula: Quantified) -> Iterator[Json]:
        """The values that events give to the variable of a quantifier, each once, and one for all others."""
        atoms = [f.atom for f in formula.body.walk() if isinstance(f, Proposition) and formula.variable in f.free]
        found: set[Hashable] = set()
        first = self.positions[self.focus : self.focus + 1] if self.focus is not None else ()
        for position in (*first, *self.positions):
            self.effort.spend(1)
            for atom in atoms:
                for variable, value in atom.values(position):
                    known = key(value) if variable == formula.variable else None
                    if known is not None and known not in found:
                        found.add(known)
                        yield value
        yield OTHER


def _window(positions: Sequence[Position], i: int, window: Window) -> Sequence[int]:
    """The positions in a window into the past. The times of calls do not go back: a monitor has seen to that."""
    if not window.timed:
        return range(max(0, i - window.events + 1), i + 1)
    now, first = clock(positions[i]), i
    while first > 0 and now - clock(positions[first - 1]) <= window.size:
        first -= 1
    return range(first, i + 1)


def counted(proofs: Proofs, leaf: Leaf) -> list[int]:
    """The positions that a `count` or `sum` has taken in."""
    node = cast(Apply, leaf.node)
    places = range(leaf.index + 1) if node.window is None else _window(proofs.positions, leaf.index, node.window)
    return [k for k in places if proofs.at(node.args[0], k, leaf.env).judgement != j.NO]
