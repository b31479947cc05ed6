"""Callbacks are called as smolagents calls them, their signatures looked up once."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest
from smolagents import ToolCallingAgent
from smolagents.memory import ActionStep, CallbackRegistry, PlanningStep

from agentltl.agents.callbacks import Callbacks
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.testing import ScriptedModel


def ran(kind: type[ToolCallingAgent], **settings: Any) -> list[str]:
    seen: list[str] = []

    def alone(step: object) -> None:
        seen.append(f"alone {type(step).__name__}")

    def both(step: object, agent: object) -> None:
        seen.append(f"both {type(step).__name__} {type(agent) is kind}")

    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, step: object, **rest: object) -> None:
            seen.append(f"unhashable {sorted(rest)}")

    callbacks = {ActionStep: [alone, both, Unhashable()], PlanningStep: alone}
    agent = kind([], ScriptedModel([("final_answer", {"answer": "done"})] * 4), step_callbacks=callbacks, **settings)
    for _ in range(2):
        assert agent.run("go") == "done"
    return seen


def test_they_are_called_as_by_the_base() -> None:
    assert ran(ToolCallingAgentWithConstraints) == ran(ToolCallingAgent)


def test_a_signature_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    signature = inspect.signature

    def counted(callback: Any) -> inspect.Signature:
        nonlocal asked
        asked += 1
        return signature(callback)

    registry = CallbackRegistry()  # type: ignore[no-untyped-call]
    registry.register(ActionStep, lambda step: None)
    ours = Callbacks(registry)
    monkeypatch.setattr("agentltl.agents.callbacks.inspect.signature", counted)
    step = object.__new__(ActionStep)
    for _ in range(5):
        ours.callback(step, agent=None)
    copy.deepcopy(ours).callback(step, agent=None)
    assert asked <= 2
    ours.register(ActionStep, lambda step, agent: None)
    ours.callback(step, agent=None)
    assert asked <= 3
