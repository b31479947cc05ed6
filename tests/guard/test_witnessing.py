"""What happened elsewhere before, taken up by a guard."""

import json
from typing import Any

import pytest

from agentltl import ConstraintError, Guard, Trace
from agentltl.constraints.trace import Call, Message, Outcome

RULES: list[dict[str, Any]] = [
    {"name": "read", "rule": "G (change(id = ?o) -> O read(id = ?o)[ok])", "severity": "SOFT_BLOCK"},
    {"name": "once", "rule": "at_most(pay, 1)"},
    {"name": "named", "rule": "G (send -> said(.to))", "severity": "PERSISTENT_BLOCK"},
    {"name": "turn", "rule": "G (rm -> informed)", "severity": "TOLERATE"},
]


def call(tool: str, step: int, result: str | None = "ok", error: str | None = None, **args: Any) -> Call:
    started = Call(tool, Trace.from_messages([]).fields | args, None, step)
    return started if result is None and error is None else started.settle(Outcome.of(result, error))


def trace(*calls: Call, said: Any = ()) -> Trace:
    return Trace(calls, tuple(Message(text, before) for text, before in said))


def again(guard: Guard) -> Guard:
    return Guard.from_state(json.loads(json.dumps(guard.to_state())))


@pytest.mark.parametrize("saved", [False, True])
def test_what_was_seen_has_happened(saved: bool) -> None:
    guard = Guard(RULES[:3])
    guard.seen(trace(call("read", 1, id=1), call("read", 2, error="gone", id=2), call("pay", 3), said=[("to bob", 0)]))
    guard = again(guard) if saved else guard
    guard.said("Go on.")
    assert guard.propose("change", {"id": 1}).allowed
    assert not guard.propose("change", {"id": 2}).allowed
    assert guard.propose("send", {"to": "bob"}).allowed
    assert not guard.propose("send", {"to": "eve"}).allowed
    assert guard.propose("pay").action == "stop"


@pytest.mark.parametrize("saved", [False, True])
def test_nothing_is_refused_and_all_is_on_record(saved: bool) -> None:
    guard = Guard(RULES[:3], lookahead="joint")
    guard.seen(trace(call("pay", 1), call("pay", 1), call("pay", 1), call("change", 2, id=1)))
    guard = again(guard) if saved else guard
    assert [(v.constraint_name, v.enforced) for v in guard.violations] == [
        ("once", False),
        ("once", False),
        ("read", False),
    ]
    assert guard.stopped is None
    assert len(guard.trace.calls) == 4
    assert not guard.propose("change", {"id": 2}).allowed
    assert guard.propose("look").allowed
    assert guard.propose("pay").action == "stop"


def test_settings_are_those_from_before() -> None:
    guard = Guard(RULES[:3])
    before = guard.settings, dict(guard.severities)
    guard.seen(trace(call("pay", 1)))
    assert (guard.settings, dict(guard.severities)) == before
    assert guard.to_state()["settings"]["enforce"] is True


def test_a_call_without_a_result_never_came_back() -> None:
    made = {"id": "a", "function": {"name": "read", "arguments": '{"id": 1}'}}
    guard = Guard(RULES[:1])
    guard.seen(Trace.from_messages([{"role": "assistant", "tool_calls": [made]}]))
    assert not guard.propose("change", {"id": 1}).allowed


def test_a_guard_that_has_seen_a_trace_is_where_one_is_that_has_judged_it() -> None:
    calls = [("read", {"id": 1}, 1), ("look", {}, 2), ("send", {"to": "bob"}, 1), ("change", {"id": 1}, 2)]
    one = Guard(RULES)
    for place, (tool, args, step) in enumerate(calls):
        if place in (0, 2):
            one.said("write to bob")
        one.settle(one.propose(tool, args, step=step), "ok")
    other = Guard(RULES)
    other.seen(trace(*one.trace.calls, said=[(m.text, m.before) for m in one.trace.messages or ()]))
    assert repr(other.trace) == repr(one.trace)
    assert other.verdicts() == one.verdicts()
    assert other.status() == one.status()


def handed(guard: Guard, saved: bool) -> Guard:
    guard.handed_over()
    guard = again(guard) if saved else guard
    guard.said("Go on.")
    return guard


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("step", [None, 1])
def test_handed_over_nobody_insists_on_what_another_was_refused(saved: bool, step: int | None) -> None:
    guard = Guard([{**RULES[0], "severity": "BLOCK_AND_WARN"}])
    guard.propose("change", {"id": 1}, step=step)
    guard = handed(guard, saved)
    assert not guard.propose("change", {"id": 1}, step=step).allowed
    assert guard.propose("change", {"id": 1}, step=step and 2).violations[0].override  # now it was told itself


@pytest.mark.parametrize("saved", [False, True])
def test_handed_over_refusals_are_counted_anew_and_stay_on_record(saved: bool) -> None:
    guard = Guard(RULES[:1], max_soft_attempts=2, max_identical_refusals=3)
    refused = [guard.propose("change", {"id": 1}).action for _ in range(2)]
    guard = handed(guard, saved)
    assert [guard.propose("change", {"id": 1}).action for _ in range(2)] == refused
    assert guard.propose("change", {"id": 1}).action == "stop"
    assert len(guard.violations) == guard.status().counts["read"]["violations"] == 5
    assert guard.status().counts["read"]["soft_refusals"] == 3


@pytest.mark.parametrize("saved", [False, True])
def test_handed_over_no_approval_is_left_and_none_can_come(saved: bool) -> None:
    rules = [
        {"name": "ask", "rule": "never(pay)", "severity": "ASK"},
        {"name": "event", "rule": "before(approved, send)"},
    ]
    guard = Guard(rules)
    approved, open_ = guard.propose("pay", {"to": "bob"}), guard.propose("pay", {"to": "eve"})
    assert guard.approve(approved).allowed
    guard = handed(guard, saved)
    assert guard.pending == ()
    assert not guard.propose("pay", {"to": "bob"}).allowed
    for decision in (approved, open_):
        with pytest.raises(ConstraintError, match="has been answered"):
            guard.approve(decision)
    assert guard.propose("send").allowed  # that something was approved has happened


def test_handed_over_what_has_happened_stands() -> None:
    guard = Guard(RULES)
    guard.said("write to bob")
    guard.settle(guard.propose("read", {"id": 1}), "ok")
    guard.propose("change", {"id": 2})
    before = repr(guard.trace), guard.verdicts(), guard.violations
    guard.handed_over()
    assert (repr(guard.trace), guard.verdicts(), guard.violations) == before
    assert guard.propose("change", {"id": 1}).allowed


def test_a_stopped_guard_takes_up_what_happened_and_stays_stopped() -> None:
    guard = Guard([*RULES[1:2], {"name": "no", "rule": "never(bad)"}])
    assert guard.propose("bad", step=1).action == "stop"
    guard.seen(trace(call("pay", 1)))
    guard = again(guard)
    assert [c.tool for c in guard.trace.calls] == ["pay"]
    assert guard.propose("look").action == "stop"
    guard.said("Go on.")
    assert guard.propose("pay").action == "stop"


def test_approvals_are_left_out() -> None:
    asked = Guard([{"name": "ask", "rule": "never(pay)", "severity": "ASK"}])
    asked.approve(asked.propose("pay", {"x": 1}, step=1), by="me")
    asked.settle(asked.propose("pay", {"x": 1}, step=2), result="ok")
    other = Guard(asked.constraints)
    other.seen(asked.trace)
    assert [c.tool for c in other.trace.calls] == ["pay"]
    assert other.propose("pay", {"x": 1}).action == "ask"
