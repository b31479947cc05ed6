"""The limits of a run: looked at before each model call, inside the run, with what was spent in the error."""

import pickle
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from smolagents import ToolCallingAgent, tool
from smolagents.models import ChatMessageStreamDelta, Model

from agentltl.agents import limits
from agentltl.agents.agent import Agent
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.limits import Limits, Spending
from agentltl.agents.models.report import ModelReport, attach
from agentltl.agents.models.retry import Retry
from agentltl.agents.models.scripted import Reply, ScriptedModel
from agentltl.errors import ConstraintError, RunLimitError
from agentltl.record.attempt import ModelAttempt
from agentltl.record.events import Event
from agentltl.record.result import Result


@tool
def ping(n: int) -> int:
    """Give a number back.

    Args:
        n: The number.
    """
    return n


PING = ("ping", {"n": 1})
ANSWER = ("final_answer", {"answer": "done"})


class Priced(ScriptedModel):
    """A scripted model whose calls cost something; None for an unknown cost."""

    def __init__(self, replies: Any, *costs: float | None, **settings: Any) -> None:
        super().__init__(replies, **settings)
        self.costs = list(costs)

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        message = super().generate(*args, **kwargs)
        report = ModelReport(model="priced", input_tokens=10, output_tokens=5, total_cost_usd=self.costs.pop(0))
        attach(message, report)
        return message


def limited(result: Result, limit: str, calls: int) -> None:
    """The run was ended by this limit after so many model calls, and says so."""
    assert (result.ending, result.interrupted, result.success, result.is_error) == ("limit", True, False, True)
    assert result.error_class == "RunLimitError"
    assert f"`{limit}=" in str(result["error"])
    assert f"{calls} model call" in str(result["error"])
    assert (result["answer"], result.usage.model_calls, result.attempts_count) == (None, calls, calls)


@pytest.mark.parametrize("agent_class", [Agent, AgentWithConstraints])
def test_model_calls(agent_class: Any) -> None:
    model = ScriptedModel([PING, PING, ANSWER] * 2)
    agent = agent_class([ping], model, max_model_calls=2)
    result = agent.run("Ping.")
    limited(result, "max_model_calls", 2)
    assert str(result["error"]).startswith("the run has used up `max_model_calls=2`: 2 model calls, 30 tokens, ")
    assert str(result["error"]).endswith(" s\nraise the limit, or give the run less to do")
    assert result.usage.total_tokens == 30
    assert [call["name"] for call in result.tool_calls] == ["ping", "ping"]


def test_each_run_has_its_budget_anew() -> None:
    agent = Agent([ping], ScriptedModel([PING, ANSWER] * 2), max_model_calls=2)
    assert [agent.run("Ping.").success, agent.run("Ping.").success] == [True, True]


def test_tokens() -> None:
    model = ScriptedModel([Reply([PING], input_tokens=90, output_tokens=9), Reply([PING]), ANSWER])
    result = Agent([ping], model, max_tokens_total=100).run("Ping.")
    limited(result, "max_tokens_total", 2)
    assert result.usage.total_tokens == 114
    assert Agent([ping], ScriptedModel([PING, ANSWER]), max_tokens_total=16).run("Ping.").success


def test_money() -> None:
    result = Agent([ping], Priced([PING, PING, ANSWER], 0.3, 0.3, 0.3), max_cost_usd=0.5).run("Ping.")
    limited(result, "max_cost_usd", 2)
    assert "0.6 USD" in str(result["error"])
    assert result.total_cost == pytest.approx(0.6)
    assert Agent([ping], Priced([PING, ANSWER], 0.3, 0.3), max_cost_usd=0.5).run("Ping.").success


def test_a_cost_that_nobody_knows_ends_the_run() -> None:
    model = Priced([PING, PING, ANSWER], 0.1, None, model_id="mine")
    result = Agent([ping], model, max_cost_usd=5).run("Ping.")
    limited(result, "max_cost_usd", 2)
    assert str(result["error"]).splitlines() == [
        str(result["error"]).splitlines()[0],
        "tell its price with `litellm.register_model`, or limit `max_tokens_total` or `max_model_calls`",
    ]
    assert "`max_cost_usd=5` cannot be kept: nobody knows what `mine` costs; 2 model calls" in str(result["error"])
    assert Agent([ping], ScriptedModel([ANSWER]), max_cost_usd=5).run("Ping.").success  # no call follows
    assert Agent([ping], ScriptedModel([PING, ANSWER])).run("Ping.").success


def test_a_failed_call_that_reports_nothing_costs_nothing(waits: list[float]) -> None:
    model = Priced([TimeoutError(), PING, ANSWER], 0.1, 0.1)
    assert Agent([ping], model, max_cost_usd=5, max_model_calls=3).run("Ping.").success


def test_retries_count(waits: list[float]) -> None:
    model = ScriptedModel([TimeoutError(), TimeoutError(), ANSWER])
    result = Agent([ping], model, max_model_calls=2).run("Ping.")
    limited(result, "max_model_calls", 2)
    assert len(model.requests) == 2


def test_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(limits, "now", lambda: clock[0])

    @tool
    def sleep() -> str:
        """Sleep long."""
        clock[0] += 61
        return "slept"

    result = Agent([sleep], ScriptedModel([("sleep", {}), ANSWER]), total_timeout=60).run("Sleep.")
    limited(result, "total_timeout", 1)
    assert "61.0 s" in str(result["error"])


def test_a_stream_ends_with_the_time_however_steadily_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(limits, "now", lambda: clock[0])

    class Dripping(ScriptedModel):
        def generate_stream(self, messages: Any, **_: Any) -> Any:
            for number in range(9):
                yield ChatMessageStreamDelta(content=f"{number} ")

    def tick(event: Event) -> None:
        clock[0] += 10 if event.kind == "reasoning_delta" else 0

    agent = Agent([], Dripping([]), total_timeout=25, sinks=[tick])
    for _ in agent.stream("Drip."):
        pass
    assert agent.last_result is not None
    limited(agent.last_result, "total_timeout", 1)
    assert clock[0] == 130.0
    assert agent.last_result.attempts[0]["error_class"] == "ModelTimeoutError"


def test_a_call_is_cut_short_by_the_end_of_the_run() -> None:
    def slow(*_: Any) -> Any:
        time.sleep(20)

    begun = time.monotonic()
    result = Agent([], ScriptedModel([slow, ANSWER]), total_timeout=0.1).run("Go.")
    limited(result, "total_timeout", 1)
    assert result.attempts[0]["error_class"] == "ModelTimeoutError"
    assert time.monotonic() - begun < 15


def test_the_call_for_an_answer_when_no_step_is_left_is_a_call() -> None:
    result = Agent([ping], ScriptedModel([PING, "It is 1."]), max_steps=1, max_model_calls=1).run("Ping.")
    limited(result, "max_model_calls", 1)


def test_plans_are_calls() -> None:
    agent = Agent([ping], ScriptedModel(["I plan.", ANSWER]), max_model_calls=1)
    agent.smolagent.planning_interval = 1
    limited(agent.run("Ping."), "max_model_calls", 1)


def test_calls_side_by_side_are_never_more_than_allowed() -> None:
    begun = threading.Barrier(4, timeout=5)

    class Slow(ScriptedModel):
        def generate(self, *args: Any, **kwargs: Any) -> Any:
            with suppress(threading.BrokenBarrierError):
                begun.wait(0.3)  # all that may begin are under way at once
            return super().generate(*args, **kwargs)

    names = [f"member_{number}" for number in range(4)]
    members = [
        ToolCallingAgent([], Slow([ANSWER] * 2), name=name, description="Helps.", verbosity_level=-1) for name in names
    ]
    agent = Agent([], ScriptedModel([[(name, {"task": "Go."}) for name in names], ANSWER]), max_model_calls=3)
    agent.smolagent.managed_agents = {member.name: member for member in members}
    for member in members:
        member.inputs = {"task": {"type": "string", "description": "The task."}}
        member.output_type = "string"
    result = agent.run("Go.")
    assert (result.ending, result.usage.model_calls) == ("limit", 3)


def test_a_model_that_asks_others_is_no_call_beside_theirs() -> None:
    class Around(Model):
        def generate(self, messages: Any, **kwargs: Any) -> Any:
            return inner.generate(messages, **kwargs)

    inner = Retry(ScriptedModel([PING, PING, ANSWER]))
    limited(Agent([ping], Around(model_id="around"), max_model_calls=2).run("Go."), "max_model_calls", 2)


def test_a_call_that_is_none_after_all_is_not_counted() -> None:
    spending = Spending(Limits(max_model_calls=1))
    reserved = spending.reserve()
    with pytest.raises(RunLimitError, match=": 1 model call,"):
        spending.reserve()
    spending.release(reserved)
    spending.release(reserved)
    spending.reserve(instead_of=spending.reserve())


@pytest.mark.parametrize(("limit", "shown"), [(1234567, "1234567"), (12345678, "12345678")])
def test_a_limit_is_shown_as_it_was_set(limit: int, shown: str) -> None:
    spending = Spending(Limits(max_tokens_total=limit))
    spending.tokens = limit
    with pytest.raises(RunLimitError, match=f"`max_tokens_total={shown}`"):
        spending.check()
    assert [limits.as_seconds(seconds) for seconds in (0.05, 30, 30.0, 3600.25)] == ["0.05", "30", "30", "3600.25"]


def test_managed_agents_spend_the_money_of_the_run() -> None:
    helper = ToolCallingAgent([ping], ScriptedModel([PING, ANSWER]), name="helper", description="Helps.")
    agent = Agent([], ScriptedModel([("helper", {"task": "Ping."}), ANSWER]), max_model_calls=2)
    agent.smolagent.managed_agents = {"helper": helper}
    helper.inputs = {"task": {"type": "string", "description": "The task."}}
    helper.output_type = "string"
    limited(agent.run("Go."), "max_model_calls", 2)


def test_in_a_stream_too() -> None:
    agent = Agent([ping], ScriptedModel([PING, PING, ANSWER], streaming=True), max_model_calls=2)
    events = list(agent.stream("Ping."))
    assert agent.last_result is not None
    assert events[-1].data["ending"] == "limit"
    limited(agent.last_result, "max_model_calls", 2)


def test_by_hand_composed_models_have_the_limits_too(waits: list[float]) -> None:
    model = ScriptedModel([TimeoutError(), ANSWER])
    limited(Agent([], model_instance=Retry(model), max_model_calls=1).run("Go."), "max_model_calls", 1)


@pytest.mark.parametrize("name", ["total_timeout", "max_cost_usd", "max_tokens_total", "max_model_calls"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), True, "5"])
def test_limits_that_are_none(name: str, value: Any) -> None:
    with pytest.raises(ConstraintError, match=f"`{name}=") as raised:
        Agent([], ScriptedModel([]), **{name: value})
    assert "above zero, or leave it out" in str(raised.value)


@pytest.mark.parametrize("name", ["max_tokens_total", "max_model_calls"])
def test_counts_are_whole(name: str) -> None:
    settings: Any = {name: 1.5}
    with pytest.raises(ConstraintError, match="whole number"):
        Limits(**settings)


def test_without_limits_nothing_is_checked() -> None:
    spending = Spending(Limits())
    spending.add(ModelAttempt("step", 1, "m", "success", 0.0, 0.0))
    spending.check()
    assert spending.seconds_left() is None


def test_the_error_can_be_sent_to_another_process() -> None:
    again = pickle.loads(pickle.dumps(RunLimitError("used up", "max_cost_usd")))
    assert (str(again), again.limit) == ("used up", "max_cost_usd")
