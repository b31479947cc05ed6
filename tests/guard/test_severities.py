"""Every severity: what it refuses, what it counts, what it lets through, what is recorded."""

from __future__ import annotations

import json
import logging
from enum import Enum
from typing import Any

import pytest

from agentltl import Constraint, ConstraintError, ConstraintSeverity, Guard
from agentltl.guard.decision import Decision


def guard(severity: str, *, rule: str = "never(pay)", **settings: Any) -> Guard:
    return Guard([{"name": "r", "rule": rule, "severity": severity}], **settings)


def ran(g: Guard, tool: str, args: dict[str, object] | None = None, **more: Any) -> Decision:
    decision = g.propose(tool, args or {}, **more)
    if decision.allowed:
        g.settle(decision, "ok")
    return decision


@pytest.mark.parametrize(
    ("severity", "allowed", "action"),
    [
        ("HARD_STOP", False, "stop"),
        ("PERSISTENT_BLOCK", False, "block"),
        ("ASK", False, "ask"),
        ("SOFT_BLOCK", False, "retry"),
        ("BLOCK_AND_WARN", False, "block"),
        ("TOLERATE", True, "warn"),
    ],
)
def test_what_each_severity_does_with_a_call(severity: str, allowed: bool, action: str) -> None:
    g = guard(severity)
    decision = g.propose("pay", {"to": "bob"})
    assert (decision.allowed, decision.action) == (allowed, action)
    assert [v.severity.name for v in g.violations] == [severity]
    assert [c.tool for c in g.trace.calls] == (["pay"] if allowed else [])
    assert (g.stopped is not None) is (severity == "HARD_STOP")
    assert bool(decision.feedback) is not allowed


def actions(g: Guard, tools: str) -> list[str]:
    return [ran(g, {"p": "pay", "l": "look"}[tool]).action for tool in tools]


@pytest.mark.parametrize(
    ("settings", "tools", "expected"),
    [
        ({}, "pppp", "retry retry retry stop"),
        ({"max_soft_attempts": 1}, "plp", "retry allow stop"),
        ({"max_soft_attempts": 0}, "p", "stop"),
        ({"max_soft_attempts": 2, "escalate_to": "ASK"}, "pppp", "retry retry ask ask"),
        ({"soft_block_mode": "consecutive"}, "pplppplp", "retry retry allow retry retry retry allow retry"),
        ({"soft_block_mode": "consecutive", "max_soft_attempts": 2}, "plppp", "retry allow retry retry stop"),
        ({"soft_block_mode": "hybrid", "max_soft_attempts": 4}, "ppp", "retry retry stop"),
        ({"soft_block_mode": "hybrid", "max_soft_attempts": 4}, "pplpplp", "retry retry allow retry retry allow stop"),
        (
            {"soft_block_mode": "hybrid", "max_soft_attempts": 9, "max_consecutive_soft_attempts": 1},
            "plpp",
            "retry allow retry stop",
        ),
    ],
)
def test_soft_blocks_are_counted(settings: dict[str, Any], tools: str, expected: str) -> None:
    assert actions(guard("SOFT_BLOCK", **settings), tools) == expected.split()


def test_a_constraint_has_its_own_way_to_count() -> None:
    own = Constraint("r", "never(pay)", severity="SOFT_BLOCK", max_soft_attempts=1, soft_block_mode="consecutive")
    assert actions(Guard([own], max_soft_attempts=9), "plpp") == ["retry", "allow", "retry", "stop"]


def test_what_is_escalated_is_recorded_as_what_it_became() -> None:
    g = guard("SOFT_BLOCK", max_soft_attempts=1)
    actions(g, "pp")
    assert [(v.severity.name, v.escalated) for v in g.violations] == [("SOFT_BLOCK", False), ("HARD_STOP", True)]
    assert [v["severity"] for v in g.status()["violations"]] == ["SOFT_BLOCK", "HARD_STOP"]
    assert g.status()["status"] == "stopped"


def test_the_identical_call_in_the_next_message_insists() -> None:
    g = guard("BLOCK_AND_WARN")
    first = ran(g, "pay", {"to": "bob", "amount": 1.0}, step=1)
    assert "identical call in your next message" in first.feedback
    assert not ran(g, "pay", {"to": "bob", "amount": 1}, step=1).allowed, "the same message"
    assert not ran(g, "pay", {"to": "eve", "amount": 1}, step=2).allowed, "another call"
    second = ran(g, "pay", {"amount": 1, "to": "bob"}, step=2)
    assert (second.allowed, second.action) == (True, "warn")
    assert [v.override for v in g.violations] == [False, False, False, True]
    assert not ran(g, "pay", {"to": "bob", "amount": 1}, step=3).allowed, "good for once"
    assert not ran(g, "pay", {"to": "eve", "amount": 1}, step=4).allowed, "not the next message"
    assert g.status().counts["r"]["overrides"] == 1


def test_the_next_message_may_be_the_first_of_the_next_run() -> None:
    g = guard("BLOCK_AND_WARN")
    g.said("Pay.")
    assert ran(g, "look", step=1).allowed
    assert not ran(g, "pay", step=2).allowed
    g.said("Yes, pay.")
    assert ran(g, "pay", step=1).allowed
    other = guard("BLOCK_AND_WARN")
    assert not ran(other, "pay", step=1).allowed
    other.said("Look first.")
    assert ran(other, "look", step=1).allowed
    assert not ran(other, "pay", step=2).allowed, "a message came between"


def test_what_the_identical_call_is_where_an_argument_equals_nothing() -> None:
    nan, table = float("nan"), object()
    for args, same in [
        ({"m": 1.0, "n": float("nan"), "t": table}, True),
        ({"t": table, "n": nan, "m": 1}, True),
        ({"n": nan, "m": 1, "t": object()}, False),
        ({"n": nan, "m": "1", "t": table}, False),
        ({"n": [nan], "m": 1, "t": table}, False),
    ]:
        g = guard("BLOCK_AND_WARN")
        assert not ran(g, "pay", {"n": nan, "m": 1, "t": table}, step=1).allowed
        assert ran(g, "pay", args, step=2).allowed is same


def test_without_steps_the_next_proposal_insists() -> None:
    g = guard("BLOCK_AND_WARN")
    assert not ran(g, "pay").allowed
    assert ran(g, "pay").allowed
    assert not ran(g, "pay").allowed
    ran(g, "look")
    assert not ran(g, "pay").allowed


def test_the_strongest_decides_and_tells_of_all_of_its_kind() -> None:
    g = Guard(
        [
            {"name": "soft", "rule": "never(pay)", "severity": "SOFT_BLOCK"},
            {"name": "one", "rule": "G (pay -> O look)", "severity": "PERSISTENT_BLOCK", "repair": "Look first"},
            {"name": "two", "rule": 'never(pay(to = "eve"))', "severity": "PERSISTENT_BLOCK"},
            {"name": "warn", "rule": "never(pay)", "severity": "TOLERATE"},
        ]
    )
    decision = ran(g, "pay", {"to": "eve"})
    assert decision.action == "block"
    assert [v.constraint_name for v in decision.violations] == ["one", "two", "soft"]
    assert "Rule one" in decision.feedback
    assert "Rule two" in decision.feedback
    assert "Rule soft" not in decision.feedback
    assert "warn" not in [v.constraint_name for v in g.violations], "the call did not run"


def test_a_refusal_says_what_to_call_first_and_nothing_that_is_forbidden() -> None:
    rules = [
        {"name": "read", "rule": "G (cancel(id = ?o) -> O get(id = ?o)[ok])", "severity": "PERSISTENT_BLOCK"},
        {"name": "login", "rule": "G (get -> O login[ok])", "severity": "PERSISTENT_BLOCK"},
    ]
    g = Guard(rules)
    decision = g.propose("cancel", {"id": "W1"})
    assert [str(call) for call in decision.plan] == ["login[ok]", 'get(id = "W1")[ok]']
    assert 'First call `login`, then `get(id = "W1")`; then make this call again.' in decision.feedback
    for call in decision.plan:
        assert ran(g, call.tool, dict(call.args)).allowed
    assert ran(g, "cancel", {"id": "W1"}).allowed
    hopeless = Guard([*rules, {"name": "no", "rule": "never(login)", "severity": "PERSISTENT_BLOCK"}])
    told = hopeless.propose("get", {"id": "W1"})
    assert told.plan == ()
    assert "First call" not in told.feedback


def reading(repair: str = "") -> Guard:
    """A guard that wants an order read, and pending, before it is cancelled."""
    pending = 'G (cancel(id = ?o) -> (!get(id = ?o)[ok] S get(id = ?o)[ok, status = "pending"]))'
    return Guard([{"name": "read", "rule": pending, "severity": "PERSISTENT_BLOCK", "repair": repair}])


def test_where_a_rule_says_what_to_do_instead_nothing_is_said_of_giving_up() -> None:
    for repair in ("", "Do it by hand."):
        g = Guard([{"name": "no", "rule": "never(pay)", "severity": "PERSISTENT_BLOCK", "repair": repair}])
        assert ("go on without it" in g.propose("pay").feedback) == (not repair)


def test_a_refusal_does_not_hope_for_another_result_against_what_the_rule_says() -> None:
    for repair in ("", "Do not cancel it."):
        g = reading(repair)
        asked = "First call `get(" in g.propose("cancel", {"id": "W1"}).feedback
        assert asked, "nobody has looked yet"
        decision = g.propose("get", {"id": "W1", "quick": True})
        g.settle(decision, {"status": "sent"})
        decision = g.propose("cancel", {"id": "W1"})
        assert [call.tool for call in decision.plan] == ["get"]
        assert ("First call" in decision.feedback) == (not repair)
        assert "First call `get(" in g.propose("cancel", {"id": "W2"}).feedback, "that is another order"


def test_a_call_that_failed_may_be_made_again() -> None:
    g = reading("Read it first.")
    g.settle(g.propose("get", {"id": "W1"}), error="the line is busy")
    assert "First call `get(" in g.propose("cancel", {"id": "W1"}).feedback


INSIST = "make the identical call in your next message"


def test_the_identical_call_is_offered_only_where_it_would_run() -> None:
    g = guard("BLOCK_AND_WARN")
    told = g.propose("pay").feedback
    assert told.endswith(f"If you are sure, {INSIST}: it will run.")
    assert "go on without it" not in told, "no calls open the way, but insisting does"
    outcome = guard("BLOCK_AND_WARN", rule="G !pay[failed]")
    told = outcome.settle(outcome.propose("pay"), error="no").feedback
    assert "Rule r" in told
    assert INSIST not in told, "it has run, and nobody was warned"
    assert ran(outcome, "pay").allowed


def test_the_identical_call_is_asked_about_where_another_rule_asks() -> None:
    g = Guard([
        {"name": "warn", "rule": "never(pay)", "severity": "BLOCK_AND_WARN"},
        {"name": "ask", "rule": "at_most(pay, 0)", "severity": "ASK"},
    ])  # fmt: skip
    first = g.propose("pay")
    assert first.feedback.endswith(f"If you are sure, {INSIST}: a person is asked about it then.")
    assert INSIST not in g.deny(first, "no").feedback
    assert g.propose("pay").action == "ask"


@pytest.mark.parametrize("severity", ["ASK", "BLOCK_AND_WARN"])
def test_a_rule_that_gives_way_does_not_hide_what_is_to_be_called_first(severity: str) -> None:
    g = Guard([
        {"name": "gives-way", "rule": "never(pay)", "severity": severity},
        {"name": "look-first", "rule": "precedence(look, pay)", "severity": "PERSISTENT_BLOCK"},
    ])  # fmt: skip
    told = g.propose("pay").feedback
    assert told.endswith("First call `look`; then make this call again.")
    assert ran(g, "look").allowed
    second = g.propose("pay")
    assert second.action == ("ask" if severity == "ASK" else "block")
    if severity == "ASK":
        g.approve(second)
    assert "pay" in g.allowed(), "this very call is allowed now"
    assert g.propose("pay").allowed
    assert "pay" not in g.allowed(), "that was good for once"
    narrow = Guard([
        {"name": "gives-way", "rule": "never(pay) & never(look)", "severity": severity},
        {"name": "look-first", "rule": "precedence(look, pay)", "severity": "PERSISTENT_BLOCK"},
    ])  # fmt: skip
    assert "First call" not in narrow.propose("pay").feedback, "it would refuse that, too"


def test_an_approval_that_a_rule_refuses_is_no_call_to_insist_on() -> None:
    g = Guard([
        {"name": "ask", "rule": "never(pay)", "severity": "ASK"},
        {"name": "none", "rule": "never(approved)", "severity": "BLOCK_AND_WARN"},
    ])  # fmt: skip
    assert INSIST not in g.approve(g.propose("pay")).feedback


def test_shadow_mode_judges_and_records_and_refuses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    for severity in ConstraintSeverity:
        g = guard(severity.name, enforce=False)
        with caplog.at_level(logging.WARNING, logger="agentltl"):
            decision = ran(g, "pay")
        assert (decision.allowed, decision.action) == (True, "warn")
        assert g.stopped is None
        (record,) = g.status()["violations"]
        assert record["severity"] == severity.name
    assert "not enforced" in caplog.text
    own = Guard([Constraint("a", "never(pay)", enforce=False), Constraint("b", "never(look)")])
    assert ran(own, "pay").allowed
    assert not ran(own, "look").allowed


def test_a_call_that_is_refused_again_and_again_stops_the_run() -> None:
    g = guard("PERSISTENT_BLOCK", max_identical_refusals=3)
    assert [ran(g, "pay", {"n": n}).action for n in (1, 1, 2, 2, 2)] == ["block", "block", "block", "block", "stop"]
    assert g.status()["stopped_by"] == "repeated-refusals"
    other = guard("PERSISTENT_BLOCK", max_identical_refusals=2)
    assert actions(other, "plpp") == ["block", "allow", "block", "stop"]


def test_looking_ahead_jointly_refuses_what_could_not_be_kept_together() -> None:
    rules = [
        {"name": "answer", "rule": "response(open, close)", "severity": "PERSISTENT_BLOCK"},
        {"name": "never-close", "rule": "G (pay -> G !close)", "severity": "HARD_STOP"},
        {"name": "other", "rule": "never(rm)", "severity": "PERSISTENT_BLOCK"},
    ]
    plain, joint = Guard(rules), Guard(rules, lookahead="joint")
    for g in (plain, joint):
        assert ran(g, "pay").allowed
    assert plain.propose("open").allowed
    assert plain.repair("open") == ()
    assert joint.repair("open") is None
    assert joint.repair("look") == ()
    decision = joint.propose("open")
    assert (decision.allowed, decision.action) == (False, "stop")
    assert {v.constraint_name for v in decision.violations} == {"answer", "never-close"}
    assert "keeps `answer` and `never-close` together" in decision.feedback
    soft = Guard([rules[0], {**rules[1], "severity": "PERSISTENT_BLOCK"}], lookahead="joint")
    assert ran(soft, "open").allowed
    assert not soft.propose("pay").allowed
    assert ran(soft, "close").allowed
    assert soft.propose("pay").allowed


def test_settings_that_make_no_sense_are_errors() -> None:
    for wrong, says in (
        ({"lookahead": "both"}, 'use "rule" or "joint"'),
        ({"max_soft_attempts": -1}, "whole number from 0"),
        ({"soft_block_mode": "consecutiv"}, "did you mean `consecutive`"),
        ({"escalate_to": "TOLERATE"}, "use HARD_STOP or ASK"),
        ({"max_identical_refusals": 0}, "whole number from 1"),
        ({"enforce": "yes"}, "give True or False"),
    ):
        with pytest.raises(ConstraintError, match=says):
            guard("SOFT_BLOCK", **wrong)
    with pytest.raises(ConstraintError, match="`max_soft_attempts` of constraint `r`"):
        Constraint("r", "never(a)", max_soft_attempts=-2)
    with pytest.raises(ConstraintError, match="give true or false"):
        Constraint("r", "never(a)", enforce="no")  # type: ignore[arg-type]


@pytest.mark.parametrize("severity", [severity.name for severity in ConstraintSeverity])
@pytest.mark.parametrize(
    "rule", ["never(pay)", "no_repeat(pay)", "G (pay(x = ?v) -> O look(x = ?v))", "G !pay(x.k = 1)"]
)
def test_a_value_is_judged_however_deeply_it_is_nested(severity: str, rule: str) -> None:
    for depth in (99, 100, 101, 330, 400, 450, 490, 980):
        value: Any = 1
        for _ in range(depth):
            value = {"k": value}
        g = guard(severity, rule=rule)
        for step in (1, 2):
            decision = g.propose("pay", {"x": value}, step=step)
            if decision.allowed:
                g.settle(decision, value)
        twin = Guard.from_state(json.loads(json.dumps(g.to_state())))
        assert (twin.verdicts(), len(twin.violations)) == (g.verdicts(), len(g.violations))
    around: list[Any] = []
    around.append(around)
    assert guard(severity).propose("pay", {"x": around}).allowed is (severity == "TOLERATE")


class Colour(str, Enum):  # noqa: UP042  whose `str` is its name
    RED = "red"


class Sly(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "safe"

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 7


class Small(int):
    def __gt__(self, other: int) -> bool:
        return False


def test_a_text_or_number_of_a_class_of_its_own_is_what_it_is() -> None:
    for rule, args in [
        ('G !pay(x = "red")', {"x": Colour.RED}),
        ('G !pay(x = "bad")', {"x": Sly("bad")}),
        ('G !pay(x = "bad")', {Sly("x"): "bad"}),
        ('G !pay(x has "bad")', {"x": [Sly("bad")]}),
        ("G !pay(x > 5)", {"x": Small(9)}),
        ("G !pay(x.y > 5)", {"x": {"y": Small(9)}}),
    ]:
        assert not guard("PERSISTENT_BLOCK", rule=rule).propose("pay", args).allowed, rule


def test_keys_that_read_alike_hide_nothing() -> None:
    for opts in ({"None": 9, None: 1}, {None: 9, "None": 1}):
        assert not guard("PERSISTENT_BLOCK", rule="G !pay(opts.None > 5)").propose("pay", {"opts": opts}).allowed


def test_a_rule_that_cannot_be_judged_refuses_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    g = guard("PERSISTENT_BLOCK", rule='G !(pay & $boom_severity("x"))')
    with caplog.at_level(logging.ERROR, logger="agentltl"):
        for _ in range(3):
            decision = g.propose("pay")
            assert not decision.allowed
            assert "cannot be judged" in decision.feedback
    assert sum("could not judge" in record.message for record in caplog.records) == 1
    assert "ZeroDivisionError" in caplog.text


@pytest.fixture(autouse=True)
def _boom() -> None:
    from agentltl import register_predicate

    register_predicate("boom_severity", boom)


def boom(prefix: object, value: object) -> bool:
    return bool(1 / 0)
