"""JSON texts decoded by the faster library `orjson` where it is installed, with the same values as by `json`.

What `orjson` refuses (NaN, halves of a surrogate pair, a byte order mark, ...) is left to `json`. It reads a whole
number beyond 64 bits as a float, so a value of which the numbers matter has to be asked for by `parse`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import cast

from agentltl.constraints.value import Json

_DIGITS = bytes(b"0"[0] if chr(byte).isdigit() and byte < 128 else byte for byte in range(256))
_RUN = b"0" * 19


@cache
def faster() -> Callable[[str | bytes | bytearray], Json] | None:
    """The decoder of `orjson`, None where it is not installed."""
    try:
        return cast("Callable[[str | bytes | bytearray], Json]", import_module("orjson").loads)
    except ImportError:
        return None


def has_long_number(raw: str | bytes | bytearray) -> bool:
    """Whether a text has so many digits in a row that they may be a whole number beyond 64 bits."""
    content = raw.encode("utf-8", "replace") if isinstance(raw, str) else raw
    return _RUN in content.translate(_DIGITS)
