"""Proofs: their judgements are the reference's, and the facts that they give are enough."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Apply, Formula, Proposition
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.path import Env
from agentltl.constraints.scope import rule
from agentltl.constraints.semantics import judge
from agentltl.constraints.sentences.proof import Proofs
from agentltl.constraints.sentences.why import Effort, Leaf, Proof, TooMuch
from agentltl.constraints.tally import Tally
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Call, Outcome, Trace
from agentltl.constraints.verdict import Truth
from agentltl.testing import random_formula, random_trace


def pairs(count: int, seed: int) -> Iterator[tuple[Formula, Trace]]:
    rng = random.Random(seed)
    while count:
        formula, trace = random_formula(rng, rng.randint(1, 7)), random_trace(rng, rng.randint(1, 6))
        if next(trace.positions(rule(formula).hidden), None) is not None:
            count -= 1
            yield formula, trace


def proof(formula: Formula, trace: Trace, **settings: object) -> tuple[Proofs, Proof]:
    ready = rule(formula)
    proofs = Proofs(tuple(trace.positions(ready.hidden)), **settings)  # type: ignore[arg-type]
    return proofs, proofs.at(ready.formula, 0, {})


class Told(Proofs):
    """A trace of which nothing is known but what some facts say."""

    leaves: frozenset[tuple[Formula, int, str]] = frozenset()

    @staticmethod
    def name(leaf: Leaf) -> tuple[Formula, int, str]:
        assert leaf.node is not None
        return leaf.node, leaf.index, repr(sorted((v, leaf.env[v]) for v in leaf.node.free))

    def _proposition(self, node: Proposition, i: int, env: Env) -> Proof:
        return self.known(super()._proposition(node, i, env))

    def _tally(self, formula: Apply, i: int, env: Env, before: Tally | None) -> Proof:
        return self.known(super()._tally(formula, i, env, before))

    def known(self, one: Proof) -> Proof:
        leaf = one.true.leaf
        assert leaf is not None
        return one if self.name(leaf) in self.leaves else replace(one, judgement=j.RUNNING)


@pytest.mark.parametrize("seed", range(5))
def test_the_judgement_is_that_of_the_reference(seed: int) -> None:
    for formula, trace in pairs(200, seed):
        for seen in (trace, trace.finished()):
            assert proof(formula, seen)[1].judgement == judge(formula, seen), (str(formula), seen)


@pytest.mark.parametrize("seed", range(5))
def test_the_facts_are_enough(seed: int) -> None:
    tried = 0
    for formula, trace in pairs(200, seed):
        if any(isinstance(f, Apply) and f.op.shape == "tally" for f in formula.walk()):
            continue  # a count is a fact of its own
        full, made = proof(formula, trace.finished())
        for side, why in ((0, made.true), (1, made.false)):
            if made.judgement[side] == j.T:
                told = Told(full.positions)
                told.leaves = frozenset(Told.name(leaf) for leaf in why.leaves() if leaf.node is not None)
                judged: Judgement = told.at(rule(formula).formula, 0, {}).judgement
                assert judged[side] == j.T, (str(formula), trace, told.leaves)
                tried += 1
    assert tried > 50


@pytest.mark.parametrize("seed", range(3))
def test_what_is_sure_while_the_trace_goes_on_is_never_taken_back(seed: int) -> None:
    for formula, trace in pairs(200, seed):
        true, false = proof(formula, trace, growing=True)[1].judgement
        monitor = Monitor.of(formula)
        for position in trace.positions(rule(formula).hidden):
            monitor = monitor.step(position)
        verdict = monitor.verdict.truth
        assert true != j.T or verdict is Truth.TRUE, str(formula)
        assert true != j.F or verdict is Truth.FALSE, str(formula)
        assert false != j.T or verdict is Truth.FALSE, str(formula)


def facts(text: str, letters: str, focus: int | None = None) -> list[tuple[str, int]]:
    trace = Trace(tuple(Call(c, outcome=Outcome.of("ok")) for c in letters))
    made = proof(parse(text), trace, focus=focus)[1]
    why = made.true if made.judgement[0] == j.T else made.false
    return [(str(leaf.node), leaf.index) for leaf in why.leaves()]


def test_the_fewest_facts() -> None:
    assert facts("G !b", "abab") == [("b", 1)]
    assert facts("F a | F b", "xxb") == [("b", 2)]
    assert facts("G (b -> O a)", "xb") == [("b", 1), ("a", 1), ("a", 0)] or set(facts("G (b -> O a)", "xb")) == {
        ("b", 1),
        ("a", 0),
        ("a", 1),
    }
    assert facts("F a & G !b", "ba") == [("b", 0)]
    assert facts("true", "a") == []


def test_the_event_in_focus_comes_first() -> None:
    assert facts("G !b", "abab", focus=3) == [("b", 3)]
    assert facts("G (a -> F b)", "aba", focus=3) == [("a", 2), ("b", 2)]


def test_a_chain_as_long_as_the_trace_is_no_problem() -> None:
    trace = Trace(tuple(Call("a", outcome=Outcome.of("ok")) for _ in range(10_000)))
    assert len(proof(parse("G !b"), trace, effort=Effort(50_000))[1].true.leaves()) == 10_000


def test_it_gives_up_rather_than_run_for_minutes() -> None:
    trace = Trace(tuple(Call("a", {"k": i}, outcome=Outcome.of("ok")) for i in range(300)))
    with pytest.raises(TooMuch):
        proof(parse("G (a(k = ?x) -> O a(k = ?x))"), trace, effort=Effort(50_000))
