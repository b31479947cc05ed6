"""One call of a model in a run, whatever came of it; and the step from a model that failed to the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AttemptKind = Literal["step", "planning", "member", "final"]
"""What a model was called for: a step, a plan, a managed agent's work, the answer when no step is left."""
AttemptStatus = Literal["success", "error"]


@dataclass(frozen=True, slots=True)
class ModelAttempt:
    """What is known when a model call is over; None where nobody says.

    `step` is the run's step in which it was made, `model` the name of the model that was called. `thinking_tokens` are
    part of `output_tokens`, `cached_tokens` and `cache_creation_tokens` of `input_tokens`. `time` is the Unix time at
    which it began; `time_to_first_token_ms` is known only of a stream.
    """

    kind: AttemptKind
    step: int
    model: str | None
    status: AttemptStatus
    time: float
    duration_ms: float
    error: str | None = None
    error_class: str | None = None
    finish_reason: str | None = None
    streaming: bool = False
    time_to_first_token_ms: float | None = None
    thinking: str | None = None
    thinking_signature: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_creation_tokens: int | None = None
    thinking_tokens: int | None = None
    input_cost_usd: float | None = None
    output_cost_usd: float | None = None
    total_cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ModelFallback:
    """A model has finally failed and the next one is asked: the names of both, and the error. `time` is a Unix time."""

    kind: AttemptKind
    step: int
    model: str | None
    next_model: str | None
    error: str
    error_class: str
    time: float
