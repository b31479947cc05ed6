"""The agents that a worker has built, kept from one child to the next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentltl.agents.sub_agents.blueprint import built

if TYPE_CHECKING:
    from agentltl.agents.agent_with_sub_agents import AgentWithSubAgents
    from agentltl.guard.guard import Guard

IDLE_SECONDS = 60.0
"""How long a worker keeps an agent that nobody asks for: its model, and its connections to MCP servers."""


@dataclass(eq=False, slots=True)
class Held:
    """An agent that was built, the guard that its children go on from, and how many use it now."""

    agent: AgentWithSubAgents
    guard: Guard | None
    users: int = 0


class Kept:
    """The agents that are used, each by the children of one fan-out, and the one that was asked for last for `idle`
    seconds after it was used last."""

    def __init__(self, idle: float = IDLE_SECONDS) -> None:
        self._idle = idle
        self._lock = threading.Lock()
        self._held: dict[str, Held] = {}
        self._latest: str | None = None
        self._timer: threading.Timer | None = None

    @contextmanager
    def lent(self, fan_out: str, blueprint: bytes) -> Iterator[tuple[AgentWithSubAgents, Guard | None]]:
        """The agent of a fan-out, and the guard that its children go on from."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._latest = fan_out
            self._drop_unused(but=fan_out)
            if fan_out not in self._held:
                self._held[fan_out] = Held(*built(blueprint))
            held = self._held[fan_out]
            held.users += 1
        try:
            yield held.agent, held.guard
        finally:
            with self._lock:
                held.users -= 1
                self._drop_unused(but=self._latest)
                if fan_out == self._latest and not held.users:
                    self._timer = threading.Timer(self._idle, self._forget, [held])
                    self._timer.daemon = True
                    self._timer.start()

    def _forget(self, held: Held) -> None:
        with self._lock:
            if self._latest is not None and held is self._held.get(self._latest):
                self._drop_unused()

    def _drop_unused(self, but: str | None = None) -> None:
        for fan_out in [name for name, held in self._held.items() if not held.users and name != but]:
            self._held.pop(fan_out).agent.close()


KEPT = Kept()
