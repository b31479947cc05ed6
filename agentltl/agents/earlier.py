"""An earlier transcript as what an agent remembers: the conversation that its next run goes on with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from smolagents.memory import ActionStep, TaskStep, ToolCall
from smolagents.monitoring import Timing

from agentltl.agents.conversation import RememberedError, Step
from agentltl.constraints.readers.messages import UNRUN, from_messages
from agentltl.constraints.trace import Call
from agentltl.constraints.value import Json, thaw
from agentltl.errors import ConstraintError, TraceError
from agentltl.guard.approvals import APPROVED
from agentltl.record.text import text_of

Messages = Sequence[Mapping[str, Json]]


def checked(messages: Messages) -> list[dict[str, Json]]:
    """The messages as a list. `ConstraintError` for what is no transcript."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise ConstraintError(
            "`messages` is no transcript\ngive a list of messages, like the `messages` of an earlier result"
        )
    found = list(messages)
    try:
        calls = from_messages(found).calls
    except TraceError as error:
        raise ConstraintError(f"`messages` is no transcript that can be gone on with: {error}") from error
    if any(call.tool == APPROVED for call in calls):
        raise ConstraintError(f"`messages` has a call of `{APPROVED}`, which is no tool but an approval\nleave it out")
    return [dict(message) for message in found]


def remembered(messages: Messages) -> list[Step]:
    """The steps of the transcript: a task for each message of the user, a step for each of the assistant. System
    messages are left out, since an agent has its own."""
    every = from_messages([_ran(message) for message in messages]).calls
    calls: dict[int, list[Call]] = {}
    for call in every:
        calls.setdefault(call.step or 0, []).append(call)
    return list(_steps(messages, calls))


def _ran(message: Mapping[str, Json]) -> Mapping[str, Json]:
    """The message as if its call had run: the model saw what came of those that did not."""
    return {**message, "status": None} if message.get("status") in UNRUN else message


def _steps(messages: Messages, calls: Mapping[int, list[Call]]) -> Iterator[Step]:
    number = 0
    last: ActionStep | None = None
    for message in messages:
        text = text_of(message.get("content"))
        if message.get("role") == "user" and message.get("is_error"):
            if last is not None and text:
                last.error = RememberedError(text)
        elif message.get("role") == "user" and text:
            yield TaskStep(text)
        elif message.get("role") == "assistant":
            number += 1
            made = calls.get(number, [])
            last = ActionStep(
                step_number=number,
                timing=Timing(0.0, 0.0),
                model_output=text,
                tool_calls=[_tool_call(call, place) for place, call in enumerate(made)] or None,
                observations="\n".join(_observed(call) for call in made) if made else None,
            )
            yield last


def _tool_call(call: Call, place: int) -> ToolCall:
    return ToolCall(call.tool, thaw(call.args), call.id or f"call_{call.step}_{place}")


def _observed(call: Call) -> str:
    outcome = call.outcome
    return "" if outcome is None else outcome.text or outcome.error or ""
