"""Runs in threads of their own: their events for whoever iterates over them, or their result for an event loop.

smolagents is synchronous; a thread for each run lets many go on beside one event loop, and a tool's events reach the
consumer while the tool runs. A consumer that stops early cancels the run and waits until it has ended.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future
from contextvars import ContextVar
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from agentltl.agents.running import Running
from agentltl.record.events import Event, Sink

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Begin = Callable[[Sink], Running]
"""Makes a run that tells a sink of its events, besides those of the agent."""


class Cancellable(Protocol[T_co]):
    """Work that begins with `go`, and that `cancel` ends as soon as that can be."""

    def go(self) -> T_co: ...

    def cancel(self) -> None: ...


_within: ContextVar[tuple[Future[Any], ...]] = ContextVar("within", default=())
"""The runs whose work this is; the threads that they start have copies of their context."""


def started(work: Callable[[], T]) -> Future[T]:
    """What `work` gives, in a thread that has this context's variables."""
    done: Future[T] = Future()

    def run() -> None:
        _within.set((*_within.get(), done))
        try:
            result = work()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(result)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name="agent run", daemon=True).start()
    return done


def events(begin: Callable[[Sink], Running]) -> Generator[Event]:
    """The events of a run as they happen, `agent_end` last."""
    queue: SimpleQueue[Event | None] = SimpleQueue()
    run = begin(queue.put)
    done = started(run.go)
    done.add_done_callback(lambda _: queue.put(None))
    try:
        while (event := queue.get()) is not None:
            yield event
        done.result()
    finally:
        if not done.done():
            run.cancel()
            if done not in _within.get():  # the run itself may be what drops the iterator, and cannot wait for itself
                done.exception()


async def events_async(begin: Callable[[Sink], Running]) -> AsyncGenerator[Event]:
    """As `events`, for an event loop, which is never blocked."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event | None] = asyncio.Queue()

    def put(event: Event | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(queue.put_nowait, event)

    run = begin(put)
    done = started(run.go)
    done.add_done_callback(lambda _: put(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        done.result()
    finally:
        if not done.done():
            await _ended(run, done)


async def result_async(run: Cancellable[T]) -> T:
    """The result of a run; a task that is cancelled cancels the run."""
    done = started(run.go)
    try:
        return await asyncio.shield(asyncio.wrap_future(done))
    except asyncio.CancelledError:
        if not done.done():
            await _ended(run, done)
        raise


async def _ended(run: Cancellable[T], done: Future[T]) -> None:
    """Cancel a run and wait until it has ended. Whoever is cancelled once more waits no longer, and the run has its
    agent until it ends."""
    run.cancel()
    waiting = asyncio.wrap_future(done)
    await asyncio.wait([waiting])
    if not waiting.cancelled():
        waiting.exception()  # seen: it is that of the run, whose end has been told
