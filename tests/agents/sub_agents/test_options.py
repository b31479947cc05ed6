"""How many sub-agents are handed out at once, and what becomes of those that are lost."""

from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

from agentltl.agents.sub_agents.options import RUNS_AGAIN, Options


class Elsewhere(Executor):
    """An executor that nobody knows."""


@pytest.mark.parametrize(
    ("options", "at_once"),
    [
        ({}, 1),
        ({"max_workers": 16}, 16),
        ({"executor": Elsewhere()}, None),
        ({"executor": ThreadPoolExecutor(3)}, None),
        ({"executor": ProcessPoolExecutor(3)}, 3),
        ({"executor": ProcessPoolExecutor(3), "max_workers": 2}, 2),
        ({"executor": ProcessPoolExecutor(3), "max_workers": 4}, 3),
        ({"executor": ProcessPoolExecutor(3), "max_cost_usd": 1.0}, 1),
        ({"executor": Elsewhere(), "max_workers": 4}, 4),
        ({"executor": Elsewhere(), "max_cost_usd": 1.0}, 1),
    ],
)
def test_as_many_as_it_takes_unless_a_bound_has_to_be_kept(options: dict[str, Any], at_once: int | None) -> None:
    assert Options(**options).at_once == at_once


def test_what_was_lost_is_run_again_unless_it_is_to_be_reported_or_a_budget_has_to_be_kept() -> None:
    assert Options().runs_again == RUNS_AGAIN
    assert Options(on_worker_loss="report").runs_again == Options(max_cost_usd=1.0).runs_again == 0


def test_interpreters_of_their_own_share_nothing() -> None:
    class InterpreterPoolExecutor(ThreadPoolExecutor):
        """As the standard library has it: a pool of threads."""

    assert Options().in_threads
    assert Options(executor=ThreadPoolExecutor(1)).in_threads
    assert not Options(executor=InterpreterPoolExecutor(1)).in_threads
    assert not Options(executor=Elsewhere()).in_threads
