"""Sub-agents in threads of this process: they share the parent's model, tools and connections."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from agentltl.agents.running import Running
from agentltl.agents.sub_agents.sinks import SinksFor
from agentltl.agents.sub_agents.task import Task
from agentltl.agents.watched_model import RunCancelled
from agentltl.record.result import Result

if TYPE_CHECKING:
    from agentltl.agents.agent import Agent


class Threads:
    """Runs each child that `child` makes in a thread of `executor`; without one, in one of `workers` threads.

    `goes_on`: the guard of a child goes on from what is in it.
    """

    shared_fate = False

    def __init__(
        self, executor: Executor | None, workers: int, child: Callable[[], Agent], sinks: SinksFor, goes_on: bool
    ) -> None:
        self._ours = executor is None
        self._executor = executor or ThreadPoolExecutor(workers, "sub-agent")
        self._child, self._sinks, self._goes_on = child, sinks, goes_on
        self._runs: set[Running] = set()
        self._futures: set[Future[Result]] = set()
        self._cancelled = False
        self._lock = threading.Lock()

    def start(self, task: Task) -> Future[Any]:
        """Put a child in line."""
        future = self._executor.submit(contextvars.copy_context().run, self._go, task)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def result(self, task: Task, future: Future[Any]) -> Result:
        """What the child gave."""
        result: Result = future.result()
        return result

    def cancel(self) -> None:
        """Take back what has not begun; the others end at their next model call, or in the middle of a streamed
        reply."""
        for future in list(self._futures):
            future.cancel()
        with self._lock:
            self._cancelled = True
            for run in self._runs:
                run.cancel()

    def close(self) -> None:
        """Wait for the children that run."""
        wait(list(self._futures))
        if self._ours:
            self._executor.shutdown()

    def _go(self, task: Task) -> Result:
        child = self._child()
        child.sinks = self._sinks(task.requirement.id)
        run = Running(child, task.prompt, reset=not self._goes_on)
        with self._lock:
            if self._cancelled:
                raise RunCancelled
            self._runs.add(run)
        try:
            return ended(child, run)
        finally:
            with self._lock:
                self._runs.discard(run)


def ended(child: Agent, run: Running) -> Result:
    """The result of a run, also of one that something else than an `Exception` has ended."""
    try:
        return run.go()
    except BaseException:
        if child.last_result is None:
            raise
        return child.last_result
