"""Names that are not what they look like."""

from __future__ import annotations

from typing import Any

import pytest

from agentltl.constraints import Finding, FindingKind, lint
from agentltl.constraints.linting.look_alikes import alike, drawn, odd, skeleton


def look_alikes(*texts: str, tools: Any = None, **more: Any) -> list[Finding]:
    rules = [{"name": f"rule {i} of these", "rule": text, **more} for i, text in enumerate(texts)]
    return [f for f in lint(rules, tools) if f.kind is FindingKind.LOOK_ALIKE]


@pytest.mark.parametrize(
    ("name", "looks", "what"),
    [
        ("p\u0430y", "pay", "U+0430 CYRILLIC SMALL LETTER A"),
        ("\u0440\u0430\u0443", "pay", "looks like `pay`"),
        ("pay\u200b", "pay", "an invisible character, U+200B ZERO WIDTH SPACE"),
        ("get\u00ad_order", "get_order", "U+00AD SOFT HYPHEN"),
        ("get\u00a0order", "get order", "a space that is none of ASCII"),
        ("caf\u0065\u0301", "caf\u00e9", "composed form"),
        ("\uff50ay", "pay", "a variant of a character"),
        ("\u039fK", "OK", "mixes letters of two scripts"),
        ("t\u0131tle", "title", "LATIN SMALL LETTER DOTLESS I"),
        ("a\u3164", "a", "an invisible character"),
    ],
)
def test_odd_characters_are_named(name: str, looks: str, what: str) -> None:
    found = odd(name)
    assert found is not None
    assert what in found[0]
    assert found[1] == looks
    (finding,) = look_alikes(f'never("{name}")')
    assert what in finding.message


@pytest.mark.parametrize(
    "name",
    ["pay", "caf\u00e9", "платеж", "支払いAPI", "πληρωμή", "get-order", "a b", "größe", "naïve_2", "دفع", "тест_pay"],
)
def test_names_of_any_script_are_fine(name: str) -> None:
    assert odd(name) is None
    assert not look_alikes(f'at_most("{name}", 2)')


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("pay", "p\u0430y", "look alike"),
        ("get_order", "getOrder", "case"),
        ("get_order", "get-order", "case"),
        ("item1", "iteml", "look alike"),
        ("W0", "WO", "look alike"),
    ],
)
def test_two_names_that_differ_only_so_are_a_pair(one: str, other: str, differ: str) -> None:
    assert differ in (alike(one, other) or "")
    assert drawn(one) == drawn(other)
    findings = [
        f for f in look_alikes(f'at_most("{one}", 2)', f'at_most("{other}", 3)') if "differ only in" in f.message
    ]
    assert len(findings) == 1
    assert len(findings[0].constraints) == 2


def test_names_that_differ_are_no_pair() -> None:
    assert alike("pay", "pray") is None
    assert not look_alikes("response(pay, paid)", "at_most(a(order_id = 1, order_ids = 2), 3)")


def test_arguments_are_compared_with_those_of_the_same_tool() -> None:
    assert look_alikes("at_most(pay(order_id = 1), 2)", "at_most(pay(orderId = 1), 3)")
    assert not look_alikes("at_most(pay(order_id = 1), 2)", "at_most(refund(orderId = 1), 3)")
    assert look_alikes("at_most(pay(a[order_id = 1]), 2)", "at_most(pay(a[orderId = 1]), 3)")


def test_variables_are_compared_within_a_rule() -> None:
    assert look_alikes("G (a(k = ?id, m = ?ID) -> O b(k = ?id, m = ?ID))")
    assert not look_alikes("G (a(k = ?id) -> O b(k = ?id))", "G (c(k = ?ID) -> O d(k = ?ID))")


def test_two_tools_that_exist_are_both_meant() -> None:
    texts = ("at_most(get_order, 2)", "at_most(getOrder, 3)")
    assert look_alikes(*texts, tools=["get_order"])
    assert not look_alikes(*texts, tools=["get_order", "getOrder"])


def test_names_of_groups_and_constraints_are_looked_at() -> None:
    assert look_alikes("never(@writes) | never(@wr\u0456tes)", groups={"writes": ["a"], "wr\u0456tes": ["b"]})
    (finding,) = (f for f in lint([{"name": "p\u0430y", "rule": "at_most(a, 2)"}]))
    assert finding.kind is FindingKind.LOOK_ALIKE


def test_a_skeleton_is_what_a_name_looks_like() -> None:
    assert skeleton("p\u0430y\u200b") == "pay"
    assert skeleton("pay") == "pay"
