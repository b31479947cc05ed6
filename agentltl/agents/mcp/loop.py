"""A thread with an event loop, in which the connections live while the agents around them are not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopEndedError(Exception):
    """The loop does nothing any more."""


class Loop:
    """An event loop in a daemon thread of its own, which does not keep the interpreter from ending."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._ended = False
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            try:
                self._loop.run_until_complete(self._loop.shutdown_asyncgens())
                self._loop.run_until_complete(self._loop.shutdown_default_executor())
            finally:
                self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine gives, waited for; when the wait is interrupted, the coroutine is cancelled.

        Raises `LoopEndedError` when the loop has ended, `concurrent.futures.CancelledError` when it ends meanwhile.
        """
        with self._lock:
            if self._ended:
                work.close()
                raise LoopEndedError
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def end(self, work: Coroutine[Any, Any, None], *, wait: bool) -> None:
        """Refuse further work, do this last one and stop; a second time it only waits.

        It is not waited for on the loop's own thread, which would wait for itself.
        """
        with self._lock:
            if self._ended:
                work.close()
            else:
                self._ended = True
                asyncio.run_coroutine_threadsafe(self._last(work), self._loop)
        if wait and threading.current_thread() is not self._thread:
            self._thread.join()

    async def _last(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0)), *others], timeout=1)
            self._loop.stop()
