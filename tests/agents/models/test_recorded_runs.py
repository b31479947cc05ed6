"""Runs of the embedded model, recorded: what a small model does when its run is streamed and its answer typed."""

from typing import Literal

import pytest
from pydantic import BaseModel

from agentltl import Agent, AgentWithConstraints, tool
from agentltl.agents.models.local import LocalModel

Fruit = Literal["apples", "pears"]


@tool
def count_stock(fruit: Fruit) -> int:
    """Count how many of a fruit are in stock."""
    return {"apples": 12, "pears": 3}[fruit]


@tool
def order_more(fruit: Fruit, amount: int) -> str:
    """Order more of a fruit."""
    return f"{amount} {fruit} are on their way"


class Stock(BaseModel):
    fruit: Fruit
    amount: int


@pytest.mark.vcr
def test_a_recorded_stream_of_a_guarded_run(recorded_model: LocalModel) -> None:
    rule = {
        "name": "count-first",
        "rule": "G (order_more(fruit = ?f) -> O count_stock(fruit = ?f)[ok])",
        "severity": "PERSISTENT_BLOCK",
        "description": "Nothing is ordered that was not counted",
    }
    agent = AgentWithConstraints([count_stock, order_more], recorded_model, constraints=[rule], max_steps=6)
    events = list(agent.stream("Order 5 more pears with order_more, then say what was ordered."))
    result = events[-1].data["result"]
    ran = [event.data for event in events if event.kind == "tool_call_end" and event.data["ran"]]
    counted = [call["arguments"]["fruit"] for call in ran if call["tool_name"] == "count_stock"]
    assert [call["arguments"]["fruit"] for call in ran if call["tool_name"] == "order_more"] == ["pears"]
    assert "pears" in counted
    assert result.success
    assert result.compliance == 1.0
    pieces = [event.data for event in events if event.kind == "text_delta"]
    last = max((place for place, piece in enumerate(pieces) if piece["restart"]), default=0)
    assert "".join(piece["text"] for piece in pieces[last:]) == result["answer"]
    assert len(pieces) > 2
    assert result.streaming
    assert result.time_to_first_token_ms is not None
    assert all(attempt["input_tokens"] > 500 for attempt in result.attempts)
    assert result.total_cost is None


@pytest.mark.vcr
def test_a_recorded_answer_in_a_type(recorded_model: LocalModel) -> None:
    agent = Agent([count_stock], recorded_model, output_type=Stock, max_steps=6)
    result = agent.run("How many apples are in stock? Count them with count_stock, then give the final answer.")
    assert result.output == Stock(fruit="apples", amount=12)
    assert result.content == {"fruit": "apples", "amount": 12}
