"""A result as one JSON object under stable names, those of `to_h` of ruby_llm-agents where it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentltl.constraints.value import Json
from agentltl.record.plain import plain

if TYPE_CHECKING:
    from agentltl.record.result import Result

NAMES = (
    "content", "input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_creation_tokens",
    "input_cost", "output_cost", "total_cost", "model_id", "chosen_model_id", "temperature", "duration_ms",
    "time_to_first_token_ms", "finish_reason", "streaming", "error_class", "error_message", "attempts_count",
    "attempts", "tool_calls", "tool_calls_count", "thinking_text", "thinking_signature", "thinking_tokens",
    "success", "is_error", "interrupted", "ending", "truncated", "has_tool_calls", "has_thinking", "used_fallback",
    "messages", "constraint_status", "compliance", "pending", "execution_id",
)  # fmt: skip
"""The attributes that stand in the object as they are; the others are the times, the usage, and the documented dict."""


def flat(result: Result) -> dict[str, Json]:
    """Everything that a result says; times are ISO 8601."""
    return {
        **{name: plain(getattr(result, name)) for name in NAMES},
        "started_at": None if result.started_at is None else result.started_at.isoformat(),
        "completed_at": None if result.completed_at is None else result.completed_at.isoformat(),
        "usage": result.usage.to_dict(),
        **{name: plain(value) for name, value in result.items()},
    }
