import json
from collections import Counter
from typing import Any

import pytest
from smolagents import tool

from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.models.scripted import Reply, ScriptedModel
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.verify import verify_trace
from agentltl.errors import ConstraintError, ConstraintViolationError
from agentltl.record.events import Event
from agentltl.record.result import Result
from tests.agents.documented import check


@tool
def read(id: str) -> str:
    """Read an order.

    Args:
        id: the order
    """
    return f"order {id}"


@tool
def drop(id: str) -> str:
    """Delete an order.

    Args:
        id: the order
    """
    return f"dropped {id}"


@tool
def charge(amount: int) -> dict:
    """Charge money.

    Args:
        amount: how much
    """
    if amount < 0:
        raise ValueError("nothing to charge")
    return {"paid": amount}


TOOLS = [read, drop, charge]
READ_FIRST = {"name": "read_first", "rule": "!drop W read", "repair": "Read the order first."}
SMALL = {"name": "small", "rule": "G !charge[paid > 100]"}
ANSWER = ("final_answer", {"answer": "done"})


def run(*replies: Any, constraints: Any = (READ_FIRST,), reset: bool = True, **settings: Any) -> tuple[Result, Any]:
    events: list[Event] = []
    model = ScriptedModel(replies)
    agent = AgentWithConstraints(TOOLS, model, constraints=list(constraints), sinks=[events.append], **settings)
    result = agent.run("Tidy up.", reset=reset)
    check(result, guarded=True)
    assert [e.kind for e in events].count("agent_end") == 1
    assert events[-1].data["result"] is result
    starts, ends = (Counter(e.data["id"] for e in events if e.kind == f"tool_call_{k}") for k in ("start", "end"))
    assert starts == ends
    assert set(starts.values()) <= {1}
    status = agent.smolagent.get_constraint_status()
    assert result.constraint_status == status
    told = [dict(e.data) for e in events if e.kind == "constraint_violation"]
    assert told == result["metrics"]["constraint_violations"] == status["violations"]
    return result, events


def ended(events: list[Event]) -> list[tuple[str, str, bool]]:
    return [(e.data["tool_name"], e.data["status"], e.data["ran"]) for e in events if e.kind == "tool_call_end"]


def names(calls: list[dict[str, Any]]) -> list[str]:
    return [call["tool_name"] for call in calls]


def test_a_run_that_keeps_the_rules_has_five_keys_more() -> None:
    result, _ = run(("read", {"id": "1"}), ("drop", {"id": "1"}), ANSWER)
    metrics = result["metrics"]
    assert (metrics["run_status"], metrics["stopped_by_constraint"]) == ("completed", None)
    assert (metrics["constraint_violations"], metrics["constraint_checks"]) == ([], 2)
    assert metrics["completed_trace"] == [
        {"tool_name": "read", "tool_args": {"id": "1"}, "tool_id": "call_1", "tool_result": "order 1"},
        {"tool_name": "drop", "tool_args": {"id": "1"}, "tool_id": "call_2", "tool_result": "dropped 1"},
    ]
    assert names(metrics["tool_calls"]) == ["read", "drop", "final_answer"]
    assert (result["answer"], result.success) == ("done", True)


def test_a_stopped_run_returns_and_says_which_call_broke_which_rule() -> None:
    result, events = run(Reply([("drop", {"id": "1"})], text="I drop it."), ANSWER)
    metrics = result["metrics"]
    assert (result["answer"], str(result)) == (None, "")
    assert "read_first" in result["error"]
    assert (result.ending, result.success, result.interrupted, result.is_error) == ("stop", False, True, True)
    assert (metrics["run_status"], metrics["stopped_by_constraint"]) == ("stopped", "read_first")
    assert (metrics["tool_calls"], metrics["completed_trace"], metrics["constraint_checks"]) == ([], [], 1)
    (violation,) = metrics["constraint_violations"]
    assert (violation["severity"], violation["step_number"], violation["tool_name"]) == ("HARD_STOP", 1, "drop")
    (step,) = metrics["steps"]
    assert (step["type"], step["tool_name"], step["tool_args"]) == ("error", "drop", {"id": "1"})
    assert (step["reasoning"], step["error"]) == ("I drop it.", result["error"])
    assert "Read the order first." in step["tool_result"]
    assert (step["input_tokens"], step["model_input_parsed"]["task"]) == (10, "Tidy up.")
    assert result.constraint_status is not None
    assert result.constraint_status["blocked_tool_call"]["tool_result"] == "BLOCKED_BY_CONSTRAINT"
    assert ended(events) == [("drop", "blocked", False)]


def test_what_ran_before_a_stop_in_the_same_message_stays_and_what_follows_is_cancelled() -> None:
    result, events = run([("charge", {"amount": 1}), ("drop", {"id": "1"}), ("read", {"id": "1"})], ANSWER)
    metrics = result["metrics"]
    assert [(c["tool_name"], c["tool_result"]) for c in metrics["tool_calls"]] == [("charge", "{'paid': 1}")]
    assert names(metrics["completed_trace"]) == ["charge"]
    assert names(metrics["steps"][0]["step_tool_calls"]) == ["charge", "drop", "read"]
    assert ended(events) == [("charge", "ok", True), ("drop", "blocked", False), ("read", "cancelled", False)]
    assert metrics["steps"][0]["tool_result"].startswith("{'paid': 1}\n")


def test_a_refused_call_is_no_tool_call_and_its_step_shows_the_refusal() -> None:
    result, events = run(
        ("drop", {"id": "1"}),
        ("read", {"id": "1"}),
        ("drop", {"id": "1"}),
        ANSWER,
        default_severity="PERSISTENT_BLOCK",
    )
    metrics = result["metrics"]
    assert (result["answer"], result.success, metrics["run_status"]) == ("done", True, "completed")
    assert names(metrics["tool_calls"]) == ["read", "drop", "final_answer"]
    assert [c["step"] for c in metrics["tool_calls"]] == [2, 3, 4]
    assert metrics["constraint_checks"] == 3
    step = metrics["steps"][0]
    assert (step["type"], step["tool_name"], step["action_output"], step["error"]) == ("tool_call", "drop", None, None)
    assert "Read the order first." in step["tool_result"]
    assert ended(events)[0] == ("drop", "blocked", False)
    (told,) = [m for m in result.messages if m.get("tool_call_id") == "call_1"]
    assert told["content"] == step["tool_result"]


def test_a_fully_enforced_run_complies_with_every_rule_by_its_metrics_alone() -> None:
    rules = [
        READ_FIRST,
        {"name": "once", "rule": "at_most(drop, 1)"},
        {"name": "cheap", "rule": "G !charge(amount > 9)"},
    ]
    result, _ = run(
        ("drop", {"id": "1"}),
        [("read", {"id": "1"}), ("drop", {"id": "1"}), ("charge", {"amount": 10})],
        [("drop", {"id": "2"}), ("charge", {"amount": -1}), ("charge", {"amount": 2})],
        ANSWER,
        constraints=rules,
        default_severity="PERSISTENT_BLOCK",
    )
    metrics = result["metrics"]
    assert {v["constraint_name"] for v in metrics["constraint_violations"]} == {"read_first", "once", "cheap"}
    judged = verify_trace(metrics, [Constraint.of(rule) for rule in rules])
    assert (judged["compliance_score"], judged["compliance_label"]) == (1.0, "FULL")
    assert judged["tool_sequence"] == ["read", "drop", "charge", "charge", "final_answer"]


def test_a_tolerated_violation_is_recorded_and_the_call_runs(caplog: pytest.LogCaptureFixture) -> None:
    result, events = run(
        ("drop", {"id": "1"}), ANSWER, constraint_severities={"read_first": "TOLERATE"}, default_severity="HARD_STOP"
    )
    metrics = result["metrics"]
    assert (result.success, metrics["run_status"], metrics["stopped_by_constraint"]) == (True, "completed", None)
    assert names(metrics["tool_calls"]) == ["drop", "final_answer"]
    (violation,) = metrics["constraint_violations"]
    assert (violation["severity"], violation["tool_args"]) == ("TOLERATE", {"id": "1"})
    kinds = [e.kind for e in events]
    assert kinds.index("constraint_violation") < kinds.index("tool_call_end")
    assert "read_first" in caplog.text


def test_an_outcome_that_breaks_a_rule_stops_the_run_after_the_call() -> None:
    result, events = run(("charge", {"amount": 500}), ANSWER, constraints=[SMALL])
    metrics = result["metrics"]
    assert (metrics["run_status"], metrics["stopped_by_constraint"]) == ("stopped", "small")
    assert [(c["tool_name"], c["tool_result"]) for c in metrics["tool_calls"]] == [("charge", "{'paid': 500}")]
    assert names(metrics["completed_trace"]) == ["charge"]
    assert ended(events) == [("charge", "ok", True)]
    assert result.constraint_status is not None
    assert result.constraint_status["blocked_tool_call"] is None


@pytest.mark.parametrize("severity", ["TOLERATE", "PERSISTENT_BLOCK"])
def test_an_outcome_that_breaks_a_rule_otherwise_is_recorded_and_the_run_goes_on(severity: str) -> None:
    result, events = run(("charge", {"amount": 500}), ANSWER, constraints=[SMALL], default_severity=severity)
    metrics = result["metrics"]
    assert [v["severity"] for v in metrics["constraint_violations"]] == [severity]
    assert (result.success, metrics["tool_calls"][0]["tool_result"]) == (True, "{'paid': 500}")
    kinds = [e.kind for e in events]
    assert kinds.index("constraint_violation") < kinds.index("step_end")


def test_a_call_that_a_tool_makes_is_judged_and_recorded() -> None:
    @tool
    def helper(id: str) -> str:
        """Call other tools.

        Args:
            id: the order
        """
        try:
            agent.smolagent.execute_tool_call("drop", {"id": id})
        except ConstraintViolationError as error:
            return f"{agent.smolagent.execute_tool_call('read', {'id': id})} after {type(error).__name__}"
        return "nobody minded"

    events: list[Event] = []
    model = ScriptedModel([("helper", {"id": "1"}), ANSWER])
    agent = AgentWithConstraints(
        [*TOOLS, helper], model, constraints=[READ_FIRST], default_severity="PERSISTENT_BLOCK", sinks=[events.append]
    )
    result = agent.run("Go.")
    check(result, guarded=True)
    assert names(result["metrics"]["tool_calls"]) == ["helper", "read", "final_answer"]
    assert names(result["metrics"]["completed_trace"]) == ["helper", "read"]
    step = result["metrics"]["steps"][0]
    assert (step["tool_name"], "step_tool_calls" in step) == ("helper", False)
    assert [c["function"]["name"] for m in result.messages for c in m.get("tool_calls", ())] == [
        "helper",
        "final_answer",
    ]
    assert ended(events) == [
        ("drop", "blocked", False),
        ("read", "ok", True),
        ("helper", "ok", True),
        ("final_answer", "ok", True),
    ]
    assert len([e for e in events if e.kind == "constraint_violation"]) == 1


def test_a_tool_that_raises_is_in_the_trace() -> None:
    result, events = run(("charge", {"amount": -1}), ANSWER, constraints=[READ_FIRST, SMALL])
    metrics = result["metrics"]
    assert (metrics["tool_calls"][0]["tool_name"], metrics["tool_calls"][0]["tool_result"]) == ("charge", None)
    assert metrics["completed_trace"][0]["tool_result"] is None
    assert metrics["steps"][0]["type"] == "error"
    assert ended(events)[0] == ("charge", "failed", True)


def test_a_call_that_could_not_be_made_is_not_checked() -> None:
    result, events = run(("drop", {}), ("no_such_tool", {}), ANSWER)
    metrics = result["metrics"]
    assert (metrics["constraint_checks"], metrics["completed_trace"]) == (0, [])
    assert names(metrics["tool_calls"]) == ["final_answer"]
    assert [s["type"] for s in metrics["steps"]] == ["error", "error", "tool_call"]
    assert ended(events)[:2] == [("drop", "failed", False), ("no_such_tool", "failed", False)]


def test_parallel_calls_have_their_own_results_and_agree_with_the_trace() -> None:
    calls = [("drop", {"id": "1"}, "c"), ("read", {"id": "2"}, "b"), ("charge", {"amount": 3}, "a")]
    result, _ = run(("read", {"id": "1"}), calls, ANSWER)
    metrics = result["metrics"]
    assert [(c["id"], c["tool_result"]) for c in metrics["tool_calls"][1:4]] == [
        ("c", "dropped 1"),
        ("b", "order 2"),
        ("a", "{'paid': 3}"),
    ]
    assert [c["tool_id"] for c in metrics["completed_trace"]] == ["call_1", "c", "b", "a"]
    assert metrics["steps"][1]["tool_result"] == "{'paid': 3}\norder 2\ndropped 1"


def test_an_answer_beside_other_calls_comes_last() -> None:
    result, _ = run([("final_answer", {"answer": "early"}), ("read", {"id": "1"})], ANSWER)
    assert names(result["metrics"]["tool_calls"]) == ["read", "final_answer", "final_answer"]
    assert result["metrics"]["steps"][0]["type"] == "error"
    assert result["answer"] == "done"


def test_a_stop_in_the_last_allowed_step_stops() -> None:
    result, _ = run(("drop", {"id": "1"}), "never asked for", max_steps=1)
    assert (result["metrics"]["run_status"], result["metrics"]["num_steps"]) == ("stopped", 1)
    assert result["answer"] is None


def test_a_run_out_of_steps_and_a_model_error_are_not_stopped() -> None:
    out, _ = run(("read", {"id": "1"}), "I read it.", max_steps=1)
    assert (out["metrics"]["run_status"], out["answer"], out.success) == ("completed", "I read it.", False)
    failed, _ = run(("read", {"id": "1"}), ConnectionError("down"), retries=0)
    assert (failed["metrics"]["run_status"], failed.ending) == ("completed", "error")
    assert failed.error_class == "ConnectionError"


def test_thinking_tokens_and_ids_of_a_guarded_run() -> None:
    result, _ = run(
        Reply([("read", {"id": "1"}, None)], text="<think>Look.</think>", input_tokens=None, output_tokens=None),
        Reply([(*ANSWER, None)], thinking="Enough.", input_tokens=None, output_tokens=None),
    )
    first, second = result["metrics"]["steps"]
    assert (first["thinking"], second["thinking"]) == ("Look.", "Enough.")
    assert (result["metrics"]["total_tokens"], first["tool_id"]) == (0, None)


def test_of_two_calls_without_ids_one_runs_and_is_judged() -> None:
    result, events = run([("drop", {"id": "1"}, None), ("read", {"id": "1"}, None)], ANSWER)
    assert names(result["metrics"]["tool_calls"]) == ["read", "final_answer"]
    assert ended(events)[:2] == [("drop", "cancelled", False), ("read", "ok", True)]


def test_a_conversation_goes_on_after_a_stop() -> None:
    model = ScriptedModel([("drop", {"id": "1"}), ("read", {"id": "1"}), ("drop", {"id": "1"}), ANSWER])
    events: list[Event] = []
    agent = AgentWithConstraints(TOOLS, model, constraints=[READ_FIRST], sinks=[events.append])
    first = agent.run("Tidy up.")
    second = agent.run("Read it first.", reset=False)
    check(first, guarded=True)
    check(second, guarded=True)
    assert (first["metrics"]["run_status"], second["metrics"]["run_status"]) == ("stopped", "completed")
    assert names(second["metrics"]["tool_calls"]) == ["read", "drop", "final_answer"]
    (violation,) = (e for e in events if e.kind == "constraint_violation")
    assert events.index(violation) < next(i for i, e in enumerate(events) if e.kind == "agent_end")
    assert [m["content"] for m in second.messages if m["role"] == "user"] == ["Tidy up.", "Read it first."]


def test_a_run_afresh_tells_its_own_violations() -> None:
    told: list[Event] = []
    model = ScriptedModel([("drop", {"id": "1"}), ("drop", {"id": "1"})])
    agent = AgentWithConstraints(TOOLS, model, constraints=[READ_FIRST], sinks=[told.append])
    for _ in range(2):
        told.clear()
        assert agent.run("Tidy up.")["metrics"]["constraint_checks"] == 1
        assert [e.kind for e in told].count("constraint_violation") == 1


def test_without_constraints_it_is_the_same_run() -> None:
    result, _ = run(("read", {"id": "1"}), ANSWER, constraints=[])
    assert result["metrics"]["constraint_checks"] == 1
    assert result.success


def test_settings_of_constraints_are_checked() -> None:
    model = ScriptedModel([])
    with pytest.raises(ConstraintError):
        AgentWithConstraints(TOOLS, model, constraints=[READ_FIRST], constraint_severities={"raed_first": "TOLERATE"})
    with pytest.raises(ConstraintError):
        AgentWithConstraints(TOOLS, model, constraints=[READ_FIRST], default_severity="HARDSTOP")


def nested(depth: int) -> object:
    value: object = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [10**5_000, nested(5_000)], ids=["digits", "depth"])
def test_what_cannot_be_written_ends_no_run_without_a_result(value: object) -> None:
    result, _ = run(("final_answer", {"answer": value}), ANSWER)
    assert json.loads(json.dumps(result.messages)) == result.messages


def test_a_notebook_shows_the_calls_and_what_they_broke() -> None:
    rules = [{"name": "<once>", "rule": 'G !add(b = "<b>")', "severity": "TOLERATE"}]

    @tool
    def add(a: int, b: str) -> str:
        """Add.

        Args:
            a: One.
            b: The other.
        """
        return "<i>"

    model = ScriptedModel([("add", {"a": 1, "b": "<b>"}), ("final_answer", {"answer": "x"})])
    html = AgentWithConstraints([add], model, constraints=rules).run("Go.")._repr_html_()
    assert "calls that ran: 1" in html
    assert 'add(a=1, b="&lt;b&gt;")' in html.replace("&quot;", '"')
    assert "violations: 1" in html
    assert "&lt;once&gt;" in html
    assert "<b>" not in html
    assert "<i>" not in html
