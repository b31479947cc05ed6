"""A run walked in place: the same breaches as by a monitor, whatever the rules, alone and together."""

import random

import pytest

from agentltl.constraints.check import breaches
from agentltl.constraints.course import Course, course
from agentltl.constraints.formula import Formula
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Call, Outcome, Trace
from agentltl.constraints.walk import Walk, looking
from agentltl.errors import AgentLTLError
from agentltl.testing import random_formula
from tests.constraints import slowly


def walked(course: Course, trace: Trace) -> dict[int, list[int]]:
    walk = Walk(course)
    found: dict[int, list[int]] = {}
    for index, places in walk.breaches(trace.calls, looking(trace)):
        assert places == tuple(sorted(set(places)))
        for place in places:
            found.setdefault(place, []).append(index)
    for place in walk.owed:
        found.setdefault(place, []).append(len(trace))
    return found


def outcome_of(judge: object, *given: object) -> object:
    """What a judge finds, or what it raises."""
    try:
        return list(judge(*given))  # type: ignore[operator]
    except (AgentLTLError, RecursionError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("seed", range(4))
def test_a_rule_alone_is_judged_as_by_a_monitor(seed: int) -> None:
    rng, kinds, found = random.Random(seed), set(), 0
    for _ in range(250):
        formula = random_formula(rng, rng.randint(2, 7))
        ready = course((formula,))
        kinds.add((bool(ready.monitors), bool(ready.values), bool(ready.never)))
        for _ in range(4):
            trace = slowly.random_trace(rng)
            expected = outcome_of(slowly.breaches, formula, trace)
            assert outcome_of(breaches, formula, trace) == expected, (str(formula), trace)
            found += expected != []
    assert len(kinds) == 4  # each way to judge a rule had its share
    assert found > 100


@pytest.mark.parametrize("seed", range(3))
def test_rules_together_are_judged_as_each_alone(seed: int) -> None:
    rng = random.Random(f"together {seed}")
    features = frozenset({"future", "past", "bounds", "counts", "patterns", "conditions", "outcomes", "quantifiers"})
    judged = 0
    for _ in range(40):
        rules: list[Formula] = [
            random_formula(rng, rng.randint(2, 6), features=features) for _ in range(rng.randint(2, 6))
        ]
        ready = course(tuple(rules))
        for _ in range(8):
            trace = slowly.random_trace(rng, 14)
            try:
                expected = {place: slowly.breaches(rule, trace) for place, rule in enumerate(rules)}
            except AgentLTLError:
                continue
            assert walked(ready, trace) == {place: calls for place, calls in expected.items() if calls}
            judged += 1
    assert judged > 200


def calls(letters: str, **args: str) -> Trace:
    """One call a letter; a capital is a call that failed."""
    outcomes = (Outcome.of(error="no" if letter.isupper() else None) for letter in letters)
    return Trace(tuple(Call(a.lower(), args, outcome=o) for a, o in zip(letters, outcomes, strict=True)))


def test_a_breach_is_forgiven_from_a_remembered_way_as_from_a_new_one() -> None:
    ready = Course((parse("G (b -> O a[ok])"), parse("never(c)")))
    for _ in range(3):
        assert walked(ready, calls("bAbcabc")) == {0: [0, 2], 1: [3, 6]}


def test_a_tool_that_no_longer_matters_is_one_look_up_however_it_settles() -> None:
    ready = Course((parse("before(a, b)"),))
    assert walked(ready, calls("abaA")) == {}
    walk = Walk(ready)
    list(walk.breaches(calls("ab").calls, looking(calls("ab"))))
    assert walk.state["a"] is walk.state  # kept under the tool alone
    assert "a" not in Walk(ready).state  # there it matters whether it succeeds


def test_a_condition_is_judged_once_for_each_text_but_for_each_other_value() -> None:
    ready = Course((parse('never(a(k = "x")[ok])'), parse("never(a(k = 1))")))
    assert walked(ready, calls("aAa", k="x")) == {0: [0, 2]}
    assert set(ready.turn("a").known) == {"x"}
    odd = Trace(tuple(Call("a", {"k": k}, outcome=Outcome.of("")) for k in (1, True, 1.0, "1", None, [1])))
    assert walked(ready, odd) == {1: [0, 2]}
    assert set(ready.turn("a").known) == {"x", "1"}


def test_the_run_of_calls_that_are_ok_is_the_walk_of_them() -> None:
    rules = tuple(map(parse, ("before(a, b)", "G (c -> Y a[ok])", "G (a -> F c)")))
    for letters in ("", "abc", "acabac", "aac", "acb"):
        ready = Course(rules)
        for _ in range(2):
            state = ready.run(letters)
            found = walked(ready, calls(letters))
            ends = {place: [len(letters)] for place in state.owed} if state is not None else None
            assert ends == found if state is not None else any(c < len(letters) for [c, *_] in found.values())
    assert Course((parse('never(a(k = "x"))'),)).run("a") is None
    assert Course((parse("G (a(k = ?k) -> F b(k = ?k))"),)).run("b") is None


def test_what_a_rule_looks_at() -> None:
    assert Course((parse("before(a, b)"), parse("G (a(k = ?k) -> b)"))).local
    for rule, past in (("G (a -> seen(.k))", True), ("G !same_step", False), ("G (a -> said(.k))", False)):
        ready = Course((parse(rule),))
        assert (ready.local, ready.past) == (False, past)


def test_a_call_that_still_runs_never_settles() -> None:
    trace = Trace((Call("a"), Call("b")))
    assert walked(Course((parse("G (b -> O a[ok])"),)), trace) == {0: [1]}
    assert walked(Course((parse("G (b -> O a)"),)), trace) == {}
    assert walked(Course((parse('G (a(k = 1)[status = "x"] -> b)'),)), trace) == {}
