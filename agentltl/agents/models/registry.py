"""Models as plain data, in the form that smolagents saves an agent's model in: `{"class": name, "data": settings}`."""

from __future__ import annotations

from typing import Any

import smolagents
from smolagents.models import Model

from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.redaction import without_secrets


def register(model: type[Model]) -> None:
    """Let smolagents' `from_dict` find a model class of ours by its name: in a registry or, if old, its module."""
    registry = getattr(smolagents.models, "MODEL_REGISTRY", None)
    if registry is None:
        setattr(smolagents.models, model.__name__, model)
    else:
        registry.setdefault(model.__name__, model)


def saved(model: Model) -> dict[str, Any]:
    """The class of a model and what it gives of itself, without keys."""
    return {"class": type(model).__name__, "data": without_secrets(model.to_dict())}


def model_of(data: dict[str, Any]) -> Model:
    """The model that `saved` was asked for. Raises `ModelError` for a class that nobody has registered."""
    name = data["class"]
    registry = getattr(smolagents.models, "MODEL_REGISTRY", vars(smolagents.models))
    if name not in registry:
        raise ModelError(f"`{name}` is no known class of models\nbuild the model in Python")
    model: Model = registry[name].from_dict(data["data"])
    return model
