"""What a model call says about itself beyond the message: one value, found from whatever carries it.

smolagents' message has room for two token counts only; the rest travels as an attribute of the message,
or of the last delta of a stream, and a model that is not ours gives what its raw response shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from smolagents.models import ChatMessage, ChatMessageStreamDelta

ATTRIBUTE = "model_report"


@dataclass(frozen=True, slots=True)
class ModelReport:
    """What is known of one model call; None where the provider says nothing.

    `thinking_tokens` are part of `output_tokens`; `cached_tokens` and `cache_creation_tokens` of `input_tokens`.
    `time_to_first_token_ms` is known only of a stream. Costs are in US dollars; None also for a cost of zero, which
    litellm writes where it knows no price.
    """

    model: str | None = None
    finish_reason: str | None = None
    thinking: str | None = None
    thinking_signature: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    cache_creation_tokens: int | None = None
    time_to_first_token_ms: float | None = None
    input_cost_usd: float | None = None
    output_cost_usd: float | None = None
    total_cost_usd: float | None = None

    @property
    def truncated(self) -> bool:
        """Whether the reply was cut at the token limit."""
        return self.finish_reason == "length"


class Costs(TypedDict, total=False):
    """The costs of a call in US dollars, under the report's names."""

    input_cost_usd: float | None
    output_cost_usd: float | None
    total_cost_usd: float | None


def attach(carrier: ChatMessage | ChatMessageStreamDelta | Exception, report: ModelReport) -> None:
    """Put a report on a message, a delta or an error; it survives copies, and smolagents does not serialise it."""
    setattr(carrier, ATTRIBUTE, report)


def is_last(delta: ChatMessageStreamDelta) -> bool:
    """Whether a delta is the one that closes a stream of ours, and so carries the report."""
    return hasattr(delta, ATTRIBUTE)


def report_of(carrier: ChatMessage | ChatMessageStreamDelta) -> ModelReport:
    """The report on a message or a delta; without one, what a message's raw response and token counts show."""
    if isinstance(found := getattr(carrier, ATTRIBUTE, None), ModelReport):
        return found
    raw = getattr(carrier, "raw", None)
    if raw is not None and getattr(raw, "choices", None):
        return read_response(raw)
    tokens = carrier.token_usage
    return ModelReport(
        input_tokens=tokens.input_tokens if tokens else None,
        output_tokens=tokens.output_tokens if tokens else None,
    )


def read_response(response: object) -> ModelReport:
    """A report from a finished response in the OpenAI shape, which litellm gives for every provider."""
    choices = field(response, "choices")
    choice = choices[0] if isinstance(choices, list | tuple) and choices else None
    message = field(choice, "message")
    thinking, signature = read_thinking(message)
    return ModelReport(
        model=text(field(response, "model")),
        finish_reason=text(field(choice, "finish_reason")),
        thinking=thinking,
        thinking_signature=signature,
        **read_usage(field(response, "usage")),
        **read_cost(response),
    )


def read_usage(usage: object) -> dict[str, int | None]:
    """The token counts of a usage object, under the report's names.

    litellm writes zeros where the provider gave no usage at all, and no thinking where it gave no details.
    """
    read, written = number(field(usage, "prompt_tokens")), number(field(usage, "completion_tokens"))
    if not read and not written:
        return {}
    prompt, completion = field(usage, "prompt_tokens_details"), field(usage, "completion_tokens_details")
    cached = number(field(prompt, "cached_tokens"))
    created = number(field(prompt, "cache_creation_tokens"))
    return {
        "input_tokens": read,
        "output_tokens": written,
        "thinking_tokens": number(field(completion, "reasoning_tokens")) or None,
        "cached_tokens": cached if cached is not None else number(field(usage, "cache_read_input_tokens")),
        "cache_creation_tokens": created
        if created is not None
        else number(field(usage, "cache_creation_input_tokens")),
    }


def read_cost(response: object) -> Costs:
    """The costs of a response, or of the last chunk of a stream, under the report's names.

    The provider's own, in its usage, come first; some give parts of them. Else what litellm reckons.
    """
    cost = field(field(response, "usage"), "cost")
    parts = cost if isinstance(cost, dict) else {"total_cost": cost}
    total = money(parts.get("total_cost"))
    return {
        "input_cost_usd": money(parts.get("input_tokens_cost")),
        "output_cost_usd": money(parts.get("output_tokens_cost")),
        "total_cost_usd": total or money(field(field(response, "_hidden_params"), "response_cost")),
    }


def read_thinking(message: object) -> tuple[str | None, str | None]:
    """The thinking text and its signature of a message or a delta: structured blocks, else the plain text."""
    blocks = field(message, "thinking_blocks")
    blocks = blocks if isinstance(blocks, list) else []
    texts = [part for block in blocks if (part := text(field(block, "thinking")))]
    signatures = [part for block in blocks if (part := text(field(block, "signature")))]
    gemini = field(field(message, "provider_specific_fields"), "thought_signatures")
    signatures = signatures or [part for part in (gemini if isinstance(gemini, list) else []) if text(part)]
    plain = text(field(message, "reasoning_content")) or text(field(message, "reasoning"))
    return ("\n".join(texts) or plain), (signatures[-1] if signatures else None)


def field(value: object, name: str) -> object:
    """A field of a mapping or an object, None when it is absent."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def text(value: object) -> str | None:
    """A non-empty text, else None."""
    return value if isinstance(value, str) and value else None


def money(value: object) -> float | None:
    """An amount above zero, else None."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def number(value: object) -> int | None:
    """A count, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
