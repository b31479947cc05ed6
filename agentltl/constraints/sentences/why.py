"""Why a formula has its value, as the facts that decide it.

A proof is a judgement and, for each of its two sides, the facts from which that side follows. Where one of several
facts is enough the cheapest is kept, first of all one that concerns the event in focus.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Apply, Proposition
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.path import Env
from agentltl.constraints.tally import Tally

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
