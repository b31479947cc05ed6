"""`model="local"`: a small model in this process, whose every reply is a well-formed call.

It is the litellm model pointed at the embedded server: a live run, a recording over HTTP and its replay are one path.
"""

import hashlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
)
from smolagents.tools import Tool

from agentltl.agents.models.calls import CallReader, as_written, call_format, read_call
from agentltl.agents.models.litellm_model import LiteLLMModelWithReport, Messages
from agentltl.agents.models.registry import register
from agentltl.agents.models.report import is_last
from agentltl.agents.models.server import Server, engine, serve
from agentltl.agents.models.stream import ThinkingDelta
from agentltl.agents.models.weights import DEFAULT, PATH_VARIABLE, PINNED, locate

MAX_TOKENS = 1024
"""A reply is cut there unless the setting `max_tokens` says otherwise: small models can write without end."""


class LocalModel(LiteLLMModelWithReport):
    """The embedded model `1.5b`, `0.5b`, or a GGUF file of yours; None takes `AGENTLTL_LOCAL_MODEL`, else the default.

    The file is looked for, checked and loaded at the first request.
    With a `server` given, that one is asked and no file is needed: so a recording is replayed.
    The temperature is 0 unless set, which is still not reproducible from one state of the prompt cache to another.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        server: Server | None = None,
        temperature: float = 0.0,
        max_tokens: int = MAX_TOKENS,
        **settings: Any,
    ) -> None:
        self.name = name
        self._server = server
        super().__init__(
            model_id=f"local:{name or DEFAULT}",
            flatten_messages_as_text=True,
            temperature=temperature,
            max_tokens=max_tokens,
            **settings,
        )

    @property
    def server(self) -> Server:
        """The server that answers, with its URL and key, for any OpenAI client; started when it is first asked for."""
        if self._server is not None:
            return self._server
        engine()  # Asked before the file is: nobody shall fetch a gigabyte to hear then that a package is missing.
        return serve(locate(self.name), self._served_name)

    def to_dict(self) -> dict[str, Any]:
        """The settings; the saved model looks for its file where it is built again."""
        return {"name": self.name, **{key: value for key, value in super().to_dict().items() if key in self.kwargs}}

    def generate(
        self,
        messages: Messages,
        stop_sequences: list[str] | None = None,
        response_format: dict[str, Any] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **kwargs: Any,
    ) -> ChatMessage:
        """One reply: with tools a call of one of them, without tools a text."""
        # A stop text inside an argument would cut the call in the middle.
        stops = None if tools_to_call_from else stop_sequences
        message = super().generate(messages, stops, response_format, tools_to_call_from, **kwargs)
        call = read_call(message.content) if tools_to_call_from and isinstance(message.content, str) else None
        if call is not None:
            function = ChatMessageToolCallFunction(name=call.name, arguments=call.arguments)
            message.tool_calls = [ChatMessageToolCall(function=function, id=call_id(messages), type="function")]
            message.content = None
        return message

    def generate_stream(
        self,
        messages: Messages,
        stop_sequences: list[str] | None = None,
        response_format: dict[str, Any] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **kwargs: Any,
    ) -> Generator[ChatMessageStreamDelta, None, None]:
        """The reply as it is written: with tools the pieces of a call, without tools those of a text."""
        stops = None if tools_to_call_from else stop_sequences
        stream = super().generate_stream(messages, stops, response_format, tools_to_call_from, **kwargs)
        if not tools_to_call_from:
            yield from stream
            return
        reader, begun = CallReader(), False
        for delta in stream:
            last = is_last(delta)
            arguments = reader.feed(delta.content or "")
            # What was no call at its end is a text, and smolagents says what is wrong with it.
            delta.content = reader.text if last and reader.name is None else None
            if reader.name is not None and (arguments or not begun):
                name, begun = ("" if begun else reader.name), True
                function = ChatMessageToolCallFunction(name=name, arguments=arguments)
                delta.tool_calls = [
                    ChatMessageToolCallStreamDelta(index=0, id=call_id(messages), type="function", function=function)
                ]
            if last or delta.tool_calls or isinstance(delta, ThinkingDelta):
                yield delta

    @property
    def _served_name(self) -> str:
        weights = PINNED.get(self._source.lower())
        return weights.model_name if weights else Path(self._source).stem

    @property
    def _source(self) -> str:
        return self.name or os.environ.get(PATH_VARIABLE) or DEFAULT

    def _request(
        self,
        messages: Messages,
        stop_sequences: list[str] | None,
        response_format: dict[str, Any] | None,
        tools: list[Tool] | None,
        more: dict[str, Any],
    ) -> dict[str, Any]:
        if tools and response_format is None:
            response_format = call_format(tools)
        request = super()._request(as_written(messages), stop_sequences, response_format, None, more)
        server = self.server
        return {**request, "model": f"openai/{self._served_name}", "api_base": server.url, "api_key": server.key}


def call_id(messages: Messages) -> str:
    """An id for the call that answers a conversation: the same in a replay, another one in the next step."""
    return f"call_{hashlib.sha256(repr([_plain(message) for message in messages]).encode()).hexdigest()[:12]}"


def _plain(message: ChatMessage | dict[str, Any]) -> object:
    return message if isinstance(message, dict) else (message.role, message.content)


register(LocalModel)
