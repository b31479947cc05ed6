"""Values moved in place: the same states as a partition, until it hands over to a monitor."""

import random
from typing import cast

import pytest

from agentltl.constraints.course import Course, course
from agentltl.constraints.engine import ForEach, engine
from agentltl.constraints.limits import Limits
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.scope import rule
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Call, Outcome, Trace
from agentltl.constraints.values import FEW, Values, movable
from agentltl.constraints.walk import Walk, looking
from agentltl.errors import ConstraintError
from tests.constraints import slowly

RULES = (
    "G (b(k = ?k) -> O a(k = ?k))",
    "G (a(k = ?k)[ok] -> F b(k = ?k))",
    "G (a(k = ?k) -> X !a(k = ?k))",
    "no_repeat(*)",
    "G (a(k = ?x, m = ?y) -> N G !b(k = ?x, m = ?y))",
    "G (b(k = ?k) -> (!c S a(k = ?k)))",
)


def ready(text: str) -> ForEach:
    found = engine(rule(parse(text)))
    assert movable(found)
    return cast(ForEach, found)


@pytest.mark.parametrize("text", RULES)
def test_the_monitor_of_values_is_the_monitor_of_the_same_events(text: str) -> None:
    rng, own = random.Random(text), ready(text)
    moved = taken = 0
    for _ in range(60):
        values, monitor = Values(own), Monitor.on(own)
        made = (Call(rng.choice("abc"), {n: rng.choice(("u", "v", 1, 1.0)) for n in "km"}) for _ in range(12))
        calls = tuple(call.settle(Outcome.of(error=rng.choice((None, None, "no")))) for call in made)
        for position in Trace(calls).positions():
            monitor = monitor.step(position)
            assert position.call.outcome is not None
            done = values.read(position, None, position.call.outcome.way)
            if done is None:
                taken += 1
                break
            moved += done == "moved"
            same = values.monitor()
            assert monitor.broken is None
            assert own.name(same.state) == own.name(monitor.state)
            assert same.verdict == monitor.verdict
            assert values.restless is not monitor.idle
            assert values.owes is (monitor.verdict.truth < 3)
    assert moved > 50
    assert taken > 5 or text == RULES[1]  # which no call breaks


def test_which_rules_have_such_values() -> None:
    for text in ("exists ?k. F a(k = ?k)", "G a", "G (a(k = ?k) -> O[60s] b(k = ?k))", "G (a(k = ?k) -> F b(k > ?k))"):
        assert not movable(engine(rule(parse(text))))


def test_a_quiet_event_moves_no_value_and_many_values_that_move_are_handed_over() -> None:
    opening = "G (a(k = ?k) -> F b(k = ?k) | G !c)"
    calls = tuple(Call("a", {"k": f"v{i}"}, outcome=Outcome.of("")) for i in range(FEW + 5))
    walk = Walk(course((parse(opening),)))
    assert list(walk.breaches(calls, looking(Trace(calls)))) == []
    values = walk.alone[0]
    assert isinstance(values, Values)
    assert len(values.homes) == FEW + 5
    assert len(values.present) == 1
    end = (*calls, Call("c", outcome=Outcome.of("")))
    walk = Walk(course((parse(opening),)))
    assert list(walk.breaches(end, looking(Trace(end)))) == []
    assert isinstance(walk.alone[0], Monitor)
    assert walk.owed == (0,)


def test_closed_values_are_forgotten() -> None:
    walk = Walk(course((parse("G (a(k = ?k) -> F b(k = ?k))"),)))
    calls = tuple(Call(tool, {"k": f"v{i}"}, outcome=Outcome.of("")) for i in range(50) for tool in "ab")
    assert list(walk.breaches(calls, looking(Trace(calls)))) == []
    values = walk.alone[0]
    assert isinstance(values, Values)
    assert not values.homes
    assert not values.present


def test_more_values_than_the_limit_are_an_error_as_for_a_monitor() -> None:
    limited = Course((parse("G (a(k = ?k) -> F b(k = ?k))"),), Limits(values=3))
    calls = tuple(Call("a", {"k": f"v{i}"}, outcome=Outcome.of("")) for i in range(4))
    assert list(Walk(limited).breaches(calls[:3], looking(Trace(calls)))) == []
    with pytest.raises(ConstraintError, match="4 values are open at once"):
        list(Walk(limited).breaches(calls, looking(Trace(calls))))


def test_an_event_that_leaves_its_own_value_can_move_others() -> None:
    formula = parse("G (b(k = ?k) -> (!(a & !a(k = ?k)) S o(k = ?k)))")  # since it was opened, no a of another one
    ready_ = Course((formula,))
    for events, expected in (("ov au bv", [2]), ("au ov au bv", [3]), ("ov av bv", []), ("ou ov au bu bv", [4])):
        calls = tuple(Call(tool, {"k": k}, outcome=Outcome.of("")) for tool, k in events.split())
        for _ in range(3):  # from the second time on, every way is known
            found = [index for index, _ in Walk(ready_).breaches(calls, looking(Trace(calls)))]
            assert found == expected == slowly.breaches(formula, Trace(calls)), events
