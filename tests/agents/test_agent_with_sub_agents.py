"""A fan-out in threads: what the sub-agents have from the agent, and what they have for themselves."""

import asyncio
import gc
import json
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from smolagents.models import ChatMessage

from agentltl import AgentWithConstraints, AgentWithSubAgents, ConstraintError, Event, Result, SubResult, Usage
from agentltl.agents.agent import Agent
from agentltl.agents.models.breaker import Breaker
from agentltl.record.metrics import metrics_of
from tests.agents.sub_agents.crew import READ_FIRST, TEMPLATE, TOOLS, Clerk, canonical

RUN = ["read_order W1", "change_order W1"]


def agent_of(model: Clerk | None = None, **settings: Any) -> AgentWithSubAgents:
    return AgentWithSubAgents(TOOLS, model or Clerk(), **{"constraints": [READ_FIRST], **settings})


def fanned(agent: AgentWithSubAgents, tasks: dict[str, list[str]], **options: Any) -> Any:
    return agent.run_per_requirement({id: f"Order {id}" for id in tasks}, tasks, TEMPLATE, **options)


def in_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine gives."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:  # the thread keeps the loop that it may have
        return runner.run(work)


def test_each_requirement_has_a_sub_agent_of_its_own() -> None:
    agent = agent_of(instructions="Be brief.")
    result = fanned(agent, {"a": RUN, "b": ["change_order W1"], "c": []})
    assert [entry["answer"] for entry in result["sub_results"]] == ["a is done", None, "c is done"]
    assert [len(one.tool_calls) for one in result.results] == [2, 0, 0]
    stopped = result["sub_results"][1]["metrics"]
    assert (stopped["run_status"], stopped["stopped_by_constraint"]) == ("stopped", "read-first")
    first = result.results[0].messages
    assert "Be brief." in first[0]["content"]
    assert first[1]["content"].endswith("Requirement a: Order a\nTasks:\n- read_order W1\n- change_order W1")
    assert json.loads(json.dumps(result)) == result


def test_an_entry_is_the_result_of_a_run() -> None:
    entry = fanned(agent_of(), {"a": RUN}).results[0]
    prompt = "Requirement a: Order a\nTasks:\n- read_order W1\n- change_order W1"
    alone = AgentWithConstraints(TOOLS, Clerk(), constraints=[READ_FIRST], max_steps=15).run(prompt)
    of_alone = SubResult.of_requirement(alone, "a", "Order a", RUN)
    assert canonical(entry) == canonical(of_alone)
    assert entry.keys() - alone.keys() == {"requirement_id", "requirement_description", "tasks"}


def test_results_are_in_the_order_of_the_requirements() -> None:
    done: list[Any] = []
    tasks = {"slow": ["wait 0.3"], "quick": [], "last": []}
    result = fanned(agent_of(), tasks, max_workers=3, on_progress=lambda *told: done.append(told))
    assert [entry["requirement_id"] for entry in result["sub_results"]] == ["slow", "quick", "last"]
    assert [(count, total) for count, total, _ in done] == [(1, 3), (2, 3), (3, 3)]
    assert [one["requirement_id"] for _, _, one in done][-1] == "slow"
    assert {id(one) for _, _, one in done} == {id(one) for one in result.results}


def test_as_many_run_at_once_as_there_are_workers() -> None:
    together = threading.Barrier(3)

    class Meeting(Clerk):
        def generate(self, *args: Any, **kwargs: Any) -> ChatMessage:
            together.wait(timeout=30)
            return super().generate(*args, **kwargs)

    result = fanned(agent_of(Meeting()), {"a": [], "b": [], "c": []}, max_workers=3)
    assert [one.success for one in result.results] == [True] * 3


def test_children_and_total_agree_to_the_last_digit() -> None:
    tasks = {"a": RUN, "b": ["read_order W1", "fail"], "c": ["change_order W1"], "d": []}
    result = fanned(agent_of(Clerk(cost=0.1)), tasks, max_workers=2)
    metrics, children = result["metrics"], [one["metrics"] for one in result.results]
    for total, one in (
        ("total_input_tokens", "input_tokens"), ("total_output_tokens", "output_tokens"),
        ("total_tokens", "total_tokens"), ("total_steps", "num_steps"), ("total_tool_calls", "num_tool_calls"),
    ):  # fmt: skip
        assert metrics[total] == sum(child[one] for child in children)
    assert metrics["total_tool_calls"] == len(metrics["all_tool_calls"]) == 5
    assert [one["num_steps"] for one in metrics["per_requirement_metrics"]] == [c["num_steps"] for c in children]
    assert result.usage == sum((one.usage for one in result.results), Usage())
    assert result.usage.model_calls == 7
    assert result.usage.total_cost_usd == sum(one.total_cost for one in result.results)


def test_one_that_fails_does_not_disturb_the_others() -> None:
    tasks = {"a": RUN, "b": ["read_order W1", "fail"], "c": RUN}
    result = fanned(agent_of(), tasks, max_workers=2)
    assert [entry["error"] is None for entry in result["sub_results"]] == [True, False, True]
    failed = result.results[1]
    assert "the model has failed" in failed["error"]
    assert failed.error_class == "RuntimeError"
    assert failed["metrics"]["num_tool_calls"] == 1  # what it did before is not lost


class Poisoned(Clerk):
    """Finds its provider down whenever it is asked about the word POISON."""

    def generate(self, messages: list[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        if "POISON" in str(messages):
            raise TimeoutError("no answer")
        return super().generate(messages, *args, **kwargs)


@pytest.mark.parametrize("model", [Poisoned(), Breaker(Poisoned(), failures=1)])
def test_nor_does_one_whose_model_is_left_alone(model: Any) -> None:
    tasks = {"a": ["POISON"], "b": ["POISON"], "c": ["POISON"], "d": RUN, "e": ["POISON"]}
    agent = agent_of(model, retries=0)
    result = fanned(agent, tasks)
    assert [one.error_class for one in result.results] == ["TimeoutError"] * 3 + [None, "TimeoutError"]
    assert agent.run("Requirement x: none").success


class Refusing(ThreadPoolExecutor):
    """Does not take the second piece of work."""

    taken = 0

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        self.taken += 1
        if self.taken == 2:
            raise RuntimeError("no room")
        return super().submit(*args, **kwargs)


def test_one_without_a_result_has_an_error_and_zeros() -> None:
    with Refusing(1) as executor:
        result = fanned(agent_of(), {"a": RUN, "b": RUN, "c": RUN}, executor=executor)
    assert [one.success for one in result.results] == [True, False, True]
    lost = result["sub_results"][1]
    assert (lost["answer"], lost["error"], lost["requirement_id"]) == (None, "no room", "b")
    assert lost["metrics"].keys() == result["sub_results"][0]["metrics"].keys()
    assert {name: value for name, value in lost["metrics"].items() if name in metrics_of([])} == metrics_of([])


def test_something_else_than_an_exception_in_a_tool_is_an_entry_too() -> None:
    class Leaving(Clerk):
        def generate(self, *args: Any, **kwargs: Any) -> ChatMessage:
            raise SystemExit(3)

    result = fanned(agent_of(Leaving()), {"a": []})
    assert result.results[0].error_class == "SystemExit"


def test_steps_are_those_of_sub_agents() -> None:
    agent = agent_of(sub_agent_max_steps=2, max_steps=1)
    assert fanned(agent, {"a": RUN}).results[0].ending == "max_steps"
    assert fanned(agent_of(max_steps=1), {"a": RUN}).results[0].ending == "answer"


def test_the_agent_itself_has_not_run() -> None:
    agent = agent_of()
    before = agent.run("Requirement x: read\n- read_order W1")
    fanned(agent, {"a": RUN}, max_workers=2)
    assert agent.last_result is before
    assert [call.tool for call in agent.guard.trace.calls] == ["read_order", "final_answer"]
    assert agent.run("Requirement y: none").success


def test_constraints_go_on_from_what_the_agent_has_established() -> None:
    agent = agent_of()
    agent.run("Requirement x: read\n- read_order W1")
    tasks = {"a": ["change_order W1"], "b": ["change_order W1"]}
    assert [one.ending for one in fanned(agent, tasks).results] == ["stop", "stop"]
    went_on = fanned(agent, tasks, inherit="state", max_workers=2)
    assert [one.ending for one in went_on.results] == ["answer", "answer"]
    assert went_on["metrics"]["total_tool_calls"] == 4
    assert [call["name"] for call in went_on.results[0].tool_calls] == ["change_order"]
    assert len(agent.guard.trace.calls) == 2


def test_children_that_go_on_do_not_know_of_each_other() -> None:
    once = {"name": "once", "rule": "at_most_once(change_order)"}
    agent = agent_of(constraints=[READ_FIRST, once])
    agent.run("Requirement x: read\n- read_order W1")
    result = fanned(agent, {"a": ["change_order W1"], "b": ["change_order W1"]}, inherit="state")
    assert [one.ending for one in result.results] == ["answer", "answer"]


def test_sinks_are_told_whose_event_it_is() -> None:
    events: list[Event] = []
    busy, overlapped = threading.Lock(), []

    def sink(event: Event) -> None:
        if not busy.acquire(blocking=False):
            overlapped.append(event)
            return
        events.append(event)
        time.sleep(0.002)
        busy.release()

    agent = agent_of(sinks=[sink], name="desk")
    result = fanned(agent, dict.fromkeys("abcd", RUN), max_workers=4)
    assert not overlapped
    for one in result.results:
        own = [event for event in events if event.data["requirement_id"] == one["requirement_id"]]
        assert [event.kind for event in own if event.kind.startswith("agent_")] == ["agent_start", "agent_end"]
        assert own[0].data["execution_id"] == one.execution_id
        assert own[0].data["name"] == "desk"
        assert sum(event.kind == "tool_call_start" for event in own) == 3
        assert all("requirement_id" not in attempt for attempt in one.attempts)


def test_once_the_budget_is_spent_no_further_one_starts() -> None:
    events: list[Event] = []
    agent = agent_of(Clerk(cost=0.1), sinks=[events.append])
    result = fanned(agent, {"a": RUN, "b": RUN, "c": RUN, "d": RUN}, max_cost_usd=0.5)
    assert [one.success for one in result.results] == [True, True, False, False]
    assert sum(event.kind == "agent_start" for event in events) == 2
    late = result.results[3]
    assert late["error"].startswith("not started: the sub-agents have used up `max_cost_usd=0.5`: 0.6 USD\n")
    assert (late.error_class, late.interrupted) == ("RunLimitError", True)
    assert late["metrics"]["num_steps"] == 0


def test_the_limits_of_the_agent_are_those_of_each_sub_agent() -> None:
    result = fanned(agent_of(Clerk(cost=0.1), max_cost_usd=0.15), {"a": RUN, "b": []})
    assert [one.ending for one in result.results] == ["limit", "answer"]


def test_a_cost_that_is_not_known_is_more_than_any_budget() -> None:
    result = fanned(agent_of(), {"a": RUN, "b": RUN}, max_cost_usd=100.0)
    assert [one.success for one in result.results] == [True, False]
    assert "nobody knows what the sub-agent of `a` has cost" in result["sub_results"][1]["error"]


def test_one_whose_model_fails_does_not_end_the_budget() -> None:
    result = fanned(agent_of(Clerk(cost=0.1)), {"a": ["fail"], "b": RUN}, max_cost_usd=100.0)
    assert [one.success for one in result.results] == [False, True]


class Endless(Clerk):
    """For the requirement `b` makes one call after the other once `go` is set; `begun` says that it is at work."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go, self.calls = threading.Event(), threading.Event(), 0

    def generate(self, messages: list[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        reply = super().generate(messages, *args, **kwargs)
        if "Requirement b" in str(messages):
            self.begun.set()
            assert self.go.wait(timeout=30)
            self.calls += 1
        else:
            assert self.begun.wait(timeout=30)
        return reply


def test_an_interrupt_ends_those_that_run_and_starts_no_more() -> None:
    model, events = Endless(), list[Event]()
    agent = agent_of(model, sinks=[events.append], sub_agent_max_steps=500)

    def interrupt(*_: Any) -> None:
        model.go.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fanned(agent, {"a": [], "b": RUN * 200, "c": RUN}, max_workers=2, on_progress=interrupt)
    ended = {event.data["requirement_id"]: event.data["ending"] for event in events if event.kind == "agent_end"}
    assert ended["a"] == "answer"
    assert ended["b"] == "cancelled"
    assert model.calls < 400
    assert set(ended) <= {"a", "b", "c"}
    assert ended.get("c") in (None, "cancelled")  # it may have begun in the thread that `a` had left
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sub-agent")]


def test_beside_an_event_loop() -> None:
    agent = agent_of()

    async def both() -> list[Any]:
        tasks = {"a": RUN, "b": []}
        wanted = {id: f"Order {id}" for id in tasks}
        return await asyncio.gather(*(agent.arun_per_requirement(wanted, tasks, TEMPLATE) for _ in range(2)))

    one, other = in_loop(both())
    assert canonical(one) == canonical(other) == canonical(fanned(agent, {"a": RUN, "b": []}))


def test_cancelling_the_task_is_an_interrupt() -> None:
    model, events = Endless(), list[Event]()
    agent = agent_of(model, sinks=[events.append], sub_agent_max_steps=500)

    async def cancelled() -> None:
        running = asyncio.create_task(agent.arun_per_requirement({"b": "x", "c": "y"}, [RUN * 200, RUN], TEMPLATE))
        while not events:
            await asyncio.sleep(0.01)
        model.go.set()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    in_loop(cancelled())
    assert {e.data["requirement_id"]: e.data["ending"] for e in events if e.kind == "agent_end"} == {"b": "cancelled"}


def test_an_executor_of_threads_shares_the_model_and_stays_open() -> None:
    model = Endless()
    model.go.set()
    with ThreadPoolExecutor(2) as executor:
        result = fanned(agent_of(model), {"b": RUN, "a": RUN}, executor=executor)
        assert executor.submit(lambda: 7).result() == 7
    assert [one.success for one in result.results] == [True, True]
    assert model.calls == 3


def test_nothing_grows_but_the_results() -> None:
    made: list[weakref.ref[Agent]] = []
    agent = agent_of()
    make = agent._child

    def child(guard: Any) -> AgentWithSubAgents:
        one = make(guard)
        made.append(weakref.ref(one))
        return one

    agent._child = child  # type: ignore[method-assign]
    alive: list[int] = []

    def count(*_: Any) -> None:
        gc.collect()
        alive.append(sum(one() is not None for one in made))

    result = fanned(agent, {str(n): RUN for n in range(20)}, max_workers=2, on_progress=count)
    assert len(made) == len(result.results) == 20
    assert max(alive) <= 4  # those that run, and those that have just ended


def test_tools_and_model_may_be_named_by_what_makes_them() -> None:
    place = "tests.agents.sub_agents.crew"
    agent = AgentWithSubAgents(f"{place}:tools", f"{place}:clerk", constraints=[READ_FIRST])
    assert fanned(agent, {"a": RUN}).results[0].success
    assert isinstance(agent.model, Clerk)


def test_settings_are_not_shown() -> None:
    agent = agent_of(mcp_servers={})
    agent._given["api_key"] = "tops3cret"
    assert "tops3cret" not in repr(vars(agent))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_workers": 0}, "`max_workers` is `0`\ngive a whole number from 1 up"),
        ({"max_workers": True}, "`max_workers` is `True`\n"),
        ({"executor": object()}, "`executor` is `object`\ngive one of `concurrent.futures`; of a Dask client, "),
        ({"inherit": "memory"}, "`inherit` is `'memory'`\nuse one of: 'state', None"),
        ({"on_worker_loss": "ignore"}, "`on_worker_loss` is `'ignore'`\nuse one of: 'retry', 'report'"),
        ({"on_progress": 3}, "`on_progress` is `3`\n"),
        ({"max_cost_usd": -1}, "`max_cost_usd=-1` limits nothing\n"),
    ],
)
def test_options_that_make_no_sense_are_an_error_before_anything_runs(options: dict[str, Any], message: str) -> None:
    events: list[Event] = []
    with pytest.raises(ConstraintError) as error:
        fanned(agent_of(sinks=[events.append]), {"a": RUN}, **options)
    assert str(error.value).startswith(message)
    assert not events


@pytest.mark.parametrize("ask", [lambda a: a.run_per_requirement(["x"], [[]], "{no}"), lambda a: fanned(a, {" ": []})])
def test_input_that_makes_no_sense_is_an_error_before_anything_runs(ask: Callable[[Any], Any]) -> None:
    events: list[Event] = []
    with pytest.raises(ConstraintError):
        ask(agent_of(sinks=[events.append]))
    assert not events


@pytest.mark.parametrize("steps", [0, True, "5"])
def test_steps_are_a_number(steps: Any) -> None:
    with pytest.raises(ConstraintError, match="`sub_agent_max_steps` is `"):
        agent_of(sub_agent_max_steps=steps)


def test_no_requirement_is_no_error() -> None:
    result = fanned(agent_of(), {})
    assert result["metrics"]["avg_tokens_per_requirement"] == 0.0
    assert result.results == list[Result]()
