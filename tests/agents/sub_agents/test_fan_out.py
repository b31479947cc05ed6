"""The loop of a fan-out, at a place where one sub-agent takes all others down that run beside it."""

import threading
from concurrent.futures import Future
from typing import Any

import pytest

from agentltl.agents.sub_agents.fan_out import FanOut
from agentltl.agents.sub_agents.options import Options
from agentltl.agents.sub_agents.place import WorkerLostError
from agentltl.agents.sub_agents.requirement import Requirement
from agentltl.agents.sub_agents.task import Task
from agentltl.record.result import Result


class Fated:
    """Takes a moment for each sub-agent. That of `die` ends at once, and with it whatever runs."""

    shared_fate = True

    def __init__(self) -> None:
        self.running: dict[str, Future[Result]] = {}
        self.starts: list[str] = []
        self.closed = False

    def start(self, task: Task) -> Future[Any]:
        id, future = task.requirement.id, Future[Result]()
        self.starts.append(id)
        self.running[id] = future
        if id == "die":
            for lost in list(self.running):
                self.running.pop(lost).set_exception(WorkerLostError("gone"))
        else:
            threading.Timer(0.1, self.end, [id]).start()
        return future

    def end(self, id: str) -> None:
        future = self.running.pop(id, None)
        if future is not None:
            future.set_result(Result(id))

    def result(self, task: Task, future: Future[Any]) -> Result:
        result: Result = future.result()
        return result

    def cancel(self) -> None:
        raise AssertionError("nobody has asked for it")

    def close(self) -> None:
        self.closed = True


def tasks(*ids: str) -> list[Task]:
    return [Task(index, Requirement(id, id), id) for index, id in enumerate(ids)]


@pytest.mark.parametrize("at_once", [2, 4])
def test_what_was_lost_runs_alone_and_takes_nobody_with_it_again(at_once: int) -> None:
    place = Fated()
    result = FanOut(tasks("a", "die", "b", "c"), place, Options(max_workers=at_once)).go()
    assert [one["error"] is None for one in result.results] == [True, False, True, True]
    assert result.results[1]["error"].startswith("its worker was lost, 3 times (gone)\n")
    assert place.starts.count("die") == 3
    assert place.starts.count("a") == 2
    assert place.closed


def test_what_is_to_be_reported_is_not_run_again() -> None:
    place = Fated()
    result = FanOut(tasks("a", "die", "b"), place, Options(max_workers=2, on_worker_loss="report")).go()
    assert [one.error_class for one in result.results] == ["WorkerLostError", "WorkerLostError", None]
    assert place.starts == ["a", "die", "b"]


def test_where_nobody_is_left_everything_is_an_entry() -> None:
    class Nobody(Fated):
        def start(self, task: Task) -> Future[Any]:
            raise WorkerLostError("no workers")

    result = FanOut(tasks("a", "b"), Nobody(), Options()).go()
    assert [one.error_class for one in result.results] == ["WorkerLostError"] * 2
