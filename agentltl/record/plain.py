"""Plain JSON values from whatever a run hands over, so that a record can be written down and read back."""

from __future__ import annotations

from collections.abc import Mapping

from agentltl.constraints.value import Json, as_text

_BITS = 8_192
"""Integers of at most so many bits are numbers; Python and JSON readers bound what they write and read as digits."""


def plain(value: object) -> Json:
    """The value as JSON: mappings become dicts with text keys, tuples and sets lists, anything else its text.

    What is nested too deeply to be written, and an integer of thousands of digits, are named by their type.
    """
    try:
        return _plain(value)
    except RecursionError:
        return f"<{type(value).__name__}>"


def _plain(value: object) -> Json:
    match value:
        case None | bool():
            return value
        case str():
            return str(value) if type(value) is not str else value
        case int():
            return int(value) if value.bit_length() <= _BITS else f"<{type(value).__name__}>"
        case float():
            return float(value)
        case Mapping():
            return {as_text(k): _plain(v) for k, v in value.items()}
        case list() | tuple():
            return [_plain(v) for v in value]
        case set() | frozenset():
            return sorted((_plain(v) for v in value), key=repr)
        case _:
            return as_text(value)
