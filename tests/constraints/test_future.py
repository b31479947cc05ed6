"""Futures: equal ones are worth the same whatever follows."""

from __future__ import annotations

import random

import pytest

from agentltl.constraints import Call, Monitor, Outcome, Position, parse
from agentltl.constraints.ahead import Ahead
from agentltl.testing import random_formula, random_trace

OK = Outcome.of("done")
FEATURES = frozenset({"future", "past", "counts", "sums", "bounds", "times", "places", "first", "steps", "patterns",
                      "conditions", "outcomes", "quantifiers"})  # fmt: skip


def played(monitor: Monitor, calls: list[Call]) -> list[object]:
    """What a monitor says after each of the calls; it is told to forgive as it goes on."""
    ahead, said = Ahead(now=1e6, step=10**6), []
    for call in calls:
        call = ahead.stamped(call)
        monitor = monitor.step(ahead.position(call))
        said.append((monitor.verdict.truth, monitor.broken is not None))
        while monitor.broken is not None:
            monitor = monitor.forgive()
        ahead = ahead.then(call)
    return said


def test_monitors_with_one_future_say_the_same_of_what_follows() -> None:
    rng = random.Random("future")
    same = quantified = 0
    for _ in range(150):
        formula = random_formula(
            rng, rng.randint(2, 5), features=FEATURES, tools=("a", "b"), keys=("k",), values=(0, 1, "u")
        )
        by_future: dict[object, list[Monitor]] = {}
        for _ in range(12):
            monitor = Monitor.of(formula)
            trace = random_trace(rng, rng.randint(0, 4), tools=("a", "b"), keys=("k",), values=(0, 1, "u"))
            for position in trace.positions():
                monitor = monitor.step(position)
            if monitor.broken is None and monitor.future is not None:
                by_future.setdefault(monitor.future, []).append(monitor)
        for group in by_future.values():
            for other in group[1:]:
                same += 1
                quantified += bool(formula.free)
                more = list(random_trace(rng, 4, tools=("a", "b"), keys=("k",), values=(0, 1, "u")).calls)
                assert played(group[0], more) == played(other, more), formula
    assert same > 300
    assert quantified > 30


def after(text: str, *tools: str) -> Monitor:
    monitor = Monitor.of(parse(text))
    calls = tuple(Call(tool, {"k": tool}, start=float(i), step=i, outcome=OK) for i, tool in enumerate(tools))
    for i, call in enumerate(calls):
        monitor = monitor.step(Position(call, i, calls, ()))
    return monitor


@pytest.mark.parametrize(
    ("text", "one", "other", "equal"),
    [
        ("at_most(a, 2)", "aa", "aazzz", True),
        ("at_most(a, 2)", "a", "aa", False),
        ("G (b -> count(a) >= 2)", "aa", "aaaaaa", True),
        ("G (b -> O[2] a)", "za", "a", True),
        ("G (b -> O[2] a)", "a", "az", False),
        ("G (b -> count(a, 3) < 2)", "zza", "zzzza", True),
        ("G (b -> O[10s] a)", "a", "aa", False),
        ("G (b -> O[10s] a)", "a", "az", True),
        ("at(3, a)", "zz", "z", False),
        ("at(1, a)", "aa", "aaa", True),
        ("G (first -> a)", "a", "aa", True),
        ("F (first & a) | G b", "", "b", False),
        ("G (b(k = ?x) -> O a(k = ?x))", "a", "aa", True),
        ("G (b(k = ?x) -> O a(k = ?x))", "", "a", False),
        ("G (a(k = ?x) -> F b(k = ?x))", "z", "", True),
    ],
)
def test_what_makes_two_futures_equal(text: str, one: str, other: str, equal: bool) -> None:
    first, second = after(text, *one).future, after(text, *other).future
    assert first is not None
    assert (first == second) is equal


@pytest.mark.parametrize("text", ['G (a -> seen("x"))', "G (a(k = ?x) -> seen(?x))"])
def test_a_rule_that_looks_at_earlier_calls_has_no_future_to_name(text: str) -> None:
    assert after(text).future is None


def test_there_is_none_while_a_call_runs_and_final_verdicts_are_futures() -> None:
    running = Call("a")
    monitor = Monitor.of(parse("F a[ok]")).step(Position(running, 0, (running,), ()))
    assert monitor.future is None
    assert after("F a", "a").future == after("F a", "z", "a").future


def test_open_values_are_those_for_which_something_is_owed() -> None:
    formula = "response(a(k = ?x), c(k = ?x)) & response(b(k = ?x), c(k = ?x))"
    assert after(formula).open_values == ()
    assert set(after(formula, "a", "b").open_values) == {"a", "b"}
