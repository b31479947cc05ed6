"""The comparisons: how each judges two values that are there."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from agentltl.constraints import judgement as j
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.path import Other
from agentltl.constraints.value import Json, Opaque, as_number, key, kind

if TYPE_CHECKING:
    import re2


def equal(left: Json, right: Json) -> Judgement:
    """JSON equality. NaN equals nothing; an opaque value equals itself and is else undecidable, inside others too."""
    if type(left) is str and type(right) is str:
        return j.YES if left == right else j.NO
    match left, right:
        case (Opaque(), _) | (_, Opaque()):
            return j.YES if key(left) == key(right) else j.UNDECIDABLE
        case list(), list():
            alike = len(left) == len(right)
            return j.every(map(equal, left, right)) if alike else j.NO
        case dict(), dict():
            alike = left.keys() == right.keys()
            return j.every(equal(value, right[name]) for name, value in left.items()) if alike else j.NO
    return same(left, right)


def same(left: Json, right: Json) -> Judgement:
    """Whether a variable has this value: JSON equality, an opaque value being itself and no other."""
    if isinstance(left, Other) or isinstance(right, Other):
        return j.NO
    if type(left) is str and type(right) is str:
        return j.YES if left == right else j.NO
    own = key(left)
    return j.of(own is not None and own == key(right))


def _ordered(holds: Callable[[Json, Json], bool]) -> Callable[[Json, Json], Judgement]:
    def test(left: Json, right: Json) -> Judgement:
        if isinstance(left, str) and isinstance(right, str):
            return j.of(holds(left, right))
        a, b = as_number(left), as_number(right)
        return j.UNDECIDABLE if a is None or b is None else j.of(holds(a, b))

    return test


def _texts(holds: Callable[[str, str], bool]) -> Callable[[Json, Json], Judgement]:
    def test(left: Json, right: Json) -> Judgement:
        if not isinstance(left, str) or not isinstance(right, str):
            return j.UNDECIDABLE
        return j.of(holds(left, right))

    return test


def glob(text: str, pattern: str) -> bool:
    """Whether `*` (any text) and `?` (one character) in the pattern match the whole text."""
    ends = _ends(pattern)
    if ends is None:
        return _glob(text, pattern)
    start, end = ends
    return len(text) >= len(start) + len(end) and text.startswith(start) and text.endswith(end)


@lru_cache(maxsize=1024)
def _ends(pattern: str) -> tuple[str, str] | None:
    """What stands before and after the only `*` of a pattern; None for a pattern with more, or with `?`."""
    start, star, end = pattern.partition("*")
    return (start, end) if star and "*" not in end and "?" not in pattern else None


def _glob(text: str, pattern: str) -> bool:
    """Matching in time linear in the text but for the last `*`.

    Source: the usual two-pointer wildcard matching with a single point of return.
    """
    i = k = 0
    back, mark = -1, 0
    while i < len(text):
        if k < len(pattern) and pattern[k] == "*":
            back, mark = k, i
            k += 1
        elif k < len(pattern) and (pattern[k] == "?" or pattern[k] == text[i]):
            i, k = i + 1, k + 1
        elif back >= 0:
            mark += 1
            i, k = mark, back + 1
        else:
            return False
    return all(c == "*" for c in pattern[k:])


@lru_cache(maxsize=1024)
def regex(pattern: str) -> re2._Regexp:
    """The RE2 expression: linear in the text. A pattern that is none raises `re2.error`."""
    import re2

    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def matches(text: str, pattern: str) -> bool:
    """Whether the regular expression matches anywhere in the text."""
    clean = text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded
    return regex(pattern).search(clean) is not None


def _matches(left: Json, right: Json) -> Judgement:
    if not isinstance(left, str) or not isinstance(right, str):
        return j.UNDECIDABLE
    import re2

    try:
        return j.of(matches(left, right))
    except re2.error:  # a pattern that came from an argument or a variable
        return j.UNDECIDABLE


def _in(left: Json, right: Json) -> Judgement:
    return j.some(equal(left, item) for item in right) if isinstance(right, list) else j.UNDECIDABLE


def _has(left: Json, right: Json) -> Judgement:
    if isinstance(right, Other):
        return j.UNDECIDABLE
    match left:
        case list():
            return j.some(equal(item, right) for item in left)
        case str():
            return j.of(isinstance(right, str) and right in left)
        case dict():
            return j.of(isinstance(right, str) and right in left)
        case _:
            return j.UNDECIDABLE


def _is(left: Json, right: Json) -> Judgement:
    return j.UNDECIDABLE if isinstance(left, Opaque) else j.of(kind(left) == right)


def _negated(test: Callable[[Json, Json], Judgement]) -> Callable[[Json, Json], Judgement]:
    return lambda left, right: j.opposite(test(left, right))


KINDS = ("text", "number", "bool", "null", "list", "object")

_POSITIVE: dict[str, tuple[str, Callable[[Json, Json], Judgement]]] = {
    "=": ("!=", equal),
    "~": ("!~", _texts(glob)),
    "=~": ("!=~", _matches),
    "in": ("not in", _in),
    "has": ("not has", _has),
    "is": ("is not", _is),
}

TESTS: dict[str, Callable[[Json, Json], Judgement]] = {
    "<": _ordered(lambda a, b: a < b),
    "<=": _ordered(lambda a, b: a <= b),
    ">": _ordered(lambda a, b: a > b),
    ">=": _ordered(lambda a, b: a >= b),
}
"""How each comparison judges two values that are there."""
for _name, (_opposite, _test) in _POSITIVE.items():
    TESTS[_name] = _test
    TESTS[_opposite] = _negated(_test)

BY_VARIABLE = {"=": same, "!=": _negated(same)}
