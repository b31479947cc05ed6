"""What is left of a call that has no result: an output of its own kind, so nobody takes it for a result."""

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


@dataclass
class Waiting(ToolOutput):
    """The output of a call of a managed agent whose run has ended, and goes on when a person has answered."""

    @classmethod
    def of(cls, call: ToolCall) -> Waiting:
        """What the model is told of that call."""
        told = (
            f"`{call.name}` has not finished: it waits for a person to allow one of its calls.\n"
            "When the answer is there, call it again, and it goes on."
        )
        return cls(call.id, told, False, told, call)
