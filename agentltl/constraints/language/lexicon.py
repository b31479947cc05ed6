"""Names, texts and numbers as they are written in a rule: one definition for the parser and for the printer.

What cannot be written is refused here, so that it cannot be built either.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NoReturn, cast

from agentltl.constraints.formula import UNITS, Order, Window
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.operators import OPERATORS
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.value import Json, Opaque
from agentltl.errors import FormulaError

NAME = r"[^\W\d]\w*"
"""An identifier: letters of any script, digits and `_`."""
BARE = r"(?:[^\W\d]|\*)[\w*?]*"
"""A tool name or a glob that needs no quotes."""
NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
"""A number of JSON."""

ORDERS: dict[str, Order] = {"=": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
"""The comparisons of a `count` or `sum`."""

LETTERS = frozenset(op.symbol for op in OPERATORS if op.symbol.isalpha() and len(op.symbol) == 1)
FUNCTIONS = ("count", "sum", "said", "seen")
RESERVED = frozenset(
    {*LETTERS, *(op.word for op in OPERATORS if op.word != "at"), *FUNCTIONS}
    | {"true", "false", "forall", "exists", "same_step", "first", "user", "task", "len", "in", "has", "is"}
)
"""Words that are no tool names unless they are quoted."""
BEFORE_PARENTHESIS = frozenset({"at", *PATTERNS})
"""Words that are no tool names before `(`."""

_PREFIX_WORDS = tuple(op.word for op in OPERATORS if op.arity == 1 and op.law is not None and len(op.word) > 3)
_LIKE_A_FUNCTION = (*PATTERNS, *_PREFIX_WORDS, *FUNCTIONS)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_OUTSIDE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BACKSLASH = re.compile(r'\\(?=["\\]|\Z)')
_ESCAPE = re.compile(r'\\(["\\])')
_WINDOW = re.compile(r"(-?)([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|h)?")

_YAML = (
    "a rule cannot say it; in YAML, write the rule as a block (`rule: |-`) or in single quotes,"
    " where a backslash stands for itself"
)


def _refuse(problem: str, hint: str) -> NoReturn:
    raise FormulaError(problem, hint=hint)


def near(word: str, names: Iterable[str], cutoff: float = 0.7) -> str | None:
    """The name that is most like a word, if one is like it."""
    known = {name.lower(): name for name in names}
    found = difflib.get_close_matches(word.lower(), known, n=1, cutoff=cutoff)
    return known[found[0]] if found else None


@lru_cache(maxsize=4096)
def mistaken_for(name: str) -> str | None:
    """The pattern, operator or fact that `name(x, y)` was probably meant to be."""
    return near(name, _LIKE_A_FUNCTION, 0.82)


def is_name(text: str) -> bool:
    return re.fullmatch(NAME, text) is not None


def lonely_star(name: str) -> bool:
    """`F*`: it reads as a glob and as `F *`."""
    return name[:1] in LETTERS and name[1:].strip("*") == "" and len(name) > 1


def tool_name(name: str, bare_paths: bool = False, parenthesis: bool = False) -> str:
    """A tool name or glob as it is written: bare where that is no other thing, else quoted.

    `parenthesis` says that `(` follows, `bare_paths` that only bare paths stand in it.
    """
    if not re.fullmatch(BARE, name) or name in RESERVED or lonely_star(name):
        return quoted(name)
    if parenthesis and (name in BEFORE_PARENTHESIS or (bare_paths and mistaken_for(name))):
        return quoted(name)
    return name


def check_tool_name(name: str) -> None:
    """Refuse a name that no tool can have and no rule can say."""
    if not name:
        _refuse("a tool name is empty", "name a tool, or write `*` for any call")
    check_text(name)


def check_text(text: str) -> None:
    """Refuse a text or a name with a control character, line breaks and tabs included."""
    if found := _CONTROL.search(text):
        _refuse(f"the text has a control character: {found.group()!r}", _YAML)


def check_formula_text(text: str) -> None:
    """Refuse a formula with a control character that is no line break or tab."""
    if found := _CONTROL_OUTSIDE.search(text):
        raise Fault(f"the formula has a control character: {found.group()!r}", _YAML, start=found.start())


def quoted(text: str) -> str:
    """A text in double quotes: only `\\"` and `\\\\` are escapes."""
    check_text(text)
    escaped = _BACKSLASH.sub(r"\\\\", text).replace('"', '\\"')
    return f'"{escaped}"'


def unquoted(token: str) -> str:
    """The text that a token in double quotes stands for."""
    text = _ESCAPE.sub(r"\1", token[1:-1])
    check_text(text)
    return text


def number(text: str) -> int | float:
    """The number that a text is in JSON; refused if it is none or too large."""
    if not re.fullmatch(NUMBER, text):
        _refuse(f"`{text}` is no number", "numbers are written as in JSON: 5, -2, 0.5, 1e6")
    try:
        value = float(text) if any(c in text for c in ".eE") else int(text)
    except ValueError:  # Python reads no integer of so many digits
        value = math.inf
    if math.isinf(value):
        _refuse("the number is too large", "a rule cannot say infinity")
    return value


def literal(value: Json) -> str:
    """A JSON value as it is written in a rule."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int():
            try:
                return format(int(value), "d")
            except ValueError:
                _refuse("the number is too large", "a rule cannot say it")
        case float():
            if not math.isfinite(value):
                _refuse(f"a rule cannot say {value!r}", "numbers are written as in JSON, which has no such value")
            return repr(float(value))
        case list() | tuple():
            return "[" + ", ".join(literal(v) for v in value) + "]"
        case dict():
            return "{" + ", ".join(f"{quoted(str(k))}: {literal(v)}" for k, v in value.items()) + "}"
        case _:
            own = value.value if isinstance(value, Opaque) else value
            _refuse(
                f"a rule cannot say a value of type {type(own).__name__}",
                "write a JSON value: a text, a number, true, false, null, a list or an object",
            )


def window(text: str, *, future: bool, what: str = "bound") -> Window:
    """The window that a bound such as `5` or `60s` stands for."""
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        _refuse(
            f"`{text}` is no {what}",
            "a number of events is meant, such as `5`, or, looking back, a time, such as `60s` (ms, s, m, h)",
        )
    sign, amount, unit = found.groups()
    if sign:
        _refuse(
            f"a {what} cannot be negative: `{text}`",
            "the direction is in the operator: F and G look ahead, O and H back",
        )
    if unit is None:
        if "." in amount:
            _refuse(f"a number of events is whole: `{text}`", "a time has a unit: ms, s, m or h")
        return Window.of_events(int(amount))
    if future:
        _refuse(
            f"`{text}`: an operator that looks ahead takes a number of events",
            "deadlines in time are said from the past side: `G (b -> O[60s] a)`",
        )
    return Window.of_time(Fraction(amount), cast("Literal['ms', 's', 'm', 'h']", unit))


def window_text(size: Window) -> str:
    """A window as it is written."""
    if not size.timed:
        return str(size.events)
    unit = size.unit or "s"
    return decimal(size.size / UNITS[unit]) + unit


def decimal(amount: Fraction) -> str:
    """A fraction as a decimal; refused if it has none."""
    for digits in range(40):
        scaled = amount * 10**digits
        if scaled.denominator == 1:
            text = str(scaled.numerator).rjust(digits + 1, "0")
            return f"{text[:-digits]}.{text[-digits:]}" if digits else text
    _refuse(f"a rule cannot say {amount} as a decimal", "give the time in a smaller unit, or round it")
