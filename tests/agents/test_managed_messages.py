"""Messages of managed agents that have several calls: what a rule of the manager relates, one after another."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from smolagents import ToolCallingAgent

from agentltl import ApprovalPendingError, ConstraintViolationError, Pending
from tests.agents.conftest import Echo
from tests.agents.teams import APART, END, KINDS, agent, ask, calls, got, look, manager, pay

FIRST = {"name": "first", "severity": "PERSISTENT_BLOCK"}


class Slow(Echo):
    """Takes its time."""

    def forward(self, text: Any) -> Any:
        time.sleep(0.2)
        return super().forward(text)


def team(kind: Any, message: Any, rule: Any, **more: Any) -> Any:
    clerk = agent(kind, [message, END], tools=[Slow("look"), Echo("pay"), Echo("other")])
    return clerk, manager([clerk], ask(), constraints=[rule], **more)


@pytest.mark.parametrize("text", ["precedence(look, pay)", 'precedence(look(agent = "clerk"), pay)'])
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_waits_for_the_one_that_permits_it(kind: Any, text: str) -> None:
    clerk, chief = team(kind, [look(), pay()], FIRST | {"rule": text})
    chief.run("Pay.")
    assert got(clerk) == [5]
    clerk, chief = team(kind, [look("fail"), pay()], FIRST | {"rule": text})
    chief.run("Pay.")
    assert got(clerk) == []
    assert calls(chief) == [("clerk", None), ("look", "clerk")]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_runs_behind_a_stop_or_a_call_that_waits(kind: Any) -> None:
    stop = {"name": "stop", "rule": "never(pay)"}
    clerk, chief = team(kind, [pay(), look(), look(2)], stop)
    with pytest.raises(ConstraintViolationError):
        chief.run("Pay.")
    assert got(clerk, "look") == []
    clerk, chief = team(kind, [pay(), look()], stop | {"severity": "ASK"}, approve=lambda request: Pending())
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay.")
    assert got(clerk, "look") == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", [APART, {"name": "look", "rule": "at_most(look, 9)"}])
def test_calls_that_no_rule_relates_overlap(rule: Any, kind: Any) -> None:
    both = threading.Barrier(2)

    class Meet(Echo):
        def forward(self, text: Any) -> Any:
            both.wait(10)
            return super().forward(text)

    clerk = agent(kind, [[pay(1), pay(2), look()], END], tools=[Meet("pay"), Echo("look")])
    assert manager([clerk], ask(), constraints=[rule]).run("Pay.") == "done"
    assert sorted(got(clerk)) == [1, 2]


def test_a_plain_members_threads_are_its_own_again() -> None:
    clerk, chief = team(ToolCallingAgent, [look("fail"), pay()], FIRST | {"rule": "precedence(look, pay)"})
    clerk.max_tool_threads = 7
    chief.run("Pay.")
    assert clerk.max_tool_threads == 7
    assert "process_tool_calls" not in vars(clerk)
