"""Sub-agents in other processes, by any executor: those of a `ProcessPoolExecutor`, of a Dask cluster, ..."""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any

from agentltl.agents.sub_agents.endings import without_run
from agentltl.agents.sub_agents.parcel import Parcel, Reply
from agentltl.agents.sub_agents.place import WorkerLostError
from agentltl.agents.sub_agents.sinks import SinksFor
from agentltl.agents.sub_agents.task import Task
from agentltl.agents.sub_agents.worker import work
from agentltl.constraints.value import as_text
from agentltl.record.events import Stream
from agentltl.record.result import Result


class Processes:
    """Sends children of the agent of `blueprint` to `executor`. Their sinks are told when a child is over.

    `once`: what was lost with a worker must not be run again, by nobody. A pool of the standard library is broken when
    one of its processes dies; what is left is then run in a new one like it.
    """

    def __init__(self, executor: Executor, blueprint: bytes, sinks: SinksFor, *, events: bool, once: bool) -> None:
        self._executor, self._blueprint, self._sinks = executor, blueprint, sinks
        self._events, self._once = events, once
        self._fan_out = uuid.uuid4().hex
        self._own: Executor | None = None
        self._futures: set[Future[bytes]] = set()
        self.shared_fate = isinstance(executor, ProcessPoolExecutor)

    def start(self, task: Task) -> Future[Any]:
        """Send a child."""
        parcel = Parcel(
            self._fan_out, uuid.uuid4().hex, self._blueprint, task.prompt, events=self._events, once=self._once
        )
        try:
            future = self._submitted(parcel)
        except BrokenExecutor as error:
            raise WorkerLostError(as_text(error)) from error
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def result(self, task: Task, future: Future[Any]) -> Result:
        """What a child has sent back. Whatever else comes from the executor means that the worker was lost: a child's
        own errors come back in its reply."""
        try:
            packed = future.result()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise WorkerLostError(f"{type(error).__name__}: {as_text(error)}".rstrip(": ")) from error
        reply: Reply = pickle.loads(packed)
        if reply.lost:
            raise WorkerLostError("another worker had begun with it")
        stream = Stream(self._sinks(task.requirement.id))
        for event in reply.events:
            stream.emit(event.kind, event.data)
        if reply.result is None:
            return without_run(reply.error, reply.error_class)
        return reply.result

    def cancel(self) -> None:
        """Take back what has not begun; what runs in another process cannot be reached."""
        for future in list(self._futures):
            future.cancel()

    def close(self) -> None:
        """End the pool that was made in the place of a broken one."""
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)

    def _submitted(self, parcel: Parcel) -> Future[bytes]:
        try:
            return self._executor.submit(work, parcel)
        except BrokenExecutor:
            renewed = _renewed(self._executor)
            if renewed is None:
                raise
            self.close()
            self._executor = self._own = renewed()
            return self._executor.submit(work, parcel)


def _renewed(executor: Executor) -> Callable[[], Executor] | None:
    """What makes a pool like this one; None if nobody can."""
    if type(executor) is not ProcessPoolExecutor:
        return None
    pool: Any = executor
    return lambda: ProcessPoolExecutor(pool._max_workers, pool._mp_context, pool._initializer, pool._initargs)
