"""What happened elsewhere before, taken up by a guard."""

import json
from typing import Any

import pytest

from agentltl import Guard, Trace
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
