"""Real MCP servers: processes that are started by a test and ended with it."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.agents.mcp.real import HttpServer, children, free_port


@pytest.fixture
def http() -> Iterator[Callable[..., HttpServer]]:
    """Starts the server on HTTP: `http()`, or `http("get_order")` for some of its tools."""
    started: list[HttpServer] = []

    def start(*only: str) -> HttpServer:
        server = HttpServer(free_port(), only)
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Fails a test that leaves a thread or a process behind."""
    threads, processes = set(threading.enumerate()), children()
    yield
    until = time.monotonic() + 5
    while time.monotonic() < until and (set(threading.enumerate()) - threads or children() - processes):
        time.sleep(0.05)
    assert not set(threading.enumerate()) - threads
    assert not children() - processes
