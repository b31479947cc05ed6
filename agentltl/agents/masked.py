"""Masking: at each step the model is offered only what could be called now.

Only what is offered changes. The system prompt goes on listing all tools, so it stays the same from step to step, and
`agent.tools` is not touched. A model that calls a tool all the same is refused as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smolagents.models import ChatMessage, MessageRole

from agentltl.agents.asks import Asks
from agentltl.agents.members import outers_of
from agentltl.guard.allowed import Refusal
from agentltl.guard.ending import FINAL_ANSWER

if TYPE_CHECKING:
    from smolagents.agents import ToolCallingAgent as ToolCallingBase
else:
    ToolCallingBase = object

Refused = dict[str, tuple[Refusal, ...]]


class Masking(Asks):
    """An agent that knows what its guard allows now, and the guards of its managers while they call it.

    With `mask_reasons` the last message of a step's prompt says why the other tools are not offered.
    """

    mask_tools: bool = False
    mask_reasons: bool = False
    _asks_for_answer: bool

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        """The messages of smolagents; for a step in which tools are masked, one more with what is to be said of it."""
        messages: list[ChatMessage] = super().write_memory_to_messages(summary_mode)
        if self.mask_tools and not summary_mode and not self._asks_for_answer:
            text = self._said_of_masking()
            if text:
                messages.append(ChatMessage(MessageRole.USER, [{"type": "text", "text": text}]))
        return messages

    def _said_of_masking(self) -> str:
        """What the prompt of a step says of the tools that are not offered; empty for nothing."""
        refused = self._not_now() if self.mask_reasons else {}
        return "\n".join(
            ["These tools cannot be called now, whatever the arguments:", *_why(refused)] if refused else []
        )

    def _not_now(self) -> Refused:
        """The tools and managed agents that cannot be called now, and why. What the model may insist on, and what a
        person can be asked about, can be called."""
        names, outers = [*self.tools, *self.managed_agents], outers_of(self)
        asks = self._approver() is not None
        refused = dict(self.guard.allowed(names, yielding=self.guard.giving_way(asks=asks)).refused)
        for outer in outers:
            others = [name for name in names if name != FINAL_ANSWER]
            yielding = outer.guard.giving_way(asks=outer.approver is not None)
            refused = {**outer.guard.allowed(others, yielding=yielding).refused, **refused}
        return {name: refused[name] for name in names if name in refused}


class Masked(Masking, ToolCallingBase):
    """A tool-calling agent that offers only what could be called now."""

    @property
    def tools_and_managed_agents(self) -> list[Any]:
        """What is offered to the model now, in the order of all tools; never nothing: at least `final_answer`."""
        everything: list[Any] = super().tools_and_managed_agents
        if not self.mask_tools:
            return everything
        refused = self._not_now()
        offered = [tool for tool in everything if tool.name not in refused]
        return offered or [tool for tool in everything if tool.name == FINAL_ANSWER]


class MaskedCode(Masking):
    """A code agent that says at the end of each step's prompt what its code could call now.

    Its tools are functions that the system prompt lists, and the code gets all of them: a call in the code can open the
    way to the next, so what cannot be called when the code begins may well be called in it.
    """

    def _said_of_masking(self) -> str:
        refused = self._not_now()
        if not refused:
            return ""
        offered = [name for name in [*self.tools, *self.managed_agents] if name not in refused] or [FINAL_ANSWER]
        lines = [
            f"Your code can call now: {', '.join(f'`{name}`' for name in offered)}.",
            "Every other tool is refused, whatever the arguments, until one of these calls has changed that"
            + (":" if self.mask_reasons else "."),
        ]
        return "\n".join([*lines, *(_why(refused) if self.mask_reasons else [])])


def _why(refused: Refused) -> list[str]:
    return [f"- {name}: {'; '.join(map(str, why))}" for name, why in refused.items()]
