"""The rule language: reading a formula from its text, and writing it.

One grammar (`grammar.lark`) reads; operators, patterns and comparisons come from their tables. `show.py` writes.
"""

from __future__ import annotations

import pkgutil
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from agentltl.constraints.comparison import TESTS
from agentltl.constraints.formula import Formula
from agentltl.constraints.language import lexicon
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.language.show import show
from agentltl.constraints.operators import OPERATORS, Operator
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.proposition import Groups

if TYPE_CHECKING:
    from lark import Lark

    from agentltl.constraints.rule import Spans

__all__ = ["parse", "read", "show"]


def parse(text: str, groups: Groups | None = None) -> Formula:
    """The rule that a text says, under the names of groups.

    Raises `FormulaError`, with the place and a suggestion, for a text that is no formula, and for a formula that
    cannot be a rule (see `rule.check`).
    """
    from agentltl.constraints.rule import check

    formula, spans = _read(text, groups)
    check(formula, text, spans)
    return formula


def read(text: str, groups: Groups | None = None) -> Formula:
    """The formula that a text says, whether it can be a rule or only a part of one."""
    return _read(text, groups)[0]


def _read(text: str, groups: Groups | None) -> tuple[Formula, Spans]:
    if not isinstance(text, str):
        raise TypeError(f"the text of a formula is expected, not {type(text).__name__}")
    from lark.exceptions import UnexpectedInput

    from agentltl.constraints.language.complaints import complaint
    from agentltl.constraints.language.reader import Reader

    reader = Reader(groups)
    try:
        lexicon.check_formula_text(text)
        tree = _parser().parse(text)
        formula = reader.formula(tree.children[0])  # type: ignore[arg-type]
    except UnexpectedInput as unexpected:
        raise complaint(text, unexpected).error(text) from None
    except Fault as fault:
        raise fault.error(text) from None
    except RecursionError:
        raise Fault("the formula is nested too deeply", "name a group, or make several rules of it").error() from None
    return formula, reader.spans


@lru_cache(maxsize=1)
def _parser() -> Lark:
    """The parser, built when it is first needed."""
    from lark import Lark

    grammar = pkgutil.get_data("agentltl.constraints.language", "grammar.lark")
    assert grammar is not None
    return Lark(
        grammar.decode() + _terminals(), parser="lalr", lexer="contextual", propagate_positions=True, regex=False
    )


def _terminals() -> str:
    """The terminals that come from tables, and those that need to look ahead."""
    free = r"(?![\w*?])"
    called = r"(?=(?:\s|#[^\n]*\n)*\()"
    kinds = {name: {p.kind for p in row.parameters} for name, row in PATTERNS.items()}
    conditions = [name for name in kinds if "conditions" in kinds[name]]
    values = [name for name in kinds if "values" in kinds[name]]
    plain = [name for name in PATTERNS if name not in (*conditions, *values)]
    words = [op for op in TESTS if op[0].isalpha() and not op.startswith("is")]
    signs = [op for op in TESTS if not op[0].isalpha()]
    terminals = {
        "UNARY.2": _spellings([op for op in OPERATORS if op.arity == 1 and op.law is not None], "!(?![=~])"),
        "BINARY.2": _spellings([op for op in OPERATORS if op.arity == 2 and op.law is not None]),
        "QUANTIFIER.2": _one_of(["forall", "exists"]) + free,
        "CONSTANT.2": _one_of(["true", "false"]) + free,
        "MOMENT.2": _one_of(["first", "same_step"]) + free,
        "WORDS.2": _one_of(["user", "task"]) + free,
        **{f"{name.upper()}.2": name + free for name in lexicon.FUNCTIONS},
        "AT.2": "at" + called,
        "PATTERN.2": _one_of(plain) + called,
        "PATTERN_WITH_CONDITIONS.2": _one_of(conditions) + called,
        "PATTERN_WITH_VALUES.2": _one_of(values) + called,
        "NAME": lexicon.BARE,
        "GROUP": f"@(?:{lexicon.NAME}|{_TEXT})",
        "TEXT": _TEXT,
        "VARIABLE": rf"\?{lexicon.NAME}",
        "PREDICATE": rf"\${lexicon.NAME}",
        "KEY": lexicon.NAME,
        "LEN.2": "len" + called,
        "ALL.2": r"all(?=\s*\])",
        "INDEX": "[0-9]+",
        "STAR": r"\*",
        "IN": r"in(?!\w)",
        "IS.2": r"is(?:\s+not)?(?!\w)",
        "COMPARE": "|".join([*(w.replace(" ", r"\s+") + r"(?!\w)" for w in words), _one_of(signs)]),
        "ORDER": _one_of(list(lexicon.ORDERS)),
        "SIZE": _SIZE,
        "NUMBER": _SIZE,
        "LITERAL": _one_of(["true", "false", "null"]) + r"(?!\w)",
        "BOUND": r"[^\[\]]+",
        "WINDOW": r"[^\s(),\[\]]+",
    }
    return "\n" + "".join(f"{name}: /{pattern}/\n" for name, pattern in terminals.items())


_TEXT = r'"(?:\\["\\]|\\(?!["\\])|[^"\\])*"'
_SIZE = r"-?[0-9](?:[eE][+-]|[\w.])*"


def _one_of(words: list[str]) -> str:
    return "(?:" + "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True)) + ")"


def _spellings(operators: list[Operator], *more: str) -> str:
    words = [name for op in operators for name in (op.symbol, op.word) if name.isidentifier()]
    signs = [op.symbol for op in operators if not op.symbol.isalpha() and op.symbol != "!"]
    return "|".join([*more, *([_one_of(signs)] if signs else []), _one_of(words) + r"(?![\w*?])"])
