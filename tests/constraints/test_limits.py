"""Caps: what they are, and that the engine stays within them and stays right."""

from __future__ import annotations

import random

import pytest

from agentltl.constraints import Call, Limits, Monitor, Outcome, Trace, Truth, parse
from agentltl.constraints.applied import Applied
from agentltl.constraints.panel import Panel
from agentltl.constraints.scope import rule
from agentltl.constraints.trace import Position
from agentltl.errors import ConstraintError
from agentltl.testing import random_formula, random_play, random_trace

OK = Outcome.of("done")


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "many"])
def test_a_cap_is_a_whole_number(wrong: object) -> None:
    with pytest.raises(ValueError, match="give a whole number from 1 on"):
        Limits(states=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("states", [1, 2, 5])
def test_beyond_the_cap_verdicts_stay_right_and_say_that_they_may_hide_a_final_one(states: int) -> None:
    rng = random.Random(f"cap {states}")
    for _ in range(250):
        formula = random_formula(rng, rng.randint(2, 7))
        monitor, plain = Monitor.of(formula, Limits(states=states)), Monitor.on(Applied(rule(formula)))
        for moment in random_play(rng, random_trace(rng, 5)):
            move = Monitor.settle if moment.settles else Monitor.step
            monitor, plain = move(monitor, moment.position), move(plain, moment.position)
            assert monitor.verdict.truth is plain.verdict.truth or monitor.verdict.final, formula


@pytest.mark.parametrize(
    "text",
    ["G (a(k = ?x) -> F b(k = ?x))", "G (a(k = ?x) -> exists ?y. O b(k = ?x, m = ?y))"],
)
def test_more_open_values_than_the_cap_are_an_error_and_lose_nothing(text: str) -> None:
    panel = Panel.of([parse(text)], Limits(values=3))
    calls = [Call("a" if "F b" in text else "b", {"k": i, "m": i}, outcome=OK) for i in range(5)]
    failures = []
    for i, call in enumerate(calls):
        panel, broken, failed = panel.step(Position(call, i, calls, ()))
        assert not broken
        failures.append(failed.get(0))
    assert failures[:3] == [None, None, None]
    assert isinstance(failures[3], ConstraintError)
    assert "values are open at once" in str(failures[3])
    assert panel.monitor(0).verdict.truth in (Truth.PFALSE, Truth.PTRUE)


def test_a_rule_whose_alternatives_explode_is_refused_before_it_runs() -> None:
    with pytest.raises(ConstraintError, match="too large to be monitored"):
        Monitor.of(parse(" <-> ".join(f"(F p{i})" for i in range(9))))


@pytest.mark.parametrize(
    "text", ["G (pay -> G[1000] !refund)", "G (pay -> F[1000] ship)", "G (pay -> G[20] F[20] ship)"]
)
def test_triggers_within_one_another_owe_one_thing(text: str) -> None:
    monitor = Monitor.of(parse(text))
    for position in Trace(tuple(Call("pay", outcome=OK) for _ in range(60))).positions():
        monitor = monitor.step(position)
        assert len(monitor.state.residual.clauses) <= 42
