"""The alphabet of several rules: complete where it says so, plain, and never without what a rule asks for."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from agentltl.constraints import Call, Outcome, Position, parse
from agentltl.constraints.alphabet import Alphabet, alphabet, atoms_of, letter_atoms
from agentltl.constraints.candidates import ANY
from agentltl.constraints.scope import Rule, rule
from agentltl.constraints.trace import NEVER
from agentltl.constraints.value import Json
from agentltl.testing import random_formula

FEATURES = frozenset({"future", "past", "counts", "conditions", "outcomes", "comparisons"})
NUMBERS = (-1, 0, 0.5, 1, 1.5, 2, 3, math.nan)
TEXTS = ("", "u", "v", "w", "ua", "0", " 1", "1.5", "2", "AMOUNT")
VALUES: tuple[Json, ...] = (*NUMBERS, *TEXTS, True, None, [], [1], {})


def of(*texts: str, values: Sequence[Json] = (), tools: Sequence[str] = ()) -> Alphabet:
    groups = {"g": ["x_*"]}
    return alphabet([rule(parse(text, groups)) for text in texts], values, tools)


def shown(found: Alphabet) -> list[str]:
    """Each call with its arguments, and how it settles."""
    said = []
    for call in found.calls:
        assert call.outcome is not None
        came = "ok" if call.outcome.ok else "failed" if call.outcome.failed else "never"
        said.append(f"{call.tool}({', '.join(f'{k}={v}' for k, v in call.args.items())}) {came}")
    return said


def judged(call: Call, rules: Sequence[Rule]) -> tuple[object, ...]:
    """Whether it is an event for each rule, and how the rule's propositions judge it."""
    position = Position(call, 0, (call,), None)
    return tuple(
        (call.tool in r.hidden, tuple(atom.judge(position, {}) for atom in atoms_of(r) if call.tool not in r.hidden))
        for r in rules
    )


def event(rng: random.Random) -> Call:
    def anything() -> Json:
        if rng.random() < 0.1:
            return rng.choice(([], [1], "text", None))
        return {k: rng.choice(VALUES) for k in ("k", "m") if rng.random() < 0.8}

    error = "no" if rng.random() < 0.3 else None
    outcome = NEVER if rng.random() < 0.1 else Outcome.of(anything(), error)
    return Call(rng.choice(("a", "b", "c", "z", "final_answer")), anything(), outcome=outcome)


def test_a_complete_alphabet_has_a_call_like_every_event() -> None:
    rng = random.Random("alphabet")
    complete = 0
    while complete < 120:
        tools = ("a", "b", "final_answer") if rng.random() < 0.3 else ("a", "b", "c")
        rules = [rule(random_formula(rng, rng.randint(1, 4), features=FEATURES, tools=tools)) for _ in range(3)]
        exact = [r for r in rules if letter_atoms(r) is not None]
        found = alphabet(exact)
        assert found.complete or len(exact) > 1
        if not found.complete:
            continue
        complete += 1
        known = {judged(call, exact) for call in found.calls}
        for _ in range(60):
            call = event(rng)
            if all(call.tool in r.hidden for r in exact):
                continue  # it is no event at all
            assert judged(call, exact) in known, f"{[str(r.formula) for r in exact]} have no call like {call}"


def test_calls_are_plain_and_those_that_no_rule_tells_apart_are_one() -> None:
    assert shown(of("response(a, b)", "at_most(a, 2)"))[:3] == ["*() ok", "a() ok", "b() ok"]
    found = of("G (a -> O b[ok])")
    assert shown(found) == ["*() ok", "a() ok", "b() ok"]  # a failed b is like any other call
    assert found.complete
    assert shown(of("G (b[failed] -> F c[ok])")) == ["*() ok", "b() failed", "c() ok"]


def test_an_argument_appears_only_if_a_rule_asks_for_it() -> None:
    found = of("never(pay(amount > 10))", "never(pay(amount < 5))", "G !log")
    plain = [c for c in found.calls if isinstance(c.args, dict)]
    assert [c.args for c in plain[:2]] == [{}, {"amount": 11}]
    assert {key for c in plain for key in c.args} == {"amount"}
    assert not any(c.args for c in plain if c.tool == "log")


def test_results_match_what_brackets_ask_for() -> None:
    found = of('G (ship -> O get[ok, status ~ "pending*", n > 3])')
    results = [c.outcome.value for c in found.calls if c.tool == "get" and c.outcome is not None]
    assert {"status": "pending", "n": 4} in results
    assert not found.complete


def test_variables_are_tried_with_the_values_of_interest_and_one_more() -> None:
    found = of("G (write(p = ?p) -> O read(p = ?p)[ok])", values=["W1", 7])
    assert {str(c.args.get("p")) for c in found.calls if c.tool == "write"} == {"W1", "7", ANY}
    assert not found.complete


def test_a_glob_is_a_tool_that_exists_or_stands_for_itself() -> None:
    assert {c.tool for c in of("G !@g").calls} == {"*", "x_*"}
    assert {c.tool for c in of("G !@g", tools=["x_1"]).calls} == {"*", "x_1"}
    assert not of("G !@g").complete


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("never(a(k.m = 1))", {"k": {"m": 1}}),
        ("never(a(items[*] = 3))", {"items": [3]}),
        ("never(a(items[1] = 3))", {"items": [ANY, 3]}),
        ("never(a(len(items) > 2))", {"items": [ANY, ANY, ANY]}),
        ('never(a(cards[kind = "gold"].n = 2))', {"cards": [{"kind": "gold", "n": 2}]}),
        ('never(a(k in [1, "u"]))', {"k": 1}),
        ('never(a(k ~ "u*"))', {"k": "u"}),
        ('never(a(k =~ "^(yes|no)$"))', {"k": "yes"}),
        ("never(a(k has 4))", {"k": [4]}),
        ("never(a(k is object))", {"k": {}}),
        ("never(a(k > 1, k < 2))", {"k": 1.5}),
        ("never(a(k))", {"k": ANY}),
        ('never(*(tool = "b", args = {"k": 1}))', {"k": 1}),
    ],
)
def test_what_a_condition_asks_for_is_tried(text: str, args: Json) -> None:
    found = of(text, "G b", tools=["a"])
    assert args in [call.args for call in found.calls]
    (atom, *_) = atoms_of(rule(parse(text)))
    positions = [Position(call, 0, (call,), None) for call in found.calls]
    assert any(atom.judge(p, {}) == (2, 0) for p in positions)


def test_an_outcome_that_is_asked_for_is_tried() -> None:
    found = of('G !a[outcome.status = "late"] & G !b[outcome.error ~ "*quota*"]')
    outcomes = [c.outcome for c in found.calls if c.outcome is not None]
    assert any(o.status == "late" for o in outcomes)
    assert any(o.error and "quota" in o.error for o in outcomes)


def test_the_end_of_a_run_is_an_event_of_its_own_for_rules_of_which_one_names_it() -> None:
    found = of("G (final_answer(k = 1) -> O a)", "G *")
    assert "final_answer" in {c.tool for c in found.calls}
