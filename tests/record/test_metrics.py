from typing import Any

from agentltl.record.metrics import metrics_of
from tests.record.run_events import call, end, start, step_end, step_start

EMPTY = {
    "num_steps": 0,
    "num_tool_calls": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "total_tokens": 0,
    "tool_calls": [],
    "steps": [],
}
STATUS: dict[str, Any] = {
    "status": "stopped",
    "stopped_by": "read_first",
    "blocked_tool_call": {},
    "violations": [],
    "completed_trace": [],
    "constraint_checks": 2,
}


def test_of_no_events_there_are_metrics() -> None:
    assert metrics_of([]) == EMPTY


def test_calls_are_in_the_order_of_their_starts_and_have_their_own_results() -> None:
    (a, a_end), (b, b_end) = (call(i, 1, i, tool_result=f" {i}".strip(), action_output=f" {i}") for i in "ab")
    metrics = metrics_of([start(), step_start(1), a, b, b_end, a_end, step_end(1, observation="a\nb"), end()])
    assert [(c["tool_name"], c["tool_result"], c["action_output"]) for c in metrics["tool_calls"]] == [
        ("a", "a", " a"),
        ("b", "b", " b"),
    ]
    (step,) = metrics["steps"]
    assert (step["tool_name"], step["tool_result"], step["action_output"]) == ("a", "a\nb", " a\n b")
    assert step["step_tool_calls"] == [{"tool_name": "a", "tool_args": {}}, {"tool_name": "b", "tool_args": {}}]


def test_only_calls_that_ran_are_tool_calls_but_the_step_has_them_all() -> None:
    events = [start()]
    for id, status in enumerate(["ok", "failed", "blocked", "cancelled"]):
        events += call(str(id), 1, status, status)
    metrics = metrics_of([*events, step_end(1), end()])
    assert [c["tool_name"] for c in metrics["tool_calls"]] == ["ok", "failed"]
    assert metrics["num_tool_calls"] == 2
    assert [c["tool_name"] for c in metrics["steps"][0]["step_tool_calls"]] == ["ok", "failed", "blocked", "cancelled"]


def test_a_refused_call_is_the_tool_of_its_step_and_the_refusal_its_observation() -> None:
    metrics = metrics_of(
        [start(), *call("a", 1, "drop", "blocked", tool_result="No."), step_end(1, observation="No."), end()]
    )
    (step,) = metrics["steps"]
    assert metrics["tool_calls"] == []
    assert (step["type"], step["tool_name"], step["tool_result"]) == ("tool_call", "drop", "No.")
    assert step["action_output"] is None
    assert "step_tool_calls" not in step


def test_a_call_that_a_tool_makes_is_a_tool_call_but_not_one_of_its_step() -> None:
    inner = call("b", 1, "inner", by_model=False, tool_result="B", action_output="B")
    begun, over = call("a", 1, "outer", tool_result="A", action_output="A")
    metrics = metrics_of([start(), begun, *inner, over, step_end(1, observation="A"), end()])
    assert [c["tool_name"] for c in metrics["tool_calls"]] == ["outer", "inner"]
    (step,) = metrics["steps"]
    assert (step["tool_name"], step["action_output"], "step_tool_calls" in step) == ("outer", "A", False)


def test_the_type_of_a_step() -> None:
    events = [start(), step_end(1), *call("a", 2, "get"), step_end(2), *call("b", 3, "get"), step_end(3, error="broke")]
    assert [s["type"] for s in metrics_of(events)["steps"]] == ["reasoning", "tool_call", "error"]


def test_tokens_are_summed_and_durations_are_differences() -> None:
    events = [
        start(),
        step_end(1, input_tokens=5, output_tokens=1, start_time=10.0, end_time=10.5),
        step_end(2, input_tokens=7, output_tokens=2, start_time=11.0),
        end(),
    ]
    metrics = metrics_of(events)
    assert (metrics["input_tokens"], metrics["output_tokens"], metrics["total_tokens"]) == (12, 3, 15)
    assert [s["duration"] for s in metrics["steps"]] == [0.5, None]


def test_a_guarded_run_has_five_keys_more() -> None:
    metrics = metrics_of([start(), end(constraint_status=STATUS)])
    assert metrics.keys() - EMPTY.keys() == {
        "run_status",
        "stopped_by_constraint",
        "constraint_violations",
        "constraint_checks",
        "completed_trace",
    }
    assert (metrics["run_status"], metrics["stopped_by_constraint"]) == ("stopped", "read_first")
    assert metrics["constraint_checks"] == 2


def test_what_is_no_json_is_text_in_the_five_keys() -> None:
    args = {"image": object(), "sizes": (1, 2)}
    trace = [{"tool_name": "draw", "tool_args": args, "tool_id": None, "tool_result": None}]
    metrics = metrics_of([start(), end(constraint_status={**STATUS, "completed_trace": trace})])
    found = metrics["completed_trace"][0]["tool_args"]
    assert found == {"image": str(args["image"]), "sizes": [1, 2]}


def test_a_run_that_is_not_over_has_the_metrics_so_far() -> None:
    begun, over = call("a", 1, "get", tool_result="A")
    metrics = metrics_of([start(), step_start(1), begun])
    assert (metrics["num_steps"], metrics["tool_calls"]) == (0, [])
    assert metrics_of([start(), step_start(1), begun, over])["num_tool_calls"] == 1
