"""What one field of a record says: a name, a number, a time, a text, or that it says none of these.

Messages leave out the place of the entry; `at` puts it before them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from agentltl.constraints.value import FrozenDict, Json, as_number, freeze
from agentltl.errors import TraceError


@contextmanager
def at(place: str) -> Iterator[None]:
    """Put the place before the message of a `TraceError`; a value nested beyond Python's stack becomes one."""
    try:
        yield
    except TraceError as error:
        raise TraceError(f"{place}: {error}") from None
    except RecursionError:
        raise TraceError(f"{place}: a value is nested too deeply\nflatten it, or leave the entry out") from None


def quoted(value: object) -> str:
    """A value of the user in backticks, cut short."""
    text = repr(value)
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"


def mapping(value: object, what: str) -> Mapping[str, Json]:
    """A mapping, or an object that dumps itself to one, as the clients' message classes do."""
    if isinstance(value, Mapping):
        return value
    dump: Callable[[], object] | None = getattr(value, "model_dump", None)
    if callable(dump) and isinstance(dumped := dump(), Mapping):
        return dumped
    raise TraceError(f"{quoted(value)} is no {what}\nwrite a mapping with text keys")


def given(record: Mapping[str, Json], *keys: str) -> Json:
    """The value under the first of the keys that is there and not null."""
    return next((record[k] for k in keys if record.get(k) is not None), None)


def name(record: Mapping[str, Json], *keys: str) -> str:
    """The name of a tool, as it was written."""
    found = given(record, *keys)
    if found is None or found == "":
        raise TraceError(f"the call has no name\nname its tool under `{keys[0]}`")
    if not isinstance(found, str):
        raise TraceError(f"the name {quoted(found)} is no text\nname the tool under `{keys[0]}` as a text")
    return str(found)


def text(record: Mapping[str, Json], key: str) -> str | None:
    """A text or nothing."""
    value = record.get(key)
    if value is None or isinstance(value, str):
        return value
    raise TraceError(f"`{key}` is {quoted(value)} and no text\nwrite it as a text, or leave it out")


def identity(record: Mapping[str, Json], *keys: str) -> str | None:
    """An id: a text, or a whole number as text; an empty one is none."""
    value = given(record, *keys)
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise TraceError(f"the id {quoted(value)} is no text\nwrite it as a text, or leave it out")


def whole(record: Mapping[str, Json], key: str) -> int | None:
    """A whole number or nothing."""
    value = record.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise TraceError(f"`{key}` is {quoted(value)} and no whole number\nwrite a whole number, or leave it out")


def seconds(value: object) -> float | None:
    """A time in seconds: a number (also as text), an ISO 8601 text or a datetime; without an offset it is UTC."""
    if value is None:
        return None
    try:
        number = as_number(value)
        if number is not None and math.isfinite(number):
            return float(number)
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
        if isinstance(moment, datetime):
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        pass
    raise TraceError(f"{quoted(value)} is no time\nwrite seconds as a number, or an ISO 8601 text")


def rest(record: Mapping[str, Json], *taken: str) -> FrozenDict:
    """The fields of a trace: what the record says besides its calls and messages."""
    return FrozenDict({str(k): freeze(v) for k, v in record.items() if k not in taken})
