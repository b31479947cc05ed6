"""`Fallback`: several models, of which the next one is asked when one has finally failed."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any, Self

from smolagents.models import ChatMessage, Model

from agentltl.agents.models.errors import ModelCallError
from agentltl.agents.models.hidden_error import error_text
from agentltl.agents.models.leaf import ask, ask_stream, name_of
from agentltl.agents.models.own_retries import one_request
from agentltl.agents.models.registry import model_of, register, saved
from agentltl.agents.models.watch import watch
from agentltl.agents.models.wrapper import Stream, Wrapper, apart
from agentltl.errors import AgentLTLError, ConstraintError
from agentltl.record.attempt import ModelFallback

log = logging.getLogger("agentltl")


class Fallback(Wrapper):
    """Asks the first of `models`, and where it fails, with whatever error, the next one; each call begins anew.

    The error of the last one is raised. In everything else it is the first model, and it streams when all of them do.
    The error of a stream of which a piece has been passed on is raised, and no other model is asked.
    """

    def __init__(self, models: Iterable[Model]) -> None:
        self.models = [one_request(model) for model in models]
        if not self.models:
            raise ConstraintError("there is no model to ask\ngive at least one")

    @property
    def model(self) -> Model:  # type: ignore[override]
        """The first model."""
        return self.models[0]

    def generate(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        """The reply of the first model that gives one."""
        for model, following in zip(self.models, self.models[1:], strict=False):
            try:
                return ask(model, messages, *args, **kwargs)
            except Exception as error:
                self._go_on(model, following, error)
        return ask(self.models[-1], messages, *args, **kwargs)

    def to_dict(self) -> dict[str, Any]:
        """All models as plain data."""
        return {"models": [saved(model) for model in self.models]}

    @classmethod
    def from_dict(cls, model_dictionary: dict[str, Any]) -> Self:
        """The models that `to_dict` was asked for."""
        return cls([model_of(data) for data in model_dictionary["models"]])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.models!r})"

    def _stream(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> Stream:
        for model, following in zip(self.models, self.models[1:], strict=False):
            passed_on = False
            try:
                with closing(ask_stream(model, messages, *args, **kwargs)) as stream:
                    for delta in stream:
                        passed_on = True
                        yield delta
            except Exception as error:
                if passed_on:
                    raise
                self._go_on(model, following, error)
            else:
                return
        yield from ask_stream(self.models[-1], messages, *args, **kwargs)

    def _apart(self) -> Model:
        below = [apart(model) for model in self.models]
        if all(one is model for one, model in zip(below, self.models, strict=True)):
            return self
        twin = copy.copy(self)
        twin.models = below
        return twin

    def _streams(self) -> bool:
        return all(hasattr(model, "generate_stream") for model in self.models)

    def _go_on(self, model: Model, following: Model, error: Exception) -> None:
        """Tell that the next model is asked; raises an error that no other model can help with."""
        if isinstance(error, AgentLTLError) and not isinstance(error, ModelCallError):
            raise error
        one, other = name_of(model), name_of(following)
        log.warning("the model `%s` has failed (%s), and `%s` is asked", one, type(error).__name__, other)
        if (hearing := watch()) is not None:
            text = error_text(error)
            hearing.tell(ModelFallback("step", 0, one, other, text, type(error).__name__, time.time()))


register(Fallback)
