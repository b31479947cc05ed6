"""A model that remembers its last call: what it was sent, what came back, and what went wrong.

smolagents turns an error in the last model call of a run into an answer, and keeps neither that call's messages nor its
reply; here they are found. Who wants to know is told of each call when it is over, of every retry and every fallback,
streamed ones included.

Here is also where a run streams: smolagents' own way renders the whole reply anew for each piece of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    Model,
    agglomerate_stream_deltas,
)

from agentltl.agents.attempt import report_of_stream
from agentltl.agents.limits import Spending
from agentltl.agents.models.leaf import ask, ask_stream
from agentltl.agents.models.litellm_model import up_to
from agentltl.agents.models.redaction import without_secrets
from agentltl.agents.models.report import attach
from agentltl.agents.models.watch import Told, Watch, watched_by, within

Stream = Generator[ChatMessageStreamDelta]


class RunCancelled(BaseException):
    """The consumer of a run has gone. No `Exception`: whatever is in between lets it through."""


class WatchedModel:
    """Passes everything on to `model`. It has `generate_stream` exactly when that has.

    `told` hears of each call of a model that is made, and of each fallback; `spending` are the limits for the calls.
    With `streaming` a call of `generate` asks the model to write piece by piece, if it can: `begin` is called before
    the first piece and `came` with each. Once `cancelled` says so, a call raises `RunCancelled`, before a retry and in
    the middle of a stream too.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.messages: Sequence[ChatMessage] | None = None
        self.reply: ChatMessage | None = None
        self.error: Exception | None = None
        self.rest()

    def rest(self) -> None:
        """Nobody wants to know any more."""
        self.told: Callable[[Told], None] | None = None
        self.spending: Spending | None = None
        self.streaming = False
        self.begin: Callable[[], None] = lambda: None
        self.came: Callable[[ChatMessageStreamDelta], None] = lambda _: None
        self.cancelled: Callable[[], bool] = lambda: False

    def generate(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        """The model's own `generate`, remembered."""
        if self.streaming and hasattr(self.model, "generate_stream"):
            return self._generate_in_pieces(messages, *args, **kwargs)
        self._require_consumer()
        self.messages, self.reply, self.error = messages, None, None
        try:
            with self._watching():
                reply = ask(self.model, list(messages), *args, **kwargs)
        except BaseException as error:
            self._failed(error)
            raise
        self.reply = reply
        return reply

    def _generate_in_pieces(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        self._require_consumer()
        self.begin()
        deltas = []
        for delta in self.generate_stream(list(messages), *args, **kwargs):
            deltas.append(delta)
            self.came(delta)
            self._require_consumer()
        reply = agglomerate_stream_deltas(deltas)
        if isinstance(reply.content, str):
            reply.content = up_to(reply.content, kwargs.get("stop_sequences") or []) or None
        attach(reply, report_of_stream(deltas))
        self.messages, self.reply = messages, reply
        return reply

    def to_dict(self) -> dict[str, Any]:
        """What the model gives of itself, without keys."""
        return without_secrets(self.model.to_dict())

    def _require_consumer(self) -> None:
        if self.cancelled():
            raise RunCancelled

    def _generate_stream(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> Stream:
        self.messages, self.reply, self.error = messages, None, None
        try:
            yield from within(self._watching, ask_stream(self.model, messages, *args, **kwargs))
        except BaseException as error:
            self._failed(error)
            raise

    def _watching(self) -> AbstractContextManager[None]:
        if self.told is None:
            return nullcontext()
        return watched_by(Watch(self.told, self.spending, self._require_consumer))

    def _failed(self, error: BaseException) -> None:
        self.error = error if isinstance(error, Exception) else None

    def __getattr__(self, name: str) -> Any:
        if name == "model":  # a copy that is still being made
            raise AttributeError(name)
        own = getattr(self.model, name)
        return self._generate_stream if name == "generate_stream" else own
