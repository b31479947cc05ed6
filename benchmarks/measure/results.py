"""The rows about what a run costs that gives a `Result`, and about the first event of a stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any

from measure.bench import Bench, rows
from measure.table import NoRow, Row, most, ratios
from measure.workload import call

LENGTHS = (50, 500)


def wrapper(bench: Bench) -> Iterator[Row | NoRow]:
    """Our agent, and upstream's, over smolagents' own with a model that answers at once; the collector is off."""
    for steps in LENGTHS:
        work = f"run of {steps} steps with events, metrics and result, over the same of smolagents"
        yield from rows(work, most(1.10), "x", partial(_wrapper, bench, work, steps))
    for steps in LENGTHS:
        work = f"upstream's agent, run of {steps} steps, over the same of smolagents"
        yield from rows(work, None, "x", partial(_upstream, bench, work, steps))
    for side, run in (("smolagents' own agent", _base), ("our agent", _ours)):
        work = f"{side}: a step of a run of {LENGTHS[1]} over a step of a run of {LENGTHS[0]}"
        yield from rows(work, None, "x", partial(_growth, bench, work, run))


def event(bench: Bench) -> Iterator[Row | NoRow]:
    """From the first token that a model gives to the first event of it that a consumer of `stream` has."""
    work = "from the model's first token to its event, in milliseconds"
    yield from rows(work, most(5.0), " ms", lambda: [Row(work, _first_event(bench.rounds), most(5.0), " ms")])


def _wrapper(bench: Bench, work: str, steps: int) -> list[Row]:
    base, ours = bench.interleaved(lambda: _base(steps), lambda: _ours(steps))
    return [Row(work, ratios(ours, base), most(1.10), "x", ours, base)]


def _upstream(bench: Bench, work: str, steps: int) -> list[Row]:
    peer = bench.peer("upstream_agents")
    base, theirs = bench.interleaved(*(partial(peer.ask, "run", steps=steps, kind=kind) for kind in ("base", "agent")))
    return [Row(work, ratios(theirs, base), None, "x", (), theirs)]


def _growth(bench: Bench, work: str, run: Callable[[int], float]) -> list[Row]:
    short, long = bench.interleaved(lambda: run(LENGTHS[0]) / LENGTHS[0], lambda: run(LENGTHS[1]) / LENGTHS[1])
    return [Row(work, ratios(long, short), None, "x", long, short)]


def _base(steps: int) -> float:
    """The seconds of a run of smolagents' own agent, the mean of several if it is short."""
    from smolagents import LogLevel, ToolCallingAgent

    return _seconds(
        steps, lambda tools, model: ToolCallingAgent(tools, model, max_steps=steps + 1, verbosity_level=LogLevel.OFF)
    )


def _ours(steps: int) -> float:
    from agentltl import Agent

    return _seconds(steps, lambda tools, model: Agent(tools, model, max_steps=steps + 1))


def _seconds(steps: int, make: Callable[[list[Any], Any], Any]) -> float:
    from agentltl.testing import ScriptedModel
    from measure.agents import seconds_of_runs, tools

    def model() -> ScriptedModel:
        return ScriptedModel([*(call(i) for i in range(steps)), ("final_answer", {"answer": "done"})])

    return seconds_of_runs([make(tools(), model()) for _ in range(max(1, 250 // steps))])


def _first_event(rounds: int) -> list[float]:
    """The milliseconds of some streams."""
    from smolagents.models import ChatMessageStreamDelta

    from agentltl import Agent
    from agentltl.testing import ScriptedModel
    from measure.agents import tools

    given: list[float] = []

    class Slowly(ScriptedModel):
        def _stream(self, *_: Any, **__: Any) -> Generator[ChatMessageStreamDelta]:
            time.sleep(0.05)
            given.append(time.perf_counter())
            yield ChatMessageStreamDelta(content="I ")
            time.sleep(0.05)
            yield ChatMessageStreamDelta(content="look.")

    taken = []
    for _ in range(3 * rounds):
        for happened in Agent(tools(), Slowly([], streaming=True), max_steps=1).stream("Go."):
            if happened.kind == "reasoning_delta":
                taken.append((time.perf_counter() - given[-1]) * 1000)
                break
    return taken
