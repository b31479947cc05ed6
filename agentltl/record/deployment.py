"""What `Agent.deploy` gives back: where the agent can be reached, and how to end that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from agentltl.record.closing import Closing


class Running(Protocol):
    """The server behind a deployment."""

    def close(self) -> None:
        """End it, within bounded time; a second time does nothing."""

    def wait(self, seconds: float | None) -> bool:
        """Wait until it has ended, at most so long; whether it has."""


@dataclass
class ResultDeploy(Closing):
    """A deployed agent. In a `with` block it is closed at the end.

    `url` is where the agent is reached and `agent_card_url` where its card is; `status` is `pending` until the server
    answers, then `running`, and `closed` after it has ended.
    """

    url: str
    status: str = "pending"
    agent_card_url: str | None = None
    _server: Running | None = field(default=None, init=False, repr=False, compare=False)

    def close(self) -> None:
        """End the server; tasks that are running end as cancelled. It takes seconds at most; again does nothing."""
        if self._server is not None:
            self._server.close()
        self.status = "closed"

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the server has ended, for ever or at most `seconds`; whether it has. For scripts that serve."""
        return self._server is None or self._server.wait(seconds)
