"""The page of operators: each row of the table with its law run over names and a timeline judged by the reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from agentltl.constraints import judgement
from agentltl.constraints.formula import Apply, Formula, Window
from agentltl.constraints.operators import BOUNDED, OPERATORS, Operator, dual, table
from agentltl.constraints.semantics import judge
from agentltl.constraints.text import read
from agentltl.constraints.trace import Call, Trace
from reference.markdown import NOTE, fenced, sentences
from reference.markdown import table as rows_of

A, B = read("*(a = true)"), read("*(b = true)")
# Where `a` and `b` hold, event by event. Each operator takes the first that shows it (see `_tells`).
SAMPLES = (("11101001", "01001010"), ("01001010", "11101001"), ("10111011", "01000100"), ("01000100", "10111011"))
SECONDS = 25
"""Between one event of a timeline and the next."""

INTRO = """
# Operators

An operator is one row of a table in `agentltl/constraints/operators.py`; this page is that table.

A timeline shows one trace, event by event, from position 0.
The rows `a` and `b` mark where `a` and `b` hold (● holds, · does not), the last row where the formula holds.
A rule is judged at position 0: it is satisfied when the formula holds there.

A *law* says what the formula is worth here, given `rest`, the same formula at the neighbouring event.
Where there is no neighbour, `rest` has the fixed value that is shown.

Write the letter or the word: `G a` and `always a` are the same formula.
"""

BEFORE_CONNECTIVES = "These look at one event only."
BEFORE_FUTURE = "These look at this event and at those after it."
BEFORE_PAST = "These look at this event and at those before it; each mirrors one of the future."
BEFORE_TALLIES = """
These count, add up, or look at a numbered position.
Inside `count` and `sum` stand past and present only.
A window counts this event: `count(a, 3)` looks at the last three.
"""
QUANTIFIERS = """
## Quantifiers

`forall ?x. a` holds when `a` holds for every value of `?x`, `exists ?x. a` when it holds for some value.
The values are all that there are, not only those that have been seen.
A variable takes its values by `=` in a call: `pay(to = ?x)`.
A variable that no quantifier binds is bound by `forall` around the whole rule.
`forall ?x in $name. a` takes the values that a registered Python function gives (see `register_domain`).
"""


class _Name:
    """A formula in words, with the operators of a law."""

    def __init__(self, text: str, simple: bool = True) -> None:
        self.text, self.simple = text, simple

    def inner(self) -> str:
        return self.text if self.simple else f"({self.text})"

    def __and__(self, other: _Name) -> _Name:
        return _Name(f"{self.inner()} & {other.inner()}", False)

    def __or__(self, other: _Name) -> _Name:
        return _Name(f"{self.inner()} | {other.inner()}", False)

    def __invert__(self) -> _Name:
        return _Name(f"!{self.inner()}")


def page() -> str:
    """The text of the page."""
    groups = [
        ("Connectives", BEFORE_CONNECTIVES, [op for op in OPERATORS if op.shape == "connective"]),
        ("The future", BEFORE_FUTURE, [op for op in OPERATORS if op.law and op.direction == "future"]),
        ("The past", BEFORE_PAST, [op for op in OPERATORS if op.law and op.direction == "past"]),
        ("Counts, sums and places", BEFORE_TALLIES.strip(), [op for op in OPERATORS if op.law is None]),
    ]
    parts = [NOTE, INTRO.lstrip(), "\n", _overview()]
    for title, before, group in groups:
        parts.append(f"\n## {title}\n\n{before}\n")
        parts += [_entry(op) for op in group]
    parts.append(QUANTIFIERS)
    return "".join(parts)


def _overview() -> str:
    head = ("operator", "word", "binds", "meaning")
    return rows_of(head, [(f"`{op.symbol}`", f"`{op.word}`", str(op.binds), op.meaning) for op in OPERATORS]) + (
        "\nA higher number under *binds* holds tighter.\n"
        f"These group to the right: {_listed(op.symbol for op in OPERATORS if op.right)}.\n"
    )


def _listed(symbols: Iterable[str]) -> str:
    return ", ".join(f"`{symbol}`" for symbol in symbols)


def _entry(op: Operator) -> str:
    name = f"`{op.symbol}`" if op.symbol == op.word else f"`{op.symbol}` {op.word.replace('_', ' ')}"
    parts = [f"\n### {name}\n\n{sentences(_capital(op.meaning) + '.')}\n"]
    if op.law is not None:
        parts.append(_law(op))
    parts.append(_timelines(op))
    return "".join(parts)


def _capital(text: str) -> str:
    """With a capital letter, unless the text begins with the name of a formula."""
    return text if text[:2] in ("a ", "b ") else text[:1].upper() + text[1:]


def _law(op: Operator) -> str:
    assert op.law is not None
    names = [_Name("a"), _Name("b")][: op.arity]
    formula = _text(Apply(op, (A, B)[: op.arity]))
    if op.shape == "connective":
        return "" if op.symbol in "!&|" else f"Law: `{formula}` is `{op.law(*names).text}`.\n"
    neighbour = "next event" if op.direction == "future" else "event before"
    edge = "true" if op.edge else "false"
    opposite = dual(op)
    mirrored = _text(Apply(opposite, tuple(~x for x in (A, B)[: op.arity])))
    if op.shape == "shift":
        law = f"It is what `a` is at the {neighbour}, and {edge} where there is none.\n"
    else:
        law = (
            f"Law: `{op.law(*names, _Name('rest')).text}`, "
            f"where `rest` is `{formula}` at the {neighbour}, and {edge} where there is none.\n"
        )
    return f"{law}Its dual: `!{formula if op.arity == 1 else f'({formula})'}` is `{mirrored}`.\n"


def _timelines(op: Operator) -> str:
    if op.law is None:
        texts = {
            "count": ["count(A) >= 2", "count(A, 3) >= 2"],
            "sum": ["sum(*, n) <= 7", "sum(A, n) > 4"],
            "at": ["at(2, A)", "at(9, A)"],
        }[op.symbol]
        marks = SAMPLES[0]
        formulas = [read(text.replace("A", str(A))) for text in texts]
    else:
        formulas = _shown(op)
        marks = next((m for m in SAMPLES if _tells(op, m)), SAMPLES[0])
    return "\n" + fenced(timeline(formulas, marks), "text")


def _shown(op: Operator) -> list[Formula]:
    """An operator over `a` and `b`, with its bounds if it takes any."""
    formulas: list[Formula] = [Apply(op, (A, B)[: op.arity])]
    if op.symbol in BOUNDED:
        formulas.append(Apply(op, (A,), Window.of_events(1)))
        if op.direction == "past":
            formulas.append(Apply(op, (A,), Window.of_time(Fraction(60), "s")))
    return formulas


def _tells(op: Operator, marks: Sequence[str]) -> bool:
    """Whether a trace shows an operator both true and false, and unlike its bounds and the row with the other edge."""
    args, trace = (A, B)[: op.arity], _trace(marks)
    shown = [_row(formula, trace) for formula in _shown(op)]
    others = [o for o in OPERATORS if o.law and _key(o) == _key(op) and o.edge is not op.edge]
    shown += [_row(Apply(o, args), trace) for o in others]
    return len(set(shown[0])) == 2 and len(set(map(tuple, shown))) == len(shown)


def _key(op: Operator) -> object:
    return op.shape, op.direction, op.arity, table(op)


def _trace(marks: Sequence[str]) -> Trace:
    return Trace(
        tuple(
            Call("t", {"a": a == "1", "b": b == "1", "n": i % 3 + 1}, start=float(SECONDS * i))
            for i, (a, b) in enumerate(zip(*marks, strict=True))
        )
    )


def _row(formula: Formula, trace: Trace) -> list[bool]:
    return [judge(formula, trace, i)[0] == judgement.T for i in range(len(trace))]


def timeline(formulas: Sequence[Formula], marks: Sequence[str]) -> str:
    """A trace and where formulas over `a` and `b` hold in it."""
    trace = _trace(marks)
    texts = [_text(formula) for formula in formulas]
    lines = [("position", [str(i) for i in range(len(trace))])]
    if any("s]" in text for text in texts):
        lines.append(("seconds", [f"{call.start:g}" for call in trace.calls]))
    if any(" n)" in text for text in texts):
        lines.append(("n", [str(dict(call.args)["n"]) for call in trace.calls]))
    lines += [
        (name, _marks(m == "1" for m in mark)) for name, mark in zip("ab", marks, strict=True) if _uses(texts, name)
    ]
    lines += [(text, _marks(_row(formula, trace))) for text, formula in zip(texts, formulas, strict=True)]
    width = max(len(name) for name, _ in lines) + 2
    cell = max(len(c) for _, cells in lines for c in cells)
    return "\n".join(name.ljust(width) + "  ".join(c.rjust(cell) for c in cells) for name, cells in lines)


def _uses(texts: Sequence[str], name: str) -> bool:
    return any(name in text.replace("at(", "").split("sum")[-1] for text in texts)


def _marks(truths: Iterable[bool]) -> list[str]:
    return ["●" if truth else "·" for truth in truths]


def _text(formula: Formula) -> str:
    return str(formula).replace(str(A), "a").replace(str(B), "b")
