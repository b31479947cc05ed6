"""What happens in a run, told as the updates of a task."""

from __future__ import annotations

from collections.abc import Callable

from a2a.server.agent_execution import RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Part, Task, TaskState, TaskStatus

from agentltl.agents.models.redaction import hide
from agentltl.constraints.value import Json
from agentltl.guard.ending import FINAL_ANSWER
from agentltl.record.events import Event
from agentltl.record.plain import plain
from agentltl.record.result import Result
from agentltl.server.endings import KEY, metadata_of, state_of, words_of
from agentltl.server.gate import BUSY, STREAMING
from agentltl.server.values import clean, data_part, struct_value, text_part

ANSWER = "answer"
"""The name and the id of the artifact that is a run's answer."""


class Teller:
    """Tells one run to whoever follows its task.

    Names of tools and what becomes of their calls are told, arguments and results only with `share`. `secrets`, those
    that there are at the time, are kept out of everything but the answer, which is the model's. A client that streams
    gets the answer piece by piece.
    """

    def __init__(
        self, context: RequestContext, queue: EventQueue, *, share: bool, secrets: Callable[[], list[str]]
    ) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        self._updater = TaskUpdater(queue, context.task_id, context.context_id)
        self._context, self._queue = context, queue
        self._share, self._secrets = share, secrets
        self._streams = context.call_context.state.get("method") in STREAMING
        self._written = ""

    async def begin(self) -> None:
        """Make the task, unless the message goes on with one."""
        if self._context.current_task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=self._context.task_id, context_id=self._context.context_id, status=status)
            if self._context.message is not None:
                task.history.append(self._context.message)
            await self._queue.enqueue_event(task)

    async def tell(self, event: Event) -> None:
        """Tell what is to be told of an event that is not the last."""
        match event.kind:
            case "agent_start":
                await self._updater.update_status(TaskState.TASK_STATE_WORKING)
            case "tool_call_start" | "tool_call_end" if event.data["tool_name"] != FINAL_ANSWER:
                await self._note("tool_call", self._call(event))
            case "constraint_violation":
                names = ("constraint_name", "severity", "tool_name")
                await self._note("violation", {name: event.data[name] for name in names})
            case "approval_requested":
                await self._note("approval", {"tool_name": event.data["tool_name"]})
            case "text_delta" if self._streams and event.data["text"]:
                await self._piece(event.data["text"], restart=event.data["restart"])

    async def end(self, result: Result, turn: int) -> None:
        """Tell the end of a run: its answer if it has one, and how it ended."""
        if result.output is not None:
            await self._answer(result)
        parts = [self._words(words)] if (words := words_of(result)) else []
        if self._share and result.pending is not None:
            asked = {name: result.pending[name] for name in ("tool_name", "arguments", "constraints")}
            parts.append(data_part(self._hidden(asked)))
        await self._last(state_of(result), parts, metadata_of(result, turn))

    async def fail(self, words: str) -> None:
        """The run could not be done at all."""
        await self._last(TaskState.TASK_STATE_FAILED, [self._words(words)], {})

    async def busy(self) -> None:
        """There is no slot for the run."""
        await self._last(TaskState.TASK_STATE_REJECTED, [text_part(BUSY)], {})

    async def cancelled(self, result: Result | None, turn: int) -> None:
        """The run was ended from outside; what it used up may be known."""
        await self._last(TaskState.TASK_STATE_CANCELED, [], metadata_of(result, turn))

    def _call(self, event: Event) -> dict[str, Json]:
        data = event.data
        call = {"id": data["id"], "tool_name": data["tool_name"], "status": data.get("status", "started")}
        if self._share:
            call["arguments"] = data["arguments"]
            if event.kind == "tool_call_end":
                call |= {"result": data["tool_result"], "error": data["error"]}
        return call

    async def _note(self, what: str, value: dict[str, Json]) -> None:
        noted = struct_value(self._hidden({KEY: {what: value}}))
        await self._updater.update_status(TaskState.TASK_STATE_WORKING, metadata=noted)

    async def _piece(self, text: str, *, restart: bool) -> None:
        if restart:
            self._written = ""
        part = text_part(text)
        await self._updater.add_artifact([part], ANSWER, ANSWER, append=bool(self._written))
        self._written += part.text

    async def _answer(self, result: Result) -> None:
        """The rest of the answer; all of it where none was told, or another one."""
        text = clean(str(result))
        goes_on = self._written != "" and text.startswith(self._written)
        parts = [text_part(text.removeprefix(self._written) if goes_on else text)]
        if not isinstance(result.output, str):
            parts.append(data_part(result.content))
        await self._updater.add_artifact(parts, ANSWER, ANSWER, append=goes_on, last_chunk=True)

    async def _last(self, state: TaskState, parts: list[Part], metadata: dict[str, Json]) -> None:
        message = self._updater.new_agent_message(parts) if parts else None
        await self._updater.update_status(state, message, metadata=struct_value({KEY: metadata}))

    def _words(self, words: str) -> Part:
        return text_part(hide(words, self._secrets()))

    def _hidden(self, value: object) -> Json:
        return _without(plain(value), self._secrets())


def _without(value: Json, secrets: list[str]) -> Json:
    match value:
        case str():
            return hide(value, secrets)
        case dict():
            return {hide(key, secrets): _without(part, secrets) for key, part in value.items()}
        case list():
            return [_without(part, secrets) for part in value]
    return value
