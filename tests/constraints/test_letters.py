"""Letters: every event is judged by a rule like one of them, and each is an event that can be."""

from __future__ import annotations

import math
import random

import pytest

from agentltl.constraints import Call, Outcome, Position, parse
from agentltl.constraints import judgement as j
from agentltl.constraints.automaton import atoms
from agentltl.constraints.formula import Quantified
from agentltl.constraints.letters import letters_of
from agentltl.constraints.proposition import Atom
from agentltl.constraints.scope import rule
from agentltl.constraints.trace import NEVER
from agentltl.constraints.value import Json, Opaque
from agentltl.testing import random_formula

FEATURES = frozenset({"future", "past", "counts", "conditions", "outcomes", "comparisons"})
NUMBERS = (-1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 99, 100, 101, 10**400, math.inf, math.nan)
TEXTS = ("", "u", "v", "w", "t", "u\0", "ua", "0", "1", " 1", "1.0", "1.5", "2", "100", "1e2", "AMOUNT")
VALUES: tuple[Json, ...] = (*NUMBERS, *TEXTS, Opaque(object()), True, False, None, [], [1], {"k": 1}, {})


def of(text: str) -> tuple[Atom, ...]:
    """The propositions of a rule, its variables left free."""
    ready = rule(parse(text))
    body, scope = ready.normal, ready.scope
    while isinstance(body, Quantified):
        body, scope = body.body, scope.quantifiers[body]
    return atoms(body, scope)


def event(rng: random.Random) -> Call:
    def anything() -> Json:
        if rng.random() < 0.1:
            return rng.choice(([], [1], "text", None))
        return {k: rng.choice(VALUES) for k in ("k", "m") if rng.random() < 0.8}

    error = "no" if rng.random() < 0.3 else None
    outcome = NEVER if rng.random() < 0.1 else Outcome.of(anything(), error)
    return Call(rng.choice(("a", "b", "c", "z")), anything(), outcome=outcome)


def test_every_event_is_judged_like_a_letter() -> None:
    rng = random.Random("letters")
    tried = 0
    while tried < 400:
        ready = rule(random_formula(rng, rng.randint(1, 5), features=FEATURES))
        own = atoms(ready.normal, ready.scope)
        alphabet = letters_of(own)
        if alphabet is None:
            continue
        tried += 1

        def judged(call: Call, own: tuple[Atom, ...] = own) -> tuple[object, ...]:
            return tuple(atom.judge(Position(call, 0, (call,), None), {}) for atom in own)

        known = {judged(call) for call in alphabet}
        for _ in range(60):
            call = event(rng)
            assert judged(call) in known, f"{ready.formula} has no letter like {call}"


@pytest.mark.parametrize(
    "text",
    [
        "a(k ~ \"u*\")", "a(k.m = 1)", "a(k[*] = 1)", "a(len(k) = 1)", "a(k = .m)", "a_*", "said(\"u\")", "same_step",
        "first", "G (a(k = ?x) -> b(m = ?x))", "approved", "a(tool = \"a\")", "a(k is text)",
        "a[outcome.text = \"u\"]", "a(k < 1, k < \"u\")",
    ],
)  # fmt: skip
def test_rules_of_which_letters_would_not_tell_all_have_none(text: str) -> None:
    assert letters_of(of(text)) is None


def test_what_cannot_be_true_together_is_in_no_letter() -> None:
    def seen(text: str) -> list[Call]:
        own = of(text)
        alphabet = letters_of(own)
        assert alphabet is not None
        return [c for c in alphabet if all(a.judge(Position(c, 0, (c,), None), {}) == j.YES for a in own)]

    assert seen("a & b") == []
    assert seen("a(k = 1) & a(k = 2)") == []
    assert seen("a(k > 3) & a(k < 2)") == []
    assert seen("a[ok] & *[failed]") == []
    assert seen("a(k > 1) & a(k < 2)") != []
    assert seen("a(k >= 2) & a(k in [1, 2])") != []


def test_too_many_values_are_too_many_letters() -> None:
    conditions = ", ".join(f"k{i} = {i}" for i in range(12))
    assert letters_of(of(f"F a({conditions})")) is None


def test_a_variable_with_a_value_is_a_literal() -> None:
    own = of('G (a(k = ?x) -> b(m = ?x, k = "v"))')
    alphabet = letters_of(own, {"x": "u"})
    assert alphabet is not None
    assert {call.args.get("m") for call in alphabet if call.tool == "b" and isinstance(call.args, dict)} >= {"u"}
    assert letters_of(own, {"y": "u"}) is None
