"""A call on its way through smolagents: what was decided about it travels on its name.

smolagents hands a tool's name and arguments to `execute_tool_call` and nothing else, in a thread of its own; of the two
only the name arrives as the object that it was.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from smolagents.agent_types import AgentText, AgentType

from agentltl.agents.approval import ApprovalRequest
from agentltl.agents.joint_call import JointCall
from agentltl.agents.member_end import End
from agentltl.constraints.trace import ABSENT
from agentltl.constraints.value import Json, Opaque, show
from agentltl.guard.decision import Decision

_TAKING = threading.Lock()


@dataclass(slots=True)
class Ticket:
    """One call: the provider's `id`, the run's `step`, and what the guard has said.

    `decision` is the one before the call, None while smolagents would not accept the call; `tool` and `args` are the
    name and the arguments that were judged. `outcomes` is what the guard said when the call had settled.
    `taken`: an execution has used it.
    `changed` are the arguments that a person has put in the place of the model's; `pending` is the question to a person
    who has not answered.
    `ends`: if it is `final_answer`, the run would end with it. `joint` is the call as the guards of managers judge it,
    too. `result` is what an execution has returned; `end` is what ends the run, if a managed agent's did.
    """

    id: str | None = None
    step: int | None = None
    decision: Decision | None = None
    args: Json = None
    outcomes: list[Decision] = field(default_factory=list)
    taken: bool = False
    changed: Ready | None = None
    pending: ApprovalRequest | None = None
    ends: bool = True
    joint: JointCall | None = None
    result: object = ABSENT
    end: End | None = None
    tool: object = None

    def take(self) -> bool:
        """Use the ticket. Of all executions that show it, whatever their threads, one is the first: it gets True."""
        with _TAKING:
            taken, self.taken = self.taken, True
        return not taken

    def holds(self, arguments: object) -> bool:
        """Are these the very values that were judged? Those that could change were copied for that, and never are."""
        args = self.args
        if not isinstance(arguments, dict) or not isinstance(args, dict) or len(arguments) != len(args):
            return False
        for name, value in arguments.items():  # noqa: SIM110  every call passes here, and a generator costs twice as much
            if args.get(name, args) is not value:
                return False
        return True

    def again(self) -> Ticket:
        """A ticket for one more run of the same call, which is a call of its own."""
        return Ticket(self.id, self.step, outcomes=self.outcomes, ends=self.ends)


class CallName(str):
    """The name of a tool, with the ticket of the call."""

    __slots__ = ("ticket",)
    ticket: Ticket

    @classmethod
    def of(cls, name: object, ticket: Ticket) -> str:
        """The name with the ticket on it; a name that is no text stays the error that smolagents makes of it."""
        if not isinstance(name, str):
            return name  # type: ignore[return-value]
        made = cls(name)
        made.ticket = ticket
        return made


class Ready(dict[str, Any]):
    """Arguments whose state variables have been replaced; they are not replaced a second time."""


def as_value(value: object) -> object:
    """A picture or a sound as the opaque value that it is: its text would be a file, written to be named."""
    return Opaque(value) if isinstance(value, AgentType) and not isinstance(value, AgentText) else value


def same(one: Json, other: Json) -> bool:
    """Are two frozen values the same, NaN and opaque objects included?"""
    if isinstance(one, Opaque) and isinstance(other, Opaque):
        return one.value is other.value
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or (one != one and other != other)


def changed_words(ticket: Ticket) -> str:
    """What the model is told of arguments that a person has changed; empty if nobody has."""
    return "" if ticket.changed is None else changed_to(ticket.args)


def changed_to(args: Json) -> str:
    """What the model is told of arguments that a person has changed to these."""
    return f"A person has changed the arguments to {show(args)}."
