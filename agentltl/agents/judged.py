"""A wave of calls that has been judged: which of them run, which are refused, and what went wrong."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from smolagents.memory import ToolCall
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.utils import AgentError

from agentltl.agents.member_end import End
from agentltl.agents.refusal import Refusal
from agentltl.agents.stop import ConstraintStopError, PendingStopError
from agentltl.agents.ticket import CallName, Ticket, changed_words

_Error = TypeVar("_Error", bound=Exception)


@dataclass(slots=True)
class JudgedWave:
    """`running` are the calls that are handed to smolagents, with their tickets; `error` is that of a call; `untold` is
    what the constraints have to say of the outcomes of calls that gave no output to say it in; `last`: no other wave of
    the message comes after it. `pending` ends the run behind this wave: a person has not answered."""

    running: list[tuple[ToolCall, Ticket]] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    error: Exception | None = None
    untold: list[str] = field(default_factory=list)
    last: bool = True
    pending: PendingStopError | None = None

    @property
    def end(self) -> End | None:
        """What ends the run behind this wave: a stop in a managed agent before a call that waits for a person."""
        ends: list[End] = [ticket.end for _, ticket in self.running if ticket.end is not None]
        ends += [self.error] if isinstance(self.error, End) else []
        ends += [] if self.pending is None else [self.pending]
        return next((end for end in ends if isinstance(end, ConstraintStopError)), next(iter(ends), None))

    @property
    def calls(self) -> Iterable[ToolCall]:
        """All calls of the wave that were judged."""
        yield from (call for call, _ in self.running)
        yield from (refusal.tool_call for refusal in self.refusals)

    def message(self, message: ChatMessage) -> ChatMessage:
        """The model's message with the calls that run and no others, each with its ticket on its name."""
        part = copy.copy(message)
        part.tool_calls = [
            ChatMessageToolCall(
                function=ChatMessageToolCallFunction(
                    name=CallName.of(ticket.tool, ticket),  # as it was judged, whoever changes the call
                    arguments=call.arguments if ticket.changed is None else ticket.changed,
                ),
                id=call.id,
                type="function",
            )
            for call, ticket in self.running
        ]
        return part


def words(ticket: Ticket) -> list[str]:
    """What the model is to hear of a call that has run: a person has changed it, or its outcome broke a constraint."""
    told = [decision.feedback for decision in ticket.outcomes if decision.feedback]
    return told if ticket.changed is None else [changed_words(ticket), *told]


def with_words(error: _Error, untold: list[str]) -> _Error:
    """The error of a step, with what the model would not hear otherwise."""
    if untold and isinstance(error, AgentError):
        error.message = "\n".join([str(error.message), *untold])
        error.args = (error.message,)
    return error
