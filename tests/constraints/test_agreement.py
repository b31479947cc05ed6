"""The monitor against the reference semantics on random rules and prefixes: `--agreement N` pairs (default 200,000)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from agentltl.constraints import (
    Eventually,
    Exists,
    Globally,
    Once,
    WeakUntil,
    parse,
    register_domain,
    register_predicate,
)
from agentltl.constraints import judgement as j
from agentltl.constraints.applied import Applied
from agentltl.constraints.formula import Formula
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.rule import check
from agentltl.constraints.scope import rule as ready
from agentltl.constraints.semantics import holds, judge
from agentltl.constraints.trace import Trace
from agentltl.constraints.verdict import Truth
from agentltl.errors import FormulaError
from agentltl.testing import FEATURES, random_formula, random_play, random_trace

CHUNKS = 16
USES = FEATURES - {"quantifiers", "patterns"}
WORTH = {
    Truth.FALSE: {j.F, j.U},  # that no outcome can help may be known before the outcome
    Truth.PFALSE: {j.F},
    Truth.PENDING: {j.U},
    Truth.PTRUE: {j.T},
    Truth.TRUE: {j.T, j.U},
}


@register_predicate("even_so_far")
def even_so_far(prefix: Trace, *values: object) -> bool:
    return (len(prefix.calls) + len(values)) % 2 == 0


@register_domain("tools_so_far")
def tools_so_far(trace: Trace, metrics: object) -> list[str]:
    return sorted({str(call.args.get("k")) for call in trace.calls if isinstance(call.args, dict)})


def compared(rng: random.Random) -> Formula:
    """A rule in which a variable is compared in any way, also before it has got its value by `=`."""
    x = [random_formula(rng, rng.randint(1, 4), rule=False, features=USES, variables=("x",)) for _ in range(2)]
    giver = parse(rng.choice(("a(k = ?x)", "b(m[*] = ?x)[ok]", "*(k = ?x, m)")))
    shape = rng.choice((
        lambda: Globally(giver >> x[0]),
        lambda: WeakUntil(~giver, x[0]),
        lambda: Globally(giver & x[0] >> x[1]),
        lambda: Eventually(giver) >> x[0],
        lambda: Globally(Exists("x", Eventually(giver) & x[0])),
        lambda: Exists("x", Once(giver) & x[0]) >> x[1],
    ))  # fmt: skip
    return shape()


def rule_and_trace(rng: random.Random) -> tuple[Formula, Trace]:
    if rng.random() < 0.2:
        formula = compared(rng)
        try:
            check(formula)
        except FormulaError:
            return rule_and_trace(rng)
        return formula, random_trace(rng, rng.randint(0, 6))
    formula = random_formula(
        rng,
        rng.randint(1, 8),
        groups={"ab": ("a", "b"), "glob": ("?",)},
        predicates=("even_so_far",) if rng.random() < 0.1 else (),
        domains=("tools_so_far",) if rng.random() < 0.2 else (),
    )
    return formula, random_trace(rng, rng.randint(0, 6))


def compare(formula: Formula, trace: Trace, rng: random.Random, seen: Counter[str]) -> None:
    """Each prefix of one way in which the trace could have happened, and a second judge that has no automaton."""
    monitor, known, final = Monitor.of(formula), Trace((), trace.messages), None
    second = Monitor.on(Applied(ready(formula)))
    moments = random_play(rng, trace)
    while True:
        truth = monitor.verdict.truth
        assert judge(formula, known)[0] in WORTH[truth], f"{truth.name}: {formula}\n{known}"
        if monitor.verdict.final:
            assert holds(formula, known) is (truth is Truth.TRUE), f"{truth.name}: {formula}\n{known}"
        assert final in (None, truth), f"{final} was taken back: {formula}\n{known}"
        plain = second.verdict.truth
        assert truth is plain or monitor.verdict.final, f"{truth.name}, not {plain.name}: {formula}\n{known}"
        final = truth if monitor.verdict.final else None
        seen[truth.name] += 1
        moment = next(moments, None)
        if moment is None:
            return
        known = moment.trace
        monitor = monitor.settle(moment.position) if moment.settles else monitor.step(moment.position)
        second = second.settle(moment.position) if moment.settles else second.step(moment.position)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_monitor_agrees_with_the_reference(chunk: int, request: pytest.FixtureRequest) -> None:
    wanted = -(-request.config.getoption("--agreement") // CHUNKS)
    rng = random.Random(f"agreement {chunk} {request.config.getoption('--agreement-seed')}")
    seen: Counter[str] = Counter()
    while seen.total() < wanted:
        compare(*rule_and_trace(rng), rng, seen)
    assert wanted < 2000 or min(seen[truth.name] for truth in Truth) > wanted // 500, "every verdict must come up"


def test_a_finished_trace_is_worth_what_its_last_prefix_is_worth() -> None:
    rng = random.Random("finished")
    for _ in range(500):
        formula, trace = rule_and_trace(rng)
        monitor = Monitor.of(formula)
        for position in trace.positions(frozenset()):
            monitor = monitor.step(position)
        assert (monitor.verdict.truth >= Truth.PTRUE) is holds(formula, trace)


def test_a_wrong_monitor_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Monitor, "settle", lambda self, position: self)
    rng = random.Random("wrong")

    def all_agree() -> None:
        for _ in range(500):
            compare(*rule_and_trace(rng), rng, Counter())

    with pytest.raises(AssertionError):
        all_agree()
