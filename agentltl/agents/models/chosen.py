"""From what an agent is given to the model that it has, and to the wrappers that it asks it by."""

from __future__ import annotations

from collections.abc import Iterable

from smolagents.models import Model

from agentltl.agents.models.build import LOCAL, build
from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.reliable import reliable


def chosen(
    model: str | Model,
    fallback_models: Iterable[str | Model] = (),
    *,
    retries: int = 3,
    timeout: float | None = None,
    temperature: float | None = None,
    seed: int | None = None,
    api_key: str | None = None,
    api_base: str | None = None,
) -> tuple[Model, Model]:
    """The model, built; and that with retries, fallbacks and a time limit for each call, in seconds.

    Fallback models that are named get the settings of `model`, and those of the same provider its access; any other key
    comes from the environment, since no provider shall see the key of another one.
    """
    if isinstance(fallback_models, str):
        raise ModelError(f"`{fallback_models}` is one fallback model, where a list is expected\nput it into a list")
    built = build(model, temperature=temperature, seed=seed, api_key=api_key, api_base=api_base)
    others = []
    for other in fallback_models:
        if not isinstance(other, str):
            others.append(build(other))
        elif isinstance(model, str) and provider_of(other) == provider_of(model) is not None:
            others.append(build(other, temperature=temperature, seed=seed, api_key=api_key, api_base=api_base))
        else:
            others.append(build(other, temperature=temperature, seed=seed))
    return built, reliable(built, fallback_models=others, retries=retries, timeout=timeout)


def provider_of(name: str) -> str | None:
    """The provider of a litellm name, None for one that litellm does not know, and for an embedded model."""
    if name.partition(":")[0] == LOCAL:
        return None
    litellm = load_litellm()
    try:
        provider: str = litellm.get_llm_provider(name)[1]
    except litellm.BadRequestError:
        return None
    return provider
