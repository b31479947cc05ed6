"""A stream of litellm's chunks as smolagents' deltas, with everything it reports on the way kept for its end."""

import time
import uuid
from collections.abc import Iterable
from typing import Any

from smolagents.models import ChatMessageStreamDelta, ChatMessageToolCallStreamDelta
from smolagents.monitoring import TokenUsage

from agentltl.agents.models.report import Costs, ModelReport, attach, field, read_cost, read_thinking, read_usage, text

Delta = ChatMessageStreamDelta


class ThinkingDelta(ChatMessageStreamDelta):
    """A piece of thinking in a stream: a delta without content, so smolagents' own reader passes over it."""

    def __init__(self, thinking: str) -> None:
        super().__init__(content=None)
        self.thinking = thinking


class StreamReader:
    """Turns litellm's chunks into smolagents' deltas, and adds up what they report on the way."""

    def __init__(self, begun: float) -> None:
        self.begun = begun
        self.first: float | None = None
        self.ids: dict[int, str] = {}
        self.thinking: list[str] = []
        self.signature: str | None = None
        self.model: str | None = None
        self.finish_reason: str | None = None
        self.usage: object = None
        self.costs: Costs = {}

    def read(self, chunk: Any) -> Iterable[Delta]:
        """The deltas of one chunk, possibly none."""
        self.usage = getattr(chunk, "usage", None) or self.usage
        costs = read_cost(chunk)
        self.costs = costs if costs["total_cost_usd"] is not None else self.costs
        hidden = getattr(chunk, "_hidden_params", None)
        self.model = text(field(hidden, "provider_response_model")) or self.model or text(chunk.model)
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        self.finish_reason = text(choice.finish_reason) or self.finish_reason
        thinking, signature = read_thinking(choice.delta)
        self.signature = signature or self.signature
        content, calls = field(choice.delta, "content"), field(choice.delta, "tool_calls")
        if self.first is None and (thinking or content or calls):
            self.first = time.perf_counter()
        if thinking:
            self.thinking.append(thinking)
            yield ThinkingDelta(thinking)
        if isinstance(calls, list) and calls:
            yield Delta(content=text(content), tool_calls=[self.call(call) for call in calls])
        elif isinstance(content, str) and content:
            yield Delta(content=content)

    def call(self, delta: Any) -> ChatMessageToolCallStreamDelta:
        """A piece of a tool call; a call that comes without an id gets one, or two of them would be taken for one."""
        index = delta.index or 0
        given = text(delta.id)
        if given or index not in self.ids:
            self.ids[index] = given or str(uuid.uuid4())
        return ChatMessageToolCallStreamDelta(index=index, id=self.ids[index], type="function", function=delta.function)

    def last(self, *, estimated: bool) -> Delta:
        """The closing delta: token counts (None when they are litellm's own guess) and the report."""
        report = ModelReport(
            model=self.model,
            finish_reason=self.finish_reason,
            thinking="".join(self.thinking) or None,
            thinking_signature=self.signature,
            time_to_first_token_ms=None if self.first is None else (self.first - self.begun) * 1000,
            **({} if estimated else read_usage(self.usage)),
            **(Costs() if estimated else self.costs),
        )
        delta = Delta(content="", token_usage=tokens_of(report))
        attach(delta, report)
        return delta


def is_estimated(stream: object) -> bool:
    """Whether the usage at the end of a stream is litellm's own count, because no chunk of the provider had one."""
    chunks = getattr(stream, "chunks", None)
    return isinstance(chunks, list) and all(getattr(chunk, "usage", None) is None for chunk in chunks)


def came_to_nothing(stream: object, report: ModelReport) -> bool:
    """Whether a stream of litellm has ended without a word of the provider's on how it ended or what it took.

    litellm then says `stop` by itself.
    """
    return getattr(stream, "received_finish_reason", "") is None and report.output_tokens is None


def tokens_of(report: ModelReport) -> TokenUsage | None:
    """smolagents' token counts, None when the provider gave none."""
    if report.input_tokens is None and report.output_tokens is None:
        return None
    return TokenUsage(input_tokens=report.input_tokens or 0, output_tokens=report.output_tokens or 0)
