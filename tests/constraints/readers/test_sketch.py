"""Sketches: the same traces as when a record is read in full, and no sketch where that is not certain."""

import json
from typing import Any

import pytest

from agentltl.constraints.readers.record import trace_of
from agentltl.constraints.readers.sketch import Sketch, decoded
from agentltl.errors import TraceError

EASY: dict[str, Any] = {"tool_name": "a", "tool_args": {"k": "x"}, "tool_result": "r"}


def record(*entries: Any, **more: Any) -> dict[str, Any]:
    return {"tool_calls": list(entries), **more}


@pytest.mark.parametrize(
    "value",
    [
        record(),
        record(EASY, EASY),
        record(EASY, {**EASY, "tool_name": "b", "tool_args": "{}", "tool_result": {"x": 1}}),
        record({"name": "a", "result": 0}, {"name": "b", "result": False}),
        record({**EASY, "note": "more"}, id="t", suite="x"),
        record(
            {"arguments": [1], "name": "a", "result": ""}, id=7, user_messages=[{"before_step": 1, "content": "go"}]
        ),
        {"metrics": record(EASY, id="in", inner=1), "outer": 2},
        {"id": "out", "metrics": record(EASY, inner=1, outer=1), "outer": 2},
        record(EASY, steps=[]),
    ],
)
def test_a_sketch_is_the_trace_as_far_as_it_is_drawn(value: Any) -> None:
    sketch, trace = Sketch.of(value), trace_of(value)
    assert sketch is not None
    assert sketch.tools == trace.events
    assert sketch.id == trace.id
    assert sketch.trace == trace
    assert (sketch.head.fields, sketch.head.messages, sketch.head.id) == (trace.fields, trace.messages, trace.id)
    assert sketch.messages == trace.messages
    for index, (tool, args, outcome) in enumerate(sketch.events()):
        call = trace.calls[index]
        assert call.outcome is not None
        assert (tool, outcome.way) == (call.tool, call.outcome.way)
        assert args is None or type(args) is not dict or args == call.args
        assert sketch.near(index).call == sketch.far(index).call == call
        assert sketch.far(index).calls == trace.calls


@pytest.mark.parametrize(
    "entry",
    [
        {**EASY, "tool_result": None},
        {**EASY, "error": None},
        {**EASY, "error": "no"},
        {**EASY, "id": [1]},
        {**EASY, "step": 1},
        {**EASY, "start": "never"},
        {**EASY, "agent": 1},
        {**EASY, "tool_name": ""},
        {**EASY, "tool_name": 1},
        {**EASY, "name": "b"},
        {"tool_args": {}, "tool_result": "x"},
        {"tool_name": "a"},
        7,
    ],
)
def test_an_entry_that_says_more_or_less_is_read_in_full(entry: Any) -> None:
    assert Sketch.of(record(entry)) is None
    assert Sketch.of(record(EASY, entry)) is None
    assert Sketch.of(record(entry, EASY)) is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"tool_calls": None},
        {"tool_calls": {}},
        {"messages": []},
        record(EASY, role="assistant"),
        record(EASY, metrics=None) | {"metrics": {}},
        record(EASY, steps=[{"step_number": 1, "error": "x"}]),
        record(EASY, id=[]),
        record(EASY, user_messages="go"),
    ],
)
def test_another_record_has_no_sketch(value: Any) -> None:
    assert Sketch.of(value) is None


def test_numbers_are_looked_at_as_they_were_written() -> None:
    big = 10**30
    raw = json.dumps(record({**EASY, "tool_args": {"k": big}}))
    value, hasty = decoded(raw)
    sketch = Sketch.of(value, raw if hasty else None)
    assert sketch is not None
    assert sketch.near(0).call.args["k"] == big
    assert type(sketch.trace.calls[0].args["k"]) is int


def test_what_is_no_json_is_said_as_by_the_reader() -> None:
    with pytest.raises(TraceError, match="no JSON"):
        decoded("{")
