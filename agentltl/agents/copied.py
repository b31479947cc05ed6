"""What a deep copy of an agent shares with it, because it cannot be copied: a console, an approver,
and the errors of its steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from smolagents.agents import MultiStepAgent


def shared(agent: MultiStepAgent) -> Iterator[object]:
    """The objects that smolagents' agents hold and that cannot be copied, those of managed agents included."""
    yield agent.logger.console
    yield getattr(agent, "approve", None)
    yield from (error for step in agent.memory.steps if (error := getattr(step, "error", None)) is not None)
    for member in agent.managed_agents.values():
        if isinstance(member, MultiStepAgent):
            yield from shared(member)
