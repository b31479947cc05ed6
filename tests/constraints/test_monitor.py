"""The monitor: verdicts on prefixes, settling, forgiving; the cases with known verdicts."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from agentltl.constraints import Call, Monitor, Outcome, Position, Trace, Truth, parse

CASES = json.loads((Path(__file__).parent / "verdicts.json").read_text())["cases"]
OK = Outcome.of("done")


def trace(letters: str, outcome: Outcome | None = OK) -> Trace:
    return Trace(tuple(Call(letter, outcome=outcome, step=i) for i, letter in enumerate(letters)))


def verdicts(rule: str, letters: str) -> list[str]:
    monitor = Monitor.of(parse(rule))
    names = [monitor.verdict.name]
    for position in trace(letters).positions():
        monitor = monitor.step(position)
        names.append(monitor.verdict.name)
    return names


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['rule']} on {''.join(case['trace']) or 'nothing'}")
def test_known_verdicts(case: dict[str, object]) -> None:
    assert verdicts(str(case["rule"]), "".join(case["trace"])) == case["verdicts"]  # type: ignore[arg-type]


def test_a_final_verdict_is_exact_and_one_between_claims_nothing_that_is_not_proven() -> None:
    assert Monitor.of(parse("F a & G !a")).verdict == (Truth.FALSE, True)
    assert Monitor.of(parse("F a")).verdict == (Truth.PFALSE, True)
    assert Monitor.of(parse("F a(p = ?x)")).verdict.exact is False
    broken = Monitor.of(parse("never(a)")).step(next(trace("a").positions()))
    assert broken.verdict == (Truth.FALSE, True)
    assert str(broken.verdict) == "FALSE"
    assert broken.verdict.final


def breaches(rule: str, letters: str) -> list[int]:
    """Where a rule breaks, each breach forgiven; the length of the trace for what is owed at its end."""
    monitor, found = Monitor.of(parse(rule)), []
    for position in trace(letters).positions():
        monitor = monitor.step(position)
        if monitor.verdict.truth is Truth.FALSE:
            found.append(position.index)
            monitor = monitor.forgive()
            assert monitor.verdict.truth is not Truth.FALSE
    if monitor.verdict.truth is Truth.PFALSE:
        found.append(len(letters))
    return found


@pytest.mark.parametrize(
    ("rule", "letters", "expected"),
    [
        ("G !a", "aoa", [0, 2]),
        ("a W b", "aooabo", [1, 2]),
        ("a U b", "aoo", [1, 2]),  # once forgiven nothing is owed at the end
        ("a U b", "aobo", [1]),
        ("a U b", "aa", [2]),
        ("a R b", "bobao", [1, 3]),
        ("a(p = 1) M a", "ao", [1]),
        ("N G a", "oaoao", [2, 4]),
        ("X a", "oooo", [1]),
        ("G (a -> F b)", "aoa", [3]),
        ("G (a -> X b)", "aoaob", [1, 3]),
        ("G a | G b", "obab", [0, 2]),  # either way stays open until one is taken
        ("(a U b) & G !c", "acab", [1]),
        ("F b & G !c", "aca", [1, 3]),  # the other part of the rule stays as it was
        ("precedence(a, b)", "bbab", [0, 1]),
        ("before(a, b)", "bab", [0]),
        ("at_most(a, 1)", "aaoa", [1, 3]),
        ("G (b -> O a)", "bbab", [0, 1]),
        ("G[2] a", "aooo", [1, 2]),
        ("F[2] a", "oooa", [2]),
        ("forall ?x. G !a(p = ?x)", "ooo", []),
    ],
)
def test_each_breach_is_reported_once_and_what_would_be_owed_stays(
    rule: str, letters: str, expected: list[int]
) -> None:
    assert breaches(rule, letters) == expected


def positions(calls: list[Call]) -> list[Position]:
    return [Position(call, i, calls, ()) for i, call in enumerate(calls)]


def test_a_breach_for_one_value_leaves_the_others_as_they_were() -> None:
    calls = [Call("pay", {"to": to}, outcome=OK) for to in ("x", "y", "x", "x", "y")]
    monitor, found = Monitor.of(parse("G (pay(to = ?t) -> N G !pay(to = ?t))")), []
    for position in positions(calls):
        monitor = monitor.step(position)
        if monitor.verdict.truth is Truth.FALSE:
            found.append(position.index)
            monitor = monitor.forgive()
    assert found == [2, 3, 4]


def test_a_verdict_rests_on_the_outcome_until_the_call_settles() -> None:
    calls = [Call("a"), Call("b"), Call("c")]
    monitor = Monitor.of(parse("G (c -> O a[ok])"))
    seen = []
    for position in positions(calls):
        monitor = monitor.step(position)
        seen.append(monitor.verdict.name)
    assert seen == ["PTRUE", "PTRUE", "PENDING"]
    for outcome, truth in ((OK, Truth.TRUE), (Outcome.of(error="no"), Truth.FALSE)):
        settled = [calls[0].settle(outcome), *calls[1:]]
        assert monitor.settle(positions(settled)[0]).verdict.truth is truth


def test_settling_what_no_rule_waits_for_changes_nothing_and_keeps_nothing() -> None:
    monitor = Monitor.of(parse("before(a, b)"))
    calls = [Call("c"), Call("a"), Call("b")]
    for position in positions(calls):
        monitor = monitor.step(position)
    assert [event.position.index for event in monitor.open] == [1, 2]
    assert monitor.settle(positions([calls[0].settle(OK)])[0]).verdict.truth is Truth.PENDING
    done = [c.settle(OK) for c in calls]
    monitor = monitor.settle(positions(done)[1])
    assert monitor.verdict.truth is Truth.TRUE
    assert monitor.open == ()


def test_a_monitor_is_a_value_looking_ahead_is_to_step_and_forget() -> None:
    monitor = Monitor.of(parse("at_most(a, 1)"))
    (first, second) = trace("aa").positions()
    once = monitor.step(first)
    twice = once.step(second)
    assert (monitor.verdict.name, once.verdict.name, twice.verdict.name) == ("PTRUE", "PTRUE", "FALSE")
    assert once.step(second).verdict == twice.verdict


def test_values_that_are_done_with_are_forgotten() -> None:
    calls = [
        call for i in range(50) for call in (Call("open", {"id": i}, outcome=OK), Call("close", {"id": i}, outcome=OK))
    ]
    monitor = Monitor.of(parse("G (open(id = ?x) -> F close(id = ?x))"))
    sizes = []
    for position in positions(calls):
        monitor = monitor.step(position)
        sizes.append(len(monitor.state.homes))
    assert sizes == [1, 0] * 50


def test_the_schema_of_what_ships() -> None:
    assert files("agentltl.constraints.language").joinpath("grammar.lark").is_file()
