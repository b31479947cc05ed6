import json
from datetime import UTC, datetime

import pytest

from agentltl.record.metrics import metrics_of
from agentltl.record.result import Result
from tests.record.run_events import call, end, start, step_end


def test_a_result_made_by_hand_is_the_documented_dict() -> None:
    result = Result(output="red, yellow, blue")
    assert result == {"answer": "red, yellow, blue", "metrics": metrics_of([]), "error": None}
    assert isinstance(result, dict)
    assert json.loads(json.dumps(result)) == result
    assert (str(result), result.success, result.messages, result.duration_ms) == ("red, yellow, blue", True, [], None)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (None, ""),
        ("", ""),
        (42, "42"),
        ({"a": 1}, "{'a': 1}"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}], "a"),
        ([{"type": "book", "text": "a"}], "[{'type': 'book', 'text': 'a'}]"),
        ([], "[]"),
    ],
)
def test_the_text_of_an_output(output: object, text: str) -> None:
    result = Result(output)
    assert str(result) == text
    assert result["answer"] == (None if output is None else text)
    assert result.output is output


def test_an_answered_run() -> None:
    events = [
        start(model="gpt", temperature=0.5),
        *call("a", 1, "get", arguments={"id": 1}, tool_result="A"),
        step_end(1),
        *call("b", 2, "final_answer", arguments={"answer": "A"}, tool_result="A"),
        step_end(2),
        end(output="A"),
    ]
    result = Result.of(events)
    assert (result["answer"], result["error"], result.success, result.is_error) == ("A", None, True, False)
    assert result["metrics"] == metrics_of(events)
    assert (result.model_id, result.temperature, result.execution_id) == ("gpt", 0.5, "run-1")
    assert result.started_at == datetime.fromtimestamp(100, UTC)
    assert result.completed_at is not None
    assert result.completed_at.tzinfo is not None
    assert result.duration_ms == 2500
    assert result.tool_calls == [{"id": "call_a", "name": "get", "arguments": {"id": 1}}]
    assert (result.tool_calls_count, result.has_tool_calls) == (1, True)
    assert result.constraint_status is None


@pytest.mark.parametrize(
    ("last", "answer", "error", "success", "is_error", "interrupted"),
    [
        (end(output="A"), "A", None, True, False, False),
        (end("max_steps", "A"), "A", None, False, False, False),
        (end("stop", error="no", error_class="Stop"), None, "no", False, True, True),
        (end("interrupt", error="enough", error_class="Oops"), None, "enough", False, True, True),
        (end("error", error="bad", error_class="Oops"), None, "bad", False, True, False),
    ],
)
def test_how_a_run_ended(last, answer, error, success, is_error, interrupted) -> None:
    result = Result.of([start(), last])
    assert (result["answer"], result["error"], result.error_message) == (answer, error, error)
    assert (result.success, result.is_error, result.interrupted) == (success, is_error, interrupted)
    assert result.error_class == last.data["error_class"]
    assert (result.tool_calls, result.has_tool_calls) == ([], False)


def test_each_result_has_an_id_of_its_own() -> None:
    assert Result().execution_id != Result().execution_id


def test_a_result_shows_what_it_is_in_one_line() -> None:
    result = Result.of([start(), *call("a", 1, "get"), step_end(1), end(output="A")])
    assert repr(result) == "Result(answer='A', error=None, steps=1, tool_calls=1)"
