"""The calls of one message of a managed agent that is not ours: one after another, where a rule above speaks of them.

smolagents runs the calls of a message at the same time. Then a call could run whose permission rests on another that
has not come back yet, or behind one that ends the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from smolagents.agents import ToolCallingAgent
from smolagents.memory import ActionStep
from smolagents.models import ChatMessage

from agentltl.agents.member_tree import tools_of
from agentltl.agents.stand_in import StandIn

if TYPE_CHECKING:
    from agentltl.agents.members import Guarding


class OneByOne(StandIn):
    """`process_tool_calls` of a managed agent, with one thread for the calls of a message that have to wait for one
    another. With one thread smolagents runs them in the model's order."""

    def __init__(self, known: Guarding, method: Callable[..., Generator[Any]]) -> None:
        super().__init__(method)
        self._known = known
        self._lock = threading.Lock()
        self._messages = 0
        """How many such messages are under way: the agent may be called twice at once."""
        self._threads: int | None = None

    def __call__(self, chat_message: ChatMessage, memory_step: ActionStep) -> Generator[Any]:
        calls = (chat_message.tool_calls or [])[:-1]
        if any(self._touches(call.function.name) for call in calls):
            return self._in_turn(chat_message, memory_step)
        events: Generator[Any] = self._method(chat_message, memory_step)
        return events

    def _touches(self, tool: object) -> bool:
        """Whether a call of this tool, or what a managed agent of that name can call, could touch a rule above."""
        names = {str(tool), *tools_of(self._known.member.managed_agents.get(tool))}
        return any(outer.guard.may_touch(name) for outer in self._known.outers for name in names)

    def _in_turn(self, chat_message: ChatMessage, memory_step: ActionStep) -> Generator[Any]:
        member = self._known.member
        assert isinstance(member, ToolCallingAgent)
        with self._lock:
            if not self._messages:
                self._threads, member.max_tool_threads = member.max_tool_threads, 1
            self._messages += 1
        try:
            yield from self._method(chat_message, memory_step)
        finally:
            with self._lock:
                self._messages -= 1
                if not self._messages:
                    member.max_tool_threads = self._threads
