"""One run of an agent for a message: a task of its own, which can be told to stop and, if it does not, left behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from agentltl.record.events import Event
from agentltl.record.result import Result
from agentltl.server.conversations import Conversation, Conversations
from agentltl.server.slots import Slot


class Run:
    """A run of `text` in a conversation. It holds its slot and its conversation until it has really ended."""

    def __init__(self, conversations: Conversations, context: str, text: str, slot: Slot) -> None:
        self.stopped = False
        self.told = asyncio.Event()
        self.turn = 0
        self._conversation = conversations.enter(context)
        self._execution: str | None = None
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._live(self._conversation, text))

        def over(_: object) -> None:
            conversations.leave(self._conversation)
            slot.release()
            self._events.put_nowait(None)

        self._task.add_done_callback(over)

    async def events(self) -> AsyncIterator[Event]:
        """The events, until the run is over or stopped. Raises what the run raised."""
        while (event := await self._events.get()) is not None:
            yield event
        if self._task.done() and not self._task.cancelled() and (error := self._task.exception()) is not None:
            raise error

    async def stop(self, seconds: float) -> None:
        """End it, and wait for its end, but not longer; its thread may live on then, and nothing of it is told."""
        self.cancel()
        await asyncio.wait({self._task}, timeout=seconds)
        self._events.put_nowait(None)

    def cancel(self) -> None:
        """Tell it to end, once: who is told again does not wait for its end, and the conversation is not free yet."""
        if not self.stopped:
            self.stopped = True
            self._task.cancel()

    async def result(self) -> Result | None:
        """What a run that was stopped had, None when that is not known."""
        if self._execution is None or not self._task.done():
            return None
        result = (await self._conversation.agent()).last_result
        return result if result is not None and result.execution_id == self._execution else None

    async def _live(self, conversation: Conversation, text: str) -> None:
        async with conversation.lock:
            agent = await conversation.agent()
            conversation.turn = self.turn = conversation.turn + 1
            # A tool that wants to end everything ends its run: in a task it would end the loop.
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                async with contextlib.aclosing(agent.astream(text, reset=self.turn == 1)) as events:
                    async for event in events:
                        if event.kind == "agent_start":
                            self._execution = event.data["execution_id"]
                        self._events.put_nowait(event)
