"""One recorded trace in any of its forms: its keys tell which it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentltl.constraints.readers.fields import at, identity, quoted, rest
from agentltl.constraints.readers.memory import from_smolagents
from agentltl.constraints.readers.messages import from_messages
from agentltl.constraints.readers.metrics import from_metrics
from agentltl.constraints.trace import Trace
from agentltl.constraints.value import FrozenDict, Json
from agentltl.errors import TraceError


def trace_of(value: object) -> Trace:
    """The trace that a JSON value records.

    A mapping is a result with `metrics`, or has a list `tool_calls`, or a list `messages`, looked for in this order; a
    list holds the messages of one chat, or the steps of one smolagents memory.
    """
    try:
        if isinstance(value, Mapping):
            return _from_mapping(value)
        if isinstance(value, list):
            if is_chat(value):
                return from_messages(value)
            if all(isinstance(entry, Mapping) and ("step_number" in entry or "task" in entry) for entry in value[:1]):
                return from_smolagents(value)
    except RecursionError:
        raise TraceError("a value is nested too deeply\nflatten it, or leave it out") from None
    raise TraceError(
        f"{quoted(value)} is no trace\nwrite an object with `tool_calls` or `messages`, or a list of messages"
    )


def is_chat(value: list[Json]) -> bool:
    """Whether a list holds the messages of one chat; an empty one does."""
    return all(isinstance(entry, Mapping) and "role" in entry for entry in value)


def _from_mapping(value: Mapping[str, Json]) -> Trace:
    metrics = value.get("metrics")
    if isinstance(metrics, Mapping) and "tool_calls" in metrics:
        with at("`metrics`"):
            trace = from_metrics(metrics)
        outer = rest(value, "id", "metrics", "tool_calls", "steps", "user_messages", "messages")
        fields = FrozenDict({**trace.fields, **outer})
        return replace(trace, id=identity(value, "id") or trace.id, fields=fields)
    if value.get("tool_calls") is not None and "role" not in value:
        return from_metrics(value)
    if value.get("messages") is not None:
        return from_messages(value)
    if "role" in value:
        raise TraceError("this is one message, not a chat\nput all messages of one chat in a list, on one line")
    if "metrics" in value:
        raise TraceError("the result has no metrics with a list `tool_calls`\nrecord the metrics of the run, too")
    raise TraceError(
        "there is neither `tool_calls` nor `messages`\nwrite the calls of a run, or the messages of a chat"
    )
