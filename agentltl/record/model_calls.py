"""What a result says of the model calls of its run, folded from its `model_attempt` events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentltl.constraints.value import Json
from agentltl.record.usage import Usage, usage_of


class ModelCalls:
    """The attributes of a result that its `attempts` decide."""

    attempts: list[dict[str, Json]]
    model_id: str | None

    @property
    def attempts_count(self) -> int:
        """How many model calls there were, failed ones included."""
        return len(self.attempts)

    @property
    def usage(self) -> Usage:
        """The sum over all model calls: steps, plans, managed agents, and failed ones."""
        return usage_of(self.attempts)

    @property
    def input_tokens(self) -> int:
        """Tokens that the models read."""
        return self.usage.input_tokens

    @property
    def output_tokens(self) -> int:
        """Tokens that the models wrote."""
        return self.usage.output_tokens

    @property
    def total_tokens(self) -> int:
        """Tokens read and written."""
        return self.usage.total_tokens

    @property
    def cached_tokens(self) -> int:
        """Those of the read tokens that came from the provider's cache."""
        return self.usage.cached_tokens

    @property
    def cache_creation_tokens(self) -> int:
        """Those of the read tokens that were put into the provider's cache."""
        return self.usage.cache_creation_tokens

    @property
    def input_cost(self) -> float | None:
        """US dollars for what was read, None when not known."""
        return self.usage.input_cost_usd

    @property
    def output_cost(self) -> float | None:
        """US dollars for what was written, None when not known."""
        return self.usage.output_cost_usd

    @property
    def total_cost(self) -> float | None:
        """US dollars for everything, None when not known."""
        return self.usage.total_cost_usd

    @property
    def chosen_model_id(self) -> str | None:
        """The model that gave the last reply of the run itself; without one, `model_id`."""
        replies = [a["model"] for a in self._own if a["status"] == "success"]
        model: str | None = replies[-1] if replies else None
        return self.model_id if model is None else model

    @property
    def used_fallback(self) -> bool:
        """Whether the run's last reply came from another model than its own."""
        return self.chosen_model_id != self.model_id

    @property
    def finish_reason(self) -> str | None:
        """Why the last model call ended: `stop`, `length`, `tool_calls`, `content_filter`; None when not known."""
        reason: str | None = self._last.get("finish_reason")
        return reason

    @property
    def truncated(self) -> bool:
        """Whether the reply of the last model call was cut at the token limit."""
        return self.finish_reason == "length"

    @property
    def streaming(self) -> bool:
        """Whether the last model call was streamed."""
        return bool(self._last.get("streaming"))

    @property
    def time_to_first_token_ms(self) -> float | None:
        """Milliseconds from the start of the first streamed model call to its first token; None without one."""
        return next((t for a in self.attempts if (t := a["time_to_first_token_ms"]) is not None), None)

    @property
    def thinking_text(self) -> str | None:
        """What the model thought, over all calls of the run itself; None for nothing."""
        return "\n".join(a["thinking"] for a in self._own if a["thinking"]) or None

    @property
    def thinking_signature(self) -> str | None:
        """The last signature that the provider put to its thinking, None for none."""
        return next((s for a in reversed(self._own) if (s := a["thinking_signature"])), None)

    @property
    def thinking_tokens(self) -> int | None:
        """Those of the written tokens that were thinking, over all model calls; None when no provider says."""
        told = [a["thinking_tokens"] for a in self.attempts if a["thinking_tokens"] is not None]
        return sum(told) if told else None

    @property
    def has_thinking(self) -> bool:
        """Whether the model thought: there is a text of it, or tokens were counted."""
        return self.thinking_text is not None or bool(self.thinking_tokens)

    @property
    def _own(self) -> list[dict[str, Json]]:
        return [attempt for attempt in self.attempts if attempt["kind"] != "member"]

    @property
    def _last(self) -> Mapping[str, Any]:
        return self.attempts[-1] if self.attempts else {}
