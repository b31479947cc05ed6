"""Exact verdicts, confirmed by brute force over extensions; what is not claimed."""

from __future__ import annotations

import random
from itertools import product

import pytest

from agentltl.constraints import Call, Monitor, Outcome, Trace, Truth, holds, parse
from agentltl.constraints.formula import Formula
from agentltl.constraints.limits import DEFAULT, Limits
from agentltl.testing import random_formula

OK = Outcome.of("done")
EVENTS = [Call(tool, outcome=OK) for tool in "abz"]
FEATURES = frozenset({"future", "past", "counts", "patterns", "bounds", "places"})
LONGEST = 5


def after(formula: Formula, calls: tuple[Call, ...], limits: Limits = DEFAULT) -> Monitor:
    monitor = Monitor.of(formula, limits)
    for position in Trace(calls).positions():
        monitor = monitor.step(position)
    return monitor


def test_final_verdicts_are_right_and_none_is_missing() -> None:
    rng = random.Random("outlook")
    claimed = dict.fromkeys(Truth, 0)
    for _ in range(250):
        formula = random_formula(rng, rng.randint(1, 4), features=FEATURES, tools=("a", "b"))
        prefix = tuple(rng.choice(EVENTS) for _ in range(rng.randint(0, 2)))
        verdict = after(formula, prefix).verdict
        assert verdict.exact, formula
        claimed[verdict.truth] += 1
        ends = {
            holds(formula, Trace((*prefix, *more)))
            for length in range(LONGEST + 1)
            for more in product(EVENTS, repeat=length)
            if len(prefix) + length <= LONGEST
        }
        expected = {Truth.FALSE: {False}, Truth.TRUE: {True}}.get(verdict.truth, {True, False})
        assert ends == expected, formula
    assert min(claimed[t] for t in (Truth.FALSE, Truth.PFALSE, Truth.PTRUE, Truth.TRUE)) > 5


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("F a & G !a", "FALSE"),
        ("F a(k = 1) & G !a(k < 2)", "FALSE"),
        ("G (a -> X b) & F (a & X c)", "FALSE"),
        ("F a | G !a", "TRUE"),
        ("G (a -> !b)", "TRUE"),
        ("G (a(k = 1) -> a(k < 2))", "PTRUE"),  # arguments that are no object at all are undecidable
        ("F a(k > 1)", "PFALSE"),
        ("count(a) >= 2", "FALSE"),
        ("F (count(a) >= 20)", "PFALSE"),
        ("exactly(a, 2)", "PFALSE"),
        ("at_most(a, 10000)", "PTRUE"),
        ("F (count(a) >= 10000)", "PFALSE"),
        ("F (count(a) = 1000 & (!a S b)) & G (a -> X b)", "PFALSE"),
        ("F (count(a) = 1000 & a & O[1] b) & G (b -> X !a)", "FALSE"),
        ("at(3, a) & G !a", "FALSE"),
        ("at(1, a) & G (a -> X X a)", "FALSE"),
        ("G (a -> X b) & F (a & X !O[1] b)", "FALSE"),
        ("G (a -> count(*, 3) < 1)", "PTRUE"),
        ("F (a & count(a, 3) >= 4)", "FALSE"),
    ],
)
def test_what_is_known_before_the_first_call(text: str, truth: str) -> None:
    verdict = Monitor.of(parse(text)).verdict
    assert (verdict.name, verdict.exact) == (truth, True)


@pytest.mark.parametrize("text", ["F exists ?x. (a(k = ?x) & X b(k = ?x))", 'G !a(k ~ "u*")', "F (sum(a, k) > 3)",
                                  "F (count(a) = 10000) & at_most(a, 9999)", "F (count(a, 3s) > 2)"])  # fmt: skip
def test_outside_the_class_and_beyond_the_cap_nothing_is_claimed(text: str) -> None:
    assert Monitor.of(parse(text)).verdict.exact is False


def test_a_far_limit_is_brought_near_without_a_change_of_meaning() -> None:
    """Limits beyond a small cap against the same rules explored in full."""
    rng = random.Random("far")
    small, large = Limits(states=24), Limits(states=20_000)
    shapes = (
        "F (count({0}) {op} {k} & {1})", "G ({0} -> count({1}) {op} {k})",
        "F (count({0}) {op} {k}) & G ({0} -> X {1})",
        "G (count({0}) {op} {k} -> {1})", "F (count({0}) {op} {k} & Y Y {1})",
        "F (!X true & count({0}) {op} {k} & {1})",
        "G ({0} -> X {1}) & G ({1} -> X !{1}) & F (!X true & count({0} | {1}) {op} {k} & {0})",
    )  # fmt: skip
    claimed = dict.fromkeys(Truth, 0)
    for _ in range(250):
        ops = {"op": rng.choice(("=", "!=", "<", "<=", ">", ">=")), "k": rng.randint(13, 60)}
        text = rng.choice(shapes).format(*rng.sample(("a", "b", "(a | z)", "*"), 2), **ops)
        formula = parse(text)
        prefix = tuple(rng.choice(EVENTS) for _ in range(rng.randint(0, 5)))
        near, full = after(formula, prefix, small).verdict, after(formula, prefix, large).verdict
        assert full.exact, text
        if near.exact:
            assert near == full, (text, prefix)
            claimed[near.truth] += 1
    assert claimed[Truth.FALSE] + claimed[Truth.TRUE] > 3
    assert claimed[Truth.PFALSE] + claimed[Truth.PTRUE] > 40


@pytest.mark.parametrize(
    ("text", "calls", "truth"),
    [
        ("G (a(k = ?x) -> X b(k = ?x)) & G !b", (), "PTRUE"),
        ("G (a(k = ?x) -> F b(k = ?x)) & G (a(k = ?x) -> G !b(k = ?x))", ("a1",), "FALSE"),
        ("G (a(k = ?x) -> F b(k = ?x)) & G (a(k = ?x) -> G !b(k = ?x))", ("b1",), "PTRUE"),
        ("exists ?x. (F a(k = ?x) & G !a(k = ?x))", (), "FALSE"),
        ("exists ?x. F a(k = ?x)", ("b1",), "PFALSE"),
        ("exists ?x. F a(k = ?x, k = 7)", (), "PFALSE"),
        ("exists ?x. F a(k = ?x, k = 7)", ("a1",), "PFALSE"),
        ("exists ?x. F a(k = ?x, k in [6, 7])", ("a7",), "TRUE"),
        ("exists ?x. F (a(k = ?x) & a(k = 7) & b)", (), "FALSE"),
        ("forall ?x. G (a(k = ?x) -> !a(k = 7))", (), "PTRUE"),
        ("exists ?x. F a(k = ?x)", ("a1",), "TRUE"),
        ("G (a(k = ?x) -> F (b(k = ?x) & b(k = 7)))", ("a1",), "FALSE"),
        ("G (a(k = ?x) -> F (b(k = ?x) & b(k = 7)))", ("a7",), "PFALSE"),
    ],
)
def test_each_part_of_a_quantified_rule_is_judged_exactly(text: str, calls: tuple[str, ...], truth: str) -> None:
    events = tuple(Call(c[0], {"k": int(c[1])}, outcome=OK) for c in calls)
    assert after(parse(text), events).verdict.name == truth


def test_the_verdicts_of_quantified_rules_are_never_wrong() -> None:
    """By brute force over extensions: every `TRUE` and `FALSE`, and every claim that there is none."""
    rng = random.Random("values")
    events = [Call("a", {"k": 1}, outcome=OK), Call("b", {"k": 1}, outcome=OK), Call("a", {"k": 2}, outcome=OK),
              Call("b", {"k": 2}, outcome=OK), Call("a", [], outcome=OK)]  # fmt: skip
    features = frozenset({"future", "past", "quantifiers", "conditions"})
    claimed = dict.fromkeys(Truth, 0)
    for _ in range(150):
        formula = random_formula(
            rng, rng.randint(2, 5), features=features, tools=("a", "b"), keys=("k",), values=(1,), variables=("x",)
        )
        prefix = tuple(rng.choice(events) for _ in range(rng.randint(0, 2)))
        verdict = after(formula, prefix).verdict
        ends = {
            holds(formula, Trace((*prefix, *more)))
            for length in range(4 - len(prefix) + 1)
            for more in product(events, repeat=length)
        }
        if verdict.final:
            assert ends == {verdict.truth is Truth.TRUE}, formula
        elif verdict.exact:
            assert ends == {True, False}, formula
            claimed[verdict.truth] += 1
        claimed[verdict.truth] += verdict.final
    assert min(claimed[t] for t in (Truth.FALSE, Truth.TRUE, Truth.PTRUE)) > 2, claimed


def test_a_call_after_which_no_continuation_complies_is_the_breach_and_is_forgiven() -> None:
    formula = parse("G (a -> X b) & G (a -> X c)")
    monitor = Monitor.of(formula)
    calls = tuple(Call(tool, outcome=OK) for tool in "zabza")
    found = []
    for position in Trace(calls).positions():
        monitor = monitor.step(position)
        if monitor.broken is not None:
            found.append(position.index)
            monitor = monitor.forgive()
            assert monitor.verdict.truth is not Truth.FALSE
    assert found == [1, 4]


def test_what_no_outcome_can_help_is_known_before_the_outcome() -> None:
    running = (Call("a"),)
    assert after(parse("F a[ok, failed]"), running).verdict.truth is Truth.FALSE
    assert after(parse("a[ok]"), running).verdict.truth is Truth.PENDING
