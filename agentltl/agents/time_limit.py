"""A limit to the time that a call takes: whoever waits goes on, and what can be ended is ended."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait

from agentltl.agents.limits import as_seconds


async def in_time(given: Awaitable[object], seconds: float | None, name: str) -> object:
    """What an awaitable gives; after so many seconds it is cancelled."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await given
    except TimeoutError as error:
        if limit.expired():
            raise _late(name, seconds) from error
        raise


def waited_for(work: Callable[[], object], seconds: float, name: str) -> object:
    """What `work` gives in a thread of its own. After so many seconds nobody waits for it any more; it goes on, since
    Python cannot end a thread, and what comes of it is dropped."""
    done: Future[object] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    # A daemon: a call that hangs does not keep the process from its end.
    threading.Thread(target=contextvars.copy_context().run, args=(run,), name=f"tool {name}", daemon=True).start()
    wait([done], seconds)
    if not done.done():
        raise _late(name, seconds)
    return done.result()


def _late(name: str, seconds: float | None) -> TimeoutError:
    return TimeoutError(
        f"`{name}` took longer than {as_seconds(seconds)} seconds, and its result is not waited for\n"
        "what it does may be done or not: look before you call it again, or ask it for less"
    )
