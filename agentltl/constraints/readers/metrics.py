"""Metrics dicts, as this library and the reference record a run, and records of their kind.

A call takes its times from the step it names, unless it brings its own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from agentltl.constraints.readers.arguments import arguments, content_text, error_text, outcome
from agentltl.constraints.readers.fields import at, given, identity, mapping, name, quoted, rest, seconds, text, whole
from agentltl.constraints.trace import Call, Message, Trace
from agentltl.constraints.value import Json
from agentltl.errors import TraceError

NOTHING: Mapping[str, Json] = {}


def from_metrics(metrics: Mapping[str, Json]) -> Trace:
    """The trace of a mapping with a list `tool_calls`.

    An entry has `tool_name` or `name`, `arguments` or `tool_args` (or `args_raw`, as the model wrote them),
    `tool_result` or `result`, and may have `id`, `step`, `turn` (the model message, where `step` only counts the
    calls), `agent`, `error`, `status`, `start_time` and `end_time` in seconds or as ISO 8601 text.
    The user's messages are the list `user_messages` of `{"before_step", "content"}`, else the task in the first
    `model_input_parsed` of `steps`, else not recorded. The other keys become `fields`, and `id` the trace's id.
    """
    if not isinstance(metrics, Mapping):
        raise TraceError(f"{quoted(metrics)} is no metrics\npass a mapping with a list `tool_calls`")
    entries = metrics.get("tool_calls")
    if not isinstance(entries, (list, tuple)):
        inner = metrics.get("metrics")
        nested = isinstance(inner, Mapping) and "tool_calls" in inner
        hint = "pass its `metrics`" if nested else "pass a mapping with a list `tool_calls`, empty for no call"
        raise TraceError(f"there is no list `tool_calls`\n{hint}")
    steps = _Steps(metrics.get("steps"))
    calls = []
    for i, entry in enumerate(entries):
        with at(f"`tool_calls[{i}]`"):
            calls.append(call_of(mapping(entry, "tool call"), steps))
    messages = messages_of(metrics["user_messages"]) if metrics.get("user_messages") is not None else steps.task()
    with at("the fields"):
        fields = rest(metrics, "id", "tool_calls", "steps", "user_messages", "messages")
    return Trace(tuple(calls), messages, identity(metrics, "id"), fields)


def call_of(entry: Mapping[str, Json], steps: _Steps) -> Call:
    """The call of an entry; those before it have been looked up in `steps`."""
    step = steps.find(whole(entry, "step"))
    start = seconds(given(entry, "start_time", "start"))
    end = seconds(given(entry, "end_time", "end"))
    if start is None:
        start = seconds(step.get("start_time"))
    if end is None:
        end = seconds(step.get("end_time"))
    result = given(entry, "tool_result", "result")
    return Call(
        name(entry, "tool_name", "name"),
        arguments(given(entry, "arguments", "tool_args", "args_raw")),
        identity(entry, "id", "tool_id"),
        whole(entry, "turn" if "turn" in entry else "step"),
        text(entry, "agent"),
        start,
        outcome(entry, result, step_error=error_text(step.get("error")), end=end),
    )


def messages_of(entries: object) -> tuple[Message, ...]:
    """The messages of a list `user_messages`."""
    if not isinstance(entries, (list, tuple)):
        raise TraceError(f"`user_messages` is {quoted(entries)} and no list\nwrite a list, empty for no message")
    messages = []
    for i, entry in enumerate(entries):
        with at(f"`user_messages[{i}]`"):
            message = mapping(entry, "message")
            before, said = whole(message, "before_step"), content_text(message.get("content"))
            if before is None:
                raise TraceError("there is no `before_step`\nwrite how many calls had been made before the message")
            if not isinstance(said, str):
                raise TraceError(f"the content {quoted(said)} is no text\nwrite what the user said under `content`")
            messages.append(Message(said, before))
    return tuple(sorted(messages, key=lambda m: m.before))


class _Steps:
    """The steps of a run by their numbers; where a later run began at 1 again, the next of that number is meant."""

    def __init__(self, steps: object) -> None:
        if steps is not None and not isinstance(steps, (list, tuple)):
            raise TraceError(f"`steps` is {quoted(steps)} and no list\nwrite a list, or leave it out")
        self._steps: list[Mapping[str, Json]] = []
        self._places: dict[int, list[int]] = {}
        self._at = 0
        for i, entry in enumerate(steps or ()):
            with at(f"`steps[{i}]`"):
                step = mapping(entry, "step")
                number = whole(step, "step_number")
            self._steps.append(step)
            if number is not None:
                self._places.setdefault(number, []).append(i)

    def find(self, number: int | None) -> Mapping[str, Json]:
        """The step of a call that follows the calls looked up before; an empty one if there is none."""
        places = self._places.get(number) if number is not None else None
        if not places:
            return NOTHING
        following = bisect_left(places, self._at)
        self._at = places[following if following < len(places) else 0]
        return self._steps[self._at]

    def task(self) -> tuple[Message, ...] | None:
        """What the user asked for, None where the steps do not say."""
        for step in self._steps:
            parsed = step.get("model_input_parsed")
            task = parsed.get("task") if isinstance(parsed, Mapping) else None
            if isinstance(task, str):
                return (Message(task),)
        return None


NO_STEPS = _Steps(None)
"""For calls of a run that records no steps."""
