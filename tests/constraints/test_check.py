"""Every call of a recorded trace that breaks a rule."""

from itertools import product

import pytest

from agentltl.constraints.check import violations
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.semantics import holds
from agentltl.constraints.trace import Call, Outcome, Trace
from agentltl.errors import TraceError


def trace(letters: str, **fields: str) -> Trace:
    """One call a letter; a capital is a call that failed."""
    calls = [Call(c.lower(), outcome=Outcome.of(error="no" if c.isupper() else None)) for c in letters]
    return Trace(tuple(calls), fields=fields)


@pytest.mark.parametrize(
    ("rule", "letters", "found"),
    [
        ("G !b", "abab", [1, 3]),
        ("G !b", "aaa", []),
        ("G (b -> O a)", "bbab", [0, 1]),
        ("precedence(a, b)", "Ab", [1]),
        ("precedence(a, b)", "bbab", [0, 1]),
        ("G (a -> X b)", "aabac", [1, 4]),
        ("G (a -> X b)", "aba", [3]),
        ("F a", "bb", [2]),
        ("F a", "", [0]),
        ("F a", "ba", []),
        ("G (a -> F b)", "aba", [3]),
        ("before(a, b)", "bab", [0]),
        ("before(a, b)", "a", [1]),
        ("F c & G !b", "bab", [0, 2, 3]),
        ("at_most(a, 1)", "aaba", [1, 3]),
        ("false", "ab", [2]),
        ("G (a[failed] -> N !b)", "Abab", [1]),
    ],
)
def test_the_calls_that_break_a_rule(rule: str, letters: str, found: list[int]) -> None:
    assert violations(Constraint("r", rule), trace(letters)) == found


@pytest.mark.parametrize(
    "rule",
    [
        "G !b", "F a", "X a", "N a", "a U b", "a W b", "a R b", "a M b", "G (b -> O a)", "G (a -> F b)",
        "before(a, b)", "after(a, b)", "within(a, b, 1)", "called_n(a, = 2)", "last(a)", "no_repeat(*)",
        "F a -> F b", "G (a -> X X b)", "(F a & G !b) | N b", "G (a -> F[1] b)", "at(1, a)", "at_most(a, 1)",
        "G (b -> a B b)", "F G a", "G F a", "true", "false", "F a & G !a",
    ],
)  # fmt: skip
def test_a_rule_is_broken_somewhere_exactly_if_it_does_not_hold(rule: str) -> None:
    constraint = Constraint("r", rule)
    for size in range(5):
        for letters in product("abc", repeat=size):
            one = trace("".join(letters))
            assert (violations(constraint, one) == []) is holds(constraint.formula, one), letters


def test_only_the_traces_it_is_meant_for() -> None:
    constraint = Constraint("r", "G !b", where={"suite": ["x", "y"]})
    assert violations(constraint, trace("b", suite="x")) == [0]
    assert violations(constraint, trace("b", suite="z")) == []
    assert violations(constraint, trace("b")) == []


def test_the_final_answer_counts_in_the_index_and_is_an_event_only_where_it_is_named() -> None:
    calls = tuple(Call(name, outcome=Outcome.of("ok")) for name in ("a", "final_answer", "b"))
    assert violations(Constraint("r", "chain_response(a, b)"), Trace(calls)) == []
    assert violations(Constraint("r", "G !b"), Trace(calls)) == [2]
    assert violations(Constraint("r", "G !final_answer"), Trace(calls)) == [1]


def test_what_still_runs_never_settled() -> None:
    assert violations(Constraint("r", "before(a, b)"), Trace((Call("a"), Call("b")))) == [1]


def test_what_the_trace_lacks_is_an_error_that_names_the_constraint() -> None:
    with pytest.raises(TraceError, match=r"^constraint `steps`: the rule asks for `same_step`"):
        violations(Constraint("steps", "G !same_step"), trace("ab"))
