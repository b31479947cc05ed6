"""Every field of the results and events that the references of the field describe, by a run over HTTP through litellm.

The run: the model fails once and the next one takes over; it calls a tool, then answers in a type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from smolagents import tool

from agentltl import Agent, AgentWithConstraints, Event, EventKind, Result, Usage
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.scripted import Reply, ScriptedModel
from tests.agents.misbehaving import Fault, Says, failing, reply, serving
from tests.agents.test_faults import model_at

load_litellm()


class City(BaseModel):
    name: str
    country: str


@tool
def look(what: str) -> str:
    """Look something up.

    Args:
        what: What to look up.
    """
    return "Tokyo"


def good(says: Says, model: str) -> Fault:
    """An answer whose usage has parts, and that has thought."""
    body = reply(says, model)
    body["usage"] = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    body["choices"][0]["message"]["reasoning_content"] = "Let me think."
    return Fault(200, body)


CALL = Says((("look", {"what": "capital"}),))
ANSWER = Says((("final_answer", {"answer": {"name": "Tokyo", "country": "Japan"}}),))
MINI = "gpt-4o-mini-2024-07-18"


@pytest.fixture(scope="module")
def seen() -> list[Event]:
    return []


@pytest.fixture(scope="module")
def result(seen: list[Event]) -> Iterator[Result]:
    with serving() as first, serving() as second:
        first.will = [failing(429), failing(429)]
        second.will = [good(CALL, MINI), good(ANSWER, MINI)]
        agent = Agent(
            [look],
            "openai/gpt-4o",
            api_base=first.url,
            api_key="none",
            temperature=0.0,
            output_type=City,
            fallback_models=[model_at(second, "openai/gpt-4o-mini")],
            retries=0,
            sinks=[seen.append],
        )
        yield agent.run("What is the capital of Japan?")


# Results: output, usage, messages, interrupted


def test_output(result: Result) -> None:
    assert result.output == City(name="Tokyo", country="Japan")


def test_output_is_a_text_without_a_type() -> None:
    assert Agent([], ScriptedModel([("final_answer", {"answer": "red"})])).run("?").output == "red"


def test_usage(result: Result) -> None:
    usage = result.usage
    assert isinstance(usage, Usage)
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (200, 40, 240)
    assert (usage.cached_tokens, usage.cache_creation_tokens, usage.thinking_tokens) == (80, 0, 16)
    assert usage.model_calls == 4
    assert usage.total_cost_usd == usage.input_cost_usd + usage.output_cost_usd > 0  # type: ignore[operator]


def test_messages(result: Result) -> None:
    roles = [message["role"] for message in result.messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert result.messages[2]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"what": "capital"}'}
    assert result.messages[3] == {"role": "tool", "tool_call_id": "call_0_look", "content": "Tokyo"}


def test_interrupted(result: Result) -> None:
    assert result.interrupted is False
    asked = AgentWithConstraints(
        [look],
        ScriptedModel([("look", {"what": "x"})]),
        constraints=[{"name": "ask", "rule": "never(look)", "severity": "ASK"}],
        approve=lambda _: False,
        max_identical_refusals=1,
    )
    assert asked.run("Look.").interrupted is True


def test_str(result: Result) -> None:
    assert str(result) == str(result.output)
    assert str(Result(None)) == ""


# Events


def test_event() -> None:
    assert Event("agent_start").data == {}
    assert Event("text_delta", {"text": "x"}).kind == "text_delta"


@pytest.mark.parametrize("kind", ["text_delta", "tool_call_start", "tool_call_end", "agent_start", "agent_end"])
def test_event_kind(kind: Any, result: Result, seen: list[Event]) -> None:
    assert kind in get_args(EventKind)
    found = [event.data for event in seen if event.kind == kind]
    assert found
    match kind:
        case "agent_start":
            assert seen[0].kind == kind
            assert found[0]["task"] == "What is the capital of Japan?"
        case "text_delta":
            assert "".join(data["text"] for data in found) == str(result)
        case "tool_call_start":
            assert (found[0]["tool_name"], found[0]["arguments"]) == ("look", {"what": "capital"})
        case "tool_call_end":
            assert found[0]["tool_result"] == "Tokyo"
        case "agent_end":
            assert seen[-1].kind == kind
            assert found[-1]["result"] is result


# The result object: content


def test_content(result: Result) -> None:
    assert result.content == {"name": "Tokyo", "country": "Japan"}
    assert result.content["name"] == "Tokyo"
    assert result.content.get("mayor", "nobody") == "nobody"
    assert [f"{name}: {value}" for name, value in result.content.items()] == ["name: Tokyo", "country: Japan"]
    assert (list(result.content.keys()), list(result.content.values())) == (["name", "country"], ["Tokyo", "Japan"])


# Tokens and costs


def test_input_tokens(result: Result) -> None:
    assert result.input_tokens == 200


def test_output_tokens(result: Result) -> None:
    assert result.output_tokens == 40


def test_total_tokens(result: Result) -> None:
    assert result.total_tokens == 240


def test_cached_tokens(result: Result) -> None:
    assert result.cached_tokens == 80


def test_cache_creation_tokens() -> None:
    model = ScriptedModel([Reply([("final_answer", {"answer": "x"})], cache_creation_tokens=7)])
    assert Agent([], model).run("?").cache_creation_tokens == 7


@pytest.mark.parametrize("name", ["input_cost", "output_cost", "total_cost"])
def test_cost(name: str, result: Result) -> None:
    """The price is that of the model that answered: the next one is cheaper by far."""
    prices = load_litellm().model_cost["gpt-4o-mini"]
    read = 120 * prices["input_cost_per_token"] + 80 * prices["cache_read_input_token_cost"]
    written = 40 * prices["output_cost_per_token"]
    expected = {"input_cost": read, "output_cost": written, "total_cost": read + written}[name]
    assert getattr(result, name) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["input_cost", "output_cost", "total_cost"])
def test_an_unknown_cost_is_none(name: str) -> None:
    assert getattr(Agent([], ScriptedModel([("final_answer", {"answer": "x"})])).run("?"), name) is None


# Models


def test_model_id(result: Result) -> None:
    assert result.model_id == "openai/gpt-4o"


def test_chosen_model_id(result: Result) -> None:
    assert result.chosen_model_id == "openai/gpt-4o-mini"


def test_temperature(result: Result) -> None:
    assert result.temperature == 0.0


# Times


def test_started_at(result: Result) -> None:
    assert result.started_at is not None
    assert result.started_at.tzinfo is not None
    assert result.started_at <= datetime.now(UTC)


def test_completed_at(result: Result) -> None:
    assert result.completed_at is not None
    assert result.started_at is not None
    assert result.completed_at >= result.started_at


def test_duration_ms(result: Result) -> None:
    assert result.duration_ms is not None
    assert result.duration_ms > 0


def test_time_to_first_token_ms(result: Result) -> None:
    assert result.time_to_first_token_ms is None
    (*_, end) = Agent([], ScriptedModel([("final_answer", {"answer": "x"})], streaming=True)).stream("?")
    assert end.data["result"].time_to_first_token_ms >= 0


# How it went


def test_success(result: Result) -> None:
    assert result.success is True


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", "content_filter"])
def test_finish_reason(reason: str) -> None:
    model = ScriptedModel([Reply([("final_answer", {"answer": "x"})], finish_reason=reason)])
    found = Agent([], model).run("?")
    assert (found.finish_reason, found.truncated) == (reason, reason == "length")


def test_streaming(result: Result) -> None:
    assert result.streaming is False
    (*_, end) = Agent([], ScriptedModel([("final_answer", {"answer": "x"})], streaming=True)).stream("?")
    assert end.data["result"].streaming is True


def test_truncated(result: Result) -> None:
    assert result.truncated is False


# Tool calls


def test_tool_calls(result: Result) -> None:
    assert result.tool_calls == [{"id": "call_0_look", "name": "look", "arguments": {"what": "capital"}}]


def test_tool_calls_count(result: Result) -> None:
    assert result.tool_calls_count == 1


def test_has_tool_calls(result: Result) -> None:
    assert result.has_tool_calls is True
    assert Agent([], ScriptedModel([("final_answer", {"answer": "x"})])).run("?").has_tool_calls is False


# Thinking


def test_thinking_text(result: Result) -> None:
    assert result.thinking_text == "Let me think.\nLet me think."


def test_thinking_signature() -> None:
    model = ScriptedModel([Reply([("final_answer", {"answer": "x"})], thinking="Hm.", thinking_signature="sig_abc123")])
    assert Agent([], model).run("?").thinking_signature == "sig_abc123"


def test_thinking_tokens(result: Result) -> None:
    assert result.thinking_tokens == 16


def test_has_thinking(result: Result) -> None:
    assert result.has_thinking is True
    assert Agent([], ScriptedModel([("final_answer", {"answer": "x"})])).run("?").has_thinking is False


# Attempts


def test_attempts_count(result: Result) -> None:
    assert result.attempts_count == 4


def test_used_fallback(result: Result) -> None:
    assert result.used_fallback is True


def test_attempts(result: Result) -> None:
    assert [(a["model"], a["status"]) for a in result.attempts] == [
        ("openai/gpt-4o", "error"),
        ("openai/gpt-4o-mini", "success"),
    ] * 2
    first = result.attempts[0]
    assert "come back later" in first["error"]
    assert first["duration_ms"] > 0
    assert any(a["status"] == "error" for a in result.attempts)
    assert result.attempts[-1]["model"] == "openai/gpt-4o-mini"


# The whole as a dict


DOCUMENTED = [
    "content", "input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_creation_tokens", "input_cost",
    "output_cost", "total_cost", "model_id", "chosen_model_id", "temperature", "duration_ms", "started_at",
    "completed_at", "time_to_first_token_ms", "finish_reason", "streaming", "error_class", "error_message",
    "attempts_count", "attempts", "tool_calls", "tool_calls_count", "thinking_text", "thinking_signature",
    "thinking_tokens",
]  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTED)
def test_to_dict(name: str, result: Result) -> None:
    made = result.to_dict()
    value = getattr(result, name)
    assert made[name] == (value.isoformat() if isinstance(value, datetime) else value)
    assert json.loads(json.dumps(made)) == made


# Dry runs, and runs that fail


@pytest.mark.parametrize("name", ["dry_run", "agent", "model", "temperature", "system_prompt", "user_prompt", "schema"])
def test_dry_run(name: str) -> None:
    made = Agent([look], "openai/gpt-4o", temperature=0.0, output_type=City).run("Process: test", dry_run=True)
    expected = {"dry_run": True, "agent": "Agent", "model": "openai/gpt-4o", "temperature": 0.0}
    expected |= {"user_prompt": "Process: test"}
    match name:
        case "schema":
            assert made[name]["required"] == ["name", "country"]
        case "system_prompt":
            assert "look" in made[name]
        case _:
            assert made[name] == expected[name]


@pytest.fixture(scope="module")
def failed() -> Iterator[Result]:
    with serving() as server:
        server.will = [failing(429)]
        yield Agent([look], "openai/gpt-4o", api_base=server.url, api_key="none", retries=0).run("?")


def test_is_error(failed: Result, result: Result) -> None:
    assert (failed.is_error, failed.success) == (True, False)
    assert (result.is_error, result.success) == (False, True)


def test_error_class(failed: Result, result: Result) -> None:
    assert failed.error_class == "RateLimitError"
    assert result.error_class is None


def test_error_message(failed: Result, result: Result) -> None:
    assert "come back later" in str(failed.error_message)
    assert failed.error_message == failed["error"]
    assert result.error_message is None


def test_results_add_up(result: Result, failed: Result) -> None:
    """As over many queries."""
    total = sum((one.usage for one in (result, failed)), Usage())
    assert (total.total_tokens, total.model_calls) == (240, 5)
    assert total.total_cost_usd == result.total_cost
