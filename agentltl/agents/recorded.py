"""smolagents' agents with a recorder that is told of each step and each call when it happens.

smolagents reports a step when it is over and a call when it has returned; one that raised, or that came back while
another one raised, is seen only where it runs.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from smolagents.agents import ToolCallingAgent, ToolOutput
from smolagents.memory import ActionStep, ToolCall
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.utils import AgentToolCallError, AgentToolExecutionError

from agentltl.agents.callbacks import Callbacks
from agentltl.agents.deltas import FINAL_ANSWER
from agentltl.agents.output_tool import OutputTool
from agentltl.agents.purposes import Purposes
from agentltl.agents.recorder import in_member
from agentltl.agents.remembering import Remembering
from agentltl.agents.rendering import Rendering
from agentltl.agents.ticket import CallName, Ticket
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.constraints.value import Json
from agentltl.record.events import EventKind

if TYPE_CHECKING:
    Base = ToolCallingAgent
else:
    Base = object


class Recorded(Purposes, Base):
    """What both agents share. Outside of a recorded run `recorder` is None and nothing is different."""

    _rendered: str | None = None

    def render_system_prompt(self) -> str:
        """The system prompt, which the run that begins next takes as it is."""
        prompt: str = self.system_prompt
        self._rendered = prompt
        return prompt

    def initialize_system_prompt(self) -> str:
        """As smolagents, but for a prompt that has just been made."""
        prompt, self._rendered = self._rendered, None
        return super().initialize_system_prompt() if prompt is None else prompt

    def take_settings_of(self, other: Recorded) -> None:
        """Have what has been set on another agent since it was made: further tools, checks of the answer, plans."""
        self.tools = {**{name: tool for name, tool in other.tools.items() if name not in self.tools}, **self.tools}
        self.final_answer_checks = list(other.final_answer_checks)
        self.planning_interval = other.planning_interval

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        """As smolagents; it is how each step begins."""
        if self.recorder is not None and not summary_mode:
            self.recorder.step_started()
        return super().write_memory_to_messages(summary_mode)

    def process_tool_calls(
        self, chat_message: ChatMessage, memory_step: ActionStep
    ) -> Generator[ToolCall | ToolOutput]:
        """As smolagents, told to the recorder."""
        recorder = self.recorder
        if recorder is None:
            yield from super().process_tool_calls(chat_message, memory_step)
            return
        if isinstance(answer := self.tools.get(FINAL_ANSWER), OutputTool):
            chat_message = answer.arranged(chat_message)
        calls = chat_message.tool_calls or []
        recorder.called(self._in_order(calls), memory_step)
        try:
            for output in super().process_tool_calls(self._ticketed(chat_message, memory_step), memory_step):
                if isinstance(output, ToolOutput):
                    recorder.came_out(output, memory_step)
                yield output
        except Exception as error:
            recorder.failed(error)
            raise
        finally:
            for call in memory_step.tool_calls or ():
                call.name = str(call.name)

    def execute_tool_call(self, tool_name: str, arguments: dict[str, str] | str) -> Any:
        """As smolagents, told to the recorder."""
        recorder = self.recorder
        if recorder is None:
            return super().execute_tool_call(tool_name, arguments)
        ticket = tool_name.ticket if isinstance(tool_name, CallName) else Ticket()
        call = recorder.entered(ticket.id, ticket.step, tool_name, arguments, changed=ticket.changed is not None)
        try:
            with in_member() if tool_name in self.managed_agents else nullcontext():
                result = super().execute_tool_call(tool_name, arguments)
        except BaseException as error:
            recorder.raised(call, error)
            tool = self.tools.get(tool_name)
            if isinstance(tool, OutputTool) and isinstance(error, AgentToolCallError | AgentToolExecutionError):
                raise tool.failed(error) from error.__cause__
            raise
        else:
            recorder.calls.returned(call, result)
            return result
        finally:
            recorder.judged()

    def _in_order(self, calls: Sequence[ChatMessageToolCall]) -> Sequence[ChatMessageToolCall]:
        return calls

    def _ticketed(self, message: ChatMessage, step: ActionStep) -> ChatMessage:
        return message


class RecordedAgent(Recorded, Remembering, Rendering, ToolCallingAgent):
    """A recorded tool-calling agent."""

    def _setup_step_callbacks(self, step_callbacks: Any) -> None:
        super()._setup_step_callbacks(step_callbacks)  # type: ignore[no-untyped-call]
        self.step_callbacks = Callbacks(self.step_callbacks)

    def _ticketed(self, message: ChatMessage, step: ActionStep) -> ChatMessage:
        """The message with the id of each call on its name, where `execute_tool_call` finds it."""
        named = copy.copy(message)
        named.tool_calls = [_named(call, Ticket(call.id, step.step_number)) for call in message.tool_calls or ()]
        return named


def _named(call: ChatMessageToolCall, ticket: Ticket) -> ChatMessageToolCall:
    called = call.function
    name = CallName.of(called.name, ticket)
    function = ChatMessageToolCallFunction(name=name, arguments=called.arguments, description=called.description)
    return ChatMessageToolCall(function=function, id=call.id, type=call.type)


class RecordedAgentWithConstraints(Recorded, ToolCallingAgentWithConstraints):
    """A recorded tool-calling agent under constraints, which puts a ticket on each call by itself."""

    def _told_of_approval(self, kind: EventKind, data: dict[str, Json], id: str | None, step: int | None) -> None:
        if self.recorder is not None:
            self.recorder.asked(kind, data, id, step)

    def _told_of_start(self, ticket: Ticket) -> None:
        if self.recorder is not None:
            self.recorder.started(ticket.id, ticket.step)

    def _in_order(self, calls: Sequence[ChatMessageToolCall]) -> Sequence[ChatMessageToolCall]:
        """A constrained agent runs `final_answer` after the other calls of its message."""
        return sorted(calls, key=lambda call: call.function.name == "final_answer")
