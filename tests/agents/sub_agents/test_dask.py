"""A fan-out over a Dask cluster of two worker processes on this machine."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from agentltl import AgentWithSubAgents
from tests.agents.sub_agents.crew import READ_FIRST, TEMPLATE, TOOLS, Clerk, canonical

RUN = ["read_order W1", "change_order W1"]
TASKS = {f"r{n}": RUN if n % 7 else ["change_order W1"] for n in range(100)}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    cluster = LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )
    with cluster, Client(cluster) as connected:
        yield connected


def fanned(tasks: dict[str, list[str]], **options: Any) -> Any:
    agent = AgentWithSubAgents(TOOLS, Clerk(cost=0.1), constraints=[READ_FIRST])
    return agent.run_per_requirement({id: f"Order {id}" for id in tasks}, tasks, TEMPLATE, **options)


def workers(client: Client) -> set[int]:
    """The processes of the workers."""
    return set(client.run(os.getpid).values())


def test_the_results_are_those_of_threads_byte_for_byte(client: Client) -> None:
    there = fanned(TASKS, executor=client.get_executor())
    assert canonical(there) == canonical(fanned(TASKS, max_workers=4))
    assert [one.ending for one in there.results] == ["answer" if n % 7 else "stop" for n in range(100)]


@pytest.mark.parametrize("allowed_failures", [3, 0])
def test_a_worker_that_is_killed_costs_no_requirement(client: Client, allowed_failures: int, tmp_path: Path) -> None:
    # With 0 Dask itself runs nothing again that was lost.
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", allowed_failures))
    client.wait_for_workers(2)
    noted = tmp_path / "noted"
    tasks = {id: [f"note {noted}", "wait 0.02", *run] for id, run in TASKS.items()}
    before = workers(client)

    def kill() -> None:
        """Kill a worker that has begun."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            lines = noted.read_text().split() if noted.exists() else []
            if len(lines) > 10:
                os.kill(int(lines[-1]), signal.SIGKILL)
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    result = fanned(tasks, executor=client.get_executor())
    killer.join()
    assert [one["requirement_id"] for one in result.results] == list(tasks)
    assert [one.ending for one in result.results] == ["answer" if n % 7 else "stop" for n in range(100)]
    assert len(noted.read_text().split()) >= 100
    client.wait_for_workers(2)
    assert len(before & workers(client)) == 1


def test_a_loss_that_is_to_be_reported_is_not_run_again_by_dask_either(client: Client, tmp_path: Path) -> None:
    client.wait_for_workers(2)
    noted = tmp_path / "noted"
    tasks = {"a": [f"note {noted}", f"die_once {tmp_path / 'died'}"]}
    result = fanned(tasks, executor=client.get_executor(), on_worker_loss="report")
    assert result.results[0].error_class == "WorkerLostError"
    assert len(noted.read_text().split()) == 1
    client.wait_for_workers(2)
    again = fanned(tasks, executor=client.get_executor(), on_worker_loss="report")
    assert again.results[0].success
