"""JSON values, frozen, and their equality: `1 = 1.0`, `"1" != 1`, `true != 1`, NaN equals nothing.

Every value gets a hashable key such that two values are equal exactly when their keys are; a value that equals nothing
(NaN, or a list or object that holds one) has the key None.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Never

Json = Any  # None, bool, int, float, str, a frozen list or object of them, or an Opaque

# A backslash that escapes nothing stands for itself; Python warns of it unless it is doubled.
_ESCAPE = re.compile(r"""\\([\n\\'"abfnrtvxNuU0-7])|\\""")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def _refuse(*_: object, **__: object) -> Never:
    raise TypeError("the values of a trace cannot be changed")


class FrozenDict(dict[str, Json]):
    """A JSON object that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = update = pop = popitem = clear = setdefault = __ior__ = _refuse

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Json]):
    """A JSON list that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = append = extend = insert = pop = remove = clear = sort = reverse = _refuse
    __iadd__ = __imul__ = _refuse

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return FrozenList, (list(self),)


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A value that is no JSON value (an image, a table): it is present and equal to itself, no more is known."""

    value: object

    def __repr__(self) -> str:
        return repr(self.value) if isinstance(self.value, Lost) else f"<{type(self.value).__name__}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lost:
    """What was an object of another process: its text, and the name of its class."""

    text: str
    kind: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.kind}>"


_PLAIN = frozenset({str, int, float, bool, type(None)})
DEEPEST = 100
"""How deeply lists and objects may be nested: so deep is every frozen value looked into, wherever it is met. One that
Python's stack bounds where it is frozen cannot be looked into where less of the stack is left."""


def freeze(value: object, left: int = DEEPEST) -> Json:
    """Copy a value into frozen JSON: tuples become lists, texts and numbers those of the built-in classes; what is no
    JSON value becomes opaque, and so does an object two of whose keys have the same text.

    Raises `RecursionError` for one that is nested more than `left` deep.
    """
    if type(value) is dict:
        for name, member in value.items():
            if type(member) not in _PLAIN or type(name) is not str:
                break
        else:
            return FrozenDict(value)
    match value:
        case FrozenDict() | FrozenList() | Opaque() | None | bool():
            return value
        case str() | int() | float():
            return value if type(value) in _PLAIN else scalar(value)
        case Mapping():
            inner = _less(left)
            frozen = FrozenDict({k if type(k) is str else _name(k): freeze(v, inner) for k, v in value.items()})
            return frozen if len(frozen) == len(value) else Opaque(value)
        case list() | tuple():
            inner = _less(left)
            return FrozenList([freeze(v, inner) for v in value])
        case _:
            return Opaque(value)


def scalar(value: str | int | float) -> str | int | float:
    """The text or number that a value of a class of its own is, whatever that class says of it: of `class Color(str,
    Enum)` the value, not the name."""
    if isinstance(value, str):
        return str.__str__(value)
    return int.__int__(value) if isinstance(value, int) else float.__float__(value)


def _name(key: object) -> str:
    return str.__str__(key) if isinstance(key, str) else as_text(key)


def _less(left: int) -> int:
    if left <= 0:
        raise RecursionError("a value is nested too deeply")
    return left - 1


def hold(value: object) -> Json:
    """`freeze` for what comes while a run goes on, which must not end it: a value nested too deeply is opaque."""
    try:
        return freeze(value)
    except RecursionError:
        return Opaque(value)


def thaw(value: Json) -> Json:
    """The plain JSON value: dicts and lists that can be changed; an opaque value is the object itself."""
    match value:
        case dict():
            return {k: thaw(v) for k, v in value.items()}
        case list():
            return [thaw(v) for v in value]
        case Opaque():
            return value.value
        case _:
            return value


def key(value: Json) -> Hashable | None:
    """A hashable key; equal values have equal keys. None for a value that equals nothing."""
    match value:
        case str():
            return value
        case bool():
            return ("bool", value)
        case None:
            return ("null",)
        case int() | float():
            return None if value != value else ("number", value)
        case dict():
            members = [(k, key(v)) for k, v in value.items()]
            return None if any(k is None for _, k in members) else ("object", frozenset(members))
        case list():
            items = tuple(key(v) for v in value)
            return None if None in items else ("list", items)
        case Opaque():
            return ("opaque", id(value.value))
        case _:
            raise TypeError(f"not a frozen value: {value!r}")


def same_value(one: object, other: object) -> bool:
    """Whether two values are the same to the last digit and kind: `1` is not `1.0`, NaN is NaN."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(v, other[k]) for k, v in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    return one == other or (one != one and other != other)


def kind(value: Json) -> str:
    """`text`, `number`, `bool`, `null`, `list`, `object`, or `opaque`."""
    match value:
        case str():
            return "text"
        case bool():
            return "bool"
        case None:
            return "null"
        case int() | float():
            return "number"
        case dict():
            return "object"
        case list():
            return "list"
        case _:
            return "opaque"


def as_number(value: Json) -> int | float | None:
    """The number that a value is, or that a text reads as under JSON's syntax; None for NaN and all else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, str) and len(value) < 400:
        text = value.strip(" \t\r\n")
        if _NUMBER.fullmatch(text):
            return float(text) if any(c in text for c in ".eE") else int(text)
    return None


_MISSING = object()
STARTS = frozenset('{[("-0123456789tfnNITF')
"""How a text begins that is JSON (`NaN` and `Infinity` too), or a Python container or constant, or white space."""
STARTS |= {chr(code) for code in range(0x3001) if chr(code).isspace()}


def read_text(text: str, default: Json = _MISSING) -> Json:
    """The value that a text is as JSON, or as the `repr` of a Python container or constant; else `default`.

    Without a default a text that is neither raises `ValueError`.
    """
    if default is not _MISSING and text[:1] not in STARTS:
        return default
    stripped = text.strip()
    try:
        return freeze(json.loads(stripped))
    except (ValueError, RecursionError):
        pass
    if stripped[:1] in ("{", "[", "(") or stripped in ("True", "False", "None"):
        try:
            return freeze(ast.literal_eval(_ESCAPE.sub(lambda m: m[0] if m[1] else "\\\\", stripped)))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
    if default is _MISSING:
        raise ValueError(f"neither JSON nor a Python literal: {text[:60]!r}")
    return default


def show(value: Json) -> str:
    """A value as JSON text, for sentences; what has none (an opaque value, a number of too many digits) as said by
    `as_text`."""
    try:
        return json.dumps(thaw(value), ensure_ascii=False)
    except (TypeError, ValueError):
        return as_text(value)


def as_text(value: object) -> str:
    """The text of any value. One that Python cannot write (an integer of more than 4300 digits, an object whose `str`
    raises) is named by its type."""
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"
