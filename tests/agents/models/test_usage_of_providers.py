"""What providers report of a call, in their own form over real HTTP, comes through litellm as one report.

The payloads are constructed, their fields those of
OpenAI: `types/completion_usage.py` and `types/chat/chat_completion.py` of the package `openai`;
Anthropic: `types/message.py` (which says that the input is the sum of three counts), `types/usage.py` and
`types/stop_reason.py` of https://github.com/anthropics/anthropic-sdk-python;
Gemini: `generative_service.proto` and `content.proto` in `google/ai/generativelanguage/v1beta` of
https://github.com/googleapis/googleapis, which https://ai.google.dev/api/generate-content shows;
Ollama: "Generate a chat completion" in `docs/api.md` of https://github.com/ollama/ollama.
Its own cost is what OpenRouter puts into the usage, https://openrouter.ai/docs/use-cases/usage-accounting.
"""

from typing import Any

import pytest

from agentltl.agents.models.build import build
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.report import ModelReport, read_cost, report_of

load_litellm()


def asked(provider: Any, ask: Any, model: str, payload: dict[str, Any], path: str = "") -> ModelReport:
    provider.answers = [(200, payload)]
    return report_of(build(model, api_base=provider.url + path, api_key="no-key").generate(ask))


def openai(finish: str = "stop", **usage: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1741569952,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Three."}, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 256, "audio_tokens": 0},
            **usage,
        },
    }


def anthropic(stop: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [
            {"type": "thinking", "thinking": "One and two.", "signature": "EqQB"},
            {"type": "text", "text": "Three."},
        ],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 50,
            "cache_creation_input_tokens": 248,
            "cache_read_input_tokens": 1800,
            "output_tokens": 503,
        },
    }


def gemini(finish: str = "STOP") -> dict[str, Any]:
    parts = [{"text": "One and two.", "thought": True}, {"text": "Three."}]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 60,
            "candidatesTokenCount": 7,
            "thoughtsTokenCount": 13,
            "totalTokenCount": 120,
        },
        "modelVersion": "gemini-2.5-flash",
    }


def ollama(reason: str = "stop") -> dict[str, Any]:
    return {
        "model": "qwen3",
        "created_at": "2025-07-07T20:22:19.184789Z",
        "message": {"role": "assistant", "content": "Three.", "thinking": "One and two."},
        "done_reason": reason,
        "done": True,
        "total_duration": 174560334,
        "load_duration": 101397084,
        "prompt_eval_count": 11,
        "prompt_eval_duration": 13074791,
        "eval_count": 18,
        "eval_duration": 52479709,
    }


def test_openai(provider: Any, ask: Any) -> None:
    report = asked(provider, ask, "openai/gpt-4o", openai(), "/v1")
    assert (report.input_tokens, report.output_tokens) == (2006, 300)
    assert (report.cached_tokens, report.cache_creation_tokens, report.thinking_tokens) == (1920, None, 256)
    assert (report.thinking, report.thinking_signature) == (None, None)


def test_anthropic_counts_the_cache_beside_the_input_and_here_it_is_part_of_it(provider: Any, ask: Any) -> None:
    report = asked(provider, ask, "anthropic/claude-sonnet-4-5", anthropic())
    assert (report.input_tokens, report.output_tokens) == (50 + 248 + 1800, 503)
    assert (report.cached_tokens, report.cache_creation_tokens) == (1800, 248)
    assert (report.thinking, report.thinking_signature) == ("One and two.", "EqQB")


def test_gemini_counts_thoughts_beside_the_output_and_here_they_are_part_of_it(provider: Any, ask: Any) -> None:
    report = asked(provider, ask, "gemini/gemini-2.5-flash", gemini())
    assert (report.input_tokens, report.output_tokens, report.thinking_tokens) == (100, 20, 13)
    assert (report.cached_tokens, report.thinking) == (60, "One and two.")


def test_gemini_signs_the_part_after_its_thoughts(provider: Any, ask: Any) -> None:
    payload = gemini()
    payload["candidates"][0]["content"]["parts"][1] = {
        "functionCall": {"name": "add", "args": {}},
        "thoughtSignature": "c2ln",
    }
    report = asked(provider, ask, "gemini/gemini-2.5-flash", payload)
    assert (report.thinking, report.thinking_signature) == ("One and two.", "c2ln")


def test_ollama_reports_no_cache_and_no_count_of_thinking(provider: Any, ask: Any) -> None:
    report = asked(provider, ask, "ollama_chat/qwen3", ollama())
    assert (report.input_tokens, report.output_tokens, report.thinking) == (11, 18, "One and two.")
    assert (report.cached_tokens, report.cache_creation_tokens, report.thinking_tokens) == (None, None, None)
    assert (report.input_cost_usd, report.output_cost_usd, report.total_cost_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("model", "payload", "reason"),
    [
        ("openai/gpt-4o", openai("stop"), "stop"),
        ("openai/gpt-4o", openai("length"), "length"),
        ("openai/gpt-4o", openai("tool_calls"), "tool_calls"),
        ("openai/gpt-4o", openai("content_filter"), "content_filter"),
        ("anthropic/claude-sonnet-4-5", anthropic("end_turn"), "stop"),
        ("anthropic/claude-sonnet-4-5", anthropic("stop_sequence"), "stop"),
        ("anthropic/claude-sonnet-4-5", anthropic("max_tokens"), "length"),
        ("anthropic/claude-sonnet-4-5", anthropic("tool_use"), "tool_calls"),
        ("anthropic/claude-sonnet-4-5", anthropic("refusal"), "content_filter"),
        ("gemini/gemini-2.5-flash", gemini("STOP"), "stop"),
        ("gemini/gemini-2.5-flash", gemini("MAX_TOKENS"), "length"),
        ("gemini/gemini-2.5-flash", gemini("SAFETY"), "content_filter"),
        ("ollama_chat/qwen3", ollama("stop"), "stop"),
        ("ollama_chat/qwen3", ollama("length"), "length"),
    ],
)
def test_finish_reasons_have_the_names_of_openai(
    provider: Any, ask: Any, model: str, payload: Any, reason: str
) -> None:
    report = asked(provider, ask, model, payload, "/v1" if model.startswith("openai/") else "")
    assert (report.finish_reason, report.truncated) == (reason, reason == "length")


@pytest.mark.parametrize(
    ("model", "payload"),
    [
        ("openai/gpt-4o", openai()),
        ("anthropic/claude-sonnet-4-5", anthropic()),
        ("gemini/gemini-2.5-flash", gemini()),
    ],
)
def test_the_parts_of_a_cost_are_its_sum(provider: Any, ask: Any, model: str, payload: Any) -> None:
    report = asked(provider, ask, model, payload)
    assert report.input_cost_usd is not None
    assert report.output_cost_usd is not None
    assert report.total_cost_usd == pytest.approx(report.input_cost_usd + report.output_cost_usd)
    assert report.total_cost_usd > 0


def test_a_model_without_a_price_has_no_cost(provider: Any, ask: Any) -> None:
    report = asked(provider, ask, "openai/of-my-own", openai() | {"model": "of-my-own"}, "/v1")
    assert (report.input_cost_usd, report.output_cost_usd, report.total_cost_usd) == (None, None, None)


def test_the_cost_that_a_provider_names_comes_first(provider: Any, ask: Any) -> None:
    report = asked(provider, ask, "openai/gpt-4o", openai(cost=0.95), "/v1")
    assert (report.input_cost_usd, report.output_cost_usd, report.total_cost_usd) == (None, None, 0.95)


@pytest.mark.parametrize(
    ("usage", "hidden", "costs"),
    [
        ({"cost": {"input_tokens_cost": 1, "output_tokens_cost": 2, "total_cost": 3}}, None, (1, 2, 3)),
        ({"cost": 0}, 0.5, (None, None, 0.5)),
        ({"cost": None}, 0.0, (None, None, None)),
        ({"cost": True}, "free", (None, None, None)),
        (None, None, (None, None, None)),
    ],
)
def test_costs(usage: Any, hidden: Any, costs: Any) -> None:
    found = read_cost({"usage": usage, "_hidden_params": {"response_cost": hidden}})
    assert tuple(found.values()) == costs


def test_a_stream_costs_what_the_whole_reply_costs(provider: Any, ask: Any) -> None:
    whole = asked(provider, ask, "openai/gpt-4o", openai(), "/v1")
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-2024-08-06"}
    provider.answers = [
        [
            {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Three."}}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {**chunk, "choices": [], "usage": openai()["usage"]},
        ]
    ]
    model: Any = build("openai/gpt-4o", api_base=f"{provider.url}/v1", api_key="no-key")
    *_, last = model.generate_stream(ask)
    streamed = report_of(last)
    assert whole.total_cost_usd is not None
    for name in ("input_cost_usd", "output_cost_usd", "total_cost_usd", "cached_tokens", "thinking_tokens"):
        assert getattr(streamed, name) == pytest.approx(getattr(whole, name))
