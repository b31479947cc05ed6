"""Arguments and results in every shape in which they are recorded.

Logs write arguments as an object, as JSON text, as Python's `repr` or as a bare value; a rule sees an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agentltl.constraints.trace import NEVER, Outcome
from agentltl.constraints.value import FrozenDict, Json, freeze, read_text, show


def arguments(value: object, first_input: str = "input") -> FrozenDict:
    """The arguments of a call.

    Text that is JSON or Python's `repr` is parsed; null and empty text are no arguments; any other bare value stands
    under the tool's first input, or under `input` where the tool is not known.
    """
    if isinstance(value, str):
        value = read_text(value, value) if value.strip() else None
    frozen = freeze(value)
    if frozen is None:
        return FrozenDict()
    if isinstance(frozen, FrozenDict):
        return frozen
    return FrozenDict({first_input: frozen})


def error_text(value: object) -> str | None:
    """The text of an error; null, false and what is empty are none."""
    if not value:
        return None
    if isinstance(value, str):
        return str(value)
    if value is True:
        return "error"
    if isinstance(value, Mapping):
        message = value.get("message")
        return str(message) if isinstance(message, str) and message else show(freeze(value))
    if isinstance(value, BaseException):
        return str(value) or type(value).__name__
    return show(freeze(value))


def outcome(
    record: Mapping[str, Json], result: object, *, step_error: str | None = None, end: float | None = None
) -> Outcome:
    """What a record says came of its call.

    A record with an `error` key: a text is a failure, none beside a null result is a call that never settled. A record
    without one is ok, unless its result is null and its step has an error.
    """
    error = error_text(record.get("error"))
    if result is None and error is None:
        if "error" in record:
            return NEVER
        error = step_error
    status = record.get("status")
    return Outcome.of(result, error, status if isinstance(status, str) else None, end)


def content_text(content: object) -> object:
    """The text of a message's content: blocks are joined line by line; what holds no text is returned as it is."""
    if isinstance(content, (str, bytes, Mapping)) or not isinstance(content, Iterable):
        return content
    blocks = list(content)
    texts = [b if isinstance(b, str) else b.get("text") for b in blocks if isinstance(b, (str, Mapping))]
    found = [str(t) for t in texts if isinstance(t, str)]
    are_blocks = all(isinstance(b, Mapping) and "type" in b for b in blocks)
    return "\n".join(found) if found and are_blocks else blocks
