"""Metrics dicts: what a call takes from its step, the task, and input that is no trace."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agentltl.constraints.trace import Message, Trace
from agentltl.errors import TraceError

REFERENCE: dict[str, Any] = {
    "num_steps": 3,
    "num_tool_calls": 2,
    "tool_calls": [
        {
            "step": 2,
            "tool_name": "fetch_raw_data",
            "arguments": {"source": "db"},
            "id": "call_abc123",
            "tool_result": "100 rows fetched",
            "action_output": "100 rows fetched",
        },
        {"step": 3, "tool_name": "validate_data", "arguments": {}, "id": None, "tool_result": None},
    ],
    "steps": [
        {"step_number": 1, "type": "reasoning", "error": None, "model_input_parsed": {"task": "Fetch the data"}},
        {"step_number": 2, "start_time": 1716200000.125, "end_time": 1716200001.5, "error": None},
        {"step_number": 3, "start_time": 1716200002, "end_time": 1716200003, "error": "validator raised"},
    ],
}


def test_the_metrics_of_the_reference() -> None:
    trace = Trace.from_metrics(REFERENCE)
    assert trace.events == ["fetch_raw_data", "validate_data"]
    first, second = trace.calls
    assert (first.args, first.id, first.step, first.agent) == ({"source": "db"}, "call_abc123", 2, None)
    assert (first.start, first.outcome and first.outcome.end) == (1716200000.125, 1716200001.5)
    assert first.outcome is not None
    assert first.outcome.ok
    assert first.outcome.text == "100 rows fetched"
    assert trace.messages == (Message("Fetch the data", 0),)
    assert trace.fields == {"num_steps": 3, "num_tool_calls": 2}
    assert trace.id is None
    # A null result whose step has an error is a failure.
    assert second.outcome is not None
    assert second.outcome.failed
    assert second.outcome.error == "validator raised"
    assert second.id is None


def test_the_other_calls_of_a_step_with_an_error_are_ok() -> None:
    metrics = {
        "tool_calls": [{"name": "a", "step": 1, "result": "done"}, {"name": "b", "step": 1, "result": None}],
        "steps": [{"step_number": 1, "error": "b raised"}],
    }
    a, b = Trace.from_metrics(metrics).calls
    assert a.outcome is not None
    assert b.outcome is not None
    assert a.outcome.ok
    assert b.outcome.failed


def test_an_error_key_speaks_before_the_step() -> None:
    metrics = {
        "tool_calls": [{"name": "a", "step": 1, "result": None, "error": None}],
        "steps": [{"step_number": 1, "error": "boom"}],
    }
    outcome = Trace.from_metrics(metrics).calls[0].outcome
    assert outcome is not None
    assert not outcome.settled


def test_steps_that_begin_at_one_again() -> None:
    metrics = {
        "tool_calls": [{"name": n, "step": s} for n, s in [("a", 1), ("b", 1), ("c", 2), ("d", 1), ("e", 2)]],
        "steps": [{"step_number": s, "start_time": t} for s, t in [(1, 10), (2, 20), (1, 30), (2, 40)]],
    }
    assert [c.start for c in Trace.from_metrics(metrics).calls] == [10, 10, 20, 30, 40]


def test_a_call_whose_step_is_not_there_has_no_times() -> None:
    call = Trace.from_metrics({"tool_calls": [{"name": "a", "step": 9}], "steps": [{"step_number": 1}]}).calls[0]
    assert (call.start, call.step) == (None, 9)


def test_both_variants_of_the_keys() -> None:
    one = {"tool_name": "a", "arguments": {"x": 1}, "tool_result": "r", "id": "i"}
    other = {"name": "a", "tool_args": {"x": 1}, "result": "r", "tool_id": "i"}
    assert Trace.from_metrics({"tool_calls": [one]}) == Trace.from_metrics({"tool_calls": [other]})


def test_a_call_without_a_step_or_an_agent() -> None:
    calls = Trace.from_metrics({"tool_calls": ({"name": "a"}, {"name": "b", "agent": "helper", "step": 4.0})}).calls
    assert [(c.step, c.agent) for c in calls] == [(None, None), (4, "helper")]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (12, 12.0),
        (12.5, 12.5),
        ("12.5", 12.5),
        ("1970-01-01T00:01:00Z", 60.0),
        ("1970-01-01T00:01:00", 60.0),
        ("1970-01-01 01:01:00+01:00", 60.0),
        (datetime(1970, 1, 1, 0, 1, tzinfo=UTC), 60.0),
        (datetime(1970, 1, 1, 0, 1), 60.0),
        (None, None),
    ],
)
def test_times(written: Any, seconds: float | None) -> None:
    in_step = {"tool_calls": [{"name": "a", "step": 1}], "steps": [{"step_number": 1, "start_time": written}]}
    of_its_own = {"tool_calls": [{"name": "a", "start_time": written, "end_time": written, "tool_result": "x"}]}
    assert Trace.from_metrics(in_step).calls[0].start == seconds
    call = Trace.from_metrics(of_its_own).calls[0]
    assert call.start == seconds
    assert call.outcome is not None
    assert call.outcome.end == seconds


@pytest.mark.parametrize("written", ["soon", "", True, float("nan"), float("inf"), "NaN", [1], 10**400, {}])
def test_times_that_are_no_times(written: Any) -> None:
    metrics = {
        "tool_calls": [{"name": "a"}, {"name": "a", "step": 1}],
        "steps": [{"step_number": 1, "end_time": written}],
    }
    with pytest.raises(TraceError, match=r"`tool_calls\[1\]`: .* is no time\nwrite seconds"):
        Trace.from_metrics(metrics)


@pytest.mark.parametrize(
    ("more", "messages"),
    [
        ({}, None),
        ({"user_messages": []}, ()),
        ({"user_messages": None}, None),
        ({"steps": [{"step_number": 1, "model_input_parsed": None}]}, None),
        ({"steps": [{"step_number": 1, "model_input_parsed": {"task": None}}]}, None),
        (
            {"steps": [{"model_input_parsed": None}, {"model_input_parsed": {"task": "x"}}]},
            (Message("x", 0),),
        ),
        (
            {"user_messages": [{"before_step": 2, "content": "b"}, {"before_step": 0, "content": "a"}]},
            (Message("a", 0), Message("b", 2)),
        ),
        (
            {"user_messages": [{"before_step": 0, "content": [{"type": "text", "text": "blocks"}]}]},
            (Message("blocks", 0),),
        ),
        (
            {"user_messages": [], "steps": [{"model_input_parsed": {"task": "x"}}]},
            (),
        ),
    ],
)
def test_what_the_user_said(more: dict[str, Any], messages: tuple[Message, ...] | None) -> None:
    assert Trace.from_metrics({"tool_calls": [], **more}).messages == messages


def test_turn_is_the_step_where_step_counts_the_calls() -> None:
    entries = [{"name": "a", "step": 0, "turn": 3}, {"name": "b", "step": 1, "turn": 3}]
    assert [c.step for c in Trace.from_metrics({"tool_calls": entries}).calls] == [3, 3]


@pytest.mark.parametrize(
    "tool",
    [
        "a.b",
        "pay-now",
        "mcp__a__b",
        "two words",
        "X",
        "F",
        "GetUser",
        "last",
        "раy",
        " padded ",
        "final_answer",
        "a\nb",
    ],
)
def test_names_are_kept_as_they_are(tool: str) -> None:
    assert Trace.from_metrics({"tool_calls": [{"name": tool}]}).events == [tool]


def test_repeated_and_missing_ids() -> None:
    entries = [{"name": "a", "id": i} for i in ("x", "x", None, "", 7)]
    assert [c.id for c in Trace.from_metrics({"tool_calls": entries}).calls] == ["x", "x", None, None, "7"]


def test_the_empty_trace() -> None:
    trace = Trace.from_metrics({"tool_calls": []})
    assert trace == Trace()
    assert (len(trace), trace.events) == (0, [])


def test_ten_thousand_calls() -> None:
    metrics = {
        "tool_calls": [{"name": f"t{i % 7}", "step": i, "arguments": {"i": i}} for i in range(10_000)],
        "steps": [{"step_number": i, "start_time": i} for i in range(10_000)],
    }
    calls = Trace.from_metrics(metrics).calls
    assert [(c.args["i"], c.start) for c in calls] == [(i, i) for i in range(10_000)]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("metrics", "problem"),
    [
        ([], "`[]` is no metrics"),
        (None, "`None` is no metrics"),
        ({}, "there is no list `tool_calls`\npass a mapping"),
        ({"tool_calls": None}, "there is no list `tool_calls`"),
        ({"tool_calls": {"0": {}}}, "there is no list `tool_calls`"),
        ({"answer": "x", "metrics": {"tool_calls": []}}, "there is no list `tool_calls`\npass its `metrics`"),
        ({"tool_calls": [{"name": "a"}, {"arguments": {}}]}, "`tool_calls[1]`: the call has no name\nname its tool"),
        ({"tool_calls": [{"tool_name": ""}]}, "`tool_calls[0]`: the call has no name"),
        ({"tool_calls": [{"tool_name": None}]}, "`tool_calls[0]`: the call has no name"),
        ({"tool_calls": [{"name": 5}]}, "`tool_calls[0]`: the name `5` is no text"),
        ({"tool_calls": ["a"]}, "`tool_calls[0]`: `'a'` is no tool call\n"),
        ({"tool_calls": [None]}, "`tool_calls[0]`: `None` is no tool call\n"),
        ({"tool_calls": [{"name": "a", "step": "2"}]}, "`tool_calls[0]`: `step` is `'2'` and no whole number\n"),
        ({"tool_calls": [{"name": "a", "step": True}]}, "`step` is `True` and no whole number"),
        ({"tool_calls": [{"name": "a", "id": ["x"]}]}, "the id `['x']` is no text"),
        ({"tool_calls": [{"name": "a", "agent": 3}]}, "`agent` is `3` and no text"),
        ({"tool_calls": [{"name": "a", "arguments": deep(5000)}]}, "`tool_calls[0]`: a value is nested too deeply"),
        ({"tool_calls": [], "more": deep(5000)}, "the fields: a value is nested too deeply"),
        ({"tool_calls": [], "steps": "none"}, "`steps` is `'none'` and no list"),
        ({"tool_calls": [], "steps": [1]}, "`steps[0]`: `1` is no step"),
        ({"tool_calls": [], "steps": [{"step_number": "1"}]}, "`steps[0]`: `step_number` is `'1'` and no whole number"),
        ({"tool_calls": [], "user_messages": "hi"}, "`user_messages` is `'hi'` and no list"),
        ({"tool_calls": [], "user_messages": ["hi"]}, "`user_messages[0]`: `'hi'` is no message"),
        ({"tool_calls": [], "user_messages": [{"content": "hi"}]}, "`user_messages[0]`: there is no `before_step`"),
        (
            {"tool_calls": [], "user_messages": [{"before_step": 0}]},
            "`user_messages[0]`: the content `None` is no text",
        ),
    ],
)
def test_input_that_is_no_trace(metrics: Any, problem: str) -> None:
    with pytest.raises(TraceError) as caught:
        Trace.from_metrics(metrics)
    assert problem in str(caught.value)
    assert "\n" in str(caught.value)
