"""What all models have in common that only ask another model: `Retry`, `Fallback`, `Breaker`, `Timeout`."""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterator, Sequence
from typing import Any, Self

from smolagents.models import ChatMessage, ChatMessageStreamDelta, Model

from agentltl.agents.models.own_retries import one_request
from agentltl.agents.models.registry import model_of, saved

Stream = Generator[ChatMessageStreamDelta]


def leaves(model: Model) -> Iterator[Model]:
    """The models that a model asks in the end: itself, if it is no wrapper."""
    if isinstance(model, Wrapper):
        for below in getattr(model, "models", None) or [model.model]:
            yield from leaves(below)
    else:
        yield model


def apart(model: Model) -> Model:
    """The model as one that shares no circuit breaker with this one: its breakers are new and closed, what it asks in
    the end is the same objects. A model without a breaker is given back as it is."""
    return model._apart() if isinstance(model, Wrapper) else model


class Wrapper(Model):
    """A model that asks `model`, and is it in everything else. It has `generate_stream` exactly when that has.

    A model's own retries are off below: one call is one request (see `own_retries.py`).
    """

    model: Model

    def __init__(self, model: Model) -> None:
        self.model = one_request(model)

    def generate(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        """One reply of the model below."""
        raise NotImplementedError

    def _stream(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> Stream:
        raise NotImplementedError

    def _apart(self) -> Model:
        """See `apart`."""
        below = apart(self.model)
        if below is self.model:
            return self
        twin = copy.copy(self)
        twin.model = below
        return twin

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """As the model below."""
        return self.model.parse_tool_calls(message)

    def settings(self) -> dict[str, Any]:
        """The wrapper's own parameters, as plain data."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """The wrapper as plain data, with what the model below gives of itself."""
        return {"model": saved(self.model), **self.settings()}

    @classmethod
    def from_dict(cls, model_dictionary: dict[str, Any]) -> Self:
        """The wrapper that `to_dict` was asked for; the model below gets its key from the environment."""
        return cls(**{**model_dictionary, "model": model_of(model_dictionary["model"])})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def __getattr__(self, name: str) -> Any:
        # A copy that is still being made has no model yet, and is not the model below in how it is copied.
        if name in ("model", "models") or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        if name == "generate_stream":
            if not self._streams():
                raise AttributeError(f"`{self!r}` does not stream")
            return self._stream
        return getattr(self.model, name)

    def _streams(self) -> bool:
        return hasattr(self.model, "generate_stream")
