"""For the users' tests too: random formulas and traces, and a model that says what a script tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentltl.testing.formulas import FEATURES, random_formula
from agentltl.testing.traces import Moment, random_play, random_trace

if TYPE_CHECKING:
    from agentltl.agents.models.scripted import ScriptedModel

__all__ = ["FEATURES", "Moment", "ScriptedModel", "random_formula", "random_play", "random_trace"]


def __getattr__(name: str) -> object:
    if name == "ScriptedModel":  # smolagents is loaded only when it is asked for
        from agentltl.agents.models.scripted import ScriptedModel

        return ScriptedModel
    raise AttributeError(f"module `agentltl.testing` has no `{name}`")
