"""The scripted model, in smolagents' real loop and by itself."""

from typing import Any

import pytest
from smolagents import Tool, ToolCallingAgent, tool
from smolagents.models import ChatMessage, agglomerate_stream_deltas
from smolagents.utils import AgentGenerationError

from agentltl.agents.models.report import report_of
from agentltl.agents.models.scripted import Reply, ScriptedModel, ScriptError


@tool
def double(number: int) -> int:
    """Double a number.

    Args:
        number: The number
    """
    return number * 2


def agent(model: ScriptedModel, **settings: Any) -> ToolCallingAgent:
    return ToolCallingAgent([double], model, verbosity_level=0, **settings)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_run_follows_the_script(streaming: bool) -> None:
    script = [("double", {"number": 21}), ("final_answer", {"answer": "42"})]
    model = ScriptedModel(script, streaming=streaming)
    assert agent(model, stream_outputs=streaming).run("double 21") == "42"
    assert model.left == 0
    assert [request.tool_names for request in model.requests] == [["double", "final_answer"]] * 2
    assert "Observation:\n42" not in model.requests[0].text
    assert "Observation:\n42" in model.requests[1].text


def test_several_calls_ids_and_text() -> None:
    calls = [("double", {"number": 1}, "first"), ("double", {"number": 2}), ("double", {}, None)]
    message = ScriptedModel([Reply(calls, text="two of them", thinking="hm")]).generate([])
    assert message.content == "two of them"
    assert message.tool_calls is not None
    assert [call.id for call in message.tool_calls] == ["first", "call_2", None]
    assert report_of(message).thinking == "hm"
    assert report_of(message).finish_reason == "tool_calls"


def test_token_counts_and_their_absence() -> None:
    model = ScriptedModel(
        [Reply(text="a", input_tokens=7, cached_tokens=3), Reply(input_tokens=None, output_tokens=None)]
    )
    first, second = model.generate([]), model.generate([])
    assert first.token_usage is not None
    assert first.token_usage.input_tokens == 7
    assert report_of(first).cached_tokens == 3
    assert second.token_usage is None


def test_an_exception_is_raised_by_the_model() -> None:
    with pytest.raises(AgentGenerationError, match="out of order"):
        agent(ScriptedModel([TimeoutError("out of order")])).run("go")


def test_a_function_sees_the_messages_and_the_tools() -> None:
    def answer(messages: list[ChatMessage], tools: list[Tool]) -> Any:
        return ("final_answer", {"answer": f"{len(messages)} {tools[0].name}"})

    assert agent(ScriptedModel([answer])).run("go") == "2 double"


def test_the_end_of_the_script_says_so() -> None:
    model = ScriptedModel([("double", {"number": 1})])
    with pytest.raises(AgentGenerationError, match="the script has 1 replies and the model was asked once more"):
        agent(model).run("go")


@pytest.mark.parametrize("wrong", [7, ["double"], ("double",), ("double", {}, 3)])
def test_a_reply_that_is_none_is_named(wrong: Any) -> None:
    with pytest.raises(ScriptError, match="reply 0 of the script is no reply"):
        ScriptedModel([wrong]).generate([])


def test_only_a_streaming_model_has_the_attribute() -> None:
    assert not hasattr(ScriptedModel([]), "generate_stream")
    assert hasattr(ScriptedModel([], streaming=True), "generate_stream")


def test_a_stream_adds_up_to_the_message() -> None:
    reply = Reply([("double", {"number": 1}), ("double", '{"number": 2}')], text="a b  c", thinking="hm")
    deltas = list(ScriptedModel([reply], streaming=True).generate_stream([]))
    assert len(deltas) > 8
    whole, plain = agglomerate_stream_deltas(deltas), ScriptedModel([reply]).generate([])
    assert whole.content == plain.content == "a b  c"
    assert whole.token_usage == plain.token_usage
    assert whole.tool_calls is not None
    assert [(call.id, call.function.name) for call in whole.tool_calls] == [("call_1", "double"), ("call_2", "double")]
    assert [call.function.arguments for call in whole.tool_calls] == ['{"number": 1}', '{"number": 2}']
    assert report_of(deltas[-1]) == report_of(plain)
