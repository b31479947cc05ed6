"""Async functions in sync code: what an awaitable gives, whether or not an event loop runs in the calling thread."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Coroutine
from concurrent.futures import ThreadPoolExecutor


def awaited(given: Awaitable[object]) -> object:
    """What it gives; where an event loop runs already, it has one of its own in another thread."""

    async def wait() -> object:
        return await given

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(wait())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, _run, wait()).result()


def _run(work: Coroutine[object, object, object]) -> object:
    """What a coroutine gives, in a loop of its own; the one that the thread may have stays its loop."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)
