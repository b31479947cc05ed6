"""Rules against tools: names, arguments and values that do not exist."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from smolagents import tool

from agentltl.constraints import Finding, FindingKind, lint
from agentltl.errors import ConstraintError

K = FindingKind

ORDER = {"type": "object", "properties": {"id": {"type": "string"}, "total": {"type": "number"}}}
PAY = {
    "type": "object",
    "properties": {
        "amount": {"type": "number", "minimum": 0, "maximum": 500},
        "count": {"type": "integer"},
        "currency": {"enum": ["EUR", "USD"]},
        "to": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "urgent": {"type": "boolean"},
        "order": {"$ref": "#/$defs/order"},
        "orders": {"type": "array", "items": {"$ref": "#/$defs/order"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "anything": {},
    },
    "required": ["amount"],
    "$defs": {"order": ORDER},
}
TOOLS: dict[str, Any] = {"pay": PAY, "refund": {"type": "object", "properties": {"order_id": {"type": "string"}}}}


@tool
def get_order(order_id: str, fields: list[str] | None = None, limit: int = 3) -> str:
    """Read an order.

    Args:
        order_id: Which one.
        fields: What to read of it.
        limit: How much at most.
    """
    return order_id


def about(kind: FindingKind, text: str, tools: Any = None, groups: Any = None) -> list[Finding]:
    rule = {"name": "r0", "rule": text, **({"groups": groups} if groups else {})}
    return [f for f in lint([rule], TOOLS if tools is None else tools) if f.kind is kind]


FORMS = [
    {"pay": PAY},
    [{"type": "function", "function": {"name": "pay", "parameters": PAY}}],
    [{"type": "function", "name": "pay", "parameters": PAY}],
    [{"name": "pay", "inputSchema": PAY}],
    [{"name": "pay", "input_schema": PAY}],
    [SimpleNamespace(name="pay", inputSchema=PAY)],
    [SimpleNamespace(name="pay", inputs=PAY["properties"])],
    {"pay": {"name": "pay", "parameters": PAY}},
    {"name": "pay", "parameters": PAY},
]


@pytest.mark.parametrize("form", FORMS[:6] + FORMS[7:])
def test_every_form_of_tools_is_read(form: Any) -> None:
    assert about(K.UNKNOWN_TOOL, "never(paid)", form)
    assert about(K.UNKNOWN_ARGUMENT, "never(pay(ammount > 3))", form)[0].hint == "did you mean `amount`?"
    assert about(K.IMPOSSIBLE_VALUE, 'never(pay(currency = "GBP"))', form)
    assert not lint([{"name": "r0", "rule": "at_most(pay(amount > 3, order.total > 2), 3)"}], form)


def test_smolagents_tools_and_their_inputs_are_read() -> None:
    assert about(K.UNKNOWN_ARGUMENT, "never(get_order(id = 1))", [get_order])
    assert about(K.IMPOSSIBLE_VALUE, "never(get_order(order_id = 1))", [get_order])
    assert not about(K.IMPOSSIBLE_VALUE, "G !(get_order(limit = 1) & get_order(fields is null))", [get_order])
    assert about(K.UNKNOWN_ARGUMENT, "never(pay(ammount > 3))", FORMS[6])
    assert not about(K.UNKNOWN_ARGUMENT, "never(get_order(id = 1))", ["get_order"])


@pytest.mark.parametrize("tools", [3, "pay", [3], [{"parameters": PAY}], [SimpleNamespace(inputs={})]])
def test_what_is_no_tool_is_an_error(tools: Any) -> None:
    with pytest.raises(ConstraintError, match="tool"):
        lint([{"name": "r0", "rule": "never(pay)"}], tools)


def test_a_tool_that_does_not_exist_is_named_with_the_nearest_one() -> None:
    (finding,) = about(K.UNKNOWN_TOOL, "response(pya, refund)")
    assert (finding.message, finding.hint) == ("there is no tool `pya`", "did you mean `pay`?")
    assert finding.severity == "error"
    assert about(K.UNKNOWN_TOOL, "never(Refund)")[0].hint == "did you mean `refund`?"
    assert "the tools are: `pay`, `refund`" in about(K.UNKNOWN_TOOL, "never(qqqqqq)")[0].hint
    assert about(K.UNKNOWN_TOOL, "never(p_*)")[0].message == "no tool has a name that matches `p_*`"
    assert about(K.UNKNOWN_TOOL, 'never(*(tool = "payy"))')
    assert about(K.UNKNOWN_TOOL, "G (pay(to = ?x) -> seen(?x, payy))")
    (finding,) = about(K.UNKNOWN_TOOL, "never(@writes)", groups={"writes": ["pay", "redund"]})
    assert finding.message == "there is no tool `redund`, a member of `@writes`"


@pytest.mark.parametrize("text", ["never(pay)", "never(p*)", "never(*)", "never(final_answer)", "G (refund -> O pay)"])
def test_tools_that_exist(text: str) -> None:
    assert not about(K.UNKNOWN_TOOL, text)


def test_the_same_finding_of_several_rules_is_one() -> None:
    findings = lint([{"name": n, "rule": "at_most(payy, 3)", "weight": w} for n, w in (("a", 1), ("b", 2))], TOOLS)
    assert [f.constraints for f in findings if f.kind is K.UNKNOWN_TOOL] == [("a", "b")]


@pytest.mark.parametrize(
    "text",
    [
        "never(pay(ammount > 3))",
        "never(pay(order.totl > 3))",
        'never(pay(orders[*].idd = "x"))',
        'never(pay(orders[idd = "x"]))',
        "never(pay(amount.value > 3))",
        "never(pay(amount[0] > 3))",
        "G (pay(amount > .limit) -> F refund)",
        "G (get_order -> said(.url))",
        "G (pay -> sum(pay, amuont) < 3)",
        "G (refund[ok, id = .args.order] -> F pay)",
        "never(@both(nothing = 1))",
    ],
)
def test_an_argument_that_does_not_exist(text: str) -> None:
    (finding,) = about(K.UNKNOWN_ARGUMENT, text, {**TOOLS, "get_order": {}} if "said" not in text else TOOLS, BOTH)
    assert finding.severity == "error"


BOTH = {"both": ["pay", "refund"]}


@pytest.mark.parametrize(
    "text",
    [
        "never(pay(amount > 3, order.total > 3))",
        'G !(pay(orders[*].id = "x") | pay(orders[0].total > 1) | pay(orders[all].id = "x"))',
        'G !(pay(orders[id = "x"]) | pay(labels.whatever = "x") | pay(anything.at[0].all = 1))',
        "G !(@both(order_id = 1) | @both(amount = 1))",
        'G !(pay(args has "amount") | pay[result = 3])',
        "G (pay -> sum(pay, amount) < 3 & sum(*, order_id) < 3)",
        "G (pay(to = ?x) -> seen(?x) & said(.to))",
        "G !(pay(len(orders) > 3) & pay(len(orders[total > 3]) > 1))",
    ],
)
def test_arguments_that_exist(text: str) -> None:
    assert not about(K.UNKNOWN_ARGUMENT, text, None, BOTH)


@pytest.mark.parametrize(
    "condition",
    [
        'currency = "GBP"',
        'currency in ["GBP", "CHF"]',
        'amount = "12"',
        "amount > 500",
        "amount < 0",
        "amount = 501",
        'amount > "much"',
        'amount ~ "1*"',
        "count = 1.5",
        "to = 3",
        'urgent = "yes"',
        "urgent > 0",
        'order = "W1"',
        'order.total = "12"',
        "orders[*].id = 3",
        "orders[id = 3]",
        "orders[*].total has 1",
        "len(amount) > 2",
        "amount is text",
        "to is number",
        "orders has 3",
        'args = {"currency": "EUR"}',
        'args = {"amount": 3, "extra": 1}',
        "labels.colour = 3",
        "len(orders) < 0",
    ],
)
def test_a_value_that_no_arguments_of_the_schema_have(condition: str) -> None:
    findings = about(K.IMPOSSIBLE_VALUE, f"never(pay({condition}))")
    assert len(findings) == 1, condition


@pytest.mark.parametrize(
    "condition",
    [
        'currency = "EUR"',
        'currency != "EUR"',
        'currency in ["GBP", "USD"]',
        'currency not in ["GBP"]',
        'currency ~ "E*"',
        "amount = 500",
        'amount > "12"',
        "amount >= 500",
        "count = 2.0",
        'to =~ "x"',
        "to is null",
        'to > "a"',
        "to > 3",
        "urgent = true",
        'order = {"id": "x"}',
        'order.id = "W1"',
        "orders[total > 3]",
        'orders has {"id": "W1"}',
        "anything = 3",
        'labels has "colour"',
        'labels.colour = "red"',
        'args = {"amount": 3}',
        "amount is not text",
        "amount = ?x",
        "len(labels) > 2",
        "orders[all].id = 3",
        "amount <= .count",
    ],
)
def test_a_value_that_some_arguments_of_the_schema_have(condition: str) -> None:
    assert not about(K.IMPOSSIBLE_VALUE, f"at_most(pay({condition}), 3)"), condition


def test_what_the_schema_does_not_say_is_possible() -> None:
    loose = {"pay": {"type": "object", "properties": {"a": {"type": "mystery"}, "b": {"$ref": "other.json"}}}}
    assert not about(K.IMPOSSIBLE_VALUE, 'never(pay(a = 3, b.c.d = "x"))', loose)
    open_ = {"pay": {"type": "object", "properties": {}, "additionalProperties": True}}
    assert not about(K.UNKNOWN_ARGUMENT, "never(pay(a = 3))", open_)
    branches = {"pay": {**PAY, "anyOf": [{"required": ["to"]}, {"required": ["order"]}]}}
    assert about(K.UNKNOWN_ARGUMENT, "never(pay(a = 3))", branches)
    recursive = {"pay": {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}}
    assert not about(K.UNKNOWN_ARGUMENT, "never(pay(next.next.next is null))", recursive)
    assert about(K.UNKNOWN_ARGUMENT, "never(pay(next.next.nxt is null))", recursive)
    nothing = {"pay": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}}
    assert not about(K.UNKNOWN_ARGUMENT, "never(pay(a = 3))", nothing)


def test_without_tools_names_are_not_checked() -> None:
    assert not lint([{"name": "r0", "rule": "at_most(anything(at = 1), 3)"}])
