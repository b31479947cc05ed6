"""A run judged as it comes: the same breaches as of the trace, at once, and in memory that does not grow."""

import random
import tracemalloc
from collections.abc import Iterator

import pytest

from agentltl import judge_stream as public
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.predicates import register_predicate
from agentltl.constraints.stream import Breach, Past, judge_stream
from agentltl.constraints.trace import Call, Outcome, Trace
from agentltl.errors import AgentLTLError, ConstraintError, TraceError
from agentltl.testing import random_formula
from tests.constraints import slowly

OK = Outcome.of("ok")


@pytest.mark.parametrize("seed", range(3))
def test_the_breaches_of_a_stream_are_those_of_its_trace(seed: int) -> None:
    rng, judged = random.Random(f"stream {seed}"), 0
    for _ in range(60):
        rules = [Constraint(f"rule {i}", random_formula(rng, rng.randint(2, 6))) for i in range(rng.randint(1, 3))]
        for _ in range(4):
            trace = slowly.random_trace(rng, 12)
            try:
                found = {rule.name: slowly.violations(rule, trace) for rule in rules}
            except AgentLTLError:
                with pytest.raises(AgentLTLError):
                    list(judge_stream(iter(trace.calls), rules, messages=trace.messages))
                continue
            expected = [
                Breach(call, tuple(name for name, calls in found.items() if call in calls))
                for call in sorted({call for calls in found.values() for call in calls})
            ]
            assert list(judge_stream(iter(trace.calls), rules, messages=trace.messages)) == expected
            judged += 1
    assert judged > 150


def test_a_breach_is_reported_before_the_next_call_is_asked_for() -> None:
    asked = []

    def calls() -> Iterator[Call]:
        for tool in "aba":
            asked.append(tool)
            yield Call(tool, outcome=OK)

    found = judge_stream(calls(), [Constraint("b", "never(b)"), Constraint("end", "F c")])
    assert asked == []
    assert next(found) == (1, ("b",))
    assert asked == ["a", "b"]
    assert list(found) == [(3, ("end",))]
    assert public is judge_stream


def grown(rules: list[str], calls: Iterator[Call], half: int) -> tuple[int, int]:
    """The memory held after `half` calls, and after as many more."""
    held: list[int] = []

    def watched() -> Iterator[Call]:
        for i, call in enumerate(calls):
            if i in (half, 2 * half):
                held.append(tracemalloc.get_traced_memory()[0])
            yield call

    found = judge_stream(watched(), [Constraint(f"rule {i}", rule) for i, rule in enumerate(rules)])
    tracemalloc.start()
    try:
        assert list(found) == []
    finally:
        tracemalloc.stop()
    return held[0], held[1]


def files(count: int, close: bool) -> Iterator[Call]:
    for i in range(count):
        yield Call("open", {"f": f"file {i}"}, step=i, start=float(i), outcome=OK)
        yield Call("close" if close else "other", {"f": f"file {i}"}, step=i, start=float(i), outcome=OK)


BOUNDED = [
    "before(open, close)",
    "G (open(f = ?f) -> F close(f = ?f))",
    "no_repeat(*)",
    "G (close -> O[5s] open)",
    "G (open -> !same_step)",
    "G (close -> count(open, 10) <= 10)",
    'never(open(f ~ "secret*"))',
]


def test_memory_does_not_grow_with_the_run() -> None:
    first, second = grown(BOUNDED, files(801, close=True), 800)
    assert second - first < 150_000  # what is remembered of texts comes and goes; 800 calls alone hold 300,000


def test_memory_grows_with_open_values_and_with_what_looks_at_the_past() -> None:
    for rule in ("G (open(f = ?f) -> G !close(f = ?f))", "G (close -> seen(.f))"):
        first, second = grown([rule], files(2_001, close=False), 2_000)
        assert second - first > 60_000


def test_the_past_that_is_kept() -> None:
    calls = [Call(tool, outcome=OK) for tool in ("a", "b", "final_answer", "approved", "c", "d")]
    past, kept = Past(everything=False), []
    for _ in past.following(calls):
        kept.append([call.tool for call in past._kept])
    assert kept[1:3] == [["a", "b"], ["b", "final_answer"]]
    assert kept[-2:] == [["b", "final_answer", "approved", "c"], ["c", "d"]]
    assert (len(past), past[5].tool, past[-2].tool) == (6, "d", "c")
    with pytest.raises(IndexError, match="no longer kept"):
        past[3]
    everything = Past(everything=True)
    list(everything.following(calls))
    assert list(everything) == calls
    assert everything[1:3] == calls[1:3]


def test_a_predicate_sees_the_whole_past() -> None:
    @register_predicate("stream_long")
    def long(trace: Trace) -> bool:
        return len(trace) >= 4

    found = list(judge_stream((Call("a", outcome=OK) for _ in range(6)), [Constraint("p", "G !$stream_long()")]))
    assert found[0] == (3, ("p",))


def test_what_a_stream_cannot_judge() -> None:
    with pytest.raises(ConstraintError, match="has a `where`"):
        judge_stream([], [Constraint("w", "F a", where={"suite": "x"})])
    with pytest.raises(TraceError, match=r"^call 1: constraint `s`: .*same_step"):
        list(judge_stream([Call("a", step=1), Call("b")], [Constraint("f", "F a"), Constraint("s", "G !same_step")]))
