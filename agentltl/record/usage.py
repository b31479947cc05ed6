"""What model calls used up: tokens, calls and money."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from agentltl.constraints.value import Json

Cost = Literal["input_cost_usd", "output_cost_usd", "total_cost_usd"]

TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "cache_creation_tokens", "thinking_tokens")
COSTS: tuple[Cost, ...] = ("input_cost_usd", "output_cost_usd", "total_cost_usd")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, model calls and costs in US dollars; usages add, with `+` and with `sum`.

    `cached_tokens` and `cache_creation_tokens` are part of `input_tokens`, `thinking_tokens` of `output_tokens`; what
    the provider does not report counts as 0 tokens.
    `failed_calls` are those of the `model_calls` that failed and reported nothing.
    A cost is None when it is not known, and never 0 for that reason. The sum of a known and an unknown cost is unknown;
    calls that failed change no cost, and neither does a usage of no calls at all.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_creation_tokens: int = 0
    thinking_tokens: int = 0
    model_calls: int = 0
    input_cost_usd: float | None = None
    output_cost_usd: float | None = None
    total_cost_usd: float | None = None
    failed_calls: int = 0

    @property
    def total_tokens(self) -> int:
        """Tokens read and written."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        if not isinstance(other, Usage):
            return NotImplemented
        costs = {name: self._sum(other, name) for name in COSTS}
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_creation_tokens + other.cache_creation_tokens,
            self.thinking_tokens + other.thinking_tokens,
            self.model_calls + other.model_calls,
            failed_calls=self.failed_calls + other.failed_calls,
            **costs,
        )

    def __radd__(self, other: int) -> Usage:
        return self if other == 0 else NotImplemented

    def _sum(self, other: Usage, cost: Cost) -> float | None:
        one: float | None = getattr(self, cost)
        two: float | None = getattr(other, cost)
        if self.model_calls == self.failed_calls and one is None:
            return two
        if other.model_calls == other.failed_calls and two is None:
            return one
        return None if one is None or two is None else one + two

    def to_dict(self) -> dict[str, Json]:
        """The usage as JSON, `total_tokens` included."""
        return {**asdict(self), "total_tokens": self.total_tokens}


def usage_of(attempts: Iterable[Mapping[str, Json]]) -> Usage:
    """The sum over the data of `model_attempt` events.

    A failed call counts as a call; one that reports neither tokens nor a cost leaves the costs as they are.
    """
    return sum((_of(attempt) for attempt in attempts), Usage())


def _of(attempt: Mapping[str, Json]) -> Usage:
    if attempt["status"] != "success" and all(attempt[name] is None for name in (*TOKENS, *COSTS)):
        return Usage(model_calls=1, failed_calls=1)
    tokens = {name: attempt[name] or 0 for name in TOKENS}
    return Usage(**tokens, model_calls=1, **{name: attempt[name] for name in COSTS})
