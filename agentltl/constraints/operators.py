"""The table of operators: one row each, from which semantics, monitor, normal form, parser and printer follow.

A law is written over `|`, `&` and `~` of whatever it is run over: truth values, residuals or formulas. `rest` is the
same formula at the neighbouring position, and `edge` its value where there is no neighbour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

Shape = Literal["connective", "shift", "fold", "tally", "place"]
Direction = Literal["", "future", "past"]


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One operator.

    `symbol` and `word` are its two spellings, `arity` the number of its formulas; `binds` is how tightly it holds
    (higher is tighter), `right` says that it groups to the right; `shape` says which arguments the law takes:
    connective (its formulas), shift (rest), fold (its formulas, rest); tally (count, sum) and place (at) have none.
    `edge` is None where the operator never looks at a neighbour.
    """

    symbol: str
    word: str
    arity: int
    binds: int
    shape: Shape
    direction: Direction
    edge: bool | None
    law: Callable[..., Any] | None
    meaning: str
    right: bool = False

    def __repr__(self) -> str:
        return f"<{self.symbol}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _by_symbol, (self.symbol,)

    def __copy__(self) -> Operator:
        return self

    def __deepcopy__(self, memo: object) -> Operator:
        return self


def _by_symbol(symbol: str) -> Operator:
    return SYMBOLS[symbol]


def _rows() -> tuple[Operator, ...]:
    def connective(
        symbol: str, word: str, arity: int, binds: int, law: Any, says: str, right: bool = False
    ) -> Operator:
        return Operator(symbol, word, arity, binds, "connective", "", None, law, says, right)

    def shift(symbol: str, word: str, way: Direction, edge: bool, says: str) -> Operator:
        return Operator(symbol, word, 1, 6, "shift", way, edge, lambda rest: rest, says)

    def fold(symbol: str, word: str, arity: int, way: Direction, edge: bool, law: Any, says: str) -> Operator:
        return Operator(symbol, word, arity, 6 if arity == 1 else 5, "fold", way, edge, law, says, arity == 2)

    def some(a: Any, rest: Any) -> Any:
        return a | rest

    def every(a: Any, rest: Any) -> Any:
        return a & rest

    def until(a: Any, b: Any, rest: Any) -> Any:
        return b | (a & rest)

    def release(a: Any, b: Any, rest: Any) -> Any:
        return b & (a | rest)

    return (
        connective("!", "not", 1, 6, lambda a: ~a, "a does not hold"),
        connective("&", "and", 2, 4, lambda a, b: a & b, "both hold"),
        connective("|", "or", 2, 3, lambda a, b: a | b, "one of them holds"),
        connective("->", "implies", 2, 2, lambda a, b: ~a | b, "if a holds, so does b", True),
        connective("<->", "iff", 2, 1, lambda a, b: (a & b) | (~a & ~b), "both hold or neither"),
        shift("X", "next", "future", False, "there is a next event, and a holds there"),
        shift("N", "weak_next", "future", True, "a holds at the next event, if there is one"),
        shift("Y", "previous", "past", False, "there is an event before, and a holds there"),
        shift("Z", "weak_previous", "past", True, "a holds at the event before, if there is one"),
        fold("F", "eventually", 1, "future", False, some, "a holds now or later"),
        fold("G", "always", 1, "future", True, every, "a holds now and at every later event"),
        fold("O", "once", 1, "past", False, some, "a holds now or held before"),
        fold("H", "historically", 1, "past", True, every, "a holds now and held at every event before"),
        fold("U", "until", 2, "future", False, until, "b comes, and a holds until then"),
        fold("W", "weak_until", 2, "future", True, until, "a holds until b, or to the end"),
        fold("R", "release", 2, "future", True, release, "b holds up to and with the first a, or to the end"),
        fold("M", "strong_release", 2, "future", False, release, "a comes, and b holds up to and with it"),
        fold("S", "since", 2, "past", False, until, "b has come, and a has held since"),
        fold("B", "weak_since", 2, "past", True, until, "a has held since b, or from the start"),
        fold("T", "triggered", 2, "past", True, release, "b has held since and with the last a, or from the start"),
        fold("P", "strong_triggered", 2, "past", False, release, "a has come, and b has held since and with it"),
        Operator("count", "count", 1, 7, "tally", "past", None, None, "how often a has held up to now"),
        Operator("sum", "sum", 1, 7, "tally", "past", None, None, "the sum of a value over the calls up to now"),
        Operator("at", "at", 1, 7, "place", "", None, None, "a holds at one numbered position of the trace"),
    )  # fmt: skip


OPERATORS: tuple[Operator, ...] = _rows()
SYMBOLS: dict[str, Operator] = {op.symbol: op for op in OPERATORS}
WORDS: dict[str, Operator] = {op.word: op for op in OPERATORS}
BOUNDED = frozenset("FGOH")
"""The operators that take a bound; seconds only in the past."""

NOT, AND, OR, IMPLIES, IFF = (SYMBOLS[s] for s in ("!", "&", "|", "->", "<->"))
COUNT, SUM, AT = SYMBOLS["count"], SYMBOLS["sum"], SYMBOLS["at"]


class Bit:
    """A boolean with the operators of a law."""

    def __init__(self, value: bool) -> None:
        self.value = value

    def __and__(self, other: Bit) -> Bit:
        return Bit(self.value and other.value)

    def __or__(self, other: Bit) -> Bit:
        return Bit(self.value or other.value)

    def __invert__(self) -> Bit:
        return Bit(not self.value)


def table(op: Operator) -> tuple[bool, ...]:
    """The truth table of an operator's law, its arguments counted up in binary."""
    assert op.law is not None
    size = op.arity + (op.shape == "fold") if op.shape != "shift" else 1
    return tuple(op.law(*map(Bit, row)).value for row in product((False, True), repeat=size))


def dual(op: Operator) -> Operator:
    """The row `d` with `!op(a, b) = d(!a, !b)`: the law's dual and the opposite edge. Defined for shifts and folds."""
    wanted = tuple(not bit for bit in reversed(table(op)))
    for row in _alike(op):
        if row.edge is not op.edge and table(row) == wanted:
            return row
    raise LookupError(f"no dual of `{op.symbol}` in the table")


def weakened(op: Operator) -> Operator:
    """The row with the same law whose edge is True: what stays of a broken obligation once it is forgiven."""
    return next((row for row in _alike(op) if row.edge and table(row) == table(op)), op)


def _alike(op: Operator) -> list[Operator]:
    shape = (op.shape, op.direction, op.arity)
    return [row for row in OPERATORS if (row.shape, row.direction, row.arity) == shape and row.law is not None]
