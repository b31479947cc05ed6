"""What a model was sent at a step, as the reference's `model_input_raw` and `model_input_parsed`.

smolagents builds the whole history anew at each step. A message that is the same as before is written down once and
shared by all steps that contain it, so a record grows with the run and not with its square.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smolagents.memory import ToolCall
from smolagents.models import ChatMessage, MessageRole

from agentltl.agents.call_log import arguments_of
from agentltl.constraints.value import Json
from agentltl.record.plain import plain
from agentltl.record.text import text_of

TASK_PREFIX = "New task:\n"
"""What smolagents puts before the user's words in the first message."""

_TYPES = {
    MessageRole.ASSISTANT: "reasoning",
    MessageRole.TOOL_CALL: "tool_call",
    MessageRole.TOOL_RESPONSE: "tool_result",
}


@dataclass(frozen=True, slots=True)
class _Written:
    """A message, and what has been written down of it."""

    message: ChatMessage
    raw: dict[str, Json]
    text: str
    entry: dict[str, Json]


class MessageWriter:
    """Writes down the messages of one run's model calls; `tools` are those that the run can call, by name."""

    def __init__(self, tools: Mapping[str, object]) -> None:
        self._tools = tools
        self._last: list[_Written] = []

    def write(
        self, messages: Sequence[ChatMessage], calls: Sequence[Sequence[ToolCall]]
    ) -> tuple[list[Json], dict[str, Json]]:
        """Raw and parsed form of the messages; `calls` are those of the steps before, for each step that has some."""
        made = iter(calls)
        written: list[_Written] = []
        for index, message in enumerate(messages):
            of_step = next(made, None) if message.role == MessageRole.TOOL_CALL else None
            known = self._last[index] if index < len(self._last) else None
            written.append(known if known is not None and known.message == message else self._write(message, of_step))
        self._last = written
        return [one.raw for one in written], _parsed(written)

    def _write(self, message: ChatMessage, calls: Sequence[ToolCall] | None) -> _Written:
        role = str(getattr(message.role, "value", message.role))
        raw: dict[str, Json] = {"role": role, "content": plain(message.content)}
        if message.tool_calls:
            raw["tool_calls"] = [
                {
                    "id": c.id,
                    "type": c.type,
                    "function": {"name": str(c.function.name), "arguments": plain(c.function.arguments)},
                }
                for c in message.tool_calls
            ]
        if message.token_usage is not None:
            usage = message.token_usage
            raw["token_usage"] = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        made: list[dict[str, Json]] | None = None
        if calls is not None:
            made = [
                {"id": c.id, "name": str(c.name), "arguments": arguments_of(self._tools.get(c.name), c.arguments)}
                for c in calls
            ]
        text = text_of(message.content) or ""
        entry: dict[str, Json] = {
            "role": role,
            "type": _TYPES.get(message.role, "message"),
            "text": text,
            "tool_calls": made,
        }
        return _Written(message, raw, text, entry)


def _parsed(written: Sequence[_Written]) -> dict[str, Json]:
    first = next((i for i, one in enumerate(written) if one.message.role == MessageRole.USER), None)
    rest = [one for i, one in enumerate(written) if one.message.role != MessageRole.SYSTEM and i != first]
    return {
        "num_messages": len(written),
        "approx_chars": sum(len(one.text) for one in written),
        "system_prompts": [one.text for one in written if one.message.role == MessageRole.SYSTEM],
        "task": None if first is None else written[first].text.removeprefix(TASK_PREFIX),
        "history": [one.entry for one in rest],
    }
