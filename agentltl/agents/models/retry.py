"""`Retry`: a model that is asked again when a call has failed for a reason that can pass."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from smolagents.models import ChatMessage, ChatMessageStreamDelta, Model
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_exponential, wait_random

from agentltl.agents.limits import require_positive
from agentltl.agents.models.leaf import ask, ask_stream
from agentltl.agents.models.registry import register
from agentltl.agents.models.retry_after import retry_after
from agentltl.agents.models.transient import can_pass
from agentltl.agents.models.watch import seconds_left, watch
from agentltl.agents.models.wrapper import Stream, Wrapper
from agentltl.errors import ConstraintError

LOOK = 0.1
"""Seconds of a wait after which it is looked whether the run has been cancelled."""

Made = TypeVar("Made")

log = logging.getLogger("agentltl")


class Retry(Wrapper):
    """Asks `model` up to `retries` times more when a call has failed for a reason that can pass: a timeout, too many
    requests, a failure of the server or the connection, an answer that is no JSON or no answer at all.

    Between the calls it waits as the provider's `Retry-After` says; else from about `first_wait` seconds on, each time
    twice as long, with jitter. It gives up at once where that is longer than `longest_wait` seconds, or than the run
    may last. What cannot pass is raised at once; so is the error of a stream of which a piece has been passed on.
    """

    def __init__(self, model: Model, retries: int = 3, *, first_wait: float = 0.5, longest_wait: float = 60.0) -> None:
        if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:  # type: ignore[redundant-expr]
            raise ConstraintError(f"`retries={retries!r}` is no number of retries\ngive a whole number from 0")
        require_positive("first_wait", first_wait)
        require_positive("longest_wait", longest_wait)
        super().__init__(model)
        self.retries, self.first_wait, self.longest_wait = retries, first_wait, longest_wait

    def generate(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        """The first reply that comes."""
        return self._made(partial(ask, self.model, messages, *args, **kwargs))

    def settings(self) -> dict[str, Any]:
        """The wrapper's own parameters, as plain data."""
        return {"retries": self.retries, "first_wait": self.first_wait, "longest_wait": self.longest_wait}

    def _stream(self, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any) -> Stream:
        first, rest = self._made(partial(begin, self.model, messages, *args, **kwargs))
        yield first
        yield from rest

    def _made(self, call: Callable[[], Made]) -> Made:
        """What the call gives, retried. Most calls are made once: only one that fails pays for what retries need."""
        try:
            return call()
        except Exception as error:
            failed: Exception | None = error

        def again() -> Made:
            nonlocal failed
            if failed is not None:
                first, failed = failed, None
                raise first
            return call()

        return self._retrying()(again)

    def _retrying(self) -> Retrying:
        backoff = wait_exponential(self.first_wait) + wait_random(0, self.first_wait)

        def wait(state: RetryCallState) -> float:
            asked_for = retry_after(None if state.outcome is None else state.outcome.exception())
            return min(backoff(state), self.longest_wait) if asked_for is None else asked_for

        return Retrying(
            stop=self._gives_up,
            wait=wait,
            retry=retry_if_exception(can_pass),
            before_sleep=self._told,
            sleep=lambda seconds: pause(seconds),
            reraise=True,
        )

    def _gives_up(self, state: RetryCallState) -> bool:
        left = seconds_left()
        if state.attempt_number > self.retries:
            return True
        return state.upcoming_sleep > self.longest_wait or (left is not None and state.upcoming_sleep >= left)

    def _told(self, state: RetryCallState) -> None:
        error = None if state.outcome is None else state.outcome.exception()
        name, why = getattr(self, "model_id", None), type(error).__name__
        log.info(
            "the model `%s` has failed (%s) and is asked again in %.1f s, retry %d of %d",
            *(name, why, state.upcoming_sleep, state.attempt_number, self.retries),
        )


def begin(
    model: Model, messages: Sequence[ChatMessage], *args: Any, **kwargs: Any
) -> tuple[ChatMessageStreamDelta, Stream]:
    """A stream that has begun: its first piece, and the rest. An empty one is an `EmptyReplyError`."""
    stream = ask_stream(model, messages, *args, **kwargs)
    return next(stream), stream


def pause(seconds: float) -> None:
    """Wait between two calls, unless the next one is not wanted any more."""
    hearing, end = watch(), time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, LOOK))
        if hearing is not None:
            hearing.require()


register(Retry)
