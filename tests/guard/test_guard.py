"""The guard: judged before a call runs, settled after it, stopped, told, recorded."""

from __future__ import annotations

import copy
import logging
import pickle
import threading
from typing import Any

import pytest

from agentltl import Constraint, ConstraintError, ConstraintSeverity, Guard
from agentltl.constraints import Truth

READ_FIRST = {
    "name": "read-first",
    "rule": "G (cancel(order = ?o) -> Y O read(order = ?o)[ok])",
    "description": "An order is read before it is cancelled",
    "repair": "Call read for this order first",
}


def guard(*constraints: object, **settings: object) -> Guard:
    return Guard(constraints or (READ_FIRST,), **settings)  # type: ignore[arg-type]


def ran(g: Guard, tool: str, args: dict[str, object] | None = None, result: object = "ok", **settings: object) -> None:
    decision = g.propose(tool, args or {}, **settings)  # type: ignore[arg-type]
    assert decision.allowed, decision.feedback
    assert g.settle(decision, result).allowed


def test_a_call_that_breaks_no_rule_runs_and_is_part_of_the_trace() -> None:
    g = guard()
    decision = g.propose("read", {"order": 7}, id="call_1", step=1)
    assert (decision.allowed, decision.action, decision.violations, decision.feedback) == (True, "allow", (), "")
    assert g.settle(decision, {"status": "pending"}).action == "allow"
    (call,) = g.trace.calls
    assert (call.tool, call.args, call.id, call.step) == ("read", {"order": 7}, "call_1", 1)
    assert call.outcome is not None
    assert call.outcome.value == {"status": "pending"}
    assert call.start is not None
    assert call.outcome.end is not None
    assert call.start <= call.outcome.end


def test_a_hard_stop_refuses_stops_and_refuses_everything_until_the_user_speaks() -> None:
    g = guard()
    decision = g.propose("cancel", {"order": 7}, id="call_9", step=3)
    assert (decision.allowed, decision.action, decision.index) == (False, "stop", None)
    (violation,) = decision.violations
    assert violation.constraint_name == "read-first"
    assert violation.severity is ConstraintSeverity.HARD_STOP
    assert violation.step_number == 3
    assert g.trace.calls == ()
    for text in ("cancel", "An order is read before it is cancelled", "Call read for this order first"):
        assert text in decision.feedback
    assert decision.repair == "Call read for this order first"
    assert not g.propose("read", {"order": 7}).allowed
    assert not g.finish().allowed
    g.said("go on")
    assert g.propose("read", {"order": 7}).allowed
    assert g.finish().allowed


def test_the_status_dict_of_a_stopped_run() -> None:
    g = guard()
    ran(g, "look", {}, "OK", id="call_aaa", step=1)
    g.propose("cancel", {"order": 7}, id="call_xyz", step=2)
    status = g.status()
    detail = status["violations"][0].pop("detail")
    assert "read" in detail
    assert status == {
        "status": "stopped",
        "stopped_by": "read-first",
        "blocked_tool_call": {
            "tool_name": "cancel",
            "tool_args": {"order": 7},
            "tool_id": "call_xyz",
            "tool_result": "BLOCKED_BY_CONSTRAINT",
            "blocked_by": "read-first",
            "step_number": 2,
        },
        "violations": [
            {
                "constraint_name": "read-first",
                "severity": "HARD_STOP",
                "step_number": 2,
                "tool_name": "cancel",
                "tool_args": {"order": 7},
            }
        ],
        "completed_trace": [{"tool_name": "look", "tool_args": {}, "tool_id": "call_aaa", "tool_result": "OK"}],
        "constraint_checks": 2,
    }


def test_before_any_call_the_status_is_completed_and_empty() -> None:
    assert guard().status() == {
        "status": "completed",
        "stopped_by": None,
        "blocked_tool_call": None,
        "violations": [],
        "completed_trace": [],
        "constraint_checks": 0,
    }


def test_a_persistent_block_refuses_every_time_and_lets_the_run_go_on() -> None:
    g = guard(default_severity="PERSISTENT_BLOCK")
    for _ in range(3):
        decision = g.propose("cancel", {"order": 7})
        assert (decision.allowed, decision.action) == (False, "block")
    assert g.stopped is None
    ran(g, "read", {"order": 7})
    ran(g, "cancel", {"order": 7})
    assert not g.propose("cancel", {"order": 8}).allowed
    assert len(g.violations) == 4
    assert g.status()["status"] == "completed"


def test_a_tolerated_breach_runs_is_recorded_logged_and_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    g = guard(severities={"read-first": "TOLERATE"})
    with caplog.at_level(logging.WARNING, "agentltl"):
        decision = g.propose("cancel", {"order": 7})
    assert (decision.allowed, decision.action, decision.feedback) == (True, "warn", "")
    assert "read-first" in caplog.text
    assert g.settle(decision, "done").allowed
    ran(g, "look")
    assert len(g.violations) == 1
    assert g.propose("cancel", {"order": 7}).violations != ()  # a further breach is a new one
    assert g.verdicts()["read-first"].truth is Truth.PTRUE


def test_the_strongest_severity_decides_and_only_what_refuses_is_on_record() -> None:
    g = guard(
        {"name": "soft", "rule": "never(pay)", "severity": "TOLERATE"},
        {"name": "hard", "rule": "at_most(pay, 0)", "severity": "PERSISTENT_BLOCK", "repair": "Ask the user"},
        {"name": "other", "rule": "G !pay(amount > 5)", "severity": "PERSISTENT_BLOCK"},
    )
    decision = g.propose("pay", {"amount": 9})
    assert decision.action == "block"
    assert [v.constraint_name for v in decision.violations] == ["hard", "other"]
    assert "hard" in decision.feedback
    assert "other" in decision.feedback
    assert "soft" not in decision.feedback
    assert [v.constraint_name for v in g.violations] == ["hard", "other"]


def test_an_outcome_that_breaks_a_rule_stops_after_the_call_which_stays_in_the_trace() -> None:
    g = guard({"name": "no-loss", "rule": "G !trade[profit < 0]"})
    decision = g.propose("trade", {}, step=1)
    assert decision.allowed
    assert g.verdicts()["no-loss"].truth is Truth.PENDING
    settled = g.settle(decision, {"profit": -3})
    assert (settled.allowed, settled.action) == (False, "stop")
    assert settled.violations[0].tool_name == "trade"
    assert len(g.trace.calls) == 1
    assert g.status()["blocked_tool_call"] is None
    assert g.status()["stopped_by"] == "no-loss"


def test_an_outcome_under_a_persistent_block_tells_the_model_and_goes_on() -> None:
    g = guard({"name": "no-loss", "rule": "G !trade[profit < 0]", "severity": "PERSISTENT_BLOCK", "repair": "Stop"})
    settled = g.settle(g.propose("trade"), '{"profit": -3}')
    assert (settled.allowed, settled.action) == (True, "block")
    assert "has run" in settled.feedback
    ran(g, "trade", {}, {"profit": 1})
    assert len(g.violations) == 1


def test_calls_that_run_at_the_same_time_settle_in_any_order() -> None:
    g = guard({"name": "both", "rule": "G (send -> O a[ok] & O b[ok])", "severity": "PERSISTENT_BLOCK"})
    a, b = g.propose("a", step=1), g.propose("b", step=1)
    g.settle(b, "fine")
    assert g.propose("send", step=2).allowed, "it rests on a call that still runs"
    settled = g.settle(a, error="boom")
    assert [v.constraint_name for v in settled.violations] == ["both"]
    assert not g.propose("send", step=3).allowed


def test_a_second_outcome_is_ignored_and_one_for_a_refused_call_is_an_error() -> None:
    g = guard(
        {"name": "no-loss", "rule": "G !trade[profit < 0]"},
        {"name": "n", "rule": "never(x)", "severity": "PERSISTENT_BLOCK"},
    )
    decision = g.propose("trade")
    g.settle(decision, {"profit": 1})
    assert g.settle(decision, {"profit": -1}).allowed
    assert g.trace.calls[0].outcome is not None
    assert g.trace.calls[0].outcome.value == {"profit": 1}
    with pytest.raises(ConstraintError, match="never started"):
        g.settle(g.propose("x"), "late")


@pytest.mark.parametrize("again", ["trade", "other", None])
def test_an_outcome_that_comes_after_a_reset_is_ignored(again: str | None) -> None:
    g = guard({"name": "no-failure", "rule": "G !*[failed]"})
    late = g.propose("trade", {"x": 1}, start=5.0)
    g.reset()
    new = None if again is None else g.propose(again, {"x": 1}, start=5.0)
    decision = g.settle(late, error="the call of a run that is over")
    assert (decision.allowed, decision.action, decision.violations) == (True, "allow", ())
    assert (g.stopped, [c.outcome for c in g.trace.calls]) == (None, [None] * (again is not None))
    if new is not None:
        assert new.id != late.id
        assert g.settle(new, error="its own").action == "stop"


def test_the_first_stop_is_the_runs_whatever_still_settles() -> None:
    g = guard({"name": "no-send", "rule": "never(send)"}, {"name": "no-loss", "rule": "G !trade[profit < 0]"})
    trade = g.propose("trade")
    g.propose("send", {"to": "a"}, id="call_2", step=1)
    late = g.settle(trade, {"profit": -1})
    assert [v.constraint_name for v in late.violations] == ["no-loss"]
    status = g.status()
    assert status["stopped_by"] == "no-send"
    assert status["blocked_tool_call"]["tool_id"] == "call_2"
    assert [v["constraint_name"] for v in status["violations"]] == ["no-send", "no-loss"]


def test_what_the_user_said_counts_from_then_on() -> None:
    g = guard({"name": "named", "rule": "G (pay(to = ?p) -> said(?p))", "severity": "PERSISTENT_BLOCK"})
    g.said("pay Alice")
    assert g.propose("pay", {"to": "alice"}).allowed
    assert not g.propose("pay", {"to": "bob"}).allowed
    g.said("and Bob too")
    assert g.propose("pay", {"to": "bob"}).allowed


@pytest.mark.parametrize("text", [None, b"pay Alice", {"role": "user", "content": "pay Alice"}, ["pay Alice"]])
def test_what_is_no_text_was_not_said(text: Any) -> None:
    g = guard({"name": "named", "rule": "G (pay -> said(.to))"})
    with pytest.raises(TypeError, match="the text of a message"):
        g.said(text)
    assert g.trace.messages == ()


@pytest.mark.parametrize("tool", [None, {"name": "pay", "arguments": {}}, ("pay", {})])
def test_a_call_without_a_name_is_no_proposal(tool: Any) -> None:
    g = guard({"name": "never", "rule": "G !pay"})
    with pytest.raises(TypeError, match="the name of a tool"):
        g.propose(tool)
    assert len(g.trace) == 0
    assert g.propose("other").allowed


def test_steps_count_on_over_runs_and_violations_carry_the_runs_own() -> None:
    g = guard({"name": "one", "rule": "G !same_step", "severity": "PERSISTENT_BLOCK"})
    g.said("first")
    ran(g, "a", step=1)
    ran(g, "b", step=2)
    g.said("second")
    ran(g, "c", step=1)
    assert [c.step for c in g.trace.calls] == [1, 2, 3]
    decision = g.propose("d", step=1)
    assert decision.violations[0].step_number == 1


def test_final_answer_is_an_event_only_for_a_rule_that_names_it() -> None:
    g = guard({"name": "any", "rule": "never(*)", "severity": "PERSISTENT_BLOCK"})
    assert g.propose("final_answer", {"answer": 1}).allowed
    assert g.status()["constraint_checks"] == 0
    g = guard({"name": "asked", "rule": "G (final_answer -> O look[ok])", "severity": "PERSISTENT_BLOCK"})
    assert not g.propose("final_answer", {"answer": 1}).allowed
    ran(g, "look")
    ran(g, "final_answer", {"answer": 1})
    assert [c["tool_name"] for c in g.status()["completed_trace"]] == ["look"]


def test_a_rule_that_cannot_be_judged_refuses_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    g = guard({"name": "one", "rule": "G !same_step", "severity": "PERSISTENT_BLOCK"})
    decision = g.propose("a")  # no step
    assert not decision.allowed
    assert "same_step" in decision.feedback
    assert "Traceback" in caplog.text
    g = guard({"name": "one", "rule": "G !same_step", "severity": "TOLERATE"})
    assert g.propose("a").action == "warn"


def test_finish_names_what_is_still_owed() -> None:
    g = guard({"name": "told", "rule": "response(cancel, notify)"})
    ran(g, "cancel")
    assert g.finish().owed == ("told",)
    ran(g, "notify")
    assert g.finish().owed == ()


def test_unknown_names_and_severities_are_errors_that_suggest() -> None:
    with pytest.raises(ConstraintError, match="did you mean `read-first`"):
        guard(severities={"read-frist": "TOLERATE"})
    with pytest.raises(ConstraintError, match="did you mean `HARD_STOP`"):
        guard(default_severity="HARDSTOP")
    with pytest.raises(ConstraintError, match="unknown severity"):
        guard(severities={"read-first": "WHATEVER"})
    with pytest.raises(ConstraintError, match="suite"):
        guard({"name": "x", "rule": "never(a)", "where": {"suite": "retail"}})
    limited = {"name": "x", "rule": "never(a)", "where": {"suite": "retail"}}
    assert guard(limited, fields={"suite": "airline"}).propose("a").allowed
    assert not guard(limited, fields={"suite": "retail"}).propose("a").allowed


def test_which_calls_touch_a_rule() -> None:
    g = guard(READ_FIRST, Constraint("far", "precedence(no_such_tool, other)"))
    assert g.touches("cancel")
    assert g.touches("read")
    assert not g.touches("look")
    assert guard({"name": "i", "rule": "init(a)"}).touches("b")
    assert guard({"name": "u", "rule": "a U b"}).touches("c")
    assert guard({"name": "x", "rule": "X a"}).touches("c")
    assert guard({"name": "m", "rule": "at_most(*, 1000000)"}).touches("c")
    assert guard({"name": "s", "rule": "G !same_step"}).touches("c")
    assert not guard({"name": "v", "rule": "G (pay(to = ?p) -> said(?p))"}).touches("look")
    done = guard({"name": "p", "rule": "precedence(login, pay)"})
    ran(done, "login")
    assert not done.touches("pay")


def test_a_copy_goes_its_own_way_and_a_pickled_guard_goes_on() -> None:
    g = guard({"name": "once", "rule": "at_most(pay, 1)", "severity": "PERSISTENT_BLOCK"})
    twin = copy.deepcopy(g)
    ran(g, "pay")
    assert not g.propose("pay").allowed
    assert twin.propose("pay").allowed
    assert not pickle.loads(pickle.dumps(g)).propose("pay").allowed


def test_reset_forgets_everything() -> None:
    g = guard()
    g.propose("cancel", {"order": 7})
    g.reset()
    assert g.status() == guard().status()
    assert g.propose("read").allowed


def test_a_proposal_changes_nothing_until_it_is_allowed() -> None:
    g = guard({"name": "twice", "rule": "at_most(pay, 2)", "severity": "PERSISTENT_BLOCK"})
    ran(g, "pay")
    ran(g, "pay")
    before = g.verdicts()
    for _ in range(5):
        assert not g.propose("pay").allowed
    assert g.verdicts() == before
    assert len(g.trace.calls) == 2


def test_many_threads_are_judged_one_after_another() -> None:
    g = guard({"name": "ten", "rule": "at_most(pay, 10)", "severity": "PERSISTENT_BLOCK"})
    allowed = []

    def pay() -> None:
        for _ in range(5):
            decision = g.propose("pay")
            if decision.allowed:
                allowed.append(decision)
                g.settle(decision, "ok")

    threads = [threading.Thread(target=pay) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(allowed) == 10
    assert g.status()["constraint_checks"] == 40


def test_what_comes_late_has_the_step_of_its_own_run() -> None:
    rules = [
        {"name": "ok", "rule": "never(slow[failed])", "severity": "TOLERATE"},
        {"name": "ask", "rule": "never(pay)", "severity": "ASK"},
        {"name": "few", "rule": "at_most(approved, 0)", "severity": "TOLERATE"},
    ]
    g = Guard(rules)
    g.said("First.")
    slow = g.propose("slow", step=2)
    pay = g.propose("pay", step=3)
    g.said("Second.")
    g.propose("other", step=1)
    g.settle(slow, error="too late")
    g.approve(pay)
    g.propose("pay", step=2)
    found = [(v.constraint_name, v.step_number) for v in g.violations]
    assert found == [("ask", 3), ("ok", 2), ("few", 1), ("ask", 2)]
    assert [v.step_number for v in Guard.from_state(g.to_state()).violations] == [step for _, step in found]
