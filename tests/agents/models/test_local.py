"""The embedded model: recorded once from the real one, replayed here; and what it asks of its server."""

import json
from typing import Any

import pytest
from smolagents import ToolCallingAgent, tool
from smolagents.models import agglomerate_stream_deltas

from agentltl.agents.models import local
from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.local import LocalModel
from agentltl.agents.models.report import report_of
from agentltl.agents.models.server import Server

STOCK = {"apples": 12, "pears": 3}


@tool
def count_stock(fruit: str) -> int:
    """Count how many pieces of a fruit are in stock.

    Args:
        fruit: The fruit, apples or pears
    """
    return STOCK[fruit]


@tool
def order_more(fruit: str, amount: int) -> str:
    """Order more pieces of a fruit.

    Args:
        fruit: The fruit, apples or pears
        amount: How many pieces
    """
    return f"{amount} {fruit} are on their way"


@pytest.mark.vcr
def test_a_recorded_run(recorded_model: LocalModel) -> None:
    agent = ToolCallingAgent([count_stock, order_more], recorded_model, max_steps=5, verbosity_level=0)
    answer = agent.run("How many apples are in stock? Count them with count_stock.")
    step = agent.memory.steps[1]
    assert [(call.name, call.arguments) for call in step.tool_calls] == [("count_stock", {"fruit": "apples"})]
    assert step.observations == "12"
    assert "12" in str(answer)
    report = report_of(step.model_output_message)
    assert report.model == "qwen2.5-coder-1.5b-instruct-q4_k_m"
    assert report.finish_reason == "stop"
    assert report.input_tokens is not None
    assert step.token_usage.input_tokens == report.input_tokens > 800
    assert step.token_usage.output_tokens > 10


@pytest.mark.vcr
def test_a_recorded_stream(recorded_model: LocalModel) -> None:
    agent = ToolCallingAgent(
        [count_stock, order_more], recorded_model, max_steps=5, verbosity_level=0, stream_outputs=True
    )
    answer = agent.run("How many pears are in stock? Count them with count_stock.")
    step = agent.memory.steps[1]
    assert [(call.name, call.arguments) for call in step.tool_calls] == [("count_stock", {"fruit": "pears"})]
    assert step.observations == "3"
    assert "3" in str(answer)
    assert step.token_usage.input_tokens > 800


@pytest.mark.vcr
def test_a_recorded_reply_is_a_call_of_an_offered_tool_only(recorded_model: LocalModel, ask: Any) -> None:
    ask[0]["content"][0]["text"] = "Count the apples."
    first = recorded_model.generate(ask, tools_to_call_from=[count_stock, order_more])
    masked = recorded_model.generate(ask, tools_to_call_from=[order_more])
    assert first.tool_calls is not None
    assert masked.tool_calls is not None
    assert first.tool_calls[0].function.name == "count_stock"
    assert masked.tool_calls[0].function.name == "order_more"
    assert set(masked.tool_calls[0].function.arguments) == {"fruit", "amount"}


@pytest.mark.vcr
def test_a_recorded_text(recorded_model: LocalModel, ask: Any) -> None:
    ask[0]["content"][0]["text"] = "Say hello in one word."
    message = recorded_model.generate(ask)
    assert message.tool_calls is None
    assert isinstance(message.content, str)
    assert "hello" in message.content.lower()
    *_, last = recorded_model.generate_stream(ask)
    report = report_of(last)
    assert report.time_to_first_token_ms is not None
    assert report.output_tokens


def chat(content: str, finish: str = "stop") -> tuple[int, dict[str, Any]]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}
    return 200, {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def chunks(*pieces: str, finish: str = "stop") -> list[dict[str, Any]]:
    def chunk(delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    return [*(chunk({"content": piece}, None) for piece in pieces), chunk({}, finish)]


@pytest.fixture
def model(provider: Any) -> LocalModel:
    return LocalModel(server=Server(url=f"{provider.url}/v1", key="its-key", handle=None))


def test_what_the_server_is_asked(provider: Any, model: LocalModel, ask: Any) -> None:
    provider.answers = [chat('{"name": "count_stock", "arguments": {"fruit": "Observation: apples"}}')]
    message = model.generate(ask, stop_sequences=["Observation:"], tools_to_call_from=[count_stock])
    (request,) = provider.requests
    assert provider.headers[0]["authorization"] == "Bearer its-key"
    assert request["response_format"]["json_schema"]["schema"]["properties"]["name"] == {"const": "count_stock"}
    assert not {"tools", "tool_choice", "stop"} & set(request)
    assert request["temperature"] == 0
    assert request["max_tokens"] == local.MAX_TOKENS
    assert message.content is None
    assert message.tool_calls is not None
    assert message.tool_calls[0].function.arguments == {"fruit": "Observation: apples"}


def test_without_tools_it_is_a_plain_chat_with_stop_texts(provider: Any, model: LocalModel, ask: Any) -> None:
    provider.answers = [chat("a plan")]
    assert model.generate(ask, stop_sequences=["<end>"]).content == "a plan"
    assert provider.requests[0]["stop"] == ["<end>"]
    assert "response_format" not in provider.requests[0]


def test_a_call_cut_at_the_limit_is_text_and_the_run_goes_on(provider: Any, model: LocalModel) -> None:
    provider.answers = [
        chat('{"name": "final_answer", "arguments": {"answer": "so lo', "length"),
        chat('{"name": "final_answer", "arguments": {"answer": "short"}}'),
    ]
    agent = ToolCallingAgent([], model, verbosity_level=0)
    assert agent.run("go") == "short"
    cut = agent.memory.steps[1]
    assert report_of(cut.model_output_message).truncated
    assert "Error while parsing tool call" in str(cut.error)


def test_a_streamed_call_is_the_call(provider: Any, model: LocalModel, ask: Any) -> None:
    provider.answers = [chunks('{"na', 'me": "count_stock", "argu', 'ments": {"fruit"', ': "apples"}', "}")]
    deltas = list(model.generate_stream(ask, tools_to_call_from=[count_stock]))
    assert not any(delta.content for delta in deltas)
    message = agglomerate_stream_deltas(deltas)
    assert message.tool_calls is not None
    (call,) = message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("count_stock", {"fruit": "apples"})
    provider.answers = [chat('{"name": "count_stock", "arguments": {"fruit": "apples"}}')]
    whole = model.generate(ask, tools_to_call_from=[count_stock])
    assert whole.tool_calls is not None
    assert whole.tool_calls[0].id == call.id


def test_a_streamed_text_where_a_call_was_due_is_kept(provider: Any, model: LocalModel, ask: Any) -> None:
    provider.answers = [chunks('{"name": "cou', finish="length")]
    deltas = list(model.generate_stream(ask, tools_to_call_from=[count_stock]))
    message = agglomerate_stream_deltas(deltas)
    assert not message.tool_calls
    assert message.content == '{"name": "cou'
    assert report_of(deltas[-1]).truncated


def test_ids_differ_from_step_to_step(provider: Any, model: LocalModel) -> None:
    provider.answers = [
        chat('{"name": "count_stock", "arguments": {"fruit": "apples"}}'),
        chat('{"name": "count_stock", "arguments": {"fruit": "apples"}}'),
        chat('{"name": "final_answer", "arguments": {"answer": "12"}}'),
    ]
    agent = ToolCallingAgent([count_stock], model, verbosity_level=0)
    assert agent.run("go") == "12"
    assert len({step.tool_calls[0].id for step in agent.memory.steps[1:]}) == 3


def test_a_saved_model_has_no_key_and_no_address(model: LocalModel) -> None:
    small = LocalModel("0.5b", max_tokens=7)
    assert small.to_dict() == {"name": "0.5b", "temperature": 0.0, "max_tokens": 7}
    saved = ToolCallingAgent([], small, verbosity_level=0).to_dict()
    assert ToolCallingAgent.from_dict(saved).model.to_dict() == small.to_dict()
    assert "its-key" not in repr(model) + str(model.to_dict()) + repr(model.server)


def test_a_file_that_is_not_there_is_named_at_the_first_request(ask: Any, tmp_path: Any) -> None:
    with pytest.raises(ModelError, match=r"no\.gguf` is neither a file nor one of `1\.5b`, `0\.5b`"):
        LocalModel(str(tmp_path / "no.gguf")).generate(ask)
