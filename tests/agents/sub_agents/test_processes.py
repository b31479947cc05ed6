"""A fan-out over worker processes: the same results as in threads, and what becomes of a lost worker."""

import gc
import multiprocessing
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agentltl import AgentWithSubAgents, ConstraintError, Event, register_predicate, tool
from agentltl.agents.sub_agents.blueprint import blueprint, built
from agentltl.agents.sub_agents.kept import Kept
from agentltl.agents.sub_agents.parcel import Parcel
from agentltl.agents.sub_agents.worker import work
from tests.agents.mcp.real import stdio
from tests.agents.sub_agents.crew import READ_FIRST, TEMPLATE, TOOLS, Clerk, canonical

RUN = ["read_order W1", "change_order W1"]
SECRET = "tops3cret-value"


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture
def own_pool() -> Iterator[ProcessPoolExecutor]:
    """A pool that a test may break."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


class Here(Executor):
    """Does all work at once and in this process, as bytes go there and back."""

    def __init__(self) -> None:
        self.parcels: list[Any] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.parcels += args
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def agent_of(model: Any = None, tools: Any = TOOLS, **settings: Any) -> AgentWithSubAgents:
    return AgentWithSubAgents(tools, model or Clerk(), **{"constraints": [READ_FIRST], **settings})


def fanned(agent: AgentWithSubAgents, tasks: dict[str, list[str]], **options: Any) -> Any:
    return agent.run_per_requirement({id: f"Order {id}" for id in tasks}, tasks, TEMPLATE, **options)


def test_the_results_are_those_of_threads(pool: ProcessPoolExecutor) -> None:
    agent = agent_of(Clerk(cost=0.1), instructions="Be brief.")
    tasks = {"a": RUN, "b": ["change_order W1"], "c": ["read_order W1", "fail"], "d": []}
    there = fanned(agent, tasks, executor=pool)
    assert canonical(there) == canonical(fanned(agent, tasks))
    assert [one.ending for one in there.results] == ["answer", "stop", "error", "answer"]
    assert there.usage.total_cost_usd == pytest.approx(0.6)


def test_constraints_go_on_there_too(pool: ProcessPoolExecutor) -> None:
    agent = agent_of()
    agent.run("Requirement x: read\n- read_order W1")
    there = fanned(agent, {"a": ["change_order W1"], "b": ["change_order W1"]}, executor=pool, inherit="state")
    here = fanned(agent, {"a": ["change_order W1"], "b": ["change_order W1"]}, inherit="state")
    assert [one.ending for one in there.results] == ["answer", "answer"]
    assert canonical(there) == canonical(here)


@pytest.mark.parametrize("severity", ["BLOCK_AND_WARN", "ASK"])
def test_what_the_agent_was_told_is_told_to_no_sub_agent(severity: str) -> None:
    agent = agent_of(constraints=[{**READ_FIRST, "severity": severity}], max_steps=1)
    agent.run("Requirement x: change\n- change_order W1")
    if severity == "ASK":
        agent.guard.approve(agent.guard.pending[0])
    tasks = {"a": ["change_order W1"], "b": ["change_order W1"] * 2}
    results = [fanned(agent, tasks, inherit="state", executor=executor) for executor in (None, Here())]
    for result in results:
        made = [call["arguments"] for one in result.results for call in one.tool_calls]
        assert made == ([{"order": "W1"}] if severity == "BLOCK_AND_WARN" else [])  # `b` insists, having been told
    assert canonical(results[0]) == canonical(results[1])


def test_what_a_function_needs_goes_with_it(pool: ProcessPoolExecutor) -> None:
    price = 3

    @tool
    def read_order(order: str) -> str:
        """Read an order."""
        return f"{order} costs {price}"

    register_predicate("dear_in_test", lambda trace, order: order == "W9" and price > 2)
    rule = {"name": "cheap", "rule": "G (read_order -> !$dear_in_test(.order))"}
    agent = agent_of(tools=[read_order], constraints=[rule], approve=lambda request: price)
    result = fanned(agent, {"a": ["read_order W1"], "b": ["read_order W9"]}, executor=pool)
    assert result["metrics"]["all_tool_calls"][0]["tool_result"] == "W1 costs 3"
    assert [one.ending for one in result.results] == ["answer", "stop"]


def test_tools_and_model_are_made_there(pool: ProcessPoolExecutor) -> None:
    place = "tests.agents.sub_agents.crew"
    agent = AgentWithSubAgents(f"{place}:tools", f"{place}:clerk", constraints=[READ_FIRST])
    assert canonical(fanned(agent, {"a": RUN}, executor=pool)) == canonical(fanned(agent, {"a": RUN}))
    sent = blueprint(agent._given, ())
    assert b"read_order" not in sent
    assert b"Clerk" not in sent


def test_answers_have_their_type_there_too(pool: ProcessPoolExecutor) -> None:
    agent = agent_of(Numbers(), output_type=Number, output_retries=1)

    @agent.output_validator
    def even(number: Number) -> Number:
        assert number.value % 2 == 0, "an even one is wanted"
        return number

    there = fanned(agent, {"a": [], "b": []}, executor=pool)
    assert [one.output for one in there.results] == [Number(value=2)] * 2
    assert all(type(one.output) is Number for one in there.results)
    assert canonical(there) == canonical(fanned(agent, {"a": [], "b": []}, max_workers=2))


def test_sinks_are_told_when_a_sub_agent_is_over(pool: ProcessPoolExecutor) -> None:
    events: list[Event] = []
    agent = agent_of(sinks=[events.append, lambda event: 1 / 0])
    result = fanned(agent, {"a": RUN, "b": RUN}, executor=pool)
    for one in result.results:
        own = [event for event in events if event.data["requirement_id"] == one["requirement_id"]]
        assert [event.kind for event in own].count("tool_call_start") == 3
        assert own[0].data["execution_id"] == own[-1].data["result"].execution_id == one.execution_id
        assert (own[0].kind, own[-1].kind) == ("agent_start", "agent_end")


class Number(BaseModel):
    """An answer."""

    value: int


class Numbers(Clerk):
    """Answers with 1, and with 2 once it was told why."""

    def generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        reply = super().generate(messages, *args, **kwargs)
        reply.tool_calls[0].function.arguments = {"value": 2 if "an even one" in str(messages) else 1}
        return reply


class Locked(Clerk):
    """A model that cannot be pickled."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


def locked_tool() -> Any:
    lock = threading.Lock()

    @tool
    def hold(order: str) -> str:
        """Hold a lock."""
        with lock:
            return order

    return hold


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tools": [*TOOLS, locked_tool()]}, "`hold` of `tools` cannot be sent to another process (cannot pickle"),
        ({"model": Locked()}, "`model` cannot be sent to another process (cannot pickle"),
        ({"approve": threading.Lock().acquire}, "`approve` cannot be sent to another process (cannot pickle"),
    ],
)
def test_what_cannot_be_sent_is_an_error_before_anything_runs(settings: dict[str, Any], message: str) -> None:
    here = Here()
    with pytest.raises(ConstraintError) as error:
        fanned(agent_of(**settings), {"a": RUN}, executor=here)
    assert str(error.value).startswith(message)
    assert len(str(error.value).splitlines()) == 2
    assert not here.parcels


def test_a_predicate_that_cannot_be_sent_is_named() -> None:
    lock = threading.Lock()
    register_predicate("locked_in_test", lambda trace: lock.locked())
    agent = agent_of(constraints=[{"name": "r", "rule": "G (read_order -> $locked_in_test())"}])
    with pytest.raises(ConstraintError, match="`locked_in_test` of `predicates` cannot be sent"):
        fanned(agent, {"a": RUN}, executor=Here())


def test_what_fails_in_the_worker_before_the_run_is_an_entry() -> None:
    reply = work(Parcel("f", "s", b"no pickle", "x"))
    assert isinstance(reply, bytes)
    agent, here = agent_of(), Here()
    here.submit = lambda fn, parcel: Here().submit(fn, Parcel("f", "s", b"no pickle", "x"))  # type: ignore[method-assign]
    result = fanned(agent, {"a": RUN, "b": RUN}, executor=here)
    assert [one.error_class for one in result.results] == ["UnpicklingError"] * 2
    assert result["metrics"]["total_steps"] == 0


class Odd(BaseModel):
    """An answer that cannot be pickled."""

    text: str

    def __reduce__(self) -> Any:
        raise TypeError("no pickle of me")

    def __str__(self) -> str:
        return self.text


class Oddly(Clerk):
    """Answers with one."""

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        reply = super().generate(*args, **kwargs)
        reply.tool_calls[0].function.arguments = {"answer": Odd(text="odd")}
        return reply


def test_an_answer_that_cannot_be_pickled_comes_back_as_plain_data() -> None:
    events: list[Event] = []
    result = fanned(agent_of(Oddly(), sinks=[events.append]), {"a": []}, executor=Here())
    assert (result.results[0].output, result["sub_results"][0]["answer"]) == ("odd", "odd")
    assert events[-1].data["output"] == "odd"


def test_no_secret_is_in_what_executors_log() -> None:
    here = Here()
    servers = {"desk": stdio("get_order", env={"API_KEY": SECRET})}
    with agent_of(tools=[], mcp_servers=servers, constraints=[]) as agent:
        result = fanned(agent, {"a": ["get_order W1"]}, executor=here)
    assert result.results[0].tool_calls[0]["name"] == "get_order"
    assert SECRET.encode() in here.parcels[0].blueprint
    assert SECRET not in repr(here.parcels) + repr(result) + repr(vars(agent))


def test_connections_to_mcp_servers_are_made_there(pool: ProcessPoolExecutor) -> None:
    with agent_of(tools=[], mcp_servers={"desk": stdio("get_order")}, constraints=[]) as agent:
        here = fanned(agent, {"a": ["get_order W1"]})
        there = fanned(agent, {"a": ["get_order W1"], "b": ["get_order W2"]}, executor=pool)
    servers = [call["tool_result"] for call in there["metrics"]["all_tool_calls"] if call["tool_name"] == "get_order"]
    assert "W1" in servers[0]
    assert "W2" in servers[1]
    assert here["metrics"]["all_tool_calls"][0]["tool_result"] not in servers  # another process answers


def test_a_lost_worker_costs_no_requirement(own_pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    tasks = {str(n): RUN for n in range(8)} | {"2": [f"die_once {tmp_path / 'died'}", *RUN]}
    result = fanned(agent_of(), tasks, executor=own_pool)
    assert [one.success for one in result.results] == [True] * 8
    assert [one["requirement_id"] for one in result.results] == list(tasks)


def test_what_takes_its_worker_down_each_time_takes_nobody_with_it(own_pool: ProcessPoolExecutor) -> None:
    tasks = {str(n): RUN for n in range(6)} | {"2": ["die now"]}
    result = fanned(agent_of(), tasks, executor=own_pool)
    assert [one.success for one in result.results] == [n != 2 for n in range(6)]
    lost = result.results[2]
    assert lost.error_class == "WorkerLostError"
    assert lost["error"].startswith("its worker was lost, 3 times (BrokenProcessPool: ")


def test_a_loss_that_is_to_be_reported_is_run_once(own_pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    tasks = {"a": [f"note {noted}", f"die_once {tmp_path / 'died'}"], "b": RUN, "c": RUN, "d": RUN}
    result = fanned(agent_of(), tasks, executor=own_pool, on_worker_loss="report", max_workers=2)
    assert result.results[0].error_class == "WorkerLostError"
    assert result["sub_results"][0]["error"].endswith("see what they did before you run it again")
    assert len(noted.read_text().splitlines()) == 1
    assert [one.success for one in result.results[2:]] == [True, True]


def test_only_what_runs_beside_a_loss_is_reported_with_it(own_pool: ProcessPoolExecutor) -> None:
    fanned(agent_of(), {"x": ["wait 0.2"], "y": ["wait 0.2"]}, executor=own_pool)  # the pool looks after both processes
    tasks = {"a": ["wait 0.3", "die now"], "b": ["wait 30"], "c": RUN, "d": RUN, "e": RUN}
    result = fanned(agent_of(), tasks, executor=own_pool, on_worker_loss="report", max_workers=5)
    assert [one.success for one in result.results] == [False, False, True, True, True]


def test_under_a_budget_a_lost_worker_ends_it(own_pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    tasks = {"a": [f"die_once {tmp_path / 'died'}"], "b": RUN}
    result = fanned(agent_of(Clerk(cost=0.1)), tasks, executor=own_pool, max_cost_usd=100.0)
    assert [one.error_class for one in result.results] == ["WorkerLostError", "RunLimitError"]


def test_an_interrupt_takes_back_what_has_not_begun() -> None:
    class Waiting(Here):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            if self.parcels:
                self.parcels.append(Future())
                return self.parcels[-1]  # type: ignore[no-any-return]
            return super().submit(fn, *args, **kwargs)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    waiting = Waiting()
    with pytest.raises(KeyboardInterrupt):
        fanned(agent_of(), {"a": [], "b": [], "c": []}, executor=waiting, on_progress=interrupt)
    assert [future.cancelled() for future in waiting.parcels[1:]] == [True, True]


def test_a_worker_builds_an_agent_once_and_forgets_it_when_it_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def building(data: bytes) -> Any:
        made.append(built(data))
        return made[-1]

    monkeypatch.setattr("agentltl.agents.sub_agents.kept.built", building)
    sent, kept = blueprint(agent_of()._given, ()), Kept(idle=0.05)
    closed = threading.Event()
    with kept.lent("one", sent) as (agent, guard):
        assert guard is None
        with kept.lent("one", sent) as (same, _):
            assert same is agent
    with kept.lent("two", sent) as (other, _):
        assert other is not agent
        other.close = closed.set  # type: ignore[method-assign]
    assert len(made) == 2
    assert closed.wait(timeout=30)
    del agent, same, other
    made.clear()
    gc.collect()
    with kept.lent("two", sent):
        assert len(made) == 1


class Closing:
    """An agent of which it is known whether it has been closed."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    def close(self) -> None:
        assert not self.closed.is_set()
        self.closed.set()


def test_fan_outs_that_meet_in_a_worker_have_their_agents_closed_after_their_last_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentltl.agents.sub_agents.kept.built", lambda _: (Closing(), None))
    kept: Any = Kept(idle=0.05)
    with kept.lent("one", b"") as (one, _):
        with kept.lent("two", b"") as (two, _), kept.lent("one", b"") as (same, _):
            assert same is one
        assert two.closed.is_set()  # "one" was asked for last
        with kept.lent("two", b"") as (two, _):
            pass
        assert not one.closed.is_set()
        assert two.closed.wait(timeout=30)
    assert one.closed.is_set()
    with kept.lent("one", b"") as (again, _):
        assert again is not one
    assert again.closed.wait(timeout=30)


def test_one_that_cannot_be_built_leaves_those_that_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentltl.agents.sub_agents.kept.built", lambda data: (Closing(), 1 // len(data)))
    kept: Any = Kept(idle=0.05)
    with kept.lent("one", b"1") as (one, _):
        with pytest.raises(ZeroDivisionError), kept.lent("two", b""):
            pass
        assert not one.closed.is_set()
    assert one.closed.is_set()
