"""Does a run begin inside another agent's run?

The words of the user are the task of the outermost run; the task of a member is written by its manager's model.
smolagents passes nothing down that would tell the two apart, so the calling frames are asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import TypeVar

from smolagents.agents import CodeAgent, MultiStepAgent, ToolCallingAgent
from smolagents.local_python_executor import evaluate_call

_INSIDE: set[CodeType] = {
    MultiStepAgent.__call__.__code__,
    ToolCallingAgent.execute_tool_call.__code__,
    CodeAgent._step_stream.__code__,
    evaluate_call.__code__,  # the code of a code agent runs in a thread of its own
}
_Function = TypeVar("_Function", bound=Callable[..., object])


def inside(function: _Function) -> _Function:
    """What this function calls is inside an agent's run, in whatever thread."""
    _INSIDE.add(function.__code__)
    return function


def nested() -> bool:
    """Is a frame of a smolagents agent that is calling a tool or a member on this thread's stack?"""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code in _INSIDE:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
