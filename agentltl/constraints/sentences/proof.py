"""Why a formula has its value on a trace: laws are run over proofs, which carry the facts that decide it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
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
from agentltl.constraints.sentences.why import NOTHING, Effort, Leaf, Proof, Why
from agentltl.constraints.tally import Tally, amount, clock
from agentltl.constraints.trace import Position
from agentltl.constraints.value import Json, key


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
