"""A model without the retries that it would make by itself: under a wrapper one call is one request."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from smolagents import LiteLLMModel
from smolagents.models import ApiModel, Model

from agentltl.agents.models.litellm_model import LiteLLMModelWithReport


def one_request(model: Model) -> Model:
    """The model, or a copy of it that shares its client and does not ask twice.

    smolagents' `retry` is off in it, the retries of litellm are, and those of a client in the manner of OpenAI's.
    Models that are not smolagents' API models, and ours, are returned as they are.
    """
    if not isinstance(model, ApiModel) or isinstance(model, LiteLLMModelWithReport):
        return model
    once = copy.copy(model)
    vars(once)["retryer"] = just_call
    if isinstance(once, LiteLLMModel):
        once.kwargs = {**once.kwargs, "num_retries": 0, "max_retries": 0}
    elif callable(with_options := getattr(once.client, "with_options", None)):
        once.client = with_options(max_retries=0)
    return once


def just_call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """In the place of what calls again when a call has failed."""
    return function(*args, **kwargs)
