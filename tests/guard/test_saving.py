"""A guard that is saved as JSON and made again goes on as if nothing had happened."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from agentltl import ConstraintError, Guard
from agentltl.guard.callwise import CallwiseGuard
from agentltl.guard.decision import Decision

RULES = [
    {"name": "read", "rule": "G (cancel(id = ?o) -> O get(id = ?o)[ok])", "severity": "PERSISTENT_BLOCK"},
    {"name": "most", "rule": "at_most(pay, 2)", "severity": "SOFT_BLOCK"},
    {"name": "warn", "rule": "never(rm)", "severity": "BLOCK_AND_WARN"},
    {"name": "fast", "rule": "G (pay -> count(pay, 10s) <= 1)", "severity": "TOLERATE"},
    {"name": "said", "rule": "G (send -> said(.to))", "severity": "PERSISTENT_BLOCK"},
    {"name": "close", "rule": "response(open, close)", "severity": "PERSISTENT_BLOCK", "weight": 2.0},
]
TOOLS = ("cancel", "get", "pay", "rm", "send", "open", "close", "look")


def again(g: Guard) -> Guard:
    return Guard.from_state(json.loads(json.dumps(g.to_state())))


def same(one: Guard, other: Guard) -> None:
    assert other.status() == one.status()
    assert other.status().counts == one.status().counts
    assert other.verdicts() == one.verdicts()
    assert repr(other.trace) == repr(one.trace)
    assert (other.stopped is None) is (one.stopped is None)


def test_a_guard_made_again_goes_on_as_the_one_that_was_saved() -> None:
    rng = random.Random("saving")
    for _ in range(60):
        g = Guard(RULES, max_soft_attempts=rng.randint(0, 4), max_identical_refusals=rng.choice((None, 4)))
        g.said("send it to bob")
        running: list[Decision] = []
        for step in range(1, rng.randint(4, 14)):
            for _ in range(rng.randint(1, 3)):
                args = {"id": rng.choice((1, 2.5, None)), "to": rng.choice(("bob", "eve"))}
                decision = g.propose(rng.choice(TOOLS), args, step=step, start=float(step))
                if decision.allowed:
                    running.append(decision)
            while running and rng.random() < 0.7:
                one = running.pop(rng.randrange(len(running)))
                outcome: Any = rng.choice(("ok", '{"a": 1}', {"b": [1, None]}, None, 7))
                g.settle(one, outcome, error=rng.choice((None, None, "it failed")), end=step + 0.5)
            if rng.random() < 0.1:
                g.reset()
                running = []
            if rng.random() < 0.1:
                g.said("and to eve")
        twin = again(g)
        same(g, twin)
        for tool in TOOLS:
            for one, other in ((g, twin),):
                a, b = (x.propose(tool, {"id": 1, "to": "bob"}, step=99, start=99.0) for x in (one, other))
                assert (a.allowed, a.action, a.feedback, a.id) == (b.allowed, b.action, b.feedback, b.id)
        same(g, twin)


def test_values_that_json_has_no_words_for_come_back() -> None:
    g = Guard([{"name": "r", "rule": "no_repeat(a)", "severity": "TOLERATE"}])
    odd = {"n": float("nan"), "i": float("inf"), "o": object(), "$x": 1, "l": [{"$number": "7"}]}
    g.settle(g.propose("a", odd), {"$opaque": object()})
    twin = again(g)
    (call,) = twin.trace.calls
    assert call.args["n"] != call.args["n"]
    assert call.args["i"] == float("inf")
    assert call.args["$x"] == 1
    assert call.args["l"] == [{"$number": "7"}]
    assert "object object" in str(call.args["o"].value)
    assert twin.status()["completed_trace"][0]["tool_name"] == "a"


def test_the_state_is_what_has_happened_and_nothing_that_follows_from_it() -> None:
    g = Guard(RULES)
    g.said("to bob")
    g.settle(g.propose("get", {"id": 1}, start=1.0), "ok", end=2.0)
    g.propose("cancel", {"id": 2}, start=3.0)
    state = g.to_state()
    assert [next(iter(event)) for event in state["events"]] == ["said", "propose", "settled", "propose"]
    assert set(state) == {
        "kind", "version", "constraints", "severities", "settings", "limits", "fields", "before", "events",
    }  # fmt: skip


def test_another_process_goes_on() -> None:
    g = Guard(RULES)
    g.settle(g.propose("get", {"id": 1}), "ok")
    code = (
        "import json, sys; from agentltl import Guard; g = Guard.from_state(json.load(sys.stdin));"
        "print(g.propose('cancel', {'id': 1}).allowed, g.propose('cancel', {'id': 2}).allowed)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(g.to_state()), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({}, "not the state of a guard"),
        ([], "not the state of a guard"),
        ({"kind": "agentltl guard", "version": 99}, "version 99"),
    ],
)
def test_what_is_no_state_is_an_error(state: Any, says: str) -> None:
    with pytest.raises(ConstraintError, match=says):
        Guard.from_state(state)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in items:
        yield from places(member, (*place, name))


def test_a_damaged_state_is_an_error_that_names_the_place() -> None:
    g = Guard(
        [{"name": "ask", "rule": "G !pay(n > 5)", "severity": "ASK"}, {"name": "close", "rule": "response(a, b)"}]
    )
    g.said("Pay.")
    g.approve(g.propose("pay", {"n": 9}), by="ann")
    g.settle(g.propose("pay", {"n": 9}), "paid")
    g.deny(g.propose("pay", {"n": 9}), "no")
    g.finish("done")
    whole = json.loads(json.dumps(g.to_state()))
    missing = object()
    for *path, name in list(places(whole))[1:]:
        for bad in (missing, None, "x", -1, [], {}, True, 1.5, {"$number": "x"}):
            state = copy.deepcopy(whole)
            inner = state
            for key in path:
                inner = inner[key]
            if bad is missing:
                del inner[name]
            else:
                inner[name] = bad
            with contextlib.suppress(ConstraintError):  # and nothing else; what can be read is
                Guard.from_state(state)
    for damage, says in [
        ({"constraints": "rules.yaml"}, "`constraints` of this state of a guard is no list"),
        ({"before": [0]}, "`before` of this state of a guard is no pair of counts"),
        ({"settings": {"enforced": True}}, "the rules and settings of this state .* cannot be read"),
        ({"events": [*whole["events"], {"settled": 0}]}, f"event {len(whole['events']) + 1} of this state"),
        ({"events": [*whole["events"], {"settled": -1}]}, f"event {len(whole['events']) + 1} of this state"),
    ]:
        with pytest.raises(ConstraintError, match=says):
            Guard.from_state({**whole, **damage})
    with pytest.raises(ConstraintError, match="`limits` of this state of a guard is missing"):
        Guard.from_state({name: part for name, part in whole.items() if name != "limits"})


def test_the_state_is_strict_json_whatever_has_happened() -> None:
    many = 10**5000
    g = Guard(RULES, fields={"odd": float("nan"), "many": many})
    g.settle(g.propose("look", {"n": many, "t": "\ud800"}), -many)
    g.approve(g.propose("rm"), until=float("inf"))
    ask = Guard([{"name": "ask", "rule": "never(rm)", "severity": "ASK"}], approval_seconds=1e9)
    ask.approve(ask.propose("rm"), until=float("inf"))
    for one in (g, ask):
        twin = Guard.from_state(json.loads(json.dumps(one.to_state(), allow_nan=False)))
        assert (twin.verdicts(), len(twin.trace.calls)) == (one.verdicts(), len(one.trace.calls))
        assert twin.propose("rm", start=1e12).allowed is one.propose("rm", start=1e12).allowed
    (call,) = again(g).trace.calls[:1]
    assert call.args["n"] == many
    assert call.outcome is not None
    assert call.outcome.value == -many


def test_rules_for_other_runs_stay_behind_with_their_severities() -> None:
    rules = [
        {"name": "live", "rule": "never(pay)", "severity": "ASK", "where": {"site": "live"}},
        {"name": "all", "rule": "never(rm)", "severity": "PERSISTENT_BLOCK"},
    ]
    twin = again(Guard(rules, {"live": "TOLERATE"}, fields={"site": "test"}))
    assert twin.propose("pay").allowed
    assert twin.propose("rm").action == "block"


@pytest.mark.parametrize("severity", ["BLOCK_AND_WARN", "ASK", "SOFT_BLOCK"])
def test_an_opaque_value_stays_the_same_as_itself(severity: str) -> None:
    table, other = object(), object()
    g = Guard([{"name": "r", "rule": "never(show)", "severity": severity}, {"name": "once", "rule": "no_repeat(look)"}])
    refused = g.propose("show", {"table": table}, step=1)
    if severity == "ASK":
        g.approve(refused)
    decision = g.propose("show", {"table": table}, step=2)
    assert decision.allowed is (severity != "SOFT_BLOCK")
    if decision.allowed:
        g.settle(decision, table)
    g.settle(g.propose("look", {"table": table}, step=3), table)
    g.settle(g.propose("look", {"table": other}, step=3), other)
    twin = again(again(g))
    assert (twin.verdicts(), len(twin.violations), len(twin.trace.calls)) == (
        g.verdicts(), len(g.violations), len(g.trace.calls),
    )  # fmt: skip
    one, two = (guard.propose("show", {"table": table}, step=4) for guard in (g, twin))
    assert (one.allowed, one.feedback) == (two.allowed, two.feedback)
    assert [v.detail for v in twin.violations] == [v.detail for v in g.violations]
    assert "<object>" in repr(pickle.loads(pickle.dumps(twin)).trace)


@pytest.mark.parametrize("kind", [Guard, CallwiseGuard])
def test_what_was_only_looked_at_leaves_no_trace(kind: type[Guard]) -> None:
    """Of a managed agent's calls that another guard refuses, this one has none, and so has the one made again."""
    guard = kind([{"name": "most", "rule": "at_most(pay, 9)"}])
    for step in (1, 2):
        guard.settle(guard.propose("ask", {}, step=step), result="asked")
        assert not guard.refuses("pay", {}, step=step, agent="clerk", turn=(10 * step, 1))
        assert guard.touches("pay", {}, step=step + 5, agent="clerk")
        guard.settle(guard.propose("pay", {}, step=step, agent="clerk", turn=(10 * step + 1, 2)), result="paid")
    guard.said("Go on.")
    guard.settle(guard.propose("pay", {}, step=1), result="paid")
    again = kind.from_state(json.loads(json.dumps(guard.to_state())))
    assert [call.step for call in again.trace.calls] == [call.step for call in guard.trace.calls]
