"""The rows about an agent's loop: our agent under ten rules beside the base class of smolagents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from measure.bench import Bench, rows
from measure.ours import constraints
from measure.rules import MIX10
from measure.table import NoRow, Row, most, ratios
from measure.workload import call

LENGTHS = (5, 50, 500)


def loop(bench: Bench) -> Iterator[Row | NoRow]:
    """Runs of a scripted model at three lengths; the collector is off."""
    for steps in LENGTHS:
        work = f"smolagents loop of {steps} steps, ours over the base class"
        yield from rows(work, most(1.03), "x", partial(_loop, bench, work, steps))


def _loop(bench: Bench, work: str, steps: int) -> list[Row]:
    # A short run is over in milliseconds, so several are one sample.
    times = max(1, 100 // steps)
    _run(steps, 1, guarded=True)
    base, ours = bench.interleaved(lambda: _run(steps, times, guarded=False), lambda: _run(steps, times, guarded=True))
    return [Row(work, ratios(ours, base), most(1.03), "x", ours, base)]


def _run(steps: int, times: int, *, guarded: bool) -> float:
    """The seconds of one run of an agent: `steps` calls, and the final answer."""
    from measure.agents import seconds_of_runs

    return seconds_of_runs([_agent(steps, guarded) for _ in range(times)])


def _agent(steps: int, guarded: bool) -> Any:
    from smolagents import LogLevel, ToolCallingAgent

    from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
    from agentltl.testing import ScriptedModel
    from measure.agents import tools

    model = ScriptedModel([*(call(i) for i in range(steps)), ("final_answer", {"answer": "done"})])
    settings: dict[str, Any] = {"max_steps": steps + 1, "verbosity_level": LogLevel.OFF}
    if guarded:
        return ToolCallingAgentWithConstraints(
            tools(), model, constraints=constraints(list(MIX10.values())), **settings
        )
    return ToolCallingAgent(tools(), model, **settings)
