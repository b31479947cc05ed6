"""What a refused call leaves behind: an output of its own kind, so nobody takes a refusal for a result."""

from __future__ import annotations

from dataclasses import dataclass

from smolagents.agents import ToolOutput
from smolagents.memory import ToolCall

from agentltl.guard.decision import Decision


@dataclass
class Refusal(ToolOutput):
    """The output of a call that did not run. `decision` says which constraints it would have broken.

    `output` and `observation` are the text that the model gets; it is never a final answer.
    """

    decision: Decision

    @classmethod
    def of(cls, call: ToolCall, decision: Decision) -> Refusal:
        """The refusal of that call."""
        return cls(call.id, decision.feedback, False, decision.feedback, call, decision)
