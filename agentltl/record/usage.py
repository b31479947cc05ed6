"""What model calls used up: tokens, calls and money."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
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
    A cost is None when it is not known, and never 0 for that reason. The sum of a known and an unknown cost is unknown;
    a usage of no calls at all changes no cost.
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

    @property
    def total_tokens(self) -> int:
        """Tokens read and written."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        if not isinstance(other, Usage):
            return NotImplemented
        if self == NOTHING or other == NOTHING:
            return other if self == NOTHING else self
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_creation_tokens + other.cache_creation_tokens,
            self.thinking_tokens + other.thinking_tokens,
            self.model_calls + other.model_calls,
            _sum(self.input_cost_usd, other.input_cost_usd),
            _sum(self.output_cost_usd, other.output_cost_usd),
            _sum(self.total_cost_usd, other.total_cost_usd),
        )

    def __radd__(self, other: int) -> Usage:
        return self if other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Json]:
        """The usage as JSON, `total_tokens` included."""
        return {**asdict(self), "total_tokens": self.total_tokens}


NOTHING = Usage()


def usage_of(attempts: Iterable[Mapping[str, Json]]) -> Usage:
    """The sum over the data of `model_attempt` events.

    A failed call counts as a call; one that reports neither tokens nor a cost leaves the costs as they are.
    """
    calls, total = 0, NOTHING
    for attempt in attempts:
        calls += 1
        if attempt["status"] == "success" or any(attempt[name] is not None for name in (*TOKENS, *COSTS)):
            tokens = {name: attempt[name] or 0 for name in TOKENS}
            total += Usage(**tokens, model_calls=1, **{name: attempt[name] for name in COSTS})
    return replace(total, model_calls=calls)


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
