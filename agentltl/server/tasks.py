"""The tasks that a client can ask for: kept in memory, and not for ever."""

from __future__ import annotations

from a2a.server.context import ServerCallContext
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import Artifact, Part, Task, TaskState
from a2a.utils.errors import UnsupportedOperationError

from agentltl.server.slots import Slot

_GOING_ON = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
_WAITING = TaskState.TASK_STATE_INPUT_REQUIRED


class Tasks(InMemoryTaskStore):
    """Tasks in memory: of more than `most` those that changed longest ago are forgotten, but none that goes on.

    An answer that came in pieces is kept as one. A task that waits for input goes on with one message, which has it
    until it is kept in another state.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._states: dict[str, TaskState] = {}
        self._taken: dict[str, Slot] = {}

    def take(self, task: str, slot: Slot) -> None:
        """The message of this slot goes on with a task. Raises what its client is told where it cannot.

        A message that names no task, and so begins one, is not asked about. Nothing is awaited here, so that of two
        messages one is first.
        """
        state = self._states.get(task)
        holder = self._taken.get(task, slot)
        if state in _GOING_ON or not (holder is slot or holder.unused):
            raise UnsupportedOperationError(
                f"task {task} is still working\nwait for its end, or send the message with the contextId alone"
            )
        if state == _WAITING:
            self._taken[task] = slot
        elif state is not None:
            ended = TaskState.Name(state).removeprefix("TASK_STATE_").lower()
            raise UnsupportedOperationError(
                f"task {task} has ended: it is {ended}\nsend the message with the contextId alone"
            )

    async def save(self, task: Task, context: ServerCallContext) -> None:
        """Keep a task."""
        state = task.status.state
        await super().save(task if state in _GOING_ON else _joined(task), context)
        self._states.pop(task.id, None)
        self._states[task.id] = state
        if state != _WAITING:
            self._taken.pop(task.id, None)
        over = len(self._states) - self._most
        for old in [one for one in self._states if not self._goes_on(one)][: max(0, over)]:
            del self._states[old]
            self._taken.pop(old, None)
            await self.delete(old, context)

    def _goes_on(self, task: str) -> bool:
        holder = self._taken.get(task)
        return self._states[task] in _GOING_ON or (holder is not None and not holder.unused)


def _joined(task: Task) -> Task:
    """The task with texts that follow each other in an artifact as one."""
    joined = Task()
    joined.CopyFrom(task)
    for artifact in joined.artifacts:
        parts = _joined_parts(artifact)
        del artifact.parts[:]
        artifact.parts.extend(parts)
    return joined


def _joined_parts(artifact: Artifact) -> list[Part]:
    parts: list[Part] = []
    for part in artifact.parts:
        if part.HasField("text") and parts and parts[-1].HasField("text"):
            parts[-1] = Part(text=parts[-1].text + part.text)
        else:
            parts.append(part)
    return parts
