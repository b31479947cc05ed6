"""The process of the published package `agentltl` with its agents on smolagents: whole runs."""

from __future__ import annotations

import gc
import importlib
import time
from typing import Any

from measure.agents import Instant, tools
from measure.peers.serve import expect, serve

peer: Any = importlib.import_module("agentltl")
smolagents: Any = importlib.import_module("smolagents")


def run(steps: int, kind: str) -> float:
    """Seconds of a run: of the package's agent, or of smolagents' own in the same process."""
    times = max(1, 250 // steps)
    agents = [_agent(steps, kind) for _ in range(times)]
    gc.collect()
    gc.disable()
    began = time.perf_counter()
    answers = [agent.run("Go through the tickets.") for agent in agents]
    taken = time.perf_counter() - began
    gc.enable()
    for answer in answers:
        expect("done" in str(answer), f"the agent answers `{answer}`")
    return taken / times


def _agent(steps: int, kind: str) -> Any:
    if kind == "agent":
        return peer.Agent(tools=tools(), model_instance=Instant(steps), max_steps=steps + 1)
    settings = {"max_steps": steps + 1, "verbosity_level": smolagents.LogLevel.OFF}
    return smolagents.ToolCallingAgent(tools(), Instant(steps), **settings)


if __name__ == "__main__":
    serve({"run": run})
