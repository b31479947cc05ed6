"""From what the user writes as `model` to a model: a litellm name, a smolagents model, or the embedded one."""

from collections.abc import Mapping
from typing import Any

from smolagents.models import Model

from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.litellm_model import LiteLLMModelWithReport
from agentltl.agents.models.local import LocalModel
from agentltl.agents.models.weights import PINNED

LOCAL = "local"


def build(
    model: str | Model,
    *,
    temperature: float | None = None,
    seed: int | None = None,
    api_key: str | None = None,
    api_base: str | None = None,
    timeout: float | None = None,
) -> Model:
    """The model for `model`.

    `"local"`, `"local:0.5b"` and `"local:/path/to/file.gguf"` are the embedded model, any other text is a litellm name,
    and a smolagents model is returned as it is.
    `timeout` is in seconds per request; None leaves a setting to the provider.
    Raises `ModelError` for anything else, for an unknown provider, and for a setting that the model cannot take.
    """
    sampling: dict[str, Any] = {"temperature": temperature, "seed": seed, "timeout": timeout}
    settings = {name: value for name, value in sampling.items() if value is not None}
    given: dict[str, Any] = {"api_key": api_key, "api_base": api_base}
    access = {name: value for name, value in given.items() if value is not None}
    if isinstance(model, Model):
        refuse({**settings, **access}, "a model that is already built", "set it where the model is built")
        return model
    if not (isinstance(model, str) and model.strip()):  # type: ignore[redundant-expr]
        raise ModelError(
            f'`{model!r}` is no model\ngive a litellm name like "openai/gpt-4o", "local", or a smolagents model'
        )
    kind, _, name = model.partition(":")
    if kind == LOCAL:
        refuse(access, "the embedded model", "leave it out")
        if model != LOCAL and not name:
            raise ModelError(f"`{model}` names no file\ngive {known_local()} or `local:/path/to/file.gguf`")
        return LocalModel(name or None, **settings)
    if api_base is None:
        check_provider(model)
    return LiteLLMModelWithReport(model, **access, **settings)


def refuse(settings: Mapping[str, object], what: str, instead: str) -> None:
    """Raise `ModelError` for settings that would be ignored."""
    if settings:
        names = ", ".join(f"`{name}`" for name in settings)
        raise ModelError(f"{names} cannot be given to {what}\n{instead}")


def check_provider(name: str) -> None:
    """Raise `ModelError` when litellm knows no provider for a name."""
    litellm = load_litellm()
    try:
        litellm.get_llm_provider(name)
    except litellm.BadRequestError as error:
        raise ModelError(
            f"`{name}` names no provider that litellm knows\n"
            f'write it as "provider/model", like "openai/{name.rpartition("/")[2]}", or give {known_local()}'
        ) from error


def known_local() -> str:
    """The names of the embedded models, for messages."""
    return ", ".join(["`local`", *(f"`local:{name}`" for name in PINNED)])
