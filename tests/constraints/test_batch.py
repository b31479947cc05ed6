"""Many traces at once: what `verify_many` says of each, from arrays of letters."""

import random
import sys

import pytest

from agentltl.constraints import batch as module
from agentltl.constraints.batch import encode, verify_batch
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.many import verify_many
from agentltl.constraints.trace import Call, Outcome, Trace
from agentltl.errors import ConstraintError, MissingExtraError, TraceError
from agentltl.testing import random_formula
from tests.constraints import slowly

LETTERED = frozenset({"future", "past", "bounds", "patterns", "places"})


def rules_of(rng: random.Random, features: frozenset[str], count: int) -> list[Constraint]:
    return [
        Constraint(f"rule {i}", random_formula(rng, rng.randint(2, 6), features=features), i % 3) for i in range(count)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_is_judged_as_its_traces(seed: int) -> None:
    rng = random.Random(f"batch {seed}")
    for _ in range(12):
        traces = [slowly.random_trace(rng, 12) for _ in range(rng.randint(0, 30))]
        batch = encode(traces)
        assert (len(batch), list(batch)) == (len(traces), traces)
        rules = rules_of(rng, LETTERED, 4)
        rules += [Constraint("ok", "G (b -> O a[ok])"), Constraint("x", "G !b", where={"suite": "x"})]
        rules += [Constraint("value", "G (c(k = ?k) -> O a(k = ?k))"), Constraint("never", "F a & G !a")]
        results = verify_batch(batch, rules)
        assert results == list(verify_many(traces, rules)) == list(verify_many(batch, rules))
        for result, trace in zip(results, traces, strict=True):
            assert {rule.name: list(result.violations[rule.name]) for rule in rules} == {
                rule.name: slowly.violations(rule, trace) for rule in rules
            }


def test_where_joint_states_are_too_many_the_rules_are_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random("halved")
    traces = [slowly.random_trace(rng, 12) for _ in range(40)]
    rules = rules_of(rng, LETTERED - {"places"}, 8)
    expected = list(verify_many(traces, rules))
    asked = []
    walk = module.Table.walk

    def watched(table: module.Table) -> object:
        asked.append(len(table.rules.rules.formulas))
        return walk(table)

    monkeypatch.setattr(module.Table, "walk", watched)
    for most in (1, 3, 12):
        monkeypatch.setattr(module, "MOST", most)
        assert verify_batch(encode(traces), rules) == expected
    assert len(set(asked)) > 2  # halved more than once


def test_the_letters_of_a_batch() -> None:
    outcomes = (Outcome.of("x"), Outcome.of(error="no"), None)
    batch = encode([Trace(tuple(Call("a", outcome=o) for o in outcomes)), Trace((Call("b", outcome=outcomes[0]),))])
    assert (batch.tools, batch.width) == (("a", "b"), 7)
    assert batch.letters.tolist() == [[2, 5], [1, 6], [0, 6]]


def test_a_trace_that_lacks_something_is_named() -> None:
    traces = [Trace((Call("a", step=1, outcome=Outcome.of("")),)), Trace((Call("a", outcome=Outcome.of("")),))]
    rules = [Constraint("step", "G !same_step"), Constraint("a", "F a")]
    with pytest.raises(TraceError, match=r"^`traces\[1\]`: constraint `step`: "):
        verify_batch(encode(traces), rules)
    kinds = [type(result).__name__ for result in verify_many(encode(traces), rules, on_error="yield")]
    assert kinds == ["TraceResult", "TraceError"]
    with pytest.raises(TraceError, match=r"`traces\[0\]` is a dict"):
        encode([{}])  # type: ignore[list-item]
    with pytest.raises(ConstraintError):
        verify_batch(encode(traces), rules, weight_overrides={"other": 1})


def test_a_batch_keeps_its_traces_where_sentences_are_wanted() -> None:
    [result] = verify_many(encode([Trace((Call("a"),))]), [Constraint("b", "F b")], keep=True)
    assert result.report()["compliance_label"] == "VIOLATION"


def test_without_numpy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingExtraError, match="fast"):
        encode([])
