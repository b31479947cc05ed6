"""The dict of a fan-out, key by key as the reference documents it."""

import json
import pickle
from typing import Any

import pytest

from agentltl.record.metrics import metrics_of
from agentltl.record.result import Result
from agentltl.record.sub_results import SubAgentsResult, SubResult

METRICS = {
    "total_requirements", "total_input_tokens", "total_output_tokens", "total_tokens", "total_steps",
    "total_tool_calls", "avg_tokens_per_requirement", "avg_steps_per_requirement", "avg_tool_calls_per_requirement",
    "per_requirement_metrics", "all_tool_calls",
}  # fmt: skip
PER_REQUIREMENT = {
    "requirement_index", "requirement_id", "input_tokens", "output_tokens", "total_tokens", "num_steps",
    "num_tool_calls", "steps", "tool_calls",
}  # fmt: skip
CALL = {"step": 2, "tool_name": "fetch", "arguments": {}, "id": "call_1", "tool_result": "x", "action_output": "x"}


def child(id: str, tokens: int, calls: int = 1) -> SubResult:
    metrics: dict[str, Any] = {
        **metrics_of([]),
        "num_steps": 2,
        "num_tool_calls": calls,
        "input_tokens": tokens,
        "output_tokens": 1,
        "total_tokens": tokens + 1,
        "steps": [{"step_number": 1}, {"step_number": 2}],
        "tool_calls": [CALL] * calls,
    }
    costs = {"input_cost_usd": tokens / 10, "output_cost_usd": 0.1, "total_cost_usd": tokens / 10 + 0.1}
    counts = dict.fromkeys(("cached_tokens", "cache_creation_tokens", "thinking_tokens"), 0)
    attempt = {"status": "success", "input_tokens": tokens, "output_tokens": 1, **counts, **costs}
    more = {"kind": "step", "model": "m", "thinking": None, "thinking_signature": None, "time_to_first_token_ms": None}
    return SubResult.of_requirement(Result("done", metrics=metrics, attempts=[attempt | more]), id, f"The {id}", ["a"])


@pytest.fixture
def result() -> SubAgentsResult:
    return SubAgentsResult([child("r1", 3), child("r2", 10, 2), child("r3", 0, 0)])


def test_the_keys_are_those_of_the_reference(result: SubAgentsResult) -> None:
    assert set(result) == {"answer", "sub_results", "metrics"}
    assert result["answer"] == "Completed 3 sub-agent evaluations."
    assert set(result["metrics"]) == METRICS
    assert all(set(one) == PER_REQUIREMENT for one in result["metrics"]["per_requirement_metrics"])
    assert all(
        set(entry) == {"answer", "metrics", "error", "requirement_id", "requirement_description", "tasks"}
        for entry in result["sub_results"]
    )
    assert all(
        set(call) == {*CALL, "requirement_id", "requirement_index"} for call in result["metrics"]["all_tool_calls"]
    )


def test_the_types_are_those_of_the_reference(result: SubAgentsResult) -> None:
    for name, value in result["metrics"].items():
        wanted = float if name.startswith("avg_") else list if isinstance(value, list) else int
        assert type(value) is wanted, name
    entry = result["sub_results"][1]
    assert (entry["requirement_id"], entry["requirement_description"], entry["tasks"]) == ("r2", "The r2", ["a"])
    assert type(entry["tasks"]) is list


def test_totals_are_sums_and_averages_have_two_places(result: SubAgentsResult) -> None:
    metrics = result["metrics"]
    assert (metrics["total_input_tokens"], metrics["total_output_tokens"], metrics["total_tokens"]) == (13, 3, 16)
    assert (metrics["total_steps"], metrics["total_tool_calls"]) == (6, 3)
    assert (metrics["avg_tokens_per_requirement"], metrics["avg_steps_per_requirement"]) == (5.33, 2.0)
    assert metrics["avg_tool_calls_per_requirement"] == 1.0


def test_every_call_says_whose_it_is(result: SubAgentsResult) -> None:
    calls = result["metrics"]["all_tool_calls"]
    assert [(call["requirement_index"], call["requirement_id"]) for call in calls] == [(0, "r1"), (1, "r2"), (1, "r2")]
    assert calls[0] == {"requirement_id": "r1", "requirement_index": 0, **CALL}


def test_the_usage_is_the_sum_to_the_last_digit(result: SubAgentsResult) -> None:
    assert result.usage == sum(one.usage for one in result.results)
    assert result.usage.total_cost_usd == (3 / 10 + 0.1) + (10 / 10 + 0.1) + (0 / 10 + 0.1)
    assert result.usage.model_calls == 3


def test_for_no_requirement_everything_is_zero() -> None:
    none = SubAgentsResult()
    assert none["answer"] == "Completed 0 sub-agent evaluations."
    for name, value in none["metrics"].items():
        assert value == ([] if isinstance(value, list) else 0)
        assert isinstance(value, float) == name.startswith("avg_")


def test_it_is_json_and_can_be_pickled(result: SubAgentsResult) -> None:
    assert json.loads(json.dumps(result)) == result
    flat = json.loads(json.dumps(result.to_dict()))
    assert set(flat) == {"answer", "sub_results", "metrics", "usage"}
    assert flat["usage"] == result.usage.to_dict()
    assert flat["sub_results"][0]["success"]
    assert flat["sub_results"][0]["requirement_id"] == "r1"
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.usage == result.usage


def test_an_entry_is_a_result(result: SubAgentsResult) -> None:
    one = result.results[0]
    assert result["sub_results"][0] is one
    assert isinstance(one, Result)
    assert (one.output, one.success, str(one)) == ("done", True, "done")
    assert repr(result) == "SubAgentsResult(requirements=3, errors=0)"
