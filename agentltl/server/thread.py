"""A server in a thread with an event loop of its own, which ends when it is closed and with the interpreter."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable

import uvicorn

from agentltl.errors import DeployError
from agentltl.server.app import App

log = logging.getLogger("agentltl")

_START_SECONDS = 10.0
_CLOSE_SECONDS = 15.0
_ANSWER_SECONDS = 1.0
_GRACE_SECONDS = 2


class ServerThread:
    """Serves an application on a bound socket. `ended` is called once it serves no more."""

    def __init__(self, app: App, listening: socket.socket, ended: Callable[[], None]) -> None:
        self._app, self._listening, self._on_end = app, listening, ended
        self._server = uvicorn.Server(_config(app))
        self._loop = asyncio.new_event_loop()
        self._leave = asyncio.Event()
        self._ready = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="a2a-server", daemon=True)

    def start(self) -> None:
        """Start, and wait until it answers. Raises `DeployError` when it does not."""
        self._thread.start()
        atexit.register(self.close)
        if not self._ready.wait(_START_SECONDS) or self._over.is_set():
            self.close()
            raise DeployError("the server has not started\nits log says why: logging.getLogger('agentltl')")

    def close(self) -> None:
        """End the runs as cancelled, then the connections, then the thread; within seconds, whatever they do."""
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._leave.set)
        if threading.current_thread() is not self._thread:
            self._thread.join(_CLOSE_SECONDS)
        atexit.unregister(self.close)

    def wait(self, seconds: float | None) -> bool:
        """Wait until it has ended."""
        return self._over.wait(seconds)

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException:
            log.exception("the server has failed")
        finally:
            self._over.set()
            self._ready.set()
            self._on_end()
            self._listening.close()
            self._end_loop()

    async def _serve(self) -> None:
        server = self._server
        serving = asyncio.create_task(server.serve(sockets=[self._listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        if server.started:
            self._ready.set()
        leave = asyncio.create_task(self._leave.wait())
        await asyncio.wait({serving, leave}, return_when=asyncio.FIRST_COMPLETED)
        leave.cancel()
        self._app.gate.closed = True
        await self._app.executor.close()
        until = time.monotonic() + _ANSWER_SECONDS
        while self._app.gate.open and time.monotonic() < until:  # they hear how it ended
            await asyncio.sleep(0.01)
        server.should_exit = True
        await serving
        await self._app.handler.aclose()  # what waits for input; all else has ended by itself

    def _end_loop(self) -> None:
        """End what is left in the loop, but do not wait for threads: one may hang in a tool."""
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        with contextlib.suppress(BaseException):
            if left:
                self._loop.run_until_complete(asyncio.wait(left, timeout=1))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


def _config(app: App) -> uvicorn.Config:
    """What matters: nothing but HTTP, no logs of its own, and no trust in what a client says of itself."""
    return uvicorn.Config(
        app.gate,
        http="h11",
        ws="none",
        lifespan="off",
        loop="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
