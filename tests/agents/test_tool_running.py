"""Tools that `tool` has made, in smolagents' real loops: async functions, time limits, and calls that need approval."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import threading
import time
from typing import Any

import pytest
from smolagents import CodeAgent, ToolCallingAgent

from agentltl import (
    Agent,
    AgentWithConstraints,
    CodeAgentWithConstraints,
    ConstraintError,
    Deny,
    ToolCallingAgentWithConstraints,
    tool,
)
from agentltl.agents.models.local import LocalModel
from agentltl.agents.models.scripted import ScriptedModel
from tests.agents.teams import END, Person

PLACE = contextvars.ContextVar("PLACE", default="nowhere")
RULE = "pay-needs-approval"


@tool
async def fetch(order: str) -> str:
    """Fetch an order."""
    await asyncio.sleep(0.001)
    return f"{order} from {PLACE.get()}"


@tool(needs_approval=True)
def pay(to: str, amount: int = 5) -> str:
    """Pay somebody."""
    return f"{to} has got {amount}"


def observed(agent: Any) -> list[str]:
    """What the model was told after each step."""
    steps = [step for step in agent.memory.steps if hasattr(step, "observations")]
    return [str(step.error.message if step.error else step.observations) for step in steps]


CODE = "Thought: do it\n<code>\n{}\n</code>"


@pytest.mark.parametrize("kind", [ToolCallingAgent, ToolCallingAgentWithConstraints])
def test_an_async_function_runs_in_tool_calling_agents(kind: Any) -> None:
    agent = kind([fetch], ScriptedModel([("fetch", {"order": "W1"}), END]), verbosity_level=-1)
    assert agent.run("Do it.") == "done"
    assert observed(agent)[0] == "W1 from nowhere"


@pytest.mark.parametrize("kind", [CodeAgent, CodeAgentWithConstraints])
def test_an_async_function_runs_in_code_agents(kind: Any) -> None:
    agent = kind([fetch], ScriptedModel([CODE.format('final_answer(fetch("W1"))')]), verbosity_level=-1)
    assert agent.run("Do it.") == "W1 from nowhere"


def test_an_async_function_runs_where_a_loop_runs_with_the_callers_context() -> None:
    async def main() -> Any:
        PLACE.set("here")
        agent = ToolCallingAgent([fetch], ScriptedModel([("fetch", {"order": "W1"}), END]), verbosity_level=-1)
        agent.run("Do it.")
        return observed(agent)[0], fetch("W2")

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:  # the thread keeps the loop that it may have
        assert runner.run(main()) == ("W1 from here", "W2 from here")


def test_what_a_function_raises_comes_out() -> None:
    @tool(timeout=5)
    async def late() -> None:
        """Is late by itself."""
        raise TimeoutError("its own")

    @tool(timeout=5)
    def wrong() -> None:
        """Is wrong."""
        raise KeyError("W1")

    with pytest.raises(TimeoutError, match="its own"):
        late()
    with pytest.raises(KeyError):
        wrong()


def test_a_sync_function_that_takes_too_long_is_a_failed_call_and_goes_on_in_its_thread() -> None:
    go_on, gone_on = threading.Event(), threading.Event()

    @tool(timeout=0.05)
    def slow() -> str:
        """Take long."""
        go_on.wait(10)
        gone_on.set()
        return PLACE.get()

    agent = ToolCallingAgentWithConstraints(
        [slow], ScriptedModel([("slow", {}), END]), constraints=[{"name": "r", "rule": "at_most(slow, 3)"}],
        verbosity_level=-1,
    )  # fmt: skip
    assert agent.run("Do it.") == "done"
    call = agent.guard.trace.calls[0]
    assert call.tool == "slow"
    assert call.outcome is not None
    assert "TimeoutError" in str(call.outcome.error)
    assert "`slow` took longer than 0.05 seconds" in observed(agent)[0]
    assert not gone_on.is_set()
    go_on.set()
    assert gone_on.wait(10)


def test_a_sync_function_in_time_gives_its_result_in_the_callers_context() -> None:
    @tool(timeout=30)
    def quick() -> str:
        """Be quick."""
        return PLACE.get()

    token = PLACE.set("there")
    assert quick() == "there"
    PLACE.reset(token)


def test_an_async_function_that_takes_too_long_is_cancelled() -> None:
    ended: list[str] = []

    @tool(timeout=0.05)
    async def slow() -> None:
        """Take long."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    begun = time.monotonic()
    agent = ToolCallingAgent([slow], ScriptedModel([("slow", {}), END]), verbosity_level=-1)
    assert agent.run("Do it.") == "done"
    assert "`slow` took longer than 0.05 seconds" in observed(agent)[0]
    assert ended == ["cancelled"]
    assert time.monotonic() - begun < 30


def paying(kind: Any = ToolCallingAgentWithConstraints, tools: Any = (pay,), **more: Any) -> Any:
    code = issubclass(kind, CodeAgent)
    script: list[Any] = (
        [CODE.format('pay("bob")'), CODE.format('final_answer("done")')] if code else [("pay", {"to": "bob"}), END]
    )
    return kind(list(tools), ScriptedModel(script), verbosity_level=-1, **more)


@pytest.mark.parametrize("kind", [ToolCallingAgentWithConstraints, CodeAgentWithConstraints])
def test_a_call_that_needs_approval_is_put_to_the_approver(kind: Any) -> None:
    person = Person(True)
    agent = paying(kind, approve=person)
    assert agent.run("Pay.") == "done"
    assert [(r.tool, dict(r.args), [rule.name for rule in r.constraints]) for r in person.asked] == [
        ("pay", {"to": "bob", "amount": 5}, [RULE])
    ]
    assert [c.tool for c in agent.guard.trace.calls if c.approves is None and c.tool != "final_answer"] == ["pay"]
    assert "bob has got 5" in observed(agent)[0]


@pytest.mark.parametrize("kind", [ToolCallingAgentWithConstraints, CodeAgentWithConstraints])
@pytest.mark.parametrize("approve", [None, lambda request: Deny("no")])
def test_a_call_that_needs_approval_is_refused_without_one(kind: Any, approve: Any) -> None:
    agent = paying(kind, approve=approve)
    assert agent.run("Pay.") == "done"
    assert [c.tool for c in agent.guard.trace.calls if c.tool == "pay"] == []
    assert agent.guard.violations[0].constraint_name == RULE
    assert "has got" not in observed(agent)[0]


def test_the_rule_is_what_one_would_write() -> None:
    written = {"name": RULE, "rule": "never(pay)", "severity": "ASK", "description": "A person sees each call of pay"}
    told = []
    for agent in (paying(), paying(tools=[tool(pay.function)], constraints=[written])):
        agent.run("Pay.")
        told.append((observed(agent), agent.get_constraint_status()))
        assert [c.to_mapping() for c in agent.guard.constraints] == [written]
    assert told[0] == told[1]


@pytest.mark.parametrize("kind", [ToolCallingAgent, CodeAgent])
def test_an_agent_without_a_guard_does_not_run_the_call(kind: Any) -> None:
    agent = paying(kind)
    agent.run("Pay.")
    assert "`pay` needs approval, and this agent asks nobody" in observed(agent)[0]


def test_an_agent_of_ours_without_a_guard_does_not_take_the_tool() -> None:
    with pytest.raises(ConstraintError, match="`pay` needs approval, and this agent asks nobody"):
        Agent([pay], ScriptedModel([]))


def test_a_tool_that_comes_later_does_not_run() -> None:
    agent = paying(tools=(), approve=lambda request: True)
    agent.tools["pay"] = pay
    agent.run("Pay.")
    assert "asks nobody" in observed(agent)[0]


def test_the_tool_itself_is_not_changed_by_an_agent_that_asks() -> None:
    assert paying(approve=lambda request: True).tools["pay"] is not pay
    with pytest.raises(ConstraintError, match="asks nobody"):
        pay("bob")
    assert pay.function("bob") == "bob has got 5"


def test_other_rules_stay_and_a_rule_of_that_name_must_be_the_same() -> None:
    other = {"name": "other", "rule": "at_most(pay, 3)"}
    assert [c.name for c in paying(constraints=[other]).guard.constraints] == ["other", RULE]
    for wrong in ({"rule": "never(look)"}, {"severity": "TOLERATE"}, {"enforce": False}):
        with pytest.raises(ConstraintError, match="is not the one by which the tool `pay` needs approval"):
            paying(constraints=[{"name": RULE, "rule": "never(pay)", "severity": "ASK", **wrong}])


def test_names_that_are_words_of_the_rule_language() -> None:
    @tool(needs_approval=True)
    def G() -> str:
        """Go."""
        return "gone"

    agent = ToolCallingAgentWithConstraints([G], ScriptedModel([("G", {}), END]), verbosity_level=-1)
    agent.run("Go.")
    assert agent.guard.violations[0].constraint_name == "G-needs-approval"


@pytest.mark.parametrize("keywords", [{}, {"constraints": []}])
@pytest.mark.parametrize("kind", [ToolCallingAgentWithConstraints, CodeAgentWithConstraints])
def test_it_is_saved_with_the_agent(kind: Any, keywords: Any) -> None:
    made = kind([pay], LocalModel(), verbosity_level=-1)
    person = Person(Deny("no"))
    again = kind.from_dict(made.to_dict(), approve=person, **keywords)
    again.model = paying(kind).model
    again.run("Pay.")
    assert [request.tool for request in person.asked] == ["pay"]
    assert [c.name for c in again.guard.constraints] == [RULE]
    assert "has got" not in observed(again)[0]


def test_copies_ask_too() -> None:
    agent = copy.deepcopy(paying(approve=lambda request: True))
    agent.run("Pay.")
    assert "bob has got 5" in observed(agent)[0]


def test_a_state_without_the_rule_is_not_restored() -> None:
    state = paying(tools=[tool(pay.function)]).to_state()
    agent = paying(approve=lambda request: True)
    with pytest.raises(ConstraintError, match=RULE):
        agent.restore(state)
    assert [c.name for c in agent.guard.constraints] == [RULE]
    agent.restore(agent.to_state())


def test_agents_with_results_ask_too() -> None:
    script = [("pay", {"to": "bob"}), END]
    result = AgentWithConstraints([pay], ScriptedModel(script), approve=lambda request: True).run("Pay.")
    assert [call["name"] for call in result.tool_calls] == ["pay"]
    assert AgentWithConstraints([pay], ScriptedModel(script)).run("Pay.").tool_calls == []
