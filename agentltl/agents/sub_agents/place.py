"""Where the sub-agents of a fan-out run."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol

from agentltl.agents.sub_agents.task import Task
from agentltl.record.result import Result


class WorkerLostError(Exception):
    """A worker has gone, and whatever its sub-agent had come to."""


class Place(Protocol):
    """Runs sub-agents. `shared_fate`: a sub-agent that takes its worker down takes those with it that run beside it."""

    shared_fate: bool

    def start(self, task: Task) -> Future[Any]:
        """Begin a sub-agent, or put it in line. Raises `WorkerLostError` if there is nobody to run it any more."""

    def result(self, task: Task, future: Future[Any]) -> Result:
        """What came of a sub-agent that is over. Raises `WorkerLostError`, or whatever kept it from giving a result."""

    def cancel(self) -> None:
        """Take back what has not begun, and end what can be ended as soon as that can be."""

    def close(self) -> None:
        """Nothing more will be started: wait for what cannot be left alone, and give back what is not needed."""
