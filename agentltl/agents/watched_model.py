"""A model that remembers its last call: what it was sent, what came back, and what went wrong.

smolagents turns an error in the last model call of a run into an answer, and keeps neither that call's messages nor its
reply; here they are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smolagents.models import ChatMessage, Model


class WatchedModel:
    """Passes everything on to `model`. It has `generate_stream` exactly when that has."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.messages: Sequence[ChatMessage] | None = None
        self.reply: ChatMessage | None = None
        self.error: Exception | None = None

    def generate(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        """The model's own `generate`, remembered."""
        self.messages, self.reply, self.error = messages, None, None
        try:
            self.reply = self.model.generate(list(messages), *args, **kwargs)
        except Exception as error:
            self.error = error
            raise
        return self.reply

    def __getattr__(self, name: str) -> Any:
        if name == "model":  # a copy that is still being made
            raise AttributeError(name)
        return getattr(self.model, name)
