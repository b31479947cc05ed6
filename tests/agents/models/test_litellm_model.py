"""The litellm model over real HTTP: what the provider reports is kept, and what it does not report is None."""

import copy
import json
import logging
from typing import Any

import pytest
from smolagents import Model, ToolCallingAgent, tool
from smolagents.models import agglomerate_stream_deltas

from agentltl.agents.models.build import build
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.report import ModelReport, report_of

litellm = load_litellm()

KEY = "sk-not-to-be-seen-anywhere"


@tool
def double(number: int) -> int:
    """Double a number.

    Args:
        number: The number
    """
    return number * 2


def openai_model(provider: Any, **settings: Any) -> Model:
    return build("openai/asked-for", api_base=f"{provider.url}/v1", api_key=KEY, **settings)


def completion(message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "served", "choices": [choice], **more}


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "served", "choices": [choice], **more}


def call(name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}, **more}


USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 8,
    "total_tokens": 28,
    "prompt_tokens_details": {"cached_tokens": 12},
    "completion_tokens_details": {"reasoning_tokens": 3},
}


def test_a_message_carries_what_the_provider_reports(provider: Any, ask: Any) -> None:
    provider.answers = [(200, completion({"content": "hi", "reasoning_content": "hm"}, "length", usage=USAGE))]
    message = openai_model(provider).generate(ask)
    assert message.content == "hi"
    assert message.token_usage is not None
    assert (message.token_usage.input_tokens, message.token_usage.output_tokens) == (20, 8)
    report = report_of(message)
    assert report == ModelReport(
        model="served",
        finish_reason="length",
        thinking="hm",
        input_tokens=20,
        output_tokens=8,
        thinking_tokens=3,
        cached_tokens=12,
    )
    assert report.truncated


def test_structured_thinking_its_signature_and_the_cache_of_anthropic(provider: Any, ask: Any) -> None:
    blocks = [
        {"type": "thinking", "thinking": "first this", "signature": "c2ln"},
        {"type": "text", "text": "done"},
    ]
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2}
    provider.answers = [
        (
            200,
            {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "claude-served",
                "stop_reason": "end_turn",
                "content": blocks,
                "usage": usage,
            },
        )
    ]
    message = build("anthropic/claude-sonnet-4-5", api_base=provider.url, api_key=KEY).generate(ask)
    report = report_of(message)
    assert (report.thinking, report.thinking_signature) == ("first this", "c2ln")
    assert (report.cached_tokens, report.cache_creation_tokens) == (3, 2)
    assert (report.model, report.finish_reason) == ("claude-served", "stop")
    assert message.content == "done"


def test_no_token_counts_are_none_and_not_zero(provider: Any, ask: Any) -> None:
    provider.answers = [(200, completion({"content": "hi"}))]
    message = openai_model(provider).generate(ask)
    assert message.token_usage is None
    assert report_of(message).input_tokens is None


def test_no_token_counts_in_a_stream_are_none_and_not_a_guess(provider: Any, ask: Any) -> None:
    provider.answers = [[chunk({"content": "hi"}), chunk({}, "stop")]]
    *_, last = openai_model(provider).generate_stream(ask)
    assert last.token_usage is None
    assert report_of(last).output_tokens is None


def test_calls_without_ids_get_different_ones(provider: Any, ask: Any) -> None:
    calls = [call("double", {"number": 1}), call("double", {"number": 2}, id=None)]
    provider.answers = [(200, completion({"content": None, "tool_calls": calls}, "tool_calls", usage=USAGE))]
    message = openai_model(provider).generate(ask, tools_to_call_from=[double])
    assert message.tool_calls is not None
    ids = [made.id for made in message.tool_calls]
    assert all(isinstance(made, str) and made for made in ids)
    assert len(set(ids)) == 2


def test_streamed_calls_without_ids_get_different_ones(provider: Any, ask: Any) -> None:
    def piece(index: int, name: str | None, arguments: str) -> dict[str, Any]:
        return chunk({"tool_calls": [{"index": index, "function": {"name": name, "arguments": arguments}}]})

    provider.answers = [
        [
            piece(0, "double", '{"num'),
            piece(0, None, 'ber": 1}'),
            piece(1, "double", '{"number": 2}'),
            chunk({}, "stop"),
        ]
    ]
    message = agglomerate_stream_deltas(list(openai_model(provider).generate_stream(ask, tools_to_call_from=[double])))
    assert message.tool_calls is not None
    assert [made.function.arguments for made in message.tool_calls] == ['{"number": 1}', '{"number": 2}']
    first, second = (made.id for made in message.tool_calls)
    assert first
    assert second
    assert first != second


def test_a_stream_reports_at_its_end(provider: Any, ask: Any) -> None:
    pieces = [chunk({"reasoning_content": "hm "}), chunk({"reasoning_content": "so"}), chunk({"content": "he"})]
    end = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "served", "choices": [], "usage": USAGE}
    provider.answers = [[*pieces, chunk({"content": "llo"}), chunk({}, "stop"), end]]
    deltas = list(openai_model(provider).generate_stream(ask))
    assert provider.requests[0]["stream_options"] == {"include_usage": True}
    assert [getattr(delta, "thinking", None) for delta in deltas[:2]] == ["hm ", "so"]
    report = report_of(deltas[-1])
    assert (report.model, report.finish_reason, report.thinking) == ("served", "stop", "hm so")
    assert (report.input_tokens, report.output_tokens, report.cached_tokens) == (20, 8, 12)
    assert report.time_to_first_token_ms is not None
    assert report.time_to_first_token_ms > 0
    whole = agglomerate_stream_deltas(deltas)
    assert whole.content == "hello"
    assert whole.token_usage is not None
    assert whole.token_usage.input_tokens == 20


@pytest.mark.parametrize("status", [429, 500, 503])
def test_one_failure_is_one_request(provider: Any, ask: Any, status: int) -> None:
    provider.answers = [(status, {"error": {"message": "come back later"}})]
    with pytest.raises(Exception, match="come back later") as failure:
        openai_model(provider).generate(ask)
    assert len(provider.requests) == 1
    assert failure.value.status_code == status  # type: ignore[attr-defined]


def test_a_failed_stream_is_one_request_too(provider: Any, ask: Any) -> None:
    provider.answers = [(503, {"error": {"message": "busy"}})]
    with pytest.raises(litellm.ServiceUnavailableError):
        list(openai_model(provider).generate_stream(ask))
    assert len(provider.requests) == 1


def test_the_key_reaches_the_provider_and_nobody_else(
    provider: Any, ask: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.answers = [(401, {"error": {"message": f"the key {KEY} is wrong", "param": {"key": [KEY]}}})]
    model = openai_model(provider)
    with caplog.at_level(logging.INFO), pytest.raises(litellm.AuthenticationError) as failure:
        model.generate(ask)
    assert provider.headers[0]["authorization"] == f"Bearer {KEY}"
    said = [repr(model), str(model.to_dict()), caplog.text, *capsys.readouterr()]
    error: BaseException | None = failure.value
    while error is not None:
        said += [str(error), repr(error), str(vars(error))]
        error = error.__cause__ or error.__context__
    assert "the key [hidden] is wrong" in str(failure.value)
    assert not [text for text in said if KEY in text]


def test_a_key_from_the_environment_is_hidden_as_well(provider: Any, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    provider.answers = [(401, {"error": {"message": f"the key {KEY} is wrong"}})]
    with pytest.raises(litellm.AuthenticationError) as failure:
        build("openai/asked-for", api_base=f"{provider.url}/v1").generate(ask)
    assert provider.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(failure.value)


def test_secret_settings_are_not_saved(provider: Any) -> None:
    model = type(openai_model(provider))("openai/m", api_key=KEY, extra_headers={"x": KEY}, max_tokens=7)
    assert model.to_dict() == {"model_id": "openai/m", "api_base": None, "max_tokens": 7}


def test_a_saved_model_is_built_again(provider: Any) -> None:
    model = openai_model(provider, temperature=0.5)
    agent = ToolCallingAgent([], model, verbosity_level=0)
    again = ToolCallingAgent.from_dict(agent.to_dict()).model
    assert type(again) is type(model)
    assert again.to_dict() == model.to_dict()


def test_a_model_can_be_copied(provider: Any, ask: Any) -> None:
    provider.answers = [(200, completion({"content": "hi"}))]
    assert copy.deepcopy(openai_model(provider)).generate(ask).content == "hi"


def test_settings_reach_the_provider(provider: Any, ask: Any) -> None:
    provider.answers = [(200, completion({"content": "hi"}))]
    openai_model(provider, temperature=0.25, seed=7, timeout=30.0).generate(ask)
    assert provider.requests[0]["temperature"] == 0.25
    assert provider.requests[0]["seed"] == 7
    assert provider.headers[0]["x-stainless-read-timeout"] == "30.0"


@pytest.mark.parametrize("stream", [False, True])
def test_in_the_real_loop_of_smolagents(provider: Any, stream: bool) -> None:
    first, second = call("double", {"number": 21}, id="a"), call("final_answer", {"answer": "42"}, id="b")
    provider.answers = [
        [chunk({"tool_calls": [{**made, "index": 0}]}), chunk({}, "tool_calls")]
        if stream
        else (200, completion({"content": None, "tool_calls": [made]}, "tool_calls"))
        for made in (first, second)
    ]
    agent = ToolCallingAgent([double], openai_model(provider), stream_outputs=stream, verbosity_level=0)
    assert agent.run("double 21") == "42"
    assert "Observation:\\n42" in json.dumps(provider.requests[1])


@pytest.mark.parametrize(
    ("name", "sent", "content"), [("openai/o3", None, "do "), ("openai/m", ["Obs", "Call"], "do Call Obs")]
)
def test_stop_texts_are_sent_or_kept_here(
    provider: Any, ask: Any, name: str, sent: list[str] | None, content: str
) -> None:
    provider.answers = [(200, completion({"content": "do Call Obs"}))]
    model = build(name, api_base=f"{provider.url}/v1", api_key=KEY)
    assert model.generate(ask, stop_sequences=["Obs", "Call"]).content == content
    assert provider.requests[0].get("stop") == sent
