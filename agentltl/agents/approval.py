"""Asking a person about a call: what an approver is asked, and what it can answer.

An approver is any callable that takes an `ApprovalRequest` and returns an answer, or an awaitable of one: `Allow`,
`Deny`, `Change`, `Pending`, or plain True or False.
Whatever else it returns, and whatever it raises, is no: the call does not run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from agentltl.constraints.value import Json, thaw
from agentltl.guard.decision import Decision


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A constraint that the call breaks: its name, its description, and the sentence that says what breaks it."""

    name: str
    sentence: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What a person is asked. `args` are the arguments that will run, which cannot be changed in place; `task` is what
    the agent was told to do, `step` the run's step, `agent` the agent's name; `id` is the guard's own of the question.
    """

    tool: str
    args: Json
    constraints: tuple[BrokenRule, ...] = ()
    task: str | None = None
    step: int | None = None
    agent: str | None = None
    id: str | None = None

    @classmethod
    def of(cls, *decisions: Decision, task: str | None, step: int | None, agent: str | None) -> ApprovalRequest:
        """The question about a refused call; the id is that of the first guard that refuses it."""
        call = decisions[0].call
        assert call is not None
        refusing = (v for decision in decisions for v in decision.violations if v.refuses)
        rules = tuple(BrokenRule(v.constraint_name, v.detail, v.description) for v in refusing)
        return cls(call.tool, call.args, rules, task, step, agent, decisions[0].id)

    def to_dict(self) -> dict[str, Json]:
        """The question as plain data; JSON where the arguments are."""
        return {
            "id": self.id,
            "tool_name": self.tool,
            "arguments": thaw(self.args),
            "constraints": [
                {"name": rule.name, "description": rule.description, "sentence": rule.sentence}
                for rule in self.constraints
            ],
            "task": self.task,
            "step": self.step,
            "agent": self.agent,
        }


@dataclass(frozen=True, slots=True)
class Allow:
    """Yes, to this very call, once. `until` is a Unix time in seconds (None: as the guard's `approval_seconds` says),
    `by` whoever has answered."""

    until: float | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Deny:
    """No. The model is told the reason and goes on."""

    reason: str = ""
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Yes, with these arguments instead of the model's. They are judged from the start, by all rules.

    Whoever changes a call approves the changed one: rules that ask do not ask again. With `ask_again=True` they do: the
    change is a proposal then, and the changed call goes to the approver as a request of its own.
    """

    args: Mapping[str, Json]
    ask_again: bool = False
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """No answer yet: the run ends here, and a later one goes on when there is one."""


Answer = Allow | Deny | Change | Pending
Approver = Callable[[ApprovalRequest], Answer | bool | Awaitable[Answer | bool]]
