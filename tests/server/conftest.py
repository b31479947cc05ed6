"""Agents that are really served, to clients that are really there; only the models are scripted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from smolagents.tools import Tool

from agentltl import AgentWithConstraints, ResultDeploy, tool
from agentltl.testing import ScriptedModel

Deploy = Callable[..., ResultDeploy]


@tool
def ping(n: int) -> int:
    """Give a number back."""
    return n


class Held:
    """A tool that is entered and goes on when the test says so."""

    def __init__(self) -> None:
        self.entered, self.go_on = threading.Semaphore(0), threading.Event()

        @tool
        def hold() -> str:
            """Wait."""
            self.entered.release()
            self.go_on.wait(30)
            return "held"

        self.tool: Tool = hold


@pytest.fixture
def held() -> Iterator[Held]:
    held = Held()
    yield held
    held.go_on.set()


@pytest.fixture
def deploy() -> Iterator[Deploy]:
    """`deploy(replies, ...)`: an agent whose model says that, served; settings of the agent in `agent`."""
    deployed: list[ResultDeploy] = []

    def start(
        replies: list[Any], *, agent: dict[str, Any] | None = None, streams: bool = False, **settings: Any
    ) -> Any:
        model = ScriptedModel(replies, streaming=streams)
        made = AgentWithConstraints(**{"tools": [ping], "model": model, **(agent or {})})
        deployed.append(made.deploy(**settings))
        return deployed[-1]

    yield start
    for one in deployed:
        one.close()


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Fails a test whose server lives on."""
    yield
    until = time.monotonic() + 10
    while (left := [t for t in threading.enumerate() if t.name == "a2a-server"]) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left
