"""A model that remembers its last call: what it was sent, what came back, and what went wrong.

smolagents turns an error in the last model call of a run into an answer, and keeps neither that call's messages nor its
reply; here they are found. Who wants to know is told of each call when it is over, streamed ones included.

Here is also where a run streams: smolagents' own way renders the whole reply anew for each piece of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    Model,
    agglomerate_stream_deltas,
    remove_content_after_stop_sequences,
)

from agentltl.agents.attempt import Attempting, report_of_stream, thinking_in, thinking_in_stream
from agentltl.agents.models.report import ModelReport, attach, report_of
from agentltl.record.attempt import ModelAttempt

Stream = Generator[ChatMessageStreamDelta]


class RunCancelled(BaseException):
    """The consumer of a run has gone. No `Exception`: whatever is in between lets it through."""


class WatchedModel:
    """Passes everything on to `model`. It has `generate_stream` exactly when that has.

    `told` is called after each call of the model, with what is known of it.
    With `streaming` a call of `generate` asks the model to write piece by piece, if it can: `begin` is called before
    the first piece and `came` with each. Once `cancelled` says so, a call raises `RunCancelled`, in the middle of a
    stream too.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.messages: Sequence[ChatMessage] | None = None
        self.reply: ChatMessage | None = None
        self.error: Exception | None = None
        self.rest()

    def rest(self) -> None:
        """Nobody wants to know any more."""
        self.told: Callable[[ModelAttempt], None] | None = None
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
        attempt = Attempting(self._name)
        try:
            reply = self.model.generate(list(messages), *args, **kwargs)
        except BaseException as error:
            self._failed(error)
            self._tell(attempt.over(ModelReport(), None, error))
            raise
        self.reply = reply
        self._tell(attempt.over(report_of(reply), thinking_in(reply)))
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
            reply.content = remove_content_after_stop_sequences(reply.content, kwargs.get("stop_sequences")) or None
        attach(reply, report_of_stream(deltas))
        self.messages, self.reply = messages, reply
        return reply

    def _require_consumer(self) -> None:
        if self.cancelled():
            raise RunCancelled

    def _generate_stream(self, stream: Callable[..., Stream], messages: Any, *args: Any, **kwargs: Any) -> Stream:
        self.messages, self.reply, self.error = messages, None, None
        attempt, deltas, failure = Attempting(self._name, streaming=True), list[ChatMessageStreamDelta](), None
        try:
            for delta in stream(messages, *args, **kwargs):
                attempt.came(delta)
                deltas.append(delta)
                yield delta
        except BaseException as error:
            failure = error
            self._failed(error)
            raise
        finally:
            report = report_of_stream(deltas)
            self._tell(attempt.over(report, thinking_in_stream(deltas, report), failure))

    @property
    def _name(self) -> str | None:
        name = getattr(self.model, "model_id", None)
        return name if isinstance(name, str) else None

    def _failed(self, error: BaseException) -> None:
        self.error = error if isinstance(error, Exception) else None

    def _tell(self, attempt: ModelAttempt) -> None:
        if self.told is not None:
            self.told(attempt)

    def __getattr__(self, name: str) -> Any:
        if name == "model":  # a copy that is still being made
            raise AttributeError(name)
        own = getattr(self.model, name)
        return partial(self._generate_stream, own) if name == "generate_stream" else own
