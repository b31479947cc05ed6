"""Any model that litellm reaches, as a smolagents model that keeps what the base class drops.

Each message, and the last delta of each stream, carries a `ModelReport`; one request is one attempt.
The key is kept apart from the settings: it goes into the request and nowhere else.
"""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import smolagents
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)
from smolagents.tools import Tool

from agentltl.agents.models.errors import EmptyReplyError
from agentltl.agents.models.hidden_error import hide_in_error
from agentltl.agents.models.litellm_client import LiteLLMClient
from agentltl.agents.models.price import with_parts
from agentltl.agents.models.redaction import known_secrets, remember, without_secrets
from agentltl.agents.models.registry import register
from agentltl.agents.models.report import ModelReport, attach, read_response, report_of
from agentltl.agents.models.stream import StreamReader, came_to_nothing, is_estimated, tokens_of

Messages = Sequence[ChatMessage | dict[str, Any]]


class LiteLLMModelWithReport(smolagents.LiteLLMModel):
    """A litellm model with everything the provider reports, and no retries of its own."""

    def __init__(
        self,
        model_id: str,
        api_base: str | None = None,
        api_key: str | None = None,
        custom_role_conversions: dict[str, str] | None = None,
        flatten_messages_as_text: bool | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(
            model_id=model_id,
            api_base=api_base,
            custom_role_conversions=custom_role_conversions,
            flatten_messages_as_text=flatten_messages_as_text,
            **settings,
        )
        self._api_key = api_key
        remember(api_key)

    def create_client(self) -> LiteLLMClient:
        """What `generate` calls; litellm itself is imported at the first request."""
        return LiteLLMClient()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_id!r})"

    def to_dict(self) -> dict[str, Any]:
        """The settings without any key; `from_dict` builds the model again, with the key from the environment."""
        return {**without_secrets(self.kwargs), "model_id": self.model_id, "api_base": self.api_base}

    def generate(
        self,
        messages: Messages,
        stop_sequences: list[str] | None = None,
        response_format: dict[str, Any] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **kwargs: Any,
    ) -> ChatMessage:
        """One reply; its `ModelReport` is found by `report_of`."""
        request = self._request(messages, stop_sequences, response_format, tools_to_call_from, kwargs)
        with self._secrets_hidden():
            response = self._ask(request)
        report = with_parts(read_response(response), self.model_id, getattr(response, "usage", None))
        if not response.choices:
            raise self._empty(report)
        answer = response.choices[0].message
        content = answer.content
        if isinstance(content, str) and "stop" not in request:
            content = up_to(content, stop_sequences or [])
        message = ChatMessage(
            role=MessageRole(answer.role or "assistant"),
            content=content,
            tool_calls=[own_call(call) for call in answer.tool_calls or ()] or None,
            raw=response,
            token_usage=tokens_of(report),
        )
        attach(message, report)
        return message

    def generate_stream(
        self,
        messages: Messages,
        stop_sequences: list[str] | None = None,
        response_format: dict[str, Any] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **kwargs: Any,
    ) -> Generator[ChatMessageStreamDelta, None, None]:
        """The reply as it is written; the last delta has the token counts and carries the `ModelReport`."""
        request = self._request(messages, stop_sequences, response_format, tools_to_call_from, kwargs)
        with self._secrets_hidden():
            begun = time.perf_counter()
            stream = self._ask({**request, "stream": True, "stream_options": {"include_usage": True}})
            reader = StreamReader(begun)
            for chunk in stream:
                yield from reader.read(chunk)
            last = reader.last(estimated=is_estimated(stream))
            report = with_parts(report_of(last), self.model_id, reader.usage)
            if came_to_nothing(stream, report) and reader.first is None:
                raise self._empty(report)
            attach(last, report)
            yield last

    def _request(
        self,
        messages: Messages,
        stop_sequences: list[str] | None,
        response_format: dict[str, Any] | None,
        tools: list[Tool] | None,
        more: dict[str, Any],
    ) -> dict[str, Any]:
        own = self.kwargs.get("timeout")
        request: dict[str, Any] = self._prepare_completion_kwargs(
            messages=list(messages),
            stop_sequences=stop_sequences,
            response_format=response_format,
            tools_to_call_from=tools,
            model=self.model_id,
            api_base=self.api_base,
            api_key=self._api_key,
            convert_images_to_image_urls=True,
            custom_role_conversions=self.custom_role_conversions,
            **more,
        )
        if isinstance(own, int | float) and "timeout" in more:  # smolagents would have the model's own only
            request["timeout"] = min(own, more["timeout"])
        return request

    def _empty(self, report: ModelReport) -> EmptyReplyError:
        """The error for an answer without an answer, which may have cost something all the same."""
        error = EmptyReplyError(f"`{self.model_id}` answered without a choice\ntry again, or look at the provider")
        attach(error, report)
        return error

    def _ask(self, request: dict[str, Any]) -> Any:
        self._apply_rate_limit()  # type: ignore[no-untyped-call]
        return self.client.completion(**request)

    @contextmanager
    def _secrets_hidden(self) -> Generator[None, None, None]:
        try:
            yield
        except Exception as error:
            hide_in_error(error, known_secrets(self._api_key))
            raise


def own_call(call: Any) -> ChatMessageToolCall:
    """litellm's call as smolagents', which its older releases do not make of it by themselves."""
    function = ChatMessageToolCallFunction(name=call.function.name, arguments=call.function.arguments)
    return ChatMessageToolCall(function=function, id=call.id, type="function")


def up_to(content: str, stops: list[str]) -> str:
    """The text before the first of the stop texts, for a model that cannot stop there by itself."""
    return content[: min((at for stop in stops if (at := content.find(stop)) >= 0), default=len(content))]


register(LiteLLMModelWithReport)
