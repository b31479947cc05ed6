"""What an agent needs to be saved and loaded: a tool whose source stands alone, and a model that keeps its script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from smolagents import Tool, models

from agentltl.agents.models.scripted import ScriptedModel


class SavedModel(ScriptedModel):
    """A model that can be saved. A scripted call is a tuple, and in JSON a list that starts with a name."""

    def __init__(self, replies: Sequence[Any], model_id: str = "saved", **_: Any) -> None:
        super().__init__(
            [tuple(r) if isinstance(r, list) and isinstance(r[0], str) else r for r in replies], model_id=model_id
        )
        self.replies_as_json = [list(r) if isinstance(r, tuple) else r for r in replies]

    def to_dict(self) -> dict[str, Any]:
        return {"model_id": self.model_id, "replies": self.replies_as_json}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SavedModel:
        return cls(**data)


class Write(Tool):
    name = "write"
    description = "Writes."
    inputs = {"text": {"type": "string", "description": "What"}}  # noqa: RUF012
    output_type = "string"

    def forward(self, text: str) -> str:
        return text


def know_saved_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let smolagents find `SavedModel` by its name. Its oldest release has no registry."""
    registry: Any = getattr(models, "MODEL_REGISTRY", None) or vars(models)
    monkeypatch.setitem(registry, "SavedModel", SavedModel)
