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
from agentltl.agents.remembering import NUMBER, number_of
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
    number: int | None
    raw: dict[str, Json]
    text: str
    entry: dict[str, Json]

    def is_of(self, message: ChatMessage) -> bool:
        """Whether this is what there is to write down of the message."""
        if self.number is not None and self.number == number_of(message):
            return True
        return self.message is message or self.message == message


class MessageWriter:
    """Writes down the messages of one run's model calls; `tools` are those that the run can call, by name."""

    def __init__(self, tools: Mapping[str, object]) -> None:
        self._tools = tools
        self._forget()

    def _forget(self) -> None:
        self._written: list[_Written] = []
        self._numbers: list[int | None] = []
        self._raw: list[Json] = []
        self._systems: list[str] = []
        self._task: str | None = None
        self._history: list[Json] = []
        self._chars = self._announced = 0

    def write(
        self, messages: Sequence[ChatMessage], calls: Sequence[Sequence[ToolCall]]
    ) -> tuple[list[Json], dict[str, Json]]:
        """Raw and parsed form of the messages; `calls` are those of the steps before, for each step that has some."""
        known = self._written
        same = self._known(messages)
        if same < len(known):
            self._forget()
            for one in known[:same]:
                self._append(one)
        for message in messages[same:]:
            of_step = None
            if message.role == MessageRole.TOOL_CALL and self._announced < len(calls):
                of_step = calls[self._announced]
            self._append(self._write(message, of_step))
        parsed: dict[str, Json] = {
            "num_messages": len(self._written),
            "approx_chars": self._chars,
            "system_prompts": self._systems[:],
            "task": self._task,
            "history": self._history[:],
        }
        return self._raw[:], parsed

    def _known(self, messages: Sequence[ChatMessage]) -> int:
        """How many messages from the first on have been written down, in this order."""
        numbers = [message.__dict__.get(NUMBER) for message in messages[: len(self._numbers)]]
        if numbers == self._numbers and None not in numbers:
            return len(numbers)
        for place, (one, message) in enumerate(zip(self._written, messages, strict=False)):
            if not one.is_of(message):
                return place
        return min(len(self._written), len(messages))

    def _append(self, one: _Written) -> None:
        role = one.message.role
        self._written.append(one)
        self._numbers.append(one.number)
        self._raw.append(one.raw)
        self._chars += len(one.text)
        self._announced += role == MessageRole.TOOL_CALL
        if role == MessageRole.SYSTEM:
            self._systems.append(one.text)
        elif role == MessageRole.USER and self._task is None:
            self._task = one.text.removeprefix(TASK_PREFIX)
        else:
            self._history.append(one.entry)

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
        return _Written(message, number_of(message), raw, text, entry)
