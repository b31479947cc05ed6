"""Each row of the operator table against the textbook sentence over positions, exhaustively on short traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product

import pytest

from agentltl.constraints import judgement as j
from agentltl.constraints.compare import Compare, Literal_
from agentltl.constraints.formula import TRUE, Apply, Formula, Limit, Place, Proposition, Window
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.operators import OPERATORS, SYMBOLS, Operator, dual, table, weakened
from agentltl.constraints.path import Key, Path
from agentltl.constraints.proposition import ANY, Called
from agentltl.constraints.semantics import judge
from agentltl.constraints.trace import Call, Trace
from agentltl.constraints.verdict import Truth

Bits = tuple[bool, ...]


def letter(name: str) -> Formula:
    return Proposition(Called(ANY, (Compare(Path("args", (Key(name),)), "=", Literal_(True)),)))


A, B = letter("a"), letter("b")

# What each operator means at position i of a trace in which a and b hold at the positions marked; n is its length.
SENTENCES: dict[str, Callable[[int, int, Bits, Bits], bool]] = {
    "!": lambda i, n, a, b: not a[i],
    "&": lambda i, n, a, b: a[i] and b[i],
    "|": lambda i, n, a, b: a[i] or b[i],
    "->": lambda i, n, a, b: b[i] if a[i] else True,
    "<->": lambda i, n, a, b: a[i] == b[i],
    "X": lambda i, n, a, b: i + 1 < n and a[i + 1],
    "N": lambda i, n, a, b: i + 1 >= n or a[i + 1],
    "Y": lambda i, n, a, b: i >= 1 and a[i - 1],
    "Z": lambda i, n, a, b: i < 1 or a[i - 1],
    "F": lambda i, n, a, b: any(a[k] for k in range(i, n)),
    "G": lambda i, n, a, b: all(a[k] for k in range(i, n)),
    "O": lambda i, n, a, b: any(a[k] for k in range(i + 1)),
    "H": lambda i, n, a, b: all(a[k] for k in range(i + 1)),
    "U": lambda i, n, a, b: any(b[k] and all(a[m] for m in range(i, k)) for k in range(i, n)),
    "W": lambda i, n, a, b: SENTENCES["U"](i, n, a, b) or all(a[k] for k in range(i, n)),
    "M": lambda i, n, a, b: any(a[k] and all(b[m] for m in range(i, k + 1)) for k in range(i, n)),
    "R": lambda i, n, a, b: SENTENCES["M"](i, n, a, b) or all(b[k] for k in range(i, n)),
    "S": lambda i, n, a, b: any(b[k] and all(a[m] for m in range(k + 1, i + 1)) for k in range(i + 1)),
    "B": lambda i, n, a, b: SENTENCES["S"](i, n, a, b) or all(a[k] for k in range(i + 1)),
    "P": lambda i, n, a, b: any(a[k] and all(b[m] for m in range(k, i + 1)) for k in range(i + 1)),
    "T": lambda i, n, a, b: SENTENCES["P"](i, n, a, b) or all(b[k] for k in range(i + 1)),
}
ON_NO_EVENT = {symbol: symbol in ("!", "->", "<->", *"GNWRHZBT") for symbol in SENTENCES}
TABLED = [op for op in OPERATORS if op.symbol in SENTENCES]


def traces(longest: int) -> Iterator[tuple[Bits, Bits, Trace]]:
    for n in range(longest + 1):
        for bits in product((False, True), repeat=2 * n):
            a, b = bits[:n], bits[n:]
            yield a, b, Trace(tuple(Call("t", {"a": x, "b": y}) for x, y in zip(a, b, strict=True)))


def formula_of(op: Operator) -> Formula:
    return Apply(op, (A, B)[: op.arity])


def disagreements(op: Operator, longest: int) -> Iterator[tuple[Bits, Bits, int]]:
    """Where the row, run as the reference runs it, and its sentence differ; -1 is the empty trace."""
    formula, sentence = formula_of(op), SENTENCES[op.symbol]
    for a, b, trace in traces(longest):
        for i in range(len(a)):
            if (judge(formula, trace, i)[0] == j.T) is not sentence(i, len(a), a, b):
                yield a, b, i
        if not a and (judge(formula, trace)[0] == j.T) is not ON_NO_EVENT[op.symbol]:
            yield a, b, -1


@pytest.mark.parametrize("op", TABLED, ids=lambda op: op.symbol)
def test_a_row_means_its_textbook_sentence(op: Operator) -> None:
    assert list(disagreements(op, 4)) == []


@pytest.mark.parametrize("op", TABLED, ids=lambda op: op.symbol)
def test_a_row_means_its_textbook_sentence_to_the_monitor(op: Operator) -> None:
    formula, sentence = formula_of(op), SENTENCES[op.symbol]
    everywhere = Apply(SYMBOLS["F"], (formula & ~Apply(SYMBOLS["X"], (TRUE,)),))  # at the last event
    for a, b, trace in traces(4):
        first, last = Monitor.of(formula), Monitor.of(everywhere)
        for position in trace.positions():
            first, last = first.step(position), last.step(position)
        n = len(a)
        assert (first.verdict.truth >= Truth.PTRUE) is (sentence(0, n, a, b) if n else ON_NO_EVENT[op.symbol])
        assert (last.verdict.truth >= Truth.PTRUE) is (n > 0 and sentence(n - 1, n, a, b))


def test_every_operator_has_a_sentence() -> None:
    assert {op.symbol for op in OPERATORS} == set(SENTENCES) | {"count", "sum", "at"}


@contextmanager
def changed(op: Operator, column: str, value: object) -> Iterator[None]:
    """The row with another value in a column, for a moment."""
    before = getattr(op, column)
    object.__setattr__(op, column, value)
    try:
        yield
    finally:
        object.__setattr__(op, column, before)


def mutants(op: Operator) -> Iterator[tuple[str, object]]:
    """Each edge value flipped, each law dualised; a law that is its own dual is negated."""
    law = op.law
    assert law is not None
    if op.edge is not None:
        yield "edge", not op.edge
    own_dual = table(op) == tuple(not bit for bit in reversed(table(op)))
    yield "law", (lambda *of: ~law(*of)) if own_dual else (lambda *of: ~law(*(~x for x in of)))


@pytest.mark.parametrize("op", TABLED, ids=lambda op: op.symbol)
def test_every_mutant_of_a_row_is_caught_by_its_sentence(op: Operator) -> None:
    for column, value in mutants(op):
        with changed(op, column, value):
            caught = next(disagreements(op, 3), None)
        assert caught is not None, f"{op.symbol} survives with another {column}"
    assert list(disagreements(op, 2)) == []


@pytest.mark.parametrize("op", [o for o in TABLED if o.shape != "connective"], ids=lambda op: op.symbol)
def test_duals_and_weakened_rows_are_found_in_the_table(op: Operator) -> None:
    assert dual(dual(op)) is op
    assert weakened(op).edge is (op.symbol not in "FO")  # these are broken only when nothing can stay
    mirrored = {"X": "N", "F": "G", "U": "R", "W": "M", "Y": "Z", "O": "H", "S": "T", "B": "P"}
    assert dual(op).symbol == {**mirrored, **{v: k for k, v in mirrored.items()}}[op.symbol]


@pytest.mark.parametrize("k", [0, 1, 2, 5])
@pytest.mark.parametrize("symbol", list("FGOH"))
def test_a_bound_reaches_k_events(symbol: str, k: int) -> None:
    formula = Apply(SYMBOLS[symbol], (A,), Window.of_events(k))
    combine = any if symbol in "FO" else all
    for a, _, trace in traces(4):
        n = len(a)
        for i in range(n):
            reach = range(i, min(n, i + k + 1)) if symbol in "FG" else range(max(0, i - k), i + 1)
            assert (judge(formula, trace, i)[0] == j.T) is combine(a[m] for m in reach)


def test_count_sum_and_at_mean_their_sentences() -> None:
    for limit in (Limit(c, k) for c in ("=", "!=", "<", "<=", ">", ">=") for k in (0, 1, 2)):  # type: ignore[arg-type]
        compare = {
            "=": int.__eq__, "!=": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__,
        }[limit.compare]  # fmt: skip
        whole = Apply(SYMBOLS["count"], (A,), None, limit)
        recent = Apply(SYMBOLS["count"], (A,), Window.of_events(2), limit)
        for a, _, trace in traces(3):
            for i in range(len(a)):
                assert (judge(whole, trace, i)[0] == j.T) is compare(sum(a[: i + 1]), int(limit.number))
                assert (judge(recent, trace, i)[0] == j.T) is compare(sum(a[max(0, i - 1) : i + 1]), int(limit.number))
    placed = Apply(SYMBOLS["at"], (A,), None, Place(1))
    for a, _, trace in traces(3):
        for i in range(len(a)):
            assert (judge(placed, trace, i)[0] == j.T) is (len(a) > 1 and a[1])
