"""Exact verdicts, confirmed by brute force over extensions; what is not claimed."""

from __future__ import annotations

import random
from itertools import product

import pytest

from agentltl.constraints import Call, Monitor, Outcome, Trace, Truth, holds, parse
from agentltl.constraints.formula import Formula
from agentltl.testing import random_formula

OK = Outcome.of("done")
EVENTS = [Call(tool, outcome=OK) for tool in "abz"]
FEATURES = frozenset({"future", "past", "counts", "patterns"})
LONGEST = 5


def after(formula: Formula, calls: tuple[Call, ...]) -> Monitor:
    monitor = Monitor.of(formula)
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
    ],
)
def test_what_is_known_before_the_first_call(text: str, truth: str) -> None:
    verdict = Monitor.of(parse(text)).verdict
    assert (verdict.name, verdict.exact) == (truth, True)


@pytest.mark.parametrize("text", ["G (a(k = ?x) -> F b(k = ?x))", 'G !a(k ~ "u*")', "F (count(a) >= 100000)"])
def test_outside_the_class_and_beyond_the_cap_nothing_is_claimed(text: str) -> None:
    assert Monitor.of(parse(text)).verdict.exact is False


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
