"""From a flat sequence of operands and operators to a tree, by how tightly the table says that each operator binds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentltl.constraints.formula import Apply, Formula, Quantified, Window
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.operators import OPERATORS, Operator


@dataclass(frozen=True, slots=True)
class Prefix:
    """An operator before its one formula."""

    op: Operator
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator between its two formulas, and where it stands in the text."""

    op: Operator
    start: int
    width: int


@dataclass(frozen=True, slots=True)
class Quantifier:
    """`forall ?x, ?y.`: it takes everything to its right."""

    kind: Literal["forall", "exists"]
    variables: tuple[str, ...]
    domain: str | None = None


Item = Formula | Prefix | Binary | Quantifier

_LEVELS = sorted({op.binds for op in OPERATORS if op.arity == 2 and op.law is not None})


def climb(items: list[Item]) -> Formula:
    """The formula that a well-formed sequence stands for."""
    first = items[0]
    return first if len(items) == 1 and isinstance(first, Formula) else _Climb(items).level(0)


class _Climb:
    def __init__(self, items: list[Item]) -> None:
        self.items, self.place = items, 0

    def level(self, depth: int) -> Formula:
        """A chain of operators that bind as `_LEVELS[depth]` says, over chains of tighter ones."""
        formula = self.operand()
        for tighter in range(len(_LEVELS), depth, -1):
            operands, between = [formula], list[Binary]()
            while (found := self.binary(_LEVELS[tighter - 1])) is not None:
                between.append(found)
                operands.append(self.level(tighter))
            formula = _grouped(operands, between)
        return formula

    def binary(self, binds: int) -> Binary | None:
        item = self.items[self.place] if self.place < len(self.items) else None
        if isinstance(item, Binary) and item.op.binds == binds:
            self.place += 1
            return item
        return None

    def operand(self) -> Formula:
        before: list[Prefix | Quantifier] = []
        while not isinstance(item := self.items[self.place], Formula):
            assert not isinstance(item, Binary)
            before.append(item)
            self.place += 1
            if isinstance(item, Quantifier):
                formula = self.level(0)
                break
        else:
            formula = item
            self.place += 1
        for outer in reversed(before):
            match outer:
                case Prefix(op, window):
                    formula = Apply(op, (formula,), window)
                case Quantifier(kind, variables, domain):
                    for variable in reversed(variables):
                        formula = Quantified(kind, variable, formula, domain)
        return formula


def _grouped(operands: list[Formula], between: list[Binary]) -> Formula:
    if not between:
        return operands[0]
    first = between[0]
    for other in between[1:]:
        if other.op.direction != first.op.direction:
            a, b = first.op.symbol, other.op.symbol
            raise Fault(
                f"`{a}` and `{b}` look in opposite directions: which binds first is not said",
                f"put one of them in parentheses: `a {a} (b {b} c)` or `(a {a} b) {b} c`",
                start=other.start,
                width=other.width,
            )
    if first.op.right:
        formula = operands[-1]
        for left, found in zip(reversed(operands[:-1]), reversed(between), strict=True):
            formula = Apply(found.op, (left, formula))
        return formula
    formula = operands[0]
    for right, found in zip(operands[1:], between, strict=True):
        formula = Apply(found.op, (formula, right))
    return formula
