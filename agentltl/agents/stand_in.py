"""What stands in the place of an agent's method for a while."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from smolagents.agents import MultiStepAgent


class StandIn:
    """Stands before a method of an agent. A copy of the agent has the method itself: nothing has put it off there."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self._method, memo)


def put(agent: MultiStepAgent, name: str, stand_in: StandIn) -> Callable[[], None]:
    """Put it in the place of the method of this name; gives what takes it out again."""
    method = stand_in._method
    vars(agent)[name] = stand_in

    def undo() -> None:
        """Give the agent its method back: one of its class, or one that somebody has put into it."""
        del vars(agent)[name]
        if getattr(method, "__func__", None) is not getattr(type(agent), name):
            vars(agent)[name] = method

    return undo
