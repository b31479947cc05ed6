"""The order desk's rules, each on a call that breaks it and on one that does not."""

import json
from typing import Any

import pytest

from agentltl.cli.demo.desk import RULES
from agentltl.constraints.rule_file import load_rules
from agentltl.constraints.verify import verify_trace
from agentltl.guard.guard import Guard

READ = {"paid": 79.0, "refunded": 0, "status": "pending"}
ORDER = {"order_id": "W1"}
LISTED = [{"order_id": "W1", "item": "lamp"}]

Call = tuple[str, dict[str, Any], Any]
GET: Call = ("get_order", ORDER, READ)
LIST: Call = ("list_orders", {"customer": "Mia"}, LISTED)
CANCEL: Call = ("cancel_order", ORDER, {})
REFUND: Call = ("refund_order", {**ORDER, "amount": 79}, {})


def read(**changed: Any) -> Call:
    return ("get_order", ORDER, {**READ, **changed})


def refund(amount: float) -> Call:
    return ("refund_order", {**ORDER, "amount": amount}, {})


def answer(text: str) -> Call:
    return ("final_answer", {"answer": text}, None)


@pytest.mark.parametrize(
    ("before", "call", "broken"),
    [
        ([GET], CANCEL, []),
        ([], CANCEL, ["read-before-cancel"]),
        ([read(status="shipped")], CANCEL, ["cancel-only-pending"]),
        ([read(status="shipped"), LIST, GET], CANCEL, []),
        ([GET, LIST, read(status="shipped")], CANCEL, ["cancel-only-pending"]),
        ([GET], REFUND, []),
        ([GET], refund(10.5), []),
        ([GET], refund(79.01), ["refund-at-most-paid"]),
        ([], REFUND, ["read-before-refund"]),
        ([read(refunded=79.0)], REFUND, ["refund-once"]),
        ([GET, REFUND], refund(1), ["refund-once"]),
        ([GET, REFUND, read(refunded=79.0)], refund(1), ["refund-once"]),
        ([GET], ("delete_order", ORDER, {}), ["never-delete"]),
        ([GET], ("ship_order", ORDER, {}), []),
        ([GET, CANCEL], ("ship_order", ORDER, {}), ["cancelled-stays"]),
        ([GET], GET, ["no-repeat"]),
        ([GET, LIST], GET, []),
        ([], answer("It has been cancelled."), ["true-answer"]),
        ([], answer("They have been canceled."), ["true-answer"]),
        ([], answer("It was not cancelled."), []),
        ([GET, CANCEL], answer("It has been cancelled."), []),
    ],
)
def test_a_rule_refuses_what_breaks_it(before: list[Call], call: Call, broken: list[str]) -> None:
    assert judged("about W1", before, call) == broken


@pytest.mark.parametrize(
    ("said", "before", "broken"),
    [("about W1", [GET], []), ("about her lamp", [GET], ["known-order"]), ("about her lamp", [LIST, GET], [])],
)
def test_only_orders_that_somebody_named_are_changed(said: str, before: list[Call], broken: list[str]) -> None:
    assert judged(said, before, CANCEL) == broken


def test_three_changes_are_enough() -> None:
    ships: list[Call] = [("ship_order", {"order_id": f"W{number}"}, {}) for number in range(1, 5)]
    assert judged("W1 W2 W3 W4", ships[:2], ships[2]) == []
    assert judged("W1 W2 W3 W4", ships[:3], ships[3]) == ["few-changes"]


@pytest.mark.parametrize(("told", "broken"), [(False, ["tell-the-customer"]), (True, [])])
def test_a_change_is_told_to_the_customer(told: bool, broken: list[str]) -> None:
    calls = [GET, CANCEL, ("notify_customer", {"customer": "Mia", "text": "done"}, {})][: 3 if told else 2]
    metrics = {
        "tool_calls": [{"name": name, "arguments": given, "result": json.dumps(out)} for name, given, out in calls],
        "steps": [],
    }
    rules = [rule for rule in load_rules(RULES).constraints if rule.name == "tell-the-customer"]
    found = verify_trace(metrics, rules)
    assert [rule["name"] for rule in found["constraints"] if not rule["passed"]] == broken


def run(guard: Guard, calls: list[Call]) -> None:
    for tool, arguments, result in calls:
        decision = guard.propose(tool, arguments)
        assert decision.allowed, decision.feedback
        guard.settle(decision, result=json.dumps(result))


def judged(said: str, before: list[Call], call: Call) -> list[str]:
    guard = Guard(RULES)
    guard.said(said)
    run(guard, before)
    return [violation.constraint_name for violation in guard.propose(call[0], call[1]).violations]
