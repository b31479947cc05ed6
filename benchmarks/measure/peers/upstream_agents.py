"""The process of the published package `agentltl` with its agents on smolagents: whole runs."""

from __future__ import annotations

import importlib
from typing import Any

from measure.agents import Instant, seconds_of_runs, tools
from measure.peers.serve import serve

peer: Any = importlib.import_module("agentltl")
smolagents: Any = importlib.import_module("smolagents")


def run(steps: int, kind: str) -> float:
    """Seconds of a run: of the package's agent, or of smolagents' own in the same process."""
    return seconds_of_runs([_agent(steps, kind) for _ in range(max(1, 250 // steps))])


def _agent(steps: int, kind: str) -> Any:
    if kind == "agent":
        return peer.Agent(tools=tools(), model_instance=Instant(steps), max_steps=steps + 1)
    settings = {"max_steps": steps + 1, "verbosity_level": smolagents.LogLevel.OFF}
    return smolagents.ToolCallingAgent(tools(), Instant(steps), **settings)


if __name__ == "__main__":
    serve({"run": run})
