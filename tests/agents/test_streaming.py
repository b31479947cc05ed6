"""Runs as streams of events, and runs beside an event loop."""

import asyncio
import threading
import time
from collections.abc import Callable, Generator
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any

import pytest
from smolagents import tool
from smolagents.models import ChatMessageStreamDelta

from agentltl import tool as our_tool
from agentltl.agents.agent import Agent
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.models.scripted import Reply, ScriptedModel
from agentltl.errors import ConstraintError
from agentltl.record.events import Event
from agentltl.record.result import Result


@tool
def add(a: int, b: int) -> int:
    """Add.

    Args:
        a: One.
        b: The other.
    """
    return a + b


REPLIES = [
    Reply([("add", {"a": 1, "b": 2})], text="I add them up.", thinking="Easy."),
    Reply([("final_answer", {"answer": "It is three."})]),
]
SAME = ("input_tokens", "output_tokens", "usage", "output", "success", "thinking_text", "tool_calls", "finish_reason")


def model(replies: Any = REPLIES, *, streaming: bool = True) -> ScriptedModel:
    return ScriptedModel(replies, streaming=streaming)


def untimed(result: Result) -> Any:
    """What a result says apart from times and ids."""
    times = {"time", "start_time", "end_time", "duration", "duration_ms", "time_to_first_token_ms", "streaming"}
    times |= {"started_at", "completed_at", "execution_id"}

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: clean(part) for name, part in value.items() if name not in times}
        return [clean(part) for part in value] if isinstance(value, list) else value

    return clean(result.to_dict())


def texts(events: list[Event], kind: str = "text_delta") -> list[str]:
    return [event.data["text"] for event in events if event.kind == kind]


def test_a_stream_tells_everything_and_ends_with_the_result() -> None:
    agent = Agent([add], model())
    events = list(agent.stream("Add 1 and 2."))
    assert [event.kind for event in events] == [
        "agent_start",
        "step_start",
        "thinking_delta",
        "reasoning_delta",
        "reasoning_delta",
        "reasoning_delta",
        "reasoning_delta",
        "model_attempt",
        "tool_call_start",
        "tool_call_end",
        "step_end",
        "step_start",
        "text_delta",
        "text_delta",
        "model_attempt",
        "tool_call_start",
        "tool_call_end",
        "step_end",
        "agent_end",
    ]
    assert "".join(texts(events)) == "It is three."
    result: Result = events[-1].data["result"]
    assert agent.last_result is result
    assert result.streaming
    assert result.time_to_first_token_ms is not None


@pytest.mark.parametrize(
    "replies",
    [
        REPLIES,
        ["no call at all", *REPLIES],
        [("add", {"a": 1}), ("final_answer", {"answer": {"sum": 3}})],
        [[("add", {"a": 1, "b": 2}), ("final_answer", {"answer": "early"})], ("final_answer", {"answer": "late"})],
        [("add", {"a": 1, "b": 2}), TimeoutError("too slow")],
        [("add", {"a": 1, "b": n}) for n in range(3)] + ["The text of the last resort."],
    ],
)
def test_the_result_is_that_of_a_run(replies: Any) -> None:
    streamed = list(Agent([add], model(replies), max_steps=3).stream("Go."))
    result = streamed[-1].data["result"]
    once = Agent([add], model(replies, streaming=False), max_steps=3).run("Go.")
    assert untimed(result) == untimed(once)
    if result["answer"]:
        pieces = [e.data for e in streamed if e.kind == "text_delta"]
        last = max((i for i, piece in enumerate(pieces) if piece["restart"]), default=0)
        assert "".join(piece["text"] for piece in pieces[last:]) == result["answer"]


def test_a_model_that_cannot_stream_is_run_all_the_same() -> None:
    events = list(Agent([add], model(streaming=False)).stream("Go."))
    assert texts(events) == ["It is three."]
    assert not events[-1].data["result"].streaming


def test_streaming_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    list(Agent([add], model()).stream("Go."))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "rule", [{"rule": 'G !final_answer(answer has "secret")'}, {"rule": "F add", "applies_to_final_answer": True}]
)
def test_an_answer_that_a_rule_judges_comes_when_it_has_been_judged(rule: dict[str, str]) -> None:
    agent = AgentWithConstraints([add], model(), constraints=[{"name": "r", **rule}])
    events = list(agent.stream("Go."))
    assert texts(events) == ["It is three."]
    kinds = [event.kind for event in events]
    assert kinds.index("text_delta") > max(i for i, kind in enumerate(kinds) if kind == "tool_call_end")


def test_an_answer_that_no_rule_judges_comes_as_it_is_written() -> None:
    agent = AgentWithConstraints([add], model(), constraints=[{"name": "r", "rule": "G !add(a > 5)"}])
    assert len(texts(list(agent.stream("Go.")))) == 2


class Slow(ScriptedModel):
    """Writes words as long as `go` is set, and waits before each."""

    def __init__(self, words: int = 1000) -> None:
        super().__init__([])
        self.words, self.written, self.closed = words, 0, threading.Event()
        self.generate_stream = self.slowly

    def slowly(self, *_: Any, **__: Any) -> Generator[ChatMessageStreamDelta]:
        try:
            for n in range(self.words):
                self.written = n + 1
                yield ChatMessageStreamDelta(content=f"word{n} ")
                time.sleep(0.001)
        finally:
            self.closed.set()


def test_a_consumer_that_stops_cancels_the_run() -> None:
    slow, seen = Slow(100_000), list[Event]()
    agent = Agent([add], slow, sinks=[seen.append])
    stream = agent.stream("Go.")
    for event in stream:
        if event.kind == "reasoning_delta":
            break
    stream.close()
    assert slow.closed.is_set()
    assert slow.written < 100_000
    assert seen[-1].kind == "agent_end"
    result: Result = seen[-1].data["result"]
    assert agent.last_result is result
    assert (result.ending, result.interrupted, result.success) == ("cancelled", True, False)
    assert (result.error_class, result["error"]) == ("RunCancelled", "the run was cancelled")
    assert result.attempts[-1]["status"] == "error"


def test_after_a_cancelled_run_the_agent_goes_on() -> None:
    agent = Agent([add], Slow(100_000))
    stream = agent.stream("Go.")
    while next(stream).kind != "reasoning_delta":
        pass
    stream.close()
    assert agent.last_result is not None
    assert agent.last_result.ending == "cancelled"
    agent.smolagent.model.model = ScriptedModel([*REPLIES, *REPLIES])  # type: ignore[attr-defined]
    assert agent.run("Again.")["answer"] == "It is three."
    assert agent.smolagent.run("And by hand.") == "It is three."


def test_a_cancelled_run_calls_neither_a_tool_nor_a_model_any_more() -> None:
    entered, leave, ran = threading.Event(), threading.Event(), []

    @our_tool
    def wait() -> str:
        """Wait."""
        ran.append(1)
        entered.set()
        leave.wait(10)
        return "waited"

    scripted = ScriptedModel([("wait", {})] * 5)
    agent = Agent([wait], scripted)
    stream = agent.stream("Go.")
    while not entered.is_set():
        next(stream)
    threading.Timer(0.05, leave.set).start()
    stream.close()
    assert (len(ran), len(scripted.requests)) == (1, 1)
    assert agent.last_result is not None
    assert agent.last_result.ending == "cancelled"
    assert [call["name"] for call in agent.last_result.tool_calls] == ["wait"]


def test_a_stream_that_is_not_asked_runs_nothing() -> None:
    scripted = model()
    agent = Agent([add], scripted)
    agent.stream("Go.").close()
    assert scripted.requests == []
    assert agent.run("Go.").success


def test_context_variables_reach_the_run() -> None:
    who: ContextVar[str] = ContextVar("who", default="nobody")

    @our_tool
    def ask() -> str:
        """Ask."""
        return who.get()

    who.set("me")
    agent = Agent([ask], model([("ask", {}), ("final_answer", {"answer": "x"})]))
    (result,) = [e.data["result"] for e in agent.stream("Go.") if e.kind == "agent_end"]
    assert result["metrics"]["tool_calls"][0]["tool_result"] == "me"


def test_what_is_no_exception_comes_out_of_a_stream_after_its_end() -> None:
    agent = Agent([add], ScriptedModel([KeyboardInterrupt()]))
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(event.kind for event in agent.stream("Go."))
    assert seen[-1] == "agent_end"


# Beside an event loop


def held() -> tuple[threading.Event, threading.Event, Any]:
    """A tool `wait` that says when it is entered, and waits until it may leave."""
    entered, leave = threading.Event(), threading.Event()

    @our_tool
    def wait() -> str:
        """Wait."""
        entered.set()
        leave.wait(10)
        return "waited"

    return entered, leave, wait


def in_loop(work: Callable[[], Any]) -> Any:
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work())


def test_arun_gives_the_result_of_run() -> None:
    result = in_loop(lambda: Agent([add], model(streaming=False)).arun("Go."))
    assert untimed(result) == untimed(Agent([add], model(streaming=False)).run("Go."))


def test_astream_gives_the_events_of_stream() -> None:
    async def collect() -> list[Event]:
        return [event async for event in Agent([add], model()).astream("Go.")]

    events = in_loop(collect)
    assert [e.kind for e in events] == [e.kind for e in Agent([add], model()).stream("Go.")]


def test_many_runs_of_one_agent_at_once_do_not_disturb_each_other() -> None:
    together = threading.Barrier(20)

    @our_tool
    def meet(n: int) -> str:
        """Wait until all are here."""
        together.wait(30)
        return f"met {n}"

    class Echo(ScriptedModel):
        def generate(self, messages: Any, *_: Any, **__: Any) -> Any:
            text = str([m.content for m in messages])
            n = int(text.split("Number ")[1].split("!")[0])
            written: Any = ("final_answer", {"answer": f"{n}"}) if "met " in text else ("meet", {"n": n})
            return ScriptedModel([written]).generate(messages)

    agent = AgentWithConstraints([meet], Echo([]), constraints=[{"name": "once", "rule": "at_most(meet, 1)"}])

    async def all_of_them() -> list[Result]:
        return await asyncio.gather(*(agent.arun(f"Number {n}!") for n in range(20)))

    results = in_loop(all_of_them)
    assert [result["answer"] for result in results] == [str(n) for n in range(20)]
    assert all(result.compliance == 1.0 for result in results)
    assert agent.last_result in results


def test_the_loop_is_not_blocked() -> None:
    leave = threading.Event()

    @our_tool
    def wait() -> str:
        """Wait for the loop."""
        assert leave.wait(10)
        return "waited"

    async def both() -> Result:
        run = asyncio.ensure_future(Agent([wait], model([("wait", {}), ("final_answer", {"answer": "x"})])).arun("Go."))
        await asyncio.sleep(0.01)
        leave.set()  # nobody else would
        return await run

    assert in_loop(both)["answer"] == "x"


def test_a_cancelled_task_cancels_the_run() -> None:
    entered, leave, wait = held()

    agent = Agent([wait], model([("wait", {})] * 5))

    async def cancel() -> None:
        run = asyncio.ensure_future(agent.arun("Go."))
        while not entered.is_set():
            await asyncio.sleep(0.001)
        run.cancel()
        asyncio.get_running_loop().call_later(0.02, leave.set)
        with pytest.raises(asyncio.CancelledError):
            await run

    in_loop(cancel)
    assert agent.last_result is not None
    assert agent.last_result.ending == "cancelled"


def test_an_async_consumer_that_stops_cancels_the_run() -> None:
    slow = Slow(100_000)
    agent = Agent([add], slow)

    async def some() -> None:
        async with aclosing(agent.astream("Go.")) as events:
            async for event in events:
                if event.kind == "reasoning_delta":
                    break

    in_loop(some)
    assert slow.closed.is_set()
    assert agent.last_result is not None
    assert agent.last_result.ending == "cancelled"


def test_a_conversation_goes_on_one_run_at_a_time() -> None:
    agent = Agent([add], model([*REPLIES, *REPLIES]))
    stream = agent.stream("Go.")
    next(stream)
    with pytest.raises(ConstraintError, match="under way in another run"):
        agent.run("And?", reset=False)
    list(stream)
    assert agent.run("And?", reset=False).success


def test_a_stream_that_its_own_run_drops_does_not_wait_for_itself() -> None:
    held: list[Any] = []
    begun = threading.Event()

    @our_tool
    def drop() -> str:
        """Drop the stream."""
        assert begun.wait(10)
        held.pop().close()
        return "dropped"

    agent = Agent([drop], model([("drop", {}), ("final_answer", {"answer": "x"})]))
    held.append(agent.stream("Go."))
    next(held[0])
    begun.set()
    deadline = time.monotonic() + 20
    while agent.last_result is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert agent.last_result is not None
    assert agent.last_result.ending == "cancelled"


def test_a_run_that_nobody_waits_for_any_more_has_its_agent_until_it_ends() -> None:
    entered, leave, wait = held()

    scripted = model([("wait", {})] * 5)
    agent = Agent([wait], scripted)

    async def cancel() -> None:
        run = asyncio.ensure_future(agent.arun("Go."))
        while not entered.is_set():
            await asyncio.sleep(0.001)
        run.cancel()
        await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        with pytest.raises(ConstraintError, match="under way in another run"):
            agent.run("And?", reset=False)
        leave.set()
        while agent._under_way:
            await asyncio.sleep(0.001)

    in_loop(cancel)
    assert len(scripted.requests) == 1
    assert agent.last_result is not None
    assert agent.last_result.ending == "cancelled"


def test_what_was_told_of_an_answer_that_never_came_is_taken_back() -> None:
    script = [[("final_answer", {"answer": "a draft"}), ("add", {"a": 1, "b": 2})], RuntimeError("boom")]
    events = list(Agent([add], model(script)).stream("Go."))
    pieces = [(e.data["text"], e.data["restart"]) for e in events if e.kind == "text_delta"]
    assert pieces[-1] == ("", True)
    assert len(pieces) > 1


def test_a_twin_has_the_rules_and_checks_that_its_agent_has_now() -> None:
    strict = AgentWithConstraints([add], ScriptedModel([]), constraints=[{"name": "no", "rule": "never(add)"}])
    agent = AgentWithConstraints([add], ScriptedModel([]), constraints=[])
    agent.restore(strict.to_state())
    agent.smolagent.final_answer_checks.append(lambda answer, memory, agent=None: answer != "bad")
    agent.smolagent.planning_interval = 3
    twin = agent._twin()
    assert [c.name for c in twin.guard.constraints] == ["no"]
    assert twin.guard is not agent.guard
    assert twin.smolagent.final_answer_checks == agent.smolagent.final_answer_checks
    assert twin.smolagent.planning_interval == 3
