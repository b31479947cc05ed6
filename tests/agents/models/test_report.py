"""Reports of models that are not ours: what the raw response shows, and None for the rest."""

from types import SimpleNamespace

import pytest
from smolagents.models import ChatMessage, MessageRole
from smolagents.monitoring import TokenUsage

from agentltl.agents.models.report import ModelReport, read_thinking, report_of


def test_a_foreign_message_gives_its_token_counts_and_nothing_else() -> None:
    message = ChatMessage(MessageRole.ASSISTANT, "hi", token_usage=TokenUsage(3, 4))
    assert report_of(message) == ModelReport(input_tokens=3, output_tokens=4)
    assert report_of(ChatMessage(MessageRole.ASSISTANT, "hi")) == ModelReport()


def test_a_foreign_message_with_a_raw_response_is_read() -> None:
    raw = SimpleNamespace(
        model="m",
        choices=[SimpleNamespace(finish_reason="length", message={"role": "assistant", "reasoning": "hm"})],
        usage={"prompt_tokens": 5, "completion_tokens": 2, "cache_read_input_tokens": 4},
    )
    report = report_of(ChatMessage(MessageRole.ASSISTANT, "hi", raw=raw))
    assert report == ModelReport(
        model="m", finish_reason="length", thinking="hm", input_tokens=5, output_tokens=2, cached_tokens=4
    )


@pytest.mark.parametrize(
    ("message", "thinking"),
    [
        ({"thinking_blocks": [{"thinking": "a", "signature": "s"}, {"thinking": "b"}]}, ("a\nb", "s")),
        ({"thinking_blocks": [{"type": "redacted_thinking", "data": "x"}], "reasoning_content": "c"}, ("c", None)),
        ({"thinking_blocks": None, "reasoning_content": ""}, (None, None)),
        (None, (None, None)),
    ],
)
def test_thinking(message: object, thinking: tuple[str | None, str | None]) -> None:
    assert read_thinking(message) == thinking
