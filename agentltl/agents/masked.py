"""Masking: at each step the model is offered only what could be called now.

Only what is offered changes. The system prompt goes on listing all tools, so it stays the same from step to step, and
`agent.tools` is not touched. A model that calls a tool all the same is refused as ever.
"""

from __future__ import annotations

from typing import Any

from smolagents.agents import ToolCallingAgent
from smolagents.models import ChatMessage, MessageRole

from agentltl.agents.members import outers_of
from agentltl.guard.allowed import Refusal
from agentltl.guard.ending import FINAL_ANSWER
from agentltl.guard.guard import Guard


class Masked(ToolCallingAgent):
    """A tool-calling agent that offers what its guard allows, and the guards of its managers while they call it.

    With `mask_reasons` the last message of a step's prompt says why the other tools are not offered.
    """

    guard: Guard
    mask_tools: bool = False
    mask_reasons: bool = False
    _asks_for_answer = False
    """Whether the model is being asked for the answer of a run that has no step left."""

    @property
    def tools_and_managed_agents(self) -> list[Any]:
        """What is offered to the model now, in the order of all tools; never nothing: at least `final_answer`."""
        everything: list[Any] = super().tools_and_managed_agents
        if not self.mask_tools:
            return everything
        refused = self._not_now()
        offered = [tool for tool in everything if tool.name not in refused]
        return offered or [tool for tool in everything if tool.name == FINAL_ANSWER]

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        """The messages of smolagents; for a step with `mask_reasons`, one more that says what cannot be called."""
        messages: list[ChatMessage] = super().write_memory_to_messages(summary_mode)
        if self.mask_tools and self.mask_reasons and not summary_mode and not self._asks_for_answer:
            refused = self._not_now()
            if refused:
                lines = [f"- {name}: {'; '.join(map(str, why))}" for name, why in refused.items()]
                text = "\n".join(["These tools cannot be called now, whatever the arguments:", *lines])
                messages.append(ChatMessage(MessageRole.USER, [{"type": "text", "text": text}]))
        return messages

    def _not_now(self) -> dict[str, tuple[Refusal, ...]]:
        """The tools and managed agents that cannot be called now, and why."""
        names = [*self.tools, *self.managed_agents]
        refused = dict(self.guard.allowed(names).refused)
        for outer in outers_of(self):
            above = outer.guard.allowed([name for name in names if name != FINAL_ANSWER]).refused
            refused = {**above, **refused}
        return {name: refused[name] for name in names if name in refused}
