"""`Breaker`: a model that is left alone for a while when it has failed again and again (a circuit breaker)."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from smolagents.models import ChatMessage, Model

from agentltl.agents.limits import as_seconds, require_positive
from agentltl.agents.models.errors import CircuitOpenError
from agentltl.agents.models.leaf import ask, ask_stream
from agentltl.agents.models.registry import register
from agentltl.agents.models.transient import can_pass
from agentltl.agents.models.wrapper import Stream, Wrapper, apart


class Breaker(Wrapper):
    """Asks `model`, unless it has failed `failures` times in a row: then calls raise `CircuitOpenError` for `cool_down`
    seconds. After that one call tries it; a reply closes the circuit, a failure opens it again, and where neither has
    come after another `cool_down` the next call tries.

    What counts as a failure is what can pass (see `Retry`): a request that the provider refuses says nothing of its
    health. Threads may share one breaker; a copy of it begins closed,
    and an agent's sub-agents and its runs beside another one have copies.
    """

    def __init__(self, model: Model, failures: int = 3, cool_down: float = 30.0) -> None:
        require_positive("failures", failures, whole=True)
        require_positive("cool_down", cool_down)
        super().__init__(model)
        self.failures, self.cool_down = failures, cool_down
        self._close()

    def generate(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        """A reply, if the circuit is closed or can be tried."""
        with self._circuit():
            return ask(self.model, messages, *args, **kwargs)

    def settings(self) -> dict[str, Any]:
        """The wrapper's own parameters, as plain data."""
        return {"failures": self.failures, "cool_down": self.cool_down}

    def _stream(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> Stream:
        with self._circuit():
            yield from ask_stream(self.model, messages, *args, **kwargs)

    def _apart(self) -> Model:
        twin = copy.copy(self)
        twin.model = apart(self.model)
        return twin

    def _close(self) -> None:
        self._lock = threading.Lock()
        self._failed = 0
        self._opened: float | None = None
        self._trying: float | None = None
        self._last = ""

    @contextmanager
    def _circuit(self) -> Iterator[None]:
        tries = self._enter()
        try:
            yield
        except Exception as error:
            if can_pass(error):
                self._count(error)
            raise
        else:
            with self._lock:
                self._failed, self._opened = 0, None
        finally:
            with self._lock:
                if tries is not None and self._trying == tries:
                    self._trying = None

    def _enter(self) -> float | None:
        """When this call began to try an open circuit, None if it is closed. A try that takes longer than `cool_down`,
        like a stream that nobody reads to its end, keeps no other from trying. Raises `CircuitOpenError` where none may
        begin."""
        with self._lock:
            if self._opened is None:
                return None
            time = now()
            left = self._opened + self.cool_down - time
            if left <= 0 and (self._trying is None or time >= self._trying + self.cool_down):
                self._trying = time
                return time
            name = getattr(self, "model_id", None) or repr(self.model)
            raise CircuitOpenError(
                f"`{name}` has failed {self._failed} times in a row, the last time by {self._last}, "
                f"and is not asked for {as_seconds(max(0.0, left))} s\nwait, or give `fallback_models`",
                max(0.0, left),
            )

    def _count(self, error: Exception) -> None:
        with self._lock:
            self._failed, self._last = self._failed + 1, type(error).__name__
            if self._failed >= self.failures:
                self._opened = now()

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("model", "failures", "cool_down")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._close()


def now() -> float:
    """Seconds on a clock that only goes forward."""
    return time.monotonic()


register(Breaker)
