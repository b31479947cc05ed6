"""Does a run begin inside another agent's run?

The words of the user are the task of the outermost run; the task of a member is written by its manager's model.
smolagents passes nothing down that would tell the two apart, so the calling frames are asked.
"""

from __future__ import annotations

import sys

from smolagents.agents import CodeAgent, MultiStepAgent, ToolCallingAgent

_INSIDE = frozenset(
    {
        MultiStepAgent.__call__.__code__,
        ToolCallingAgent.execute_tool_call.__code__,
        CodeAgent._step_stream.__code__,
    }
)


def nested() -> bool:
    """Is a frame of a smolagents agent that is calling a tool or a member on this thread's stack?"""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code in _INSIDE:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
