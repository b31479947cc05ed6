"""A requirement on its way through a fan-out."""

from __future__ import annotations

from dataclasses import dataclass

from agentltl.agents.sub_agents.requirement import Requirement


@dataclass(slots=True, eq=False)
class Task:
    """The requirement at `index`, and the `prompt` of its sub-agent; `losses` counts the workers that were lost with
    it."""

    index: int
    requirement: Requirement
    prompt: str
    losses: int = 0
