"""The attributes of a result that its model calls decide, and the forms in which it is written down."""

import copy
import json
import pickle
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from agentltl.record.result import Result
from agentltl.record.usage import Usage
from tests.record.run_events import end, start, step_end
from tests.record.test_usage import attempt

# What `result.to_h` of ruby_llm-agents has (its wiki, page "Result Object").
RUBY = {
    "content", "input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_creation_tokens",
    "input_cost", "output_cost", "total_cost", "model_id", "chosen_model_id", "temperature", "duration_ms",
    "started_at", "completed_at", "time_to_first_token_ms", "finish_reason", "streaming", "error_class",
    "error_message", "attempts_count", "attempts", "tool_calls", "tool_calls_count", "thinking_text",
    "thinking_signature", "thinking_tokens",
}  # fmt: skip


def result(*attempts: Any, **more: Any) -> Result:
    return Result(model_id="m", attempts=attempts, **more)


def test_without_model_calls() -> None:
    none = result()
    assert (none.attempts, none.attempts_count, none.usage) == ([], 0, Usage())
    assert (none.chosen_model_id, none.used_fallback) == ("m", False)
    assert (none.finish_reason, none.truncated, none.streaming, none.time_to_first_token_ms) == (
        None,
        False,
        False,
        None,
    )
    assert (none.thinking_text, none.thinking_signature, none.thinking_tokens, none.has_thinking) == (
        None,
        None,
        None,
        False,
    )


def test_the_usage_is_flat_as_well() -> None:
    made = result(
        attempt(
            input_tokens=10,
            output_tokens=5,
            cached_tokens=4,
            cache_creation_tokens=3,
            input_cost_usd=0.25,
            output_cost_usd=0.5,
            total_cost_usd=0.75,
        )
    )
    assert (made.input_tokens, made.output_tokens, made.total_tokens) == (10, 5, 15)
    assert (made.cached_tokens, made.cache_creation_tokens) == (4, 3)
    assert (made.input_cost, made.output_cost, made.total_cost) == (0.25, 0.5, 0.75)


def test_of_the_last_call() -> None:
    first = attempt(finish_reason="tool_calls", streaming=True, time_to_first_token_ms=7.0)
    made = result(first, attempt(finish_reason="length"))
    assert (made.finish_reason, made.truncated, made.streaming) == ("length", True, False)
    assert made.time_to_first_token_ms == 7.0


def test_the_model_that_answered_last_is_the_chosen_one() -> None:
    other = {**attempt(), "model": "other"}
    member = {**attempt(), "model": "third", "kind": "member"}
    assert (result(attempt("error"), other).chosen_model_id, result(other).used_fallback) == ("other", True)
    assert result(attempt(), {**other, "status": "error"}, member).chosen_model_id == "m"


def test_the_thinking_of_the_run_is_joined_and_that_of_members_is_theirs() -> None:
    made = result(
        attempt(thinking="One.", thinking_signature="a", thinking_tokens=3),
        attempt(),
        attempt(thinking="Two.", thinking_signature="b", thinking_tokens=4),
        {**attempt(thinking="Three.", thinking_signature="c", thinking_tokens=5), "kind": "member"},
    )
    assert (made.thinking_text, made.thinking_signature) == ("One.\nTwo.", "b")
    assert (made.thinking_tokens, made.has_thinking) == (12, True)
    assert result(attempt(thinking_tokens=3)).has_thinking
    assert not result(attempt(thinking_tokens=0)).has_thinking


class City(BaseModel):
    name: str
    founded: date


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("output", "content"),
    [
        (None, None),
        ("a", "a"),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (City(name="Oslo", founded=date(1048, 1, 1)), {"name": "Oslo", "founded": "1048-01-01"}),
        (Point(1), {"x": 1}),
        ([City(name="Oslo", founded=date(1048, 1, 1))], [{"name": "Oslo", "founded": "1048-01-01"}]),
        (City, str(City)),
    ],
)
def test_the_content_is_plain(output: object, content: object) -> None:
    assert Result(output).content == content


def test_the_plain_form_is_json_and_has_the_names_of_the_reference() -> None:
    events = [start(model="m", temperature=0.5), step_end(1), end(output={"when": {1, 2}})]
    plain = Result.of(events, compliance=0.5).to_dict()
    assert plain.keys() >= RUBY
    assert json.loads(json.dumps(plain)) == plain
    assert (plain["content"], plain["temperature"], plain["compliance"]) == ({"when": [1, 2]}, 0.5, 0.5)
    assert datetime.fromisoformat(plain["started_at"]) == datetime.fromtimestamp(100, UTC)
    assert plain["usage"] == Usage().to_dict()
    made_by_hand = Result().to_dict()
    assert made_by_hand.keys() == plain.keys()
    assert (made_by_hand["started_at"], made_by_hand["duration_ms"]) == (None, None)


def test_a_notebook_shows_it_and_runs_nothing_of_it() -> None:
    html = Result("<script>", error=None, attempts=[attempt(total_cost_usd=0.5)], model_id="<m>")._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert "<m>" not in html
    assert "$0.500000" in html
    assert "cost" not in Result("a")._repr_html_()


def test_it_can_be_copied_and_pickled() -> None:
    made = result(attempt(total_cost_usd=0.5), compliance=1.0)
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert (other, other.usage, other.compliance) == (made, made.usage, 1.0)
