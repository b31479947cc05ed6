"""The loop of a fan-out: it hands requirements out, takes results in, and keeps the budget."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from agentltl.agents.sub_agents.budget import Budget
from agentltl.agents.sub_agents.endings import failed, without_run
from agentltl.agents.sub_agents.options import Options
from agentltl.agents.sub_agents.place import Place, WorkerLostError
from agentltl.agents.sub_agents.progress import OnProgress, progress
from agentltl.agents.sub_agents.task import Task
from agentltl.agents.watched_model import RunCancelled
from agentltl.errors import RunLimitError
from agentltl.record.result import Result
from agentltl.record.sub_results import SubAgentsResult, SubResult


class FanOut:
    """Does the tasks at a place; nothing happens before `go`. Progress is told in the thread of `go`."""

    def __init__(self, tasks: Sequence[Task], place: Place, options: Options) -> None:
        self._tasks, self._place, self._options = tasks, place, options
        self._budget = Budget(options.max_cost_usd)
        self._at_once = options.at_once or max(1, len(tasks))
        self._waiting = deque(tasks)
        self._running: dict[Future[Any], Task] = {}
        self._over: SimpleQueue[Future[Any] | None] = SimpleQueue()
        self._results: dict[int, SubResult] = {}

    def go(self) -> SubAgentsResult:
        """Do them all. What is no `Exception` cancels the sub-agents, waits for those of this process and is raised."""
        try:
            with progress(self._options.on_progress, len(self._tasks)) as told:
                while self._waiting or self._running:
                    self._hand_out(told)
                    if self._running:
                        self._take_in(self._over.get(), told)
        except BaseException:
            self._place.cancel()
            raise
        finally:
            self._place.close()
        return SubAgentsResult([self._results[task.index] for task in self._tasks])

    def cancel(self) -> None:
        """End it as soon as that can be: `go` then raises `RunCancelled`."""
        self._over.put(None)

    def _hand_out(self, told: OnProgress) -> None:
        while self._waiting and self._has_room():
            task = self._waiting.popleft()
            if (why_not := self._budget.why_not) is not None:
                self._done(task, without_run(why_not, RunLimitError.__name__, "limit"), told)
                continue
            try:
                future = self._place.start(task)
            except WorkerLostError as error:
                self._lost(task, error, told)
            except Exception as error:
                self._done(task, failed(error), told)
            else:
                self._running[future] = task
                future.add_done_callback(self._over.put)

    def _has_room(self) -> bool:
        if self._place.shared_fate and self._running:
            # What may have taken a worker down runs alone, so that it takes nobody with it again.
            suspects = [self._waiting[0], *self._running.values()]
            if any(task.losses for task in suspects):
                return False
        return len(self._running) < self._at_once

    def _take_in(self, future: Future[Any] | None, told: OnProgress) -> None:
        if future is None:
            raise RunCancelled
        task = self._running.pop(future)
        try:
            result = self._place.result(task, future)
        except WorkerLostError as error:
            self._budget.add(task.requirement.id, None)
            self._lost(task, error, told)
        except Exception as error:
            self._budget.add(task.requirement.id, None)
            self._done(task, failed(error), told)
        else:
            self._budget.add(task.requirement.id, result)
            self._done(task, result, told)

    def _lost(self, task: Task, error: WorkerLostError, told: OnProgress) -> None:
        task.losses += 1
        if task.losses <= self._options.runs_again:
            self._waiting.appendleft(task)
            return
        times = f", {task.losses} times" if task.losses > 1 else ""
        text = (
            f"its worker was lost{times} ({error})\nits tools may have run: see what they did before you run it again"
        )
        self._done(task, without_run(text, "WorkerLostError"), told)

    def _done(self, task: Task, result: Result, told: OnProgress) -> None:
        wanted = task.requirement
        sub = SubResult.of_requirement(result, wanted.id, wanted.description, wanted.tasks)
        self._results[task.index] = sub
        told(len(self._results), len(self._tasks), sub)
