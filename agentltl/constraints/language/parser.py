"""The parser of the rule language: made once from the grammar and the tables, shipped as `grammar.tables`, and loaded.

Making it takes ten times as long as loading it. What ships is used only where it was made of this very grammar by the
installed release of lark, and is whole; else the parser is made anew. So it can be out of date, but never wrong.
"""

from __future__ import annotations

import hashlib
import io
import pkgutil
import re
from functools import lru_cache

import lark

from agentltl.constraints.comparison import TESTS
from agentltl.constraints.language import lexicon
from agentltl.constraints.operators import OPERATORS, Operator
from agentltl.constraints.patterns import PATTERNS

SHIPPED = "grammar.tables"
"""A seal over all it was made of, and below that line the parser as lark saves it; see `scripts/save_parser.py`."""

# No positions: where a part of the tree stands is found when it is asked (`span` in `reader_conditions.py`).
_OPTIONS = {
    "start": "formula", "parser": "lalr", "lexer": "contextual", "propagate_positions": False, "regex": False,
}  # fmt: skip


@lru_cache(maxsize=1)
def parser() -> lark.Lark:
    """The parser, loaded or made when it is first needed."""
    text, shipped = grammar(), _resource(SHIPPED)
    return lark.Lark.load(io.BytesIO(shipped[_LINE:])) if fits(shipped, text) else make(text)


def make(text: str) -> lark.Lark:
    """The parser of a grammar."""
    return lark.Lark(text, **_OPTIONS)


def save(text: str) -> bytes:
    """What ships for a grammar. No two are equal byte for byte, because lark numbers its states as it likes."""
    saved = io.BytesIO()
    make(text).save(saved)
    return _seal(text, saved.getvalue()) + b"\n" + saved.getvalue()


def fits(shipped: bytes, text: str) -> bool:
    """Whether it was made of this grammar by the installed lark, and nothing is lost of it."""
    return shipped[:_LINE] == _seal(text, shipped[_LINE:]) + b"\n"


def grammar() -> str:
    """The whole grammar: `grammar.lark` and the terminals."""
    return _resource("grammar.lark").decode() + _terminals()


_LINE = 65  # a sha256 in hexadecimal digits, and the end of the line


def _seal(text: str, saved: bytes) -> bytes:
    made_of = f"lark {lark.__version__}\n{_OPTIONS}\n{text}\n"
    return hashlib.sha256(made_of.encode() + saved).hexdigest().encode()


def _resource(name: str) -> bytes:
    try:
        return pkgutil.get_data("agentltl.constraints.language", name) or b""
    except OSError:  # an archive without the file
        return b""


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
