"""A formula has one of four shapes: a constant, a proposition, an operator applied to formulas, or a quantifier.

A pattern is the formula it stands for and remembers how it was written; equality looks at the formula alone.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Self

from agentltl.constraints.operators import AND, IMPLIES, NOT, OR, Operator

if TYPE_CHECKING:
    from agentltl.constraints.path import Path
    from agentltl.constraints.proposition import Atom


@dataclass(frozen=True, slots=True)
class Written:
    """How a formula was written: the name of a pattern and its arguments (formulas, lists, numbers, pairs)."""

    pattern: str
    arguments: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """How far an operator looks: so many events, or (past only) so many seconds. `unit` is how it was written."""

    size: Fraction
    unit: Literal["", "ms", "s", "m", "h"] = field(default="", compare=False)
    timed: bool = False

    @property
    def events(self) -> int:
        return int(self.size)

    @classmethod
    def of_events(cls, events: int) -> Window:
        return cls(Fraction(events))

    @classmethod
    def of_time(cls, amount: Fraction, unit: Literal["ms", "s", "m", "h"]) -> Window:
        return cls(amount * UNITS[unit], unit, True)


UNITS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}


Order = Literal["=", "!=", "<", "<=", ">", ">="]

_ORDERS: dict[Order, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def exact(number: int | float) -> Fraction | float | int:
    """A number as the decimal that it is written as, so that 0.1 + 0.2 is 0.3; infinities stay."""
    if isinstance(number, int):
        return number
    return Fraction(repr(number)) if number - number == 0 else number


@dataclass(frozen=True, slots=True)
class Limit:
    """The comparison of a `count` or `sum`; `path` is what a sum adds up."""

    compare: Order
    number: int | float
    path: Path | None = None

    def holds(self, number: Fraction | int | float) -> bool:
        """`number op limit`."""
        return _ORDERS[self.compare](number, exact(self.number))


@dataclass(frozen=True, slots=True)
class Place:
    """The position of `at`, from 0, and the value beyond the end (True only inside a negated one)."""

    index: int
    edge: bool = False


class Formula:
    """The base of the four shapes: `&`, `|`, `~` and `>>` (implies) build formulas, `str` writes them."""

    __slots__ = ()

    def __and__(self, other: Formula) -> Formula:
        return Apply(AND, (self, _formula(other)))

    def __or__(self, other: Formula) -> Formula:
        return Apply(OR, (self, _formula(other)))

    def __invert__(self) -> Formula:
        return Apply(NOT, (self,))

    def __rshift__(self, other: Formula) -> Formula:
        return Apply(IMPLIES, (self, _formula(other)))

    def __str__(self) -> str:
        from agentltl.constraints.text import show

        return show(self)

    def __deepcopy__(self, memo: object) -> Self:
        return self

    @property
    def children(self) -> tuple[Formula, ...]:
        """The formulas directly inside."""
        return ()

    @property
    def free(self) -> frozenset[str]:
        """The variables that no quantifier inside binds."""
        return frozenset().union(*(child.free for child in self.children)) if self.children else frozenset()

    def walk(self) -> Iterator[Formula]:
        """This formula and every formula inside, outermost first."""
        stack: list[Formula] = [self]
        while stack:
            formula = stack.pop()
            yield formula
            stack.extend(reversed(formula.children))


def _formula(value: object) -> Formula:
    if not isinstance(value, Formula):
        raise TypeError(f"a formula is expected, not {type(value).__name__}\nparse a text first: parse({value!r})")
    return value


@dataclass(frozen=True, slots=True)
class Const(Formula):
    """`true` or `false`, at every position; on the empty trace too."""

    value: bool
    written: Written | None = field(default=None, compare=False, repr=False)

    __str__ = Formula.__str__


@dataclass(frozen=True, slots=True)
class Proposition(Formula):
    """Something true, false or undecidable of one event; false on the empty trace."""

    atom: Atom
    written: Written | None = field(default=None, compare=False, repr=False)

    __str__ = Formula.__str__

    @property
    def free(self) -> frozenset[str]:
        return self.atom.variables


@dataclass(frozen=True, slots=True)
class Apply(Formula):
    """An operator applied to formulas. `window` is a bound or a window, `detail` what `count`, `sum` and `at` add."""

    op: Operator
    args: tuple[Formula, ...]
    window: Window | None = None
    detail: Limit | Place | None = None
    written: Written | None = field(default=None, compare=False, repr=False)
    _hash: int = field(default=0, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.args, self.window, self.detail)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Apply, (self.op, self.args, self.window, self.detail, self.written)

    __str__ = Formula.__str__

    @property
    def children(self) -> tuple[Formula, ...]:
        return self.args


@dataclass(frozen=True, slots=True)
class Quantified(Formula):
    """`forall ?x. body` or `exists ?x. body`, over all values there are, or over a registered domain."""

    kind: Literal["forall", "exists"]
    variable: str
    body: Formula
    domain: str | None = None
    written: Written | None = field(default=None, compare=False, repr=False)
    _hash: int = field(default=0, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.kind, self.variable, self.body, self.domain)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Quantified, (self.kind, self.variable, self.body, self.domain, self.written)

    __str__ = Formula.__str__

    @property
    def children(self) -> tuple[Formula, ...]:
        return (self.body,)

    @property
    def free(self) -> frozenset[str]:
        return self.body.free - {self.variable}


TRUE, FALSE = Const(True), Const(False)
