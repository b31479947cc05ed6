"""The tasks that a client can ask for: kept in memory, and not for ever."""

from __future__ import annotations

from a2a.server.context import ServerCallContext
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import Artifact, Part, Task, TaskState

_GOING_ON = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)


class Tasks(InMemoryTaskStore):
    """Tasks in memory: of more than `most` those that changed longest ago are forgotten, but none that goes on.

    An answer that came in pieces is kept as one.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._going_on: dict[str, bool] = {}

    async def save(self, task: Task, context: ServerCallContext) -> None:
        """Keep a task."""
        going_on = task.status.state in _GOING_ON
        await super().save(task if going_on else _joined(task), context)
        self._going_on.pop(task.id, None)
        self._going_on[task.id] = going_on
        over = len(self._going_on) - self._most
        for old in [one for one, busy in self._going_on.items() if not busy][: max(0, over)]:
            del self._going_on[old]
            await self.delete(old, context)


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
