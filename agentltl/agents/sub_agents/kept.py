"""The agent that a worker has built, kept from one child to the next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentltl.agents.sub_agents.blueprint import built

if TYPE_CHECKING:
    from agentltl.agents.agent_with_sub_agents import AgentWithSubAgents
    from agentltl.guard.guard import Guard

IDLE_SECONDS = 60.0
"""How long a worker keeps an agent that nobody asks for: its model, and its connections to MCP servers."""


class Kept:
    """The agent of the fan-out that was here last, and for `idle` seconds after it was used last."""

    def __init__(self, idle: float = IDLE_SECONDS) -> None:
        self._idle = idle
        self._lock = threading.Lock()
        self._fan_out: str | None = None
        self._made: tuple[AgentWithSubAgents, Guard | None] | None = None
        self._lent = 0
        self._timer: threading.Timer | None = None

    @contextmanager
    def lent(self, fan_out: str, blueprint: bytes) -> Iterator[tuple[AgentWithSubAgents, Guard | None]]:
        """The agent of a fan-out, and the guard that its children go on from."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._made is None or self._fan_out != fan_out:
                self._drop()
                self._made, self._fan_out, self._lent = built(blueprint), fan_out, 0
            made = self._made
            self._lent += 1
        try:
            yield made
        finally:
            with self._lock:
                if made is self._made:
                    self._lent -= 1
                    if not self._lent:
                        self._timer = threading.Timer(self._idle, self._forget, [made])
                        self._timer.daemon = True
                        self._timer.start()

    def _forget(self, made: object) -> None:
        with self._lock:
            if made is self._made and not self._lent:
                self._drop()

    def _drop(self) -> None:
        """Let go of the agent; one that is still used ends its connections when it is not any more."""
        if self._made is not None and not self._lent:
            self._made[0].close()
        self._made = self._fan_out = None


KEPT = Kept()
