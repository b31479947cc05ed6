"""One agent for each conversation: memory and guard state of one context never meet those of another."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from typing import Protocol, Self

from agentltl.record.events import Event
from agentltl.record.result import Result


class Served(Protocol):
    """What is asked of an agent to be served."""

    last_result: Result | None

    def astream(self, task: str, *, reset: bool = True) -> AsyncGenerator[Event, None]:
        """The events of a run; closing it cancels the run."""

    def _twin(self) -> Self:
        """Another agent with the same settings, and a memory and a guard state of its own."""


class Conversation:
    """The messages of one context. They run one after the other, under `lock`; `turn` counts those that have begun."""

    def __init__(self, agent: Served) -> None:
        self.lock = asyncio.Lock()
        self.turn = 0
        self.waiting = 0
        self._first = agent
        self._agent: Served | None = None

    async def agent(self) -> Served:
        """The agent of this conversation; the one that was deployed is nobody's."""
        if self._agent is None:
            self._agent = await asyncio.to_thread(self._first._twin)
        return self._agent


class Conversations:
    """The conversations that are remembered: of more than `most` the one unused for longest is forgotten, though none
    that is running or waiting to run."""

    def __init__(self, agent: Served, most: int) -> None:
        self._agent, self._most = agent, most
        self._all: OrderedDict[str, Conversation] = OrderedDict()

    def __len__(self) -> int:
        return len(self._all)

    def enter(self, context: str) -> Conversation:
        """The conversation of a context, a new one if it is unknown. It is kept until it is left as often."""
        if (conversation := self._all.get(context)) is None:
            conversation = self._all[context] = Conversation(self._agent)
        self._all.move_to_end(context)
        conversation.waiting += 1
        self._forget()
        return conversation

    def leave(self, conversation: Conversation) -> None:
        """A message of it is done."""
        conversation.waiting -= 1
        self._forget()

    def _forget(self) -> None:
        over = len(self._all) - self._most
        idle = [context for context, one in self._all.items() if not one.waiting] if over > 0 else []
        for context in idle[:over]:
            del self._all[context]
