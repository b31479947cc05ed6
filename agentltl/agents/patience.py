"""Code that people are asked in the middle of: one question at a time, and no time limit for their answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from smolagents import local_python_executor
from smolagents.local_python_executor import CodeOutput, LocalPythonExecutor


class Patience:
    """The questions that code asks of people; `waited` is how long they have taken to answer, in seconds."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.waited = 0.0

    @contextmanager
    def question(self) -> Iterator[None]:
        """One question; another thread of the code waits for its turn."""
        with self._lock:
            asked = time.monotonic()
            try:
                yield
            finally:
                self.waited += time.monotonic() - asked

    def run(self, executor: LocalPythonExecutor, code: str) -> CodeOutput:
        """Run code under the executor's time limit, of which the time that people take is no part.

        smolagents looks at the limit in another thread, and waits for the end of the code all the same. Here the code
        runs in the caller's thread, where whoever is asked can break off, and the limit is looked at when it has ended.
        """
        limit: float | None = getattr(executor, "timeout_seconds", None)
        if limit is None:
            return executor(code)
        begun, waited = time.monotonic(), self.waited
        executor.timeout_seconds = None
        try:
            output = executor(code)
        except Exception as error:
            if self._is_over(limit, begun, waited):
                raise _timeout(limit) from error
            raise
        finally:
            executor.timeout_seconds = limit  # type: ignore[assignment]
        if self._is_over(limit, begun, waited):
            raise _timeout(limit)
        return output

    def _is_over(self, limit: float, begun: float, waited: float) -> bool:
        return time.monotonic() - begun - (self.waited - waited) > limit

    def __deepcopy__(self, memo: dict[int, Any]) -> Patience:
        return Patience()


def _timeout(limit: float) -> Exception:
    kind: type[Exception] = local_python_executor.ExecutionTimeoutError
    return kind(f"Code execution exceeded the maximum execution time of {limit} seconds")
