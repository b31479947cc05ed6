"""The agent as the SDK sees it: a message becomes a run, its events the updates of a task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.utils.errors import UnsupportedOperationError

from agentltl.agents.models.hidden_error import hide_in_error
from agentltl.constraints.value import as_text
from agentltl.record.result import Result
from agentltl.server.conversations import Conversations
from agentltl.server.gate import SLOT
from agentltl.server.run import Run
from agentltl.server.slots import Slot, Slots
from agentltl.server.tasks import Tasks
from agentltl.server.teller import Teller
from agentltl.server.values import task_of

log = logging.getLogger("agentltl")

STOP_SECONDS = 3.0
"""So long is waited for a run that is told to stop; one that waits for a tool can take longer to end."""


class Executor(AgentExecutor):
    """Runs the agent of the conversation that a message belongs to.

    Messages of one conversation run one after the other. A client that goes away does not end its run.
    """

    def __init__(
        self, conversations: Conversations, tasks: Tasks, slots: Slots, *, share: bool, secrets: Callable[[], list[str]]
    ) -> None:
        self._conversations, self._tasks, self._slots = conversations, tasks, slots
        self._share, self._secrets = share, secrets
        self._runs: dict[str, Run] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Run the agent and tell of it. Nothing is raised: what goes wrong is the state of the task."""
        assert context.message is not None
        assert context.task_id is not None
        assert context.context_id is not None
        teller = Teller(context, event_queue, share=self._share, secrets=self._secrets)
        reserved = context.call_context.state.pop(SLOT, None)
        slot = self._slots.take(reserved)
        if slot is not reserved and not self._may_go_on(context.task_id, slot or reserved):
            return None if slot is None else slot.release()
        if slot is None:
            await teller.begin()
            return await teller.busy()
        run = Run(self._conversations, context.context_id, task_of(context.message), slot)
        self._runs[context.task_id] = run
        try:
            await teller.begin()
            await self._follow(run, teller)
        finally:
            run.cancel()
            run.told.set()
            del self._runs[context.task_id]

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """End the run of a task as cancelled, or a task that waits for input."""
        assert context.task_id is not None
        if (run := self._runs.get(context.task_id)) is not None:
            await run.stop(STOP_SECONDS)
            await run.told.wait()
        else:
            teller = Teller(context, event_queue, share=self._share, secrets=self._secrets)
            await teller.cancelled(None, 0)

    async def close(self) -> None:
        """End all runs as cancelled."""
        runs = list(self._runs.values())
        await asyncio.gather(*(run.stop(STOP_SECONDS) for run in runs))
        await asyncio.gather(*(run.told.wait() for run in runs))

    def _may_go_on(self, task: str, slot: Slot) -> bool:
        """Whether a message whose client went away before it began still has its task: a later one may have it."""
        try:
            self._tasks.take(task, slot)
        except UnsupportedOperationError:
            return False
        return True

    async def _follow(self, run: Run, teller: Teller) -> None:
        result: Result | None = None
        try:
            async for event in run.events():
                if event.kind == "agent_end":
                    result = event.data["result"]
                elif not run.stopped:
                    await teller.tell(event)
            if result is not None and not run.stopped:
                await teller.end(result, run.turn)
            elif run.stopped:
                await teller.cancelled(result or await run.result(), run.turn)
            else:
                await teller.fail("the run has ended and did not say how")
        except Exception as error:
            hide_in_error(error, self._secrets())
            log.exception("a message could not be answered")
            await teller.fail(as_text(error) or type(error).__name__)
