"""A provider that misbehaves, over real HTTP through litellm: what is retried, what falls back, what the user gets.

In all of it no attempt is lost and none is told twice, and no tool is called twice because a model call was made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from smolagents import tool

from agentltl.agents.agent import Agent
from agentltl.agents.models.build import build
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.record.events import Event
from agentltl.record.result import Result
from tests.agents.misbehaving import (
    BAD_PIECE,
    CUT_OFF,
    HALF,
    HANG,
    INVALID,
    NO_CHOICES,
    RESET,
    Fault,
    Provider,
    Says,
    failing,
    serving,
)

load_litellm()

KEY = "no-key-at-all"
CALL, ANSWER = Says((("charge", {"amount": 5}),)), Says((("final_answer", {"answer": "done"}),))
TRANSIENT = {
    "429": (failing(429), "RateLimitError"),
    "500": (failing(500), "InternalServerError"),
    "502": (failing(502), "BadGatewayError"),
    "503": (failing(503), "ServiceUnavailableError"),
    "504": (failing(504), "Timeout"),
    "reset": (RESET, "InternalServerError"),
    "hang": (HANG, "ModelTimeoutError"),
}
PERMANENT = {
    "400": (failing(400), "BadRequestError"),
    "401": (failing(401), "AuthenticationError"),
    "403": (failing(403), None),
    "404": (failing(404), "NotFoundError"),
    "content policy": (failing(400, "refused by our content_policy", "content_policy_violation"), None),
}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        yield server


@pytest.fixture
def other() -> Iterator[Provider]:
    with serving() as server:
        server.model = "gpt-4o-mini-2024-07-18"
        yield server


class Shop:
    """An agent whose one tool must not be called twice, and everything that was told of its runs."""

    def __init__(self, provider: Provider, other: Provider | None = None, **settings: Any) -> None:
        self.provider, self.other = provider, other
        self.charged: list[int] = []
        self.events: list[Event] = []

        @tool
        def charge(amount: int) -> str:
            """Charge a card.

            Args:
                amount: In dollars.
            """
            self.charged.append(amount)
            return f"{amount} charged"

        more = [] if other is None else [model_at(other, "openai/gpt-4o-mini")]
        self.agent = Agent(
            [charge],
            model_at(provider, "openai/gpt-4o"),
            fallback_models=more,
            sinks=[self.events.append],
            **{"timeout": 5.0, **settings},
        )

    def run(self, *, stream: bool = False) -> Result:
        self.events.clear()
        if stream:
            for _ in self.agent.stream("Charge 5."):
                pass
        else:
            self.agent.run("Charge 5.")
        result = self.agent.last_result
        assert result is not None
        self._nothing_lost(result)
        return result

    def _nothing_lost(self, result: Result) -> None:
        """One request is one attempt is one event; the usage is their sum."""
        requests = len(self.provider.requests) + (len(self.other.requests) if self.other else 0)
        told = [dict(event.data) for event in self.events if event.kind == "model_attempt"]
        assert result.attempts == told
        assert len(told) == requests == result.usage.model_calls
        assert result.usage.input_tokens == sum(attempt["input_tokens"] or 0 for attempt in told)
        assert json.loads(json.dumps(result.to_dict())) == result.to_dict()


def model_at(provider: Provider, name: str) -> Any:
    return build(name, api_base=provider.url, api_key=KEY)


def statuses(result: Result) -> list[str]:
    return [attempt["status"] for attempt in result.attempts]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", TRANSIENT)
def test_what_can_pass_is_retried(fault: str, stream: bool, provider: Provider, waits: list[float]) -> None:
    will, error = TRANSIENT[fault]
    provider.will = [CALL, will, ANSWER]
    shop = Shop(provider, timeout=0.5 if fault == "hang" else 5.0)
    result = shop.run(stream=stream)
    assert (result["answer"], result.success, result.used_fallback) == ("done", True, False)
    assert statuses(result) == ["success", "error", "success"]
    assert result.attempts[1]["error_class"] == error
    assert [attempt["step"] for attempt in result.attempts] == [1, 2, 2]
    assert shop.charged == [5]
    assert len(waits) == 1
    assert (result.usage.input_tokens, result.usage.output_tokens) == (20, 10)
    assert result.total_cost is not None
    assert provider.requests[1]["messages"] == provider.requests[2]["messages"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", TRANSIENT)
def test_what_does_not_pass_falls_back(
    fault: str, stream: bool, provider: Provider, other: Provider, waits: list[float]
) -> None:
    will, error = TRANSIENT[fault]
    provider.will, other.will = [CALL, will, will], [ANSWER]
    shop = Shop(provider, other, retries=1, timeout=0.5 if fault == "hang" else 5.0)
    result = shop.run(stream=stream)
    assert (result["answer"], result.success) == ("done", True)
    assert (result.model_id, result.chosen_model_id) == ("openai/gpt-4o", "openai/gpt-4o-mini")
    assert result.used_fallback
    assert [attempt["model"] for attempt in result.attempts] == ["openai/gpt-4o"] * 3 + ["openai/gpt-4o-mini"]
    assert statuses(result) == ["success", "error", "error", "success"]
    (fallback,) = [event.data for event in shop.events if event.kind == "model_fallback"]
    assert (fallback["model"], fallback["next_model"], fallback["error_class"], fallback["step"]) == (
        "openai/gpt-4o",
        "openai/gpt-4o-mini",
        error,
        2,
    )
    assert shop.charged == [5]
    first, last = result.attempts[0]["total_cost_usd"], result.attempts[-1]["total_cost_usd"]
    assert first > last > 0
    assert result.total_cost == pytest.approx(first + last)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", PERMANENT)
def test_what_cannot_pass_is_not_retried_and_falls_back(
    fault: str, stream: bool, provider: Provider, other: Provider, waits: list[float]
) -> None:
    will, error = PERMANENT[fault]
    provider.will, other.will = [CALL, will], [ANSWER]
    shop = Shop(provider, other)
    result = shop.run(stream=stream)
    assert statuses(result) == ["success", "error", "success"]
    assert error in (None, result.attempts[1]["error_class"])
    assert (result["answer"], result.used_fallback, shop.charged, waits) == ("done", True, [5], [])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", [*TRANSIENT, *PERMANENT])
def test_without_a_way_out_the_error_is_that_of_the_run(
    fault: str, stream: bool, provider: Provider, waits: list[float]
) -> None:
    will, _ = {**TRANSIENT, **PERMANENT}[fault]
    provider.will = [CALL, will, will]
    shop = Shop(provider, retries=1, timeout=0.5 if fault == "hang" else 5.0)
    result = shop.run(stream=stream)
    assert statuses(result) == ["success", *["error"] * (2 if fault in TRANSIENT else 1)]
    assert (result["answer"], result.success, result.ending, result.interrupted) == (None, False, "error", False)
    assert result.error_class == result.attempts[-1]["error_class"]
    assert result.attempts[-1]["error"] in str(result["error"])
    assert shop.charged == [5]
    assert result.usage.input_tokens == 10


def test_the_provider_says_how_long_to_wait(provider: Provider, waits: list[float]) -> None:
    provider.will = [failing(429, retry_after="7"), failing(429, retry_after_ms="250"), CALL, ANSWER]
    shop = Shop(provider)
    assert shop.run().success
    assert (waits, shop.charged) == ([7.0, 0.25], [5])


@pytest.mark.parametrize("fault", [INVALID, CUT_OFF, HALF, NO_CHOICES], ids=["invalid", "cut off", "half", "no choice"])
def test_an_answer_that_is_none_is_retried(fault: Fault, provider: Provider, waits: list[float]) -> None:
    provider.will = [CALL, fault, ANSWER]
    shop = Shop(provider)
    result = shop.run()
    assert statuses(result) == ["success", "error", "success"]
    assert (result["answer"], shop.charged, len(waits)) == ("done", [5], 1)


def test_an_answer_without_a_choice_costs_something(provider: Provider, waits: list[float]) -> None:
    provider.will = [NO_CHOICES, ANSWER]
    result = Shop(provider).run()
    failed, good = result.attempts
    assert (failed["status"], failed["error_class"], failed["input_tokens"]) == ("error", "EmptyReplyError", 10)
    assert result.usage.input_tokens == 20
    assert result.total_cost == pytest.approx(2 * good["total_cost_usd"])


@pytest.mark.parametrize("fault", [INVALID, BAD_PIECE, NO_CHOICES], ids=["invalid", "bad piece", "no choice"])
def test_a_stream_in_which_nothing_comes_is_retried(fault: Fault, provider: Provider, waits: list[float]) -> None:
    provider.will = [CALL, fault, ANSWER]
    shop = Shop(provider)
    result = shop.run(stream=True)
    assert statuses(result) == ["success", "error", "success"]
    assert (result["answer"], shop.charged, len(waits)) == ("done", [5], 1)


@pytest.mark.parametrize("fault", [HALF, CUT_OFF], ids=["half", "cut off"])
def test_a_stream_that_breaks_off_is_an_error(
    fault: Fault, provider: Provider, other: Provider, waits: list[float]
) -> None:
    provider.will, other.will = [CALL, fault, ANSWER], [ANSWER]
    shop = Shop(provider, other)
    result = shop.run(stream=True)
    assert statuses(result) == ["success", "error"]
    assert (result["answer"], result.ending, shop.charged, waits) == (None, "error", [5], [])
    assert not other.requests
    said = "".join(event.data["text"] for event in shop.events if event.kind == "reasoning_delta")
    assert said.startswith("The ")


@pytest.mark.parametrize("stream", [False, True])
def test_broken_arguments_are_the_models_to_correct(stream: bool, provider: Provider, waits: list[float]) -> None:
    provider.will = [Says((("charge", '{"amount": 5'),)), CALL, ANSWER]
    shop = Shop(provider)
    result = shop.run(stream=stream)
    assert (result["answer"], result.success, shop.charged, waits) == ("done", True, [5], [])
    assert statuses(result) == ["success"] * 3
    assert result["metrics"]["steps"][0]["type"] == "error"
    told = json.dumps(provider.requests[1]["messages"])
    assert "Error:" in told
    assert "amount" in told


@pytest.mark.parametrize("stream", [False, True])
def test_a_filtered_answer_is_told_and_not_retried(stream: bool, provider: Provider, waits: list[float]) -> None:
    provider.will = [CALL, Says(text="", finish="content_filter"), ANSWER]
    shop = Shop(provider)
    result = shop.run(stream=stream)
    assert [attempt["finish_reason"] for attempt in result.attempts] == ["tool_calls", "content_filter", "tool_calls"]
    assert (statuses(result), shop.charged, waits) == (["success"] * 3, [5], [])
    assert result["metrics"]["steps"][1]["type"] == "error"


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_is_cut_at_the_token_limit(stream: bool, provider: Provider, waits: list[float]) -> None:
    cut = Says((("charge", '{"amo'),), finish="length")
    provider.will = [cut, CALL, ANSWER]
    shop = Shop(provider)
    result = shop.run(stream=stream)
    assert [attempt["finish_reason"] for attempt in result.attempts] == ["length", "tool_calls", "tool_calls"]
    assert (result["answer"], shop.charged, waits, result.truncated) == ("done", [5], [], False)
    provider.will = [Says(text="It was", finish="length")]
    last = Agent([], model_at(provider, "openai/gpt-4o"), max_steps=1).run("Say it.")
    assert last.attempts[0]["finish_reason"] == "length"


def test_a_model_that_is_down_is_left_alone(provider: Provider, other: Provider, waits: list[float]) -> None:
    provider.will = [failing(503)] * 9
    other.will = [CALL, ANSWER] * 4
    shop = Shop(provider, other, retries=0)
    assert shop.run().success
    assert len(provider.requests) == 2
    provider.requests.clear()
    other.requests.clear()
    assert shop.run().success
    assert len(provider.requests) == 1
    fallbacks = [event.data["error_class"] for event in shop.events if event.kind == "model_fallback"]
    assert fallbacks == ["ServiceUnavailableError", "CircuitOpenError"]
