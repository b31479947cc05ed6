"""Errors as clients raise them, and calls of a model that are heard."""

from __future__ import annotations

from typing import Any

from smolagents.models import ChatMessage, ChatMessageStreamDelta, MessageRole, Model

from agentltl.agents.models.watch import Told, Watch, watched_by, within
from agentltl.record.attempt import ModelAttempt, ModelFallback

ASK = [ChatMessage(MessageRole.USER, "hello")]


class Response:
    """As httpx has it, in what is looked at here."""

    def __init__(self, status: int, **headers: str) -> None:
        self.status_code = status
        self.headers = {name.replace("_", "-").title(): value for name, value in headers.items()}


class StatusError(Exception):
    """An error with the response of the provider."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"status {status}")
        self.response = Response(status, **headers)


class Broken(Model):
    """Streams a piece of a text, and breaks."""

    def __init__(self, error: Exception, pieces: int = 1) -> None:
        super().__init__(model_id="broken")
        self.error, self.pieces, self.asked = error, pieces, 0

    def generate_stream(self, messages: Any, **_: Any) -> Any:
        self.asked += 1
        for _number in range(self.pieces):
            yield ChatMessageStreamDelta(content="The beginning")
        raise self.error


class Heard(list[Told]):
    """What is told of the calls of `model`, which is asked here."""

    def __init__(self, model: Model, **watch: Any) -> None:
        super().__init__()
        self.model: Any = model
        self.watch = watch

    def ask(self) -> str | None:
        with self._listening():
            content = self.model.generate(ASK).content
        assert content is None or isinstance(content, str)
        return content

    def stream(self) -> str:
        pieces = list(within(self._listening, self.model.generate_stream(ASK)))
        return "".join(piece.content or "" for piece in pieces)

    def told(self) -> list[str]:
        """One word for each thing that was told."""
        return [_word(told) for told in self]

    def _listening(self) -> Any:
        return watched_by(Watch(self.append, **self.watch))


def _word(told: Told) -> str:
    match told:
        case ModelFallback(model=model, next_model=following):
            return f"{model} -> {following}"
        case ModelAttempt(model=model, status="success"):
            return f"{model} ok"
    return f"{told.model} {told.error_class}"
