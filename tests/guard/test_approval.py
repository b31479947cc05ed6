"""Approval: who is asked about what, what an answer lets through, and what it does not."""

from __future__ import annotations

import json
import logging
import random
import subprocess
import sys
import threading
from typing import Any

import pytest

from agentltl import ConstraintError, Guard
from agentltl.guard.decision import Decision

PAY = {"name": "pay", "rule": "never(pay)", "severity": "ASK", "description": "A person sees each payment"}
CALL = {"to": "bob", "amount": 5}


def guard(*more: dict[str, Any], **settings: Any) -> Guard:
    return Guard([PAY, *more], **settings)


def asked(g: Guard, args: Any = CALL, **more: Any) -> Decision:
    decision = g.propose("pay", args, **more)
    assert (decision.allowed, decision.action) == (False, "ask")
    return decision


def again(g: Guard) -> Guard:
    return Guard.from_state(json.loads(json.dumps(g.to_state())))


def test_without_an_answer_a_call_that_asks_is_refused() -> None:
    g = guard()
    decision = asked(g)
    assert "It runs only if a person approves it." in decision.feedback
    assert g.approvable(decision)
    assert g.pending == (decision,)
    assert g.trace.calls == ()
    assert g.stopped is None


def test_the_approved_call_runs_once_and_asks_again() -> None:
    g = guard()
    approval = g.approve(asked(g), by="ann")
    assert approval.allowed
    assert g.pending == ()
    first = g.propose("pay", CALL)
    assert (first.allowed, first.action) == (True, "warn")
    g.settle(first, "paid")
    asked(g)
    assert [v.approved for v in g.violations] == [False, True, False]


def test_what_was_not_broken_any_more_uses_the_approval_too() -> None:
    g = Guard([{"name": "r", "rule": "G (pay -> O look[ok])", "severity": "ASK"}])
    g.approve(g.propose("pay", CALL))
    g.settle(g.propose("look"), "seen")
    assert g.propose("pay", CALL).action == "allow"
    assert not g._state.approvals.grants


@pytest.mark.parametrize(
    ("args", "same"),
    [
        ({"amount": 5.0, "to": "bob"}, True),
        ({"amount": "5", "to": "bob"}, False),
        ({"amount": 5, "to": "bob", "note": None}, False),
        ({"amount": 5, "to": "Bob"}, False),
        ({"amount": 5}, False),
        ({}, False),
    ],
)
def test_an_approval_is_for_the_exact_arguments_as_json_values(args: Any, same: bool) -> None:
    g = guard()
    g.approve(asked(g))
    assert g.propose("pay", args).allowed is same
    assert g.propose("pay", CALL).allowed is not same, "another call does not use it up"


def test_an_approval_is_for_the_tool() -> None:
    g = Guard([{"name": "r", "rule": "never(pay) & never(send)", "severity": "ASK"}])
    g.approve(g.propose("pay", CALL))
    assert not g.propose("send", CALL).allowed


def test_values_that_equal_nothing_and_opaque_ones() -> None:
    g = guard()
    picture, odd = object(), {"n": float("nan")}
    g.approve(asked(g, odd))
    assert g.propose("pay", {"n": float("nan")}).allowed
    g.approve(asked(g, {"p": picture}))
    assert not g.propose("pay", {"p": object()}).allowed
    assert g.propose("pay", {"p": picture}).allowed
    g.approve(asked(g, {"n": float("nan"), "p": picture}))
    assert not g.propose("pay", {"n": float("nan"), "p": object()}).allowed


@pytest.mark.parametrize(
    ("settings", "until", "start", "allowed"),
    [
        ({}, None, 700.0, True),
        ({}, None, 700.5, False),
        ({"approval_seconds": 5}, None, 105.0, True),
        ({"approval_seconds": 5}, None, 106.0, False),
        ({}, 150.0, 150.0, True),
        ({}, 150.0, 151.0, False),
        ({}, 50.0, 100.0, False),
        ({}, None, 99.0, False),
    ],
)
def test_an_approval_has_its_time(settings: Any, until: float | None, start: float, allowed: bool) -> None:
    g = guard(**settings)
    g.approve(asked(g, start=90.0), until=until, start=100.0)
    assert g.propose("pay", CALL, start=start).allowed is allowed


def test_the_time_is_that_of_the_clock_where_none_is_given() -> None:
    g = guard(approval_seconds=0.001)
    g.approve(asked(g))
    threading.Event().wait(0.05)
    asked(g)
    g = guard()
    g.approve(asked(g))
    assert g.propose("pay", CALL).allowed


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), True])
def test_a_time_that_is_none_is_an_error(seconds: Any) -> None:
    with pytest.raises(ConstraintError, match="approval_seconds"):
        guard(approval_seconds=seconds)


@pytest.mark.parametrize("severity", ["HARD_STOP", "PERSISTENT_BLOCK", "SOFT_BLOCK", "BLOCK_AND_WARN"])
def test_nobody_is_asked_about_a_call_that_another_rule_refuses(severity: str) -> None:
    g = guard({"name": "eve", "rule": 'never(pay(to = "eve"))', "severity": severity})
    decision = g.propose("pay", {"to": "eve"})
    assert decision.action not in ("ask", "allow", "warn")
    assert "Rule eve" in decision.feedback
    assert "Rule pay" not in decision.feedback
    assert not g.approvable(decision)
    assert g.pending == ()
    assert {v.constraint_name for v in g.violations} == {"pay", "eve"}


def test_what_the_model_insists_on_is_asked_about_then() -> None:
    g = guard({"name": "eve", "rule": 'never(pay(to = "eve"))', "severity": "BLOCK_AND_WARN"})
    assert g.propose("pay", {"to": "eve"}, step=1).action == "block"
    decision = asked(g, {"to": "eve"}, step=2)
    assert g.approvable(decision)
    g.approve(decision)
    assert g.propose("pay", {"to": "eve"}, step=2).allowed
    assert [(v.constraint_name, v.override, v.approved) for v in g.violations[-2:]] == [
        ("pay", False, True),
        ("eve", True, False),
    ]


def test_the_approved_call_is_judged_again_and_the_approval_waits() -> None:
    g = guard({"name": "late", "rule": "G (pay -> !Y O close)", "severity": "PERSISTENT_BLOCK"})
    g.approve(asked(g))
    closed = g.propose("close")
    g.settle(closed, "ok")
    decision = g.propose("pay", CALL)
    assert (decision.allowed, decision.action) == (False, "block")
    assert [v.constraint_name for v in decision.violations if v.refuses] == ["late"]
    assert g._state.approvals.grants, "it has not run, so the approval is still there"


def test_an_approval_is_for_the_constraints_that_asked() -> None:
    g = guard({"name": "big", "rule": "G (pay -> !Y O raise)", "severity": "ASK"})
    g.approve(asked(g))
    g.propose("raise")
    decision = asked(g)
    assert [v.constraint_name for v in decision.violations if v.refuses] == ["big"]
    g.approve(decision)
    assert g.propose("pay", CALL).allowed, "the first approval still stands beside the second"
    g.approve(asked(g))
    assert g.propose("pay", CALL).allowed, "a person who sees both rules allows both"
    asked(g)


def test_a_second_approval_does_not_prolong_the_first() -> None:
    g = guard({"name": "big", "rule": "G (pay -> !Y O raise)", "severity": "ASK"})
    g.approve(asked(g, start=1.0), start=1.0, until=10.0)
    g.propose("raise", start=2.0)
    g.approve(asked(g, start=3.0), start=3.0, until=20.0)
    decision = asked(g, start=15.0)
    assert [v.constraint_name for v in decision.violations if v.refuses] == ["pay"]


def test_approvals_do_not_add_up() -> None:
    g = guard()
    for decision in [asked(g), asked(g), asked(g)]:
        g.approve(decision)
    assert g.propose("pay", CALL).allowed
    asked(g)


def test_pending_are_the_open_questions_and_of_identical_calls_the_latest() -> None:
    g = guard()
    first, other, latest = asked(g), asked(g, {"to": "eve"}), asked(g, {"amount": 5.0, "to": "bob"})
    assert g.pending == (other, latest)
    g.deny(other)
    g.approve(first)
    assert g.pending == ()


def test_two_threads_use_one_approval_once() -> None:
    for _ in range(20):
        g = guard()
        g.approve(asked(g))
        start, allowed = threading.Barrier(4), []

        def pay(g: Guard = g, start: Any = start, allowed: Any = allowed) -> None:
            start.wait()
            allowed.append(g.propose("pay", CALL).allowed)

        threads = [threading.Thread(target=pay) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(allowed) == [False, False, False, True]


def test_an_escalated_rule_asks_like_any() -> None:
    g = Guard([{"name": "r", "rule": "never(pay)", "severity": "SOFT_BLOCK"}], max_soft_attempts=1, escalate_to="ASK")
    first = g.propose("pay", CALL)
    assert (first.action, g.approvable(first), g.pending) == ("retry", False, ())
    second = asked(g)
    g.approve(second)
    assert g.propose("pay", CALL).allowed
    assert [(v.severity.name, v.escalated, v.approved) for v in g.violations] == [
        ("SOFT_BLOCK", False, False),
        ("ASK", True, False),
        ("ASK", True, True),
    ]
    asked(g)


def test_an_escalated_approval_holds_when_the_count_in_a_row_began_anew() -> None:
    g = Guard(
        [{"name": "r", "rule": "never(pay)", "severity": "SOFT_BLOCK"}],
        max_soft_attempts=1, soft_block_mode="consecutive", escalate_to="ASK",
    )  # fmt: skip
    g.propose("pay", CALL)
    g.approve(asked(g))
    g.propose("look")
    assert g.propose("pay", CALL).allowed


def test_the_record_says_that_a_person_has_allowed_it(caplog: pytest.LogCaptureFixture) -> None:
    g = guard()
    g.approve(asked(g))
    with caplog.at_level(logging.WARNING, "agentltl"):
        g.propose("pay", CALL)
    assert "approved: `pay` breaks `pay`" in caplog.text
    status = g.status()
    assert [v["severity"] for v in status["violations"]] == ["ASK", "ASK"]
    assert status["constraint_checks"] == 1, "the approved call is the same call"
    assert [c["tool_name"] for c in status["completed_trace"]] == ["pay"], "an approval is no tool call"


def test_a_denial_is_told_to_the_model() -> None:
    g = guard()
    question = asked(g)
    decision = g.deny(question, "not on a Sunday", by="ann")
    assert (decision.allowed, decision.action) == (False, "ask")
    assert decision.feedback.endswith("A person has denied it: not on a Sunday")
    assert "A person sees each payment" in decision.feedback
    assert "It runs only" not in decision.feedback
    assert g.deny(asked(g)).feedback.endswith("A person has denied it.")
    assert g.pending == ()
    asked(g)


def test_each_question_has_one_answer() -> None:
    g = guard()
    one, two = asked(g), asked(g)
    g.approve(one)
    g.deny(two)
    for decision in (one, two):
        for answer in (g.approve, g.deny):
            with pytest.raises(ConstraintError, match="answered"):
                answer(decision)


def test_only_a_refusal_that_does_not_stop_can_be_answered() -> None:
    g = guard({"name": "stop", "rule": "never(rm)", "severity": "HARD_STOP"})
    allowed = g.propose("look")
    settled = g.settle(allowed, "ok")
    stopped = g.propose("rm")
    for decision in (allowed, settled, stopped, g.finish()):
        assert not g.approvable(decision)
        for answer in (g.approve, g.deny):
            with pytest.raises(ConstraintError, match="asks nobody"):
                answer(decision)
    with pytest.raises(TypeError, match="decision"):
        g.approve("call-1")  # type: ignore[arg-type]


def test_a_stopped_guard_takes_no_approval() -> None:
    g = guard({"name": "stop", "rule": "never(rm)", "severity": "HARD_STOP"})
    question = asked(g)
    g.propose("rm")
    assert not g.approvable(question)
    assert (g.approve(question).allowed, g.approve(question).action) == (False, "stop")
    g.said("go on")
    asked(g)
    assert g.approve(question).allowed


def test_a_reset_forgets_questions_and_approvals() -> None:
    g = guard()
    old = asked(g)
    g.approve(asked(g))
    g.reset()
    assert g.pending == ()
    asked(g)
    with pytest.raises(ConstraintError, match="forgotten"):
        g.approve(old)


def test_the_event_is_in_the_trace_and_only_for_rules_that_name_it() -> None:
    g = guard(
        {"name": "all", "rule": "at_most(*, 1)", "severity": "PERSISTENT_BLOCK"},
        {"name": "named", "rule": 'G !approved(tool = "pay", amount > 3)[by = "eve"]', "severity": "TOLERATE"},
    )
    g.approve(asked(g, step=3, id="c1", agent="a"), by="ann")
    (event,) = g.trace.calls
    assert (event.tool, event.approves, event.args, event.id, event.step, event.agent) == (
        "approved", "pay", CALL, "c1", 3, "a",
    )  # fmt: skip
    assert event.outcome is not None
    assert event.outcome.ok
    assert g.propose("pay", CALL, step=3, agent="a").allowed, (
        "for `*` of a rule that does not name it there is no event"
    )
    g.reset()
    warned = g.approve(asked(g), by="eve")
    assert (warned.allowed, warned.action) == (True, "warn")
    assert [v.constraint_name for v in warned.violations] == ["named"]


def test_the_steps_of_a_trace_do_not_go_back() -> None:
    g = guard({"name": "r", "rule": "G (approved -> !same_step)", "severity": "TOLERATE"})
    question = asked(g, step=1)
    g.propose("look", step=4)
    warned = g.approve(question)
    assert [c.step for c in g.trace.calls] == [4, 4]
    assert [v.step_number for v in warned.violations] == [4]


DEMAND = 'G (pay(args = ?a) -> Y approved(tool = "pay", args = ?a))'


@pytest.mark.parametrize("severity", ["PERSISTENT_BLOCK", "SOFT_BLOCK", "ASK"])
def test_a_rule_that_names_the_event_demands_it_under_any_severity(severity: str) -> None:
    g = Guard([{"name": "r", "rule": DEMAND, "severity": severity}])
    decision = g.propose("pay", CALL)
    assert not decision.allowed
    assert g.approvable(decision)
    assert g.pending == (decision,)
    g.approve(decision)
    assert not g.propose("pay", {"to": "eve"}).allowed, "the rule binds the arguments"
    assert g.propose("pay", CALL).action == "allow"
    assert not g.propose("pay", CALL).allowed, "the event before it is the payment"
    assert not any(v.approved for v in g.violations)


def test_what_the_model_may_insist_on_is_for_nobody_else_to_allow() -> None:
    g = Guard([{"name": "r", "rule": DEMAND, "severity": "BLOCK_AND_WARN"}])
    decision = g.propose("pay", CALL, step=1)
    assert (decision.action, g.approvable(decision), g.pending) == ("block", False, ())


def test_what_the_model_insists_on_does_not_keep_a_rule_that_names_the_event_from_asking() -> None:
    g = Guard([
        {"name": "demand", "rule": DEMAND, "severity": "ASK"},
        {"name": "warn", "rule": "G (pay -> !Y O look)", "severity": "BLOCK_AND_WARN"},
    ])  # fmt: skip
    g.propose("look", step=1)
    assert g.propose("pay", CALL, step=2).action == "block"
    assert g.pending == ()
    decision = asked(g, step=3)
    assert g.approvable(decision)
    g.approve(decision)
    allowed = g.propose("pay", CALL, step=3)
    assert [(v.constraint_name, v.override) for v in allowed.violations] == [("warn", True)]


def test_what_a_person_has_allowed_before_does_not_keep_a_rule_from_asking() -> None:
    g = guard({"name": "demand", "rule": DEMAND, "severity": "PERSISTENT_BLOCK"})
    decision = g.propose("pay", CALL)
    assert (decision.action, g.approvable(decision)) == ("block", True), "one approval serves both"
    g.approve(decision)
    g.propose("look")
    decision = g.propose("pay", CALL)
    assert [v.constraint_name for v in decision.violations] == ["demand"]
    assert g.approvable(decision)
    g.approve(decision)
    assert g.propose("pay", CALL).allowed


def test_a_rule_that_names_the_event_and_is_not_satisfied_by_it_asks_nobody() -> None:
    g = Guard([{"name": "r", "rule": f'{DEMAND} & G !pay(to = "eve")', "severity": "PERSISTENT_BLOCK"}])
    decision = g.propose("pay", {"to": "eve"})
    assert not g.approvable(decision)
    assert g.pending == ()
    assert g.trace.calls == (), "asking what would be changes nothing"


def test_a_rule_can_say_who_approves() -> None:
    g = Guard([{"name": "r", "rule": DEMAND[:-1] + '[by = "ann"])', "severity": "PERSISTENT_BLOCK"}])
    decision = g.propose("pay", CALL)
    assert g.approvable(decision), "somebody may be ann"
    g.approve(decision, by="tom")
    decision = g.propose("pay", CALL)
    assert not decision.allowed
    g.approve(decision, by="ann")
    assert g.propose("pay", CALL).allowed


@pytest.mark.parametrize(("severity", "action"), [("PERSISTENT_BLOCK", "block"), ("HARD_STOP", "stop")])
def test_a_rule_can_limit_approvals(severity: str, action: str) -> None:
    g = guard({"name": "few", "rule": "at_most(approved, 1)", "severity": severity})
    g.approve(asked(g))
    g.propose("pay", CALL)
    question = asked(g)
    assert not g.approvable(question)
    assert g.pending == ()
    refused = g.approve(question)
    assert (refused.allowed, refused.action) == (False, action)
    assert "Rule few" in refused.feedback
    assert (g.stopped is not None) is (action == "stop")
    assert not g.propose("pay", CALL).allowed
    assert [c.tool for c in g.trace.calls] == ["approved", "pay"]


def test_a_tool_cannot_pass_for_an_approval() -> None:
    g = Guard([{"name": "r", "rule": "G (pay -> Y approved)", "severity": "PERSISTENT_BLOCK"}])
    with pytest.raises(ConstraintError, match="named `approved`"):
        g.propose("approved", {"tool": "pay"})
    assert g.trace.calls == ()
    assert Guard().propose("approved").allowed, "without constraints nothing can be passed for"


def test_what_refuses_nothing_asks_nobody() -> None:
    for g in (guard(enforce=False), Guard([PAY | {"enforce": False}])):
        decision = g.propose("pay", CALL)
        assert (decision.allowed, decision.action) == (True, "warn")
        assert [(v.enforced, v.approved) for v in decision.violations] == [(False, False)]
        assert g.pending == ()


def test_a_guard_made_again_goes_on_as_the_one_that_was_saved() -> None:
    rng = random.Random("approval")
    rules = (
        {"name": "soft", "rule": "never(rm)", "severity": "SOFT_BLOCK"},
        {"name": "few", "rule": "at_most(approved, 4)", "severity": "PERSISTENT_BLOCK"},
        {"name": "demand", "rule": DEMAND.replace("pay", "send"), "severity": "PERSISTENT_BLOCK"},
    )
    granted = 0
    for _ in range(40):
        g = guard(*rules, max_soft_attempts=1, escalate_to="ASK", approval_seconds=4)
        for step in range(1, 16):
            g.propose(
                rng.choice(("pay", "rm", "send", "look")), {"n": rng.choice((1, 2))}, step=step, start=float(step)
            )
            if g.pending and rng.random() < 0.7:
                decision = rng.choice(g.pending)
                if rng.random() < 0.8:
                    g.approve(decision, by=rng.choice((None, "ann")), start=step + 0.5)
                else:
                    g.deny(decision, "no")
            if rng.random() < 0.1:
                g.said("go on")
            if rng.random() < 0.05:
                g.reset()
        granted += sum(v.approved for v in g.violations)
        twin = again(g)
        assert twin.to_state() == g.to_state()
        assert twin.status() == g.status()
        assert repr(twin.trace) == repr(g.trace)
        assert [repr(d) for d in twin.pending] == [repr(d) for d in g.pending]
        assert twin.violations == g.violations
        for tool in ("pay", "rm", "send"):
            for n in (1, 2):
                one, other = (x.propose(tool, {"n": n}, step=20, start=17.0) for x in (g, twin))
                assert repr(one) == repr(other)
    assert granted > 20, "approvals were used on the way"


def test_the_state_says_what_was_approved_and_by_whom() -> None:
    g = guard()
    g.approve(asked(g), by="ann")
    g.deny(asked(g, {"to": "eve"}), "who is eve?")
    events = [e for e in g.to_state()["events"] if "propose" not in e]
    assert events[0]["approve"] == "pay"
    assert events[0]["args"] == CALL
    assert events[0]["answer"]["by"] == "ann"
    assert events[0]["answer"]["constraints"] == ["pay"]
    assert events[1]["deny"] == "pay"
    assert events[1]["answer"]["reason"] == "who is eve?"


def test_a_question_is_answered_in_another_process() -> None:
    g = guard()
    asked(g)
    code = (
        "import json, sys; from agentltl import Guard; g = Guard.from_state(json.load(sys.stdin));"
        "(question,) = g.pending; g.approve(question, by='ann'); json.dump(g.to_state(), sys.stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(g.to_state()), capture_output=True, text=True, check=True
    )
    twin = Guard.from_state(json.loads(done.stdout))
    assert twin.propose("pay", CALL).allowed
    assert not twin.propose("pay", CALL).allowed


def test_an_opaque_value_of_another_process_is_asked_about_again() -> None:
    g, thing = guard(), object()
    g.approve(asked(g, {"p": thing}))
    assert not again(g).propose("pay", {"p": thing}).allowed
    assert g.propose("pay", {"p": thing}).allowed


def test_an_answer_that_cannot_be_recorded_is_an_error() -> None:
    g = Guard([{"name": "ask", "rule": "never(pay)", "severity": "ASK"}])
    decision = g.propose("pay")
    for wrong in ({"until": "tomorrow"}, {"until": True}, {"start": "now"}, {"by": 7}):
        with pytest.raises(ConstraintError, match=next(iter(wrong))):
            g.approve(decision, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ConstraintError, match="reason"):
        g.deny(decision, None)  # type: ignore[arg-type]
    assert g.approve(decision, by="ann").allowed
    assert g.propose("pay").allowed
