"""The joint view: whether rules can hold together, how soonest, and which of them contradict one another."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import pytest

from agentltl.constraints import Call, Monitor, Outcome, Position, Trace, holds, parse
from agentltl.constraints.ahead import Ahead
from agentltl.constraints.alphabet import letter_atoms
from agentltl.constraints.formula import Formula
from agentltl.constraints.joint import Answer, anything, breaks, conflict, fails, keeping, reach
from agentltl.constraints.scope import rule
from agentltl.testing import random_formula

OK, FAILED = Outcome.of("done"), Outcome.of(error="no")
LETTERS = [
    Call("z", {}, outcome=OK),
    *(Call(tool, args, outcome=outcome) for tool, args, outcome in product("ab", ({}, {"k": 1}), (OK, FAILED))),
]
LONGEST = 3
FEATURES = frozenset({"future", "past", "counts", "patterns"})
WORDS = {"p": "a[ok]", "q": "b", "r": "a(k = 1)", "s": "b(k = 1)"}


def rules(rng: random.Random, most: int) -> list[Formula]:
    """Random rules over two tools, one argument and success."""

    def one() -> Formula:
        formula = random_formula(rng, rng.randint(2, 4), features=FEATURES, tools=tuple(WORDS))
        exact = parse(re.sub(r"\b[pqrs]\b", lambda m: WORDS[m[0]], str(formula)))
        asks_more = "called_with" in str(exact)  # for values that brute force does not try
        return one() if asks_more or letter_atoms(rule(exact)) is None else exact

    return [one() for _ in range(rng.randint(1, most))]


def plain(call: Call) -> bool:
    """Whether brute force tries calls like it, too."""
    return isinstance(call.args, dict) and call.outcome is not None and call.outcome.settled


def continuations(longest: int) -> Iterator[tuple[Call, ...]]:
    for length in range(longest + 1):
        yield from product(LETTERS, repeat=length)


def shortest(formulas: Sequence[Formula], prefix: tuple[Call, ...], longest: int = LONGEST) -> int | None:
    """How many calls after the prefix all the rules hold, by the reference semantics."""
    for more in continuations(longest):
        if all(holds(f, Trace((*prefix, *more))) for f in formulas):
            return len(more)
    return None


def after(formulas: Sequence[Formula], calls: Sequence[Call]) -> list[Monitor]:
    monitors = [Monitor.of(f) for f in formulas]
    for position in Trace(tuple(calls)).positions():
        monitors = [m.step(position) for m in monitors]
    return monitors


def of(*texts: str) -> list[Monitor]:
    return [Monitor.of(parse(text)) for text in texts]


def test_what_is_found_is_the_shortest_and_what_is_denied_is_not_there() -> None:
    rng = random.Random("joint")
    answers = dict.fromkeys(Answer, 0)
    for _ in range(80):
        formulas = rules(rng, 3)
        prefix = tuple(rng.choice(LETTERS) for _ in range(rng.randint(0, 2)))
        found = reach(after(formulas, prefix), ahead=Ahead(prefix), permitted=plain)
        answers[found.answer] += 1
        expected = shortest(formulas, prefix, LONGEST - len(prefix))
        told = [*map(str, formulas), prefix]
        if found.answer is Answer.YES:
            assert all(holds(f, Trace((*prefix, *found.calls))) for f in formulas), told
            assert expected == (len(found.calls) if len(found.calls) <= LONGEST - len(prefix) else None), told
        else:
            assert found.answer is Answer.NO, told  # all these rules are in the exact class
            assert expected is None, told
            assert shortest([formulas[i] for i in found.rules], prefix, LONGEST - len(prefix)) is None, told
    assert min(answers[Answer.YES], answers[Answer.NO]) > 10


def test_a_conflict_is_one_and_no_part_of_it_is() -> None:
    rng = random.Random("conflict")
    found = 0
    for _ in range(80):
        formulas = rules(rng, 4)
        core = conflict([Monitor.of(f) for f in formulas])
        if core is None:
            assert reach([Monitor.of(f) for f in formulas]).answer is Answer.YES
            continue
        found += 1
        assert shortest([formulas[i] for i in core], (), 3) is None
        for fewer in combinations(range(len(formulas)), len(core) - 1):  # it is the smallest
            assert reach([Monitor.of(formulas[i]) for i in fewer]).answer is Answer.YES
    assert found > 10


def test_calls_that_keep_the_rules_alive() -> None:
    rng = random.Random("keeping")
    alive = {True: 0, False: 0}
    for _ in range(30):
        formulas = rules(rng, 2)
        kept = {}
        for call, answer in keeping([Monitor.of(f) for f in formulas]):
            assert answer is not Answer.UNKNOWN
            expected = shortest(formulas, (call,), 2) is not None
            assert answer is Answer.YES or not expected, [*map(str, formulas), call]
            kept[call.tool, str(call.args)] = answer
            alive[answer is Answer.YES] += 1
    assert min(alive.values()) > 10


def test_rules_can_be_dead_together_although_each_alone_is_alive() -> None:
    formulas = [parse("response(x, y)"), parse("never(y)")]
    monitors = after(formulas, [Call("x", outcome=OK)])
    assert all(not m.verdict.final for m in monitors)
    assert reach(monitors).answer is Answer.NO
    assert conflict(monitors) == (0, 1)
    assert {c.tool: a for c, a in keeping(of("response(x, y)", "never(y)"))} == {
        "*": Answer.YES, "x": Answer.NO, "y": Answer.NO,
    }  # fmt: skip


def test_orderings_in_a_circle_contradict_one_another_and_each_two_of_them_do_not() -> None:
    circle = of("before(a, b)", "before(b, c)", "before(c, a)")
    assert conflict([*of("at_most(a, 3)"), *circle, *of("response(a, d)")]) == (1, 2, 3)
    assert [c.tool for c in reach(circle[:2]).calls] == ["a", "b", "c"]


def test_limits_on_one_argument_leave_what_lies_between_them() -> None:
    limits = of("never(pay(amount > 10))", "never(pay(amount < 10))", "F pay(amount)")
    (call,) = reach(limits).calls
    assert call.args == {"amount": 10}
    assert conflict([*limits, *of("never(pay(amount >= 10))")]) == (1, 2, 3)
    (call,) = reach([*limits, *of("never(pay(amount = 10))")]).calls  # a text is a number to an ordering only
    assert call.args == {"amount": "10"}


def test_large_limits_are_no_large_search() -> None:
    found = reach(of("exactly(a, 40)", "exactly(b, 40)", *(f"at_most(t{i}, 1000)" for i in range(20))))
    assert (found.answer, len(found.calls), found.rules) == (Answer.YES, 80, (0, 1))


@pytest.mark.parametrize(
    "texts",
    [
        ("F w(o = \"1\")", "G (w(o = ?o) -> O r(o = ?o)[ok])", "G !r"),  # with variables, nothing is proved
        ("F a(k ~ \"u*\")", "G !a(k =~ \"^u\")"),
        ("F a", "G (a -> said(\"yes\"))"),
        ("F a", "G (a -> seen(\"yes\"))"),
        ("F a", "G (a -> sum(a, k) > 3) & G !a(k)"),
        ("F @g", "G !@g"),
    ],
)  # fmt: skip
def test_what_is_not_proved_is_unknown(texts: tuple[str, ...]) -> None:
    monitors = [Monitor.of(parse(text, {"g": ["x_*"]})) for text in texts]
    assert reach(monitors).answer is Answer.UNKNOWN
    assert conflict(monitors) is None


def test_exact_rules_prove_a_conflict_beside_rules_that_are_not() -> None:
    monitors = of("F a & G (a(k = ?x) -> F b(k = ?x))", "F c", "never(c)")
    assert conflict(monitors) == (1, 2)


def test_a_spent_cap_is_unknown_and_says_so() -> None:
    found = reach(of("exactly(a, 40)", "exactly(b, 40)"), cap=30)
    assert (found.answer, found.capped) == (Answer.UNKNOWN, True)


def test_variables_take_the_values_of_interest_and_those_of_other_rules() -> None:
    read_first = "G (w(o = ?o) -> O r(o = ?o)[ok])"
    found = reach(of(read_first, "F w(o = 7)"))
    assert [(c.tool, c.args) for c in found.calls] == [("r", {"o": 7}), ("w", {"o": 7})]
    monitors = after([parse("response(open(id = ?x), close(id = ?x))")], [Call("open", {"id": 5}, outcome=OK)])
    assert reach(monitors).answer is Answer.UNKNOWN
    assert [(c.tool, c.args) for c in reach(monitors, values=monitors[0].open_values).calls] == [("close", {"id": 5})]


def test_aims_of_single_rules() -> None:
    exactly, response = "exactly(a, 2)", "response(a, b)"
    assert len(reach(of(exactly), [breaks], free=[0]).calls) == 3
    found = reach(of(exactly, response), [fails, anything], free=[0])
    assert (found.answer, found.calls) == (Answer.YES, ())
    found = reach(of("F a", exactly), [anything, breaks], free=[1])
    assert [c.tool for c in found.calls] == ["a", "a", "a"]
    assert reach(of("F a | G !a"), [breaks], free=[0]).answer is Answer.NO


def test_running_calls_are_not_counted_on() -> None:
    monitor = Monitor.of(parse("F a[ok]"))
    running = Call("a")
    monitor = monitor.step(Position(running, 0, (running,), ()))
    assert [c.tool for c in reach([monitor], ahead=Ahead((running,))).calls] == ["a"]
