"""Who hears of the model calls that are made here, and how long each may take.

Both are in context variables: the wrappers of a model pass a call on and need not know. A thread that makes calls for
another one must have a copy of its context.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

from agentltl.agents.limits import Reservation, Spending
from agentltl.agents.models.errors import ModelTimeoutError
from agentltl.record.attempt import ModelAttempt, ModelFallback

SHORTEST = 0.001
"""Seconds that a call gets at least when the run is about to end; clients take no time of zero."""

Told = ModelAttempt | ModelFallback
Piece = TypeVar("Piece")


class Watch:
    """Hears of each model call when it is over, and of each fallback. `spending` are the limits for them, if any;
    `wanted` is called before each call, and raises if it is not wanted any more. `reserved` is the call of a model that
    may ask others, and is given up for the first of theirs.

    `heard` says whether it has heard of a call. One that is `closed` hears nothing any more, and lets no call be made:
    nobody waits for it.
    """

    def __init__(
        self,
        tell: Callable[[Told], None],
        spending: Spending | None = None,
        wanted: Callable[[], None] = lambda: None,
        reserved: Reservation | None = None,
    ) -> None:
        self._tell, self.spending, self._wanted, self._reserved = tell, spending, wanted, reserved
        self.heard = self.closed = False

    def tell(self, told: Told) -> None:
        """A model call is over, or a fallback happens."""
        if not self.closed:
            self.heard = self.heard or isinstance(told, ModelAttempt)
            self._tell(told)

    def below(self, reserved: Reservation | None) -> Watch:
        """One that passes on to this one what it hears of the calls that are made in place of the reserved one."""
        return Watch(self.tell, self.spending, self.require, reserved)

    def require(self) -> None:
        """Raise if nobody wants a further call."""
        if self.closed:
            raise ModelTimeoutError("nobody waits for this call any more\nset another `timeout`")
        self._wanted()

    def reserve(self) -> Reservation | None:
        """A call that may be made. Raises if it may not: what `require` raises, or `RunLimitError`."""
        self.require()
        return None if self.spending is None else self.spending.reserve(self._reserved)

    def seconds_left(self) -> float | None:
        """Seconds until the run is out of time, None without such a limit."""
        return None if self.spending is None else self.spending.seconds_left()


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_seconds: ContextVar[float | None] = ContextVar("seconds", default=None)


def watch() -> Watch | None:
    """Who hears of the calls that are made here, None for nobody."""
    return _watch.get()


@contextmanager
def watched_by(hearing: Watch) -> Iterator[None]:
    """While it lasts, this one hears of the calls."""
    token = _watch.set(hearing)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """While it lasts, no call may take longer, and not longer than it might before."""
    token = _seconds.set(shortest(seconds, _seconds.get()))
    try:
        yield
    finally:
        _seconds.reset(token)


def longest_call() -> float | None:
    """How long a call that is made here may take, the end of the run apart; None for as long as it takes."""
    return _seconds.get()


def seconds_left() -> float | None:
    """Seconds until the run is out of time, None without such a limit."""
    hearing = watch()
    return None if hearing is None else hearing.seconds_left()


def shortest(*seconds: float | None) -> float | None:
    """The shortest of these times, None standing for no end."""
    return min((each for each in seconds if each is not None), default=None)


def within(context: Callable[[], AbstractContextManager[None]], pieces: Generator[Piece]) -> Generator[Piece]:
    """The pieces, each of them made in this context; between them it does not hold."""
    try:
        while True:
            with context():
                try:
                    piece = next(pieces)
                except StopIteration:
                    return
            yield piece
    finally:
        with context():
            pieces.close()
