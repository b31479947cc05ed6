"""Rules moved together are worth what each is worth alone: after every event, with calls that overlap and breaches."""

from __future__ import annotations

import pickle
import random
import threading
from dataclasses import replace

import pytest

from agentltl.constraints import Monitor, engine, panel, parse, together
from agentltl.constraints.formula import Formula
from agentltl.constraints.panel import Panel
from agentltl.constraints.trace import Outcome, Position, Trace
from agentltl.errors import TraceError
from agentltl.testing import FEATURES, random_formula, random_play, random_trace
from agentltl.testing.traces import Moment

RULES = (
    "before(a, b)", "G (a -> X b)", "at_most(c, 2)", "G (b -> O a[ok])", "G (c -> (!b S a[ok]))", "G !b(k = 1)",
    "G (a(k = ?x) -> F b(k = ?x))", "G (b(k = ?x) -> O a(k = ?x)[ok])", "G (c -> F a)", "G (a -> count(b, 3) <= 1)",
)  # fmt: skip


QUICK: list[str] = []
"""The tools of calls that were judged by the call alone."""


def alone(monitors: list[Monitor], position: Position, settles: bool) -> tuple[int, ...]:
    """What an event breaks, each rule by itself; breaches are forgiven."""
    broken = []
    for i, monitor in enumerate(monitors):
        monitor = monitor.settle(position) if settles else monitor.step(position)
        if monitor.broken is not None:
            broken.append(i)
        while monitor.broken is not None:
            monitor = monitor.forgive()
        monitors[i] = monitor
    return tuple(broken)


def play(formulas: list[Formula], rng: random.Random, trace: Trace | None = None, overlap: float = 0.5) -> int:
    state, monitors, found = Panel.of(formulas), [Monitor.of(f) for f in formulas], 0
    for moment in random_play(rng, trace or random_trace(rng, rng.randint(1, 8)), overlap=overlap):
        quick = None if moment.settles else state.quick(moment.position.call)
        state, broken, failed = (state.settle if moment.settles else state.step)(moment.position)
        assert not failed
        if quick is not None:
            assert not broken, formulas
            assert quick.waits is state.waits is False
            state = quick  # the rest of the run shows that it is the same
            QUICK.append(moment.position.call.tool)
        assert broken == alone(monitors, moment.position, moment.settles), formulas
        found += len(broken)
        for i, monitor in enumerate(monitors):
            assert state.monitor(i).verdict == monitor.verdict, formulas[i]
    return found


def test_together_and_alone_agree() -> None:
    rng = random.Random("panel")
    breaches = sum(play([parse(r) for r in rng.sample(RULES, rng.randint(2, 8))], rng) for _ in range(400))
    assert breaches > 100


@pytest.mark.parametrize("rules", [RULES[:1], RULES[6:8], (*RULES[2:9:2], *RULES[5:8:2])])
def test_what_the_call_alone_decides_is_what_the_event_decides(rules: tuple[str, ...]) -> None:
    """Every call that `quick` answers is answered as `step` answers it, and so is all that follows."""
    QUICK.clear()
    rng = random.Random("quick")
    formulas = [parse(rule) for rule in rules]
    for _ in range(30):
        trace = random_trace(rng, 60)
        plain = [call._replace(outcome=Outcome.of("ok")) if rng.random() < 0.9 else call for call in trace.calls]
        play(formulas, rng, replace(trace, calls=tuple(plain)), overlap=0.1)
    assert len(QUICK) > 100


def test_together_and_alone_agree_on_random_rules() -> None:
    rng = random.Random("panel, random")
    features = FEATURES - {"times", "duration", "said", "seen", "words", "steps"}
    for _ in range(150):
        play([random_formula(rng, rng.randint(1, 6), features=features) for _ in range(rng.randint(1, 5))], rng)


def test_few_joint_states_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgetting the joint states in the middle of a run changes nothing."""
    monkeypatch.setattr(together, "MOST", 2)
    panel._rules.cache_clear()
    rng = random.Random("few")
    for _ in range(60):
        play([parse(r) for r in rng.sample(RULES[:6], 4)], rng)
    panel._rules.cache_clear()


def test_a_rule_that_cannot_be_judged_stays_as_it_was_and_says_why() -> None:
    before = Panel.of([parse("G (a -> count(a, 10s) <= 1)"), parse("G !b")])
    rng = random.Random("failed")
    trace = random_trace(rng, 3)
    position = next(trace.positions())
    untimed = position._replace(call=position.call._replace(start=None, tool="b"))
    after, broken, failed = before.step(untimed)
    assert broken == (1,)
    assert isinstance(failed[0], TraceError)
    assert after.monitor(0).verdict == before.monitor(0).verdict


def test_a_panel_goes_on_after_a_pickle() -> None:
    rng = random.Random("pickle")
    formulas = [parse(r) for r in RULES]
    for _ in range(20):
        state = Panel.of(formulas)
        for moment in random_play(rng, random_trace(rng, 6), overlap=0.7):
            state = (state.settle if moment.settles else state.step)(moment.position)[0]
            twin: Panel = pickle.loads(pickle.dumps(state))
            assert [twin.monitor(i).verdict for i in range(10)] == [state.monitor(i).verdict for i in range(10)]
            state = twin


def test_panels_that_share_their_rules_in_many_threads_agree_with_one() -> None:
    engine._engine.cache_clear()
    panel._rules.cache_clear()
    formulas = [parse(r) for r in RULES]
    plays = []
    for seed in range(8):
        rng = random.Random(f"thread {seed}")
        plays.append([list(random_play(rng, random_trace(rng, 12), overlap=0.4)) for _ in range(20)])

    def judged(own: list[list[Moment]]) -> list[object]:
        found: list[object] = []
        for moments in own:
            state = Panel.of(formulas)
            for moment in moments:
                state, broken, _ = (state.settle if moment.settles else state.step)(moment.position)
                found.append((broken, [state.monitor(i).verdict for i in range(len(formulas))]))
        return found

    together: dict[int, list[object]] = {}
    start = threading.Barrier(8)

    def run(i: int) -> None:
        start.wait()
        together[i] = judged(plays[i])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[i] for i in range(8)] == [judged(plays[i]) for i in range(8)]
