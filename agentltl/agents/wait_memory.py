"""What a managed agent that is not ours remembers of the step in which a call of its began to wait for a person.

smolagents writes calls and results into a step when all has come back; here the run ends before that.
"""

from __future__ import annotations

import threading

from smolagents.agents import CodeAgent, MultiStepAgent
from smolagents.memory import ActionStep, ToolCall

from agentltl.agents.call_log import observation_of


class WaitMemory:
    """What the calls of the current step have returned."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._step = 0
        self._told: list[str] = []

    def keep(self, step: int, tool: str, result: object) -> None:
        """A call in this step has returned."""
        with self._lock:
            if step != self._step:
                self._step, self._told = step, []
            self._told.append(f"`{tool}` has run: {observation_of(result)}")

    def write(self, member: MultiStepAgent, waiting: str) -> None:
        """Write what came into the agent's last step, which nobody else has finished."""
        step = member.memory.steps[-1] if member.memory.steps else None
        if hasattr(member, "guard") or not isinstance(step, ActionStep):
            return
        message = step.model_output_message
        if step.tool_calls is None and message is not None and message.tool_calls:
            made = ((call.function.name, call.function.arguments, call.id) for call in message.tool_calls)
            step.tool_calls = [ToolCall(*call) for call in made]
        printed = ""
        if isinstance(member, CodeAgent):
            printed = str(getattr(member.python_executor, "state", {}).get("_print_outputs", "")).rstrip("\n")
        told = self._told if step.step_number == self._step else []
        step.observations = "\n".join(text for text in (step.observations, printed, *told, waiting) if text)
