"""What a run may use up, and what it has: time, money, tokens and model calls.

The limits are looked at before each model call. A call is counted from then on, so there are never more of them than
allowed. What one costs is known when it is over, so the call that passes a limit is the last one, together with those
that are under way beside it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import cast

from agentltl.errors import ConstraintError, RunLimitError
from agentltl.record.attempt import ModelAttempt


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run; None is no limit.

    `total_timeout` is in seconds, `max_cost_usd` in US dollars. Each counts everything that the run does, failed calls
    and managed agents included. A value that makes no sense is a `ConstraintError`.
    """

    total_timeout: float | None = None
    max_cost_usd: float | None = None
    max_tokens_total: int | None = None
    max_model_calls: int | None = None

    def __post_init__(self) -> None:
        for name in Limits.__slots__:
            require_positive(name, getattr(self, name), whole=name in ("max_tokens_total", "max_model_calls"))


def require_positive(name: str, value: object, *, whole: bool = False) -> None:
    """Raise `ConstraintError` for a setting that is neither None nor a number above zero."""
    if value is None:
        return
    fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not (fits and 0 < cast(float, value) < float("inf")):
        what = "whole number" if whole else "number"
        raise ConstraintError(f"`{name}={value!r}` limits nothing\ngive a {what} above zero, or leave it out")


class Reservation:
    """A model call that may be made and is not over yet."""

    __slots__ = ("open",)

    def __init__(self) -> None:
        self.open = True


class Spending:
    """What one run has used up since it began, which is now. Threads may share it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.calls, self.tokens, self.cost_usd = 0, 0, 0.0
        self._begun = now()
        self._unpriced: str | None = None
        self._under_way = 0
        self._lock = threading.Lock()

    def reserve(self, instead_of: Reservation | None = None) -> Reservation:
        """A further model call, counted from now on; another one is given up for it. Raises as `check` does."""
        with self._lock:
            self._give_up(instead_of)
            self.check()
            self._under_way += 1
            return Reservation()

    def release(self, reserved: Reservation | None) -> None:
        """The call that was reserved is none after all."""
        with self._lock:
            self._give_up(reserved)

    def _give_up(self, reserved: Reservation | None) -> None:
        if reserved is not None and reserved.open:
            reserved.open = False
            self._under_way -= 1

    def add(self, attempt: ModelAttempt, reserved: Reservation | None = None) -> None:
        """A model call is over, the one that was reserved. One that failed and reports nothing costs nothing."""
        told = [count for count in (attempt.input_tokens, attempt.output_tokens) if count is not None]
        with self._lock:
            self._give_up(reserved)
            self.calls += 1
            self.tokens += sum(told)
            if attempt.total_cost_usd is not None:
                self.cost_usd += attempt.total_cost_usd
            elif self._unpriced is None and (told or attempt.status == "success"):
                self._unpriced = attempt.model or "the model"

    def seconds_left(self) -> float | None:
        """Seconds until the run is out of time, None without such a limit."""
        limit = self.limits.total_timeout
        return None if limit is None else limit - (now() - self._begun)

    def check(self) -> None:
        """Raise `RunLimitError` when no further model call may be made."""
        self.check_time()
        limits = self.limits
        if limits.max_model_calls is not None and self.calls + self._under_way >= limits.max_model_calls:
            raise self._error("max_model_calls", limits.max_model_calls)
        if limits.max_tokens_total is not None and self.tokens >= limits.max_tokens_total:
            raise self._error("max_tokens_total", limits.max_tokens_total)
        if limits.max_cost_usd is None:
            return
        if self._unpriced is not None:
            raise RunLimitError(
                f"`max_cost_usd={limits.max_cost_usd}` cannot be kept: nobody knows what `{self._unpriced}` costs; "
                f"{self._spent()}\n"
                "tell its price with `litellm.register_model`, or limit `max_tokens_total` or `max_model_calls`",
                "max_cost_usd",
            )
        if self.cost_usd >= limits.max_cost_usd:
            raise self._error("max_cost_usd", limits.max_cost_usd)

    def check_time(self) -> None:
        """Raise `RunLimitError` when the run is out of time."""
        left = self.seconds_left()
        if left is not None and left <= 0:
            raise self._error("total_timeout", self.limits.total_timeout)

    def _error(self, limit: str, value: float | None) -> RunLimitError:
        return RunLimitError(
            f"the run has used up `{limit}={value}`: {self._spent()}\nraise the limit, or give the run less to do",
            limit,
        )

    def _spent(self) -> str:
        made = self.calls + self._under_way
        calls = f"{made} model call{'' if made == 1 else 's'}"
        cost = f"{self.cost_usd:.6g} USD" if self._unpriced is None else "an unknown cost"
        return f"{calls}, {self.tokens} tokens, {cost}, {now() - self._begun:.1f} s"


def as_seconds(seconds: float | None) -> str:
    """A time for a message: to a thousandth, without an exponent."""
    return f"{seconds or 0.0:.3f}".rstrip("0").rstrip(".")


def now() -> float:
    """Seconds on a clock that only goes forward."""
    return time.monotonic()
