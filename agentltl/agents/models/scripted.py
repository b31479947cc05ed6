"""A model that says what a test wants it to say, one reply per request, and remembers what it was asked.

A reply is written as plainly as it reads: `("get_order", {"order_id": "W1"})`, a list of such calls, a text,
an exception to raise, a `Reply` with every detail, or a function of the messages and the tools that returns one.
"""

import json
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    Model,
)
from smolagents.tools import Tool

from agentltl.agents.models.report import ModelReport, attach
from agentltl.agents.models.stream import ThinkingDelta, tokens_of

Call = tuple[str, Any] | tuple[str, Any, str | None]
"""A tool's name, its arguments (a dict, or any other value to see what becomes of it), and optionally an id."""


class ScriptError(AssertionError):
    """The script and the run do not fit: more requests than replies, or a reply that is none."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply in full: calls, text, and what a provider may report; without both token counts it reports none."""

    calls: Sequence[Call] = ()
    text: str | None = None
    thinking: str | None = None
    thinking_signature: str | None = None
    input_tokens: int | None = 10
    output_tokens: int | None = 5
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    cache_creation_tokens: int | None = None
    finish_reason: str | None = None
    model: str | None = "scripted"


Written = Reply | Call | list[Call] | str | BaseException
Script = Written | Callable[[list[ChatMessage], list[Tool]], Written]


@dataclass(frozen=True, slots=True)
class Request:
    """What the model was asked: the messages, the tools that were offered, and the other settings."""

    messages: list[ChatMessage]
    tools: list[Tool]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def tool_names(self) -> list[str]:
        """The names of the offered tools, in their order."""
        return [tool.name for tool in self.tools]

    @property
    def text(self) -> str:
        """Everything that was said, as one text."""
        return "\n".join(_text(message) for message in self.messages)


class ScriptedModel(Model):
    """Gives the replies in order; `requests` has what it was asked.

    Calls without an id get `call_1`, `call_2`, ... over the whole script; an id of None is given as None.
    With `streaming=True` it also has `generate_stream`, which sends texts word by word and arguments in halves.
    One request more than there are replies raises `ScriptError`.
    """

    def __init__(self, replies: Iterable[Script], *, model_id: str = "scripted", streaming: bool = False) -> None:
        super().__init__(model_id=model_id)
        self.replies = list(replies)
        self.requests: list[Request] = []
        self._ids = 0
        if streaming:
            # smolagents asks whether the attribute exists, so a model that cannot stream must not have it.
            self.generate_stream = self._stream

    @property
    def left(self) -> int:
        """How many replies have not been asked for."""
        return len(self.replies) - len(self.requests)

    def generate(
        self,
        messages: list[ChatMessage],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **kwargs: Any,
    ) -> ChatMessage:
        """The next reply as a message; an exception in the script is raised."""
        reply = self._next(messages, tools_to_call_from, stop_sequences, response_format, kwargs)
        report = _report(reply)
        message = ChatMessage(
            role=MessageRole.ASSISTANT,
            content=reply.text,
            tool_calls=[self._call(call) for call in reply.calls] or None,
            token_usage=tokens_of(report),
        )
        attach(message, report)
        return message

    def _stream(
        self,
        messages: list[ChatMessage],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **kwargs: Any,
    ) -> Generator[ChatMessageStreamDelta, None, None]:
        reply = self._next(messages, tools_to_call_from, stop_sequences, response_format, kwargs)
        if reply.thinking:
            yield ThinkingDelta(reply.thinking)
        for word in re.findall(r"\s*\S+|\s+", reply.text or ""):
            yield ChatMessageStreamDelta(content=word)
        for index, call in enumerate(reply.calls):
            yield from _call_deltas(index, self._call(call))
        report = _report(reply)
        last = ChatMessageStreamDelta(content="", token_usage=tokens_of(report))
        attach(last, report)
        yield last

    def _next(
        self,
        messages: list[ChatMessage],
        tools: list[Tool] | None,
        stop_sequences: list[str] | None,
        response_format: dict[str, str] | None,
        more: dict[str, Any],
    ) -> Reply:
        settings = {"stop_sequences": stop_sequences, "response_format": response_format, **more}
        number = len(self.requests)
        self.requests.append(Request(list(messages), list(tools or []), settings))
        if number >= len(self.replies):
            raise ScriptError(
                f"the script has {len(self.replies)} replies and the model was asked once more\n"
                f"the last thing it was told: {_text(messages[-1]) if messages else 'nothing'}"
            )
        written = self.replies[number]
        if callable(written):
            written = written(list(messages), list(tools or []))
        return _read(written, number)

    def _call(self, call: Call) -> ChatMessageToolCall:
        self._ids += 1
        given: Any = call[2] if len(call) == 3 else f"call_{self._ids}"
        function = ChatMessageToolCallFunction(name=call[0], arguments=call[1])
        return ChatMessageToolCall(function=function, id=given, type="function")


def _read(written: Written, number: int) -> Reply:
    match written:
        case Reply():
            return written
        case BaseException():
            raise written
        case str():
            return Reply(text=written)
        case tuple() if is_call(written):
            return Reply(calls=[written])
        case list() if all(is_call(call) for call in written):
            return Reply(calls=written)
    raise ScriptError(
        f"reply {number} of the script is no reply: `{written!r}`\n"
        "give a (tool, arguments) pair, a list of them, a text, an exception, a Reply or a function"
    )


def is_call(written: object) -> bool:
    """Whether this is a tool's name with its arguments, and perhaps an id."""
    match written:
        case (str(), _) | (str(), _, str() | None):
            return True
    return False


def _report(reply: Reply) -> ModelReport:
    return ModelReport(
        model=reply.model,
        finish_reason=reply.finish_reason or ("tool_calls" if reply.calls else "stop"),
        thinking=reply.thinking,
        thinking_signature=reply.thinking_signature,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        thinking_tokens=reply.thinking_tokens,
        cached_tokens=reply.cached_tokens,
        cache_creation_tokens=reply.cache_creation_tokens,
    )


def _call_deltas(index: int, call: ChatMessageToolCall) -> Generator[ChatMessageStreamDelta, None, None]:
    """A call in three pieces: its name and id, and its arguments in halves."""
    arguments = call.function.arguments
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    middle = len(text) // 2
    pieces = [(call.id, call.function.name, ""), (None, "", text[:middle]), (None, "", text[middle:])]
    for given, name, piece in pieces:
        function = ChatMessageToolCallFunction(name=name, arguments=piece)
        delta = ChatMessageToolCallStreamDelta(index=index, id=given, type="function", function=function)
        yield ChatMessageStreamDelta(content=None, tool_calls=[delta])


def _text(message: ChatMessage) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or [])
