"""Whether a value occurs in a text or in a result, as a whole token: the meaning of `said` and `seen`.

Case is folded; a number occurs by value (`1,250.00` is 1250); a text occurs as text between characters that are no
letter, digit or `_`; URLs are compared without scheme, `www.` and a trailing slash.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from agentltl.constraints.value import Json, as_number, show

_NUMBERS = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][+-]?\d{1,3})?(?!\w)")
_SCHEME = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://(?:www\.)?")
_WWW = re.compile(r"(?<!\w)www\.(?=\w)")
_EDGE = re.compile(r"\W")
_SLASH = re.compile(r"(?<=\w)/(?![\w/?#&=%.~-])")


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    """The text with its case folded and its URLs without scheme, `www.` and trailing slash."""
    folded = text.casefold()
    if "://" in folded or "www." in folded:
        folded = _WWW.sub("", _SCHEME.sub("", folded))
        folded = _SLASH.sub("", folded)
    return folded


@lru_cache(maxsize=1024)
def _numbers(text: str) -> frozenset[Decimal]:
    found = set()
    for match in _NUMBERS.finditer(text):
        plain = match.group().replace(",", "")
        value = Decimal(plain)  # exact, however many digits there are
        found.add(value)
        if match.group().startswith("-"):  # `order-1250` names 1250; `-1250` is also that number
            found.add(value.copy_negate())
    return frozenset(found)


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _token(needle: str, text: str) -> bool:
    """Whether the needle stands in the text between characters that are no letter, digit or `_`."""
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        if not (start and _word(text[start - 1])) and not (end < len(text) and _word(text[end])):
            return True
        edge = _EDGE.search(text, start)  # a token starts after such a character only
        start = text.find(needle, edge.end()) if edge else -1
    return False


def _decimal(number: int | float) -> Decimal:
    """The number as the decimal that it is written as."""
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


def occurs_in_text(value: Json, text: str) -> bool:
    """Whether a text, number or bool occurs in a text. An empty text never does."""
    if isinstance(value, str):
        needle = _folded(value.strip())
        if needle.endswith("/") and ("." in needle or "://" in value):
            needle = needle.rstrip("/")
        return bool(needle) and _token(needle, _folded(text))
    number = as_number(value)
    if number is not None and not isinstance(value, bool):
        return number - number == 0 and _decimal(number) in _numbers(text)
    return isinstance(value, bool) and _token(show(value), _folded(text))


def occurs_in_value(value: Json, result: Json) -> bool:
    """Whether it occurs in a parsed result, where texts, numbers and keys count."""
    match result:
        case dict():
            return any(occurs_in_text(value, k) or occurs_in_value(value, v) for k, v in result.items())
        case list():
            return any(occurs_in_value(value, v) for v in result)
        case str():
            return occurs_in_text(value, result)
        case bool():
            return isinstance(value, bool) and value is result
        case int() | float():
            own = None if isinstance(value, str) else as_number(value)
            return own == result if own is not None else occurs_in_text(value, show(result))
        case _:
            return False
