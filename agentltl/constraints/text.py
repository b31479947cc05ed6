"""The rule language: reading a formula from its text, and writing it.

One grammar (`grammar.lark`) reads; operators, patterns and comparisons come from their tables. `show.py` writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentltl.constraints.formula import Formula
from agentltl.constraints.language import lexicon
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.language.show import show
from agentltl.constraints.proposition import Groups

if TYPE_CHECKING:
    from agentltl.constraints.language.reader import Reader

__all__ = ["parse", "read", "show"]


def parse(text: str, groups: Groups | None = None) -> Formula:
    """The rule that a text says, under the names of groups.

    Raises `FormulaError`, with the place and a suggestion, for a text that is no formula, and for a formula that
    cannot be a rule (see `rule.check`).
    """
    from agentltl.constraints.rule import check

    formula, reader = _read(text, groups)
    check(formula, text, reader.where)
    return formula


def read(text: str, groups: Groups | None = None) -> Formula:
    """The formula that a text says, whether it can be a rule or only a part of one."""
    return _read(text, groups)[0]


def _read(text: str, groups: Groups | None) -> tuple[Formula, Reader]:
    if not isinstance(text, str):
        raise TypeError(f"the text of a formula is expected, not {type(text).__name__}")
    from lark.exceptions import UnexpectedInput

    from agentltl.constraints.language.parser import parser
    from agentltl.constraints.language.reader import Reader

    reader = Reader(groups)
    try:
        lexicon.check_formula_text(text)
        tree = parser().parse(text)
        formula = reader.formula(tree)
    except UnexpectedInput as unexpected:
        from agentltl.constraints.language.complaints import complaint

        raise complaint(text, unexpected).error(text) from None
    except Fault as fault:
        raise fault.error(text) from None
    except RecursionError:
        raise Fault("the formula is nested too deeply", "name a group, or make several rules of it").error() from None
    return formula, reader
