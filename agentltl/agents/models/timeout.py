"""`Timeout`: a model each of whose calls may take only so long."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from smolagents.models import ChatMessage, Model

from agentltl.agents.limits import require_positive
from agentltl.agents.models.leaf import ask, ask_stream
from agentltl.agents.models.registry import register
from agentltl.agents.models.watch import at_most, within
from agentltl.agents.models.wrapper import Stream, Wrapper


class Timeout(Wrapper):
    """Bounds each call of `model` by `seconds`: each retry and each fallback below has that time for itself.

    The call runs in a thread: when its time is over it fails with `ModelTimeoutError`, and what comes later is ignored.
    A litellm model gets the time with its request as well, so that its client gives up, too. Of a stream, the time is
    that to the first piece, and from one piece to the next; how long all of it may take is `total_timeout` of the run.
    """

    def __init__(self, model: Model, seconds: float) -> None:
        require_positive("seconds", seconds)
        super().__init__(model)
        self.seconds = seconds

    def generate(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        """A reply in time."""
        with at_most(self.seconds):
            return ask(self.model, messages, *args, **kwargs)

    def settings(self) -> dict[str, Any]:
        """The wrapper's own parameters, as plain data."""
        return {"seconds": self.seconds}

    def _stream(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> Stream:
        return within(partial(at_most, self.seconds), ask_stream(self.model, messages, *args, **kwargs))


register(Timeout)
