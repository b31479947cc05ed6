"""The facts by which the last event breaks a rule: they are those of the whole proof, and cost little."""

import random

import pytest

from agentltl.constraints import judgement as j
from agentltl.constraints.explain import explain_breach
from agentltl.constraints.facts import Seen
from agentltl.constraints.formula import Apply, Formula, Proposition
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.operators import AND, SYMBOLS
from agentltl.constraints.path import Env
from agentltl.constraints.scope import rule
from agentltl.constraints.sentences.blame import blame, each_alone
from agentltl.constraints.sentences.events import Events
from agentltl.constraints.sentences.proof import Proofs
from agentltl.constraints.sentences.why import EFFORT, Effort, Leaf
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Call, Outcome, Position, Trace
from agentltl.testing import random_formula, random_trace


def always(formula: Formula) -> Formula:
    return Apply(SYMBOLS["G"], (formula,))


def named(leaves: list[Leaf]) -> list[tuple[str, int, Judgement, list[str]]]:
    return [(str(leaf.node or leaf.beyond), leaf.index, leaf.judgement, sorted(map(str, leaf.env))) for leaf in leaves]


@pytest.mark.parametrize("seed", range(4))
def test_the_facts_at_the_last_event_are_those_of_the_whole_proof(seed: int) -> None:
    rng, tried = random.Random(seed), 0
    for _ in range(400):
        one, two = (always(random_formula(rng, rng.randint(1, 6))) for _ in range(2))
        ready = rule(rng.choice([one, Apply(AND, (one, two))]))
        events = Events(random_trace(rng, rng.randint(1, 6)), ready.hidden)
        if not each_alone(ready.formula) or not events:
            continue
        last = len(events) - 1
        whole = Proofs(events, last, growing=True, effort=Effort(10**6)).at(ready.formula, 0, {})
        true, false = whole.judgement
        whys = [whole.false] * (false == j.T) + [whole.true] * (true == j.F)
        expected = next((why.leaves() for why in whys if why.focus and why.leaves()), [])
        found = blame(Proofs(events, last, growing=True, effort=Effort(10**6)), ready.formula)
        assert named(found) == named(expected), str(ready.formula)
        tried += bool(found)
    assert tried > 50


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("G (b -> O a)", True),
        ("G (b(k = ?x) -> O a(k = ?x)) & G !c", True),
        ("G (b -> exists ?x. O a(k = ?x))", True),
        ("G (b -> F a)", False),
        ("!b W a", False),
        ("G !a | G !b", False),
        ("exists ?x. G !a(k = ?x)", False),
        ("G[2] !a", False),
    ],
)
def test_which_rules_each_event_keeps_or_breaks_by_itself(text: str, alone: bool) -> None:
    assert each_alone(rule(parse(text)).formula) is alone


def long(calls: int) -> Trace:
    looks = (Call("a", {"x": i, "k": i}, outcome=Outcome.of(f"r{i}")) for i in range(calls - 1))
    return Trace((*looks, Call("b", {"x": "mallory"})), ())


def test_a_fact_is_asked_of_the_event_in_focus_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    judge = Seen.judge

    def counting(self: Seen, position: Position, env: Env) -> Judgement:
        asked.append(position.index)
        return judge(self, position, env)

    monkeypatch.setattr(Seen, "judge", counting)
    sentence = explain_breach(parse("G (b -> seen(.x, a))"), long(500), 499)
    assert sentence == '"b" (call #500) has `x` "mallory", which does not occur in an earlier result of "a".'
    assert set(asked) == {499}


@pytest.mark.parametrize(
    "text",
    [
        "G (b -> (seen(.x, a) S c))",
        "G (b -> exists ?v. O a(k = ?v) & O c(k = ?v))",
        "G (b -> exists ?v. O (a(k = ?v) & O c(k = ?v)))",
    ],
)
def test_what_costs_too_much_is_told_in_short(text: str) -> None:
    effort = Effort(EFFORT)
    assert explain_breach(parse(text), long(2_000), 1_999, effort) == "Call #2000 breaks the rule."
    assert effort.left > -2_001  # the last step looked at every call


def test_of_several_broken_parts_those_are_told_for_which_there_is_a_sentence() -> None:
    formula = parse("G !b & G (b -> (seen(.x, a) S c))")
    assert explain_breach(formula, long(2_000), 1_999) == 'Call #2000 is "b".'


def test_a_proposition_is_judged_once_for_equal_formulas() -> None:
    proofs = Proofs(Events(long(3), frozenset()), 2)
    one, same = parse("b"), parse("b")
    assert isinstance(one, Proposition)
    assert proofs.at(one, 1, {}) is proofs.at(same, 1, {})
