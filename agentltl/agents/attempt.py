"""A model call while it runs, and what is known of it when it is over."""

from __future__ import annotations

import time
from collections.abc import Iterable

from smolagents.models import ChatMessage, ChatMessageStreamDelta

from agentltl.agents.models.hidden_error import error_text
from agentltl.agents.models.report import ModelReport, is_last, report_of
from agentltl.record.attempt import ModelAttempt
from agentltl.record.text import thinking_of


class Attempting:
    """One call of a model, from now on."""

    def __init__(self, model: str | None, *, streaming: bool = False) -> None:
        self._model, self._streaming = model, streaming
        self._time, self._begun = time.time(), time.perf_counter()
        self._first: float | None = None

    def came(self, delta: ChatMessageStreamDelta) -> None:
        """A piece of a stream has come; the first that says something is the first token."""
        if self._first is None and (delta.content or delta.tool_calls or getattr(delta, "thinking", None)):
            self._first = time.perf_counter()

    def over(self, report: ModelReport, thinking: str | None, error: BaseException | None = None) -> ModelAttempt:
        """The call is over, with what it reported until then; the recorder knows what it was for, and in which step."""
        return ModelAttempt(
            kind="step",
            step=0,
            model=self._model or report.model,
            status="success" if error is None else "error",
            time=self._time,
            duration_ms=(time.perf_counter() - self._begun) * 1000,
            error=None if error is None else error_text(error),
            error_class=None if error is None else type(error).__name__,
            finish_reason=report.finish_reason,
            streaming=self._streaming,
            time_to_first_token_ms=None if self._first is None else (self._first - self._begun) * 1000,
            thinking=thinking,
            thinking_signature=report.thinking_signature,
            input_tokens=report.input_tokens,
            output_tokens=report.output_tokens,
            cached_tokens=report.cached_tokens,
            cache_creation_tokens=report.cache_creation_tokens,
            thinking_tokens=report.thinking_tokens,
            input_cost_usd=report.input_cost_usd,
            output_cost_usd=report.output_cost_usd,
            total_cost_usd=report.total_cost_usd,
        )


def report_of_stream(deltas: Iterable[ChatMessageStreamDelta]) -> ModelReport:
    """The report on the last delta; without one, the sum of the token counts that the deltas carry."""
    deltas = list(deltas)
    if deltas and is_last(deltas[-1]):
        return report_of(deltas[-1])
    told = [delta.token_usage for delta in deltas if delta.token_usage is not None]
    if not told:
        return ModelReport()
    return ModelReport(
        input_tokens=sum(tokens.input_tokens for tokens in told),
        output_tokens=sum(tokens.output_tokens for tokens in told),
    )


def thinking_in(reply: ChatMessage) -> str | None:
    """The thinking in a reply: what the provider reported beside the content comes first; the content may repeat it."""
    return _joined(report_of(reply).thinking, thinking_of(reply.content))


def thinking_in_stream(deltas: Iterable[ChatMessageStreamDelta], report: ModelReport) -> str | None:
    """The thinking in a stream, also in one that broke off."""
    deltas = list(deltas)
    pieces = "".join(getattr(delta, "thinking", None) or "" for delta in deltas)
    return _joined(report.thinking or pieces, thinking_of("".join(delta.content or "" for delta in deltas)))


def _joined(reported: str | None, written: str | None) -> str | None:
    if reported and written and reported.strip() not in written:
        return f"{reported}\n{written}"
    return written or reported or None
