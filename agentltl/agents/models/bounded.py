"""A call that may take only so long, made in a thread: when its time is over the thread is left to itself."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

from agentltl.agents.limits import as_seconds
from agentltl.agents.models.errors import ModelTimeoutError

Reply = TypeVar("Reply")


def bounded(call: Callable[[], Reply], seconds: float, what: str) -> Reply:
    """What the call gives, within this many seconds. It runs in a copy of this thread's context.

    Raises what the call raises, and `ModelTimeoutError`; the call then goes on, and what it gives is ignored.
    """
    return next(bounded_pieces(lambda: iter([call()]), lambda: seconds, what))


def bounded_pieces(begin: Callable[[], Iterator[Reply]], seconds: Callable[[], float], what: str) -> Generator[Reply]:
    """The pieces that come, each within the seconds that are given when it is waited for. Raises as `bounded` does."""
    came: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()
    left = threading.Event()

    def run() -> None:
        try:
            pieces = begin()
            for piece in pieces:
                if left.is_set():
                    getattr(pieces, "close", lambda: None)()
                    return
                came.put(("piece", piece))
            came.put(("end", None))
        except BaseException as error:
            came.put(("error", error))

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name=f"call of {what}", daemon=True).start()
    try:
        while True:
            limit = seconds()
            try:
                kind, value = came.get(timeout=max(0.0, limit))
            except queue.Empty:
                raise ModelTimeoutError(
                    f"`{what}` has not answered within {as_seconds(limit)} s\nset another `timeout`"
                ) from None
            if kind == "end":
                return
            if kind == "error":
                assert isinstance(value, BaseException)
                raise value
            yield value  # type: ignore[misc]
    finally:
        left.set()
