"""What one event costs: the groups of alike values are worked on, not each value."""

from collections.abc import Hashable

import pytest

from agentltl.constraints.applied import Applied
from agentltl.constraints.check import breaches
from agentltl.constraints.formula import Formula, Quantified
from agentltl.constraints.here import Here
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.predicates import register_domain
from agentltl.constraints.scope import rule as ready
from agentltl.constraints.semantics import holds
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Call, Outcome, Trace
from agentltl.constraints.value import Json
from agentltl.constraints.verdict import Truth


def shop(values: int, unread: int = 0) -> Trace:
    """Each order is read and then cancelled; the first `unread` reads fail."""
    calls = []
    for i in range(values):
        outcome = Outcome.of(error="no") if i < unread else Outcome.of("{}")
        calls.append(Call("read", {"id": i}, outcome=outcome))
        calls.append(Call("cancel", {"id": i}, outcome=Outcome.of("{}")))
    return Trace(tuple(calls))


@pytest.mark.parametrize(
    "rule",
    [
        "G (cancel(id = ?o) -> O read(id = ?o)[ok])",
        "G (cancel(id = ?o) -> !Y O cancel(id = ?o)[ok])",
        "G (*(id = ?o) -> count(*(id = ?o)) <= 2)",
        "G (read(id = ?o)[ok] -> F cancel(id = ?o))",
    ],
)
def test_the_work_grows_with_the_events_and_not_with_the_values(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entered = 0
    inside = Here.inside

    def counted(self: Here, node: Quantified, k: Hashable, value: Json) -> Here:
        nonlocal entered
        entered += 1
        return inside(self, node, k, value)

    monkeypatch.setattr(Here, "inside", counted)
    costs = []
    for values in (50, 100):
        entered = 0
        monitor = Monitor.on(Applied(ready(parse(rule))))
        for position in shop(values).positions():
            monitor = monitor.step(position)
            assert monitor.broken is None
        costs.append(entered)
    assert 0 < costs[1] <= 2.1 * costs[0]


def test_each_value_keeps_a_state_of_its_own() -> None:
    rule = parse("G (cancel(id = ?o) -> O read(id = ?o)[ok])")
    assert list(breaches(rule, shop(300, unread=3))) == [1, 3, 5]


def test_values_part_and_meet_again() -> None:
    """Values whose states become equal are one group again, and leave it one by one."""
    rule = parse("G (use(id = ?o) -> (!close(id = ?o) S open(id = ?o)))")
    steps = [
        ("open", 1),
        ("open", 2),
        ("use", 1),
        ("close", 1),
        ("use", 1),
        ("use", 2),
        ("open", 1),
        ("use", 1),
        ("use", 3),
    ]
    calls = tuple(Call(tool, {"id": value}, outcome=Outcome.of("{}")) for tool, value in steps)
    assert list(breaches(rule, Trace(calls))) == [4, 8]


def test_a_domain_inside_a_variable_looks_back_under_the_value_around_it() -> None:
    register_domain("here_keys", lambda trace, metrics: [str(call.args.get("k")) for call in trace.calls])
    rule = parse("forall ?x in $here_keys. N !sum(Z *(args = ?y), m) = 1.5")
    calls = (Call("c", {"k": "u"}), Call("c", {"k": 0, "m": "no number"}))
    assert not holds(rule, Trace(calls))
    assert worth(rule, calls) is Truth.FALSE


def test_a_domain_whose_variable_is_compared_is_not_late() -> None:
    register_domain("here_texts", lambda trace, metrics: ["u", "v"])
    rule = parse("exists ?x in $here_texts. b P N seen(?x)")
    calls = (Call("b"), Call("b"), Call("a"))
    assert (worth(rule, calls) >= Truth.PTRUE) is holds(rule, Trace(calls))


def worth(rule: Formula, calls: tuple[Call, ...]) -> Truth:
    monitor = Monitor.of(rule)
    for position in Trace(calls).finished().positions():
        monitor = monitor.step(position)
    return monitor.verdict.truth
