"""The rows about recorded runs: evaluation, JSON lines to verdicts, and many runs at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from agentltl.constraints.batch import encode, verify_batch
from agentltl.constraints.judging import TraceResult
from agentltl.constraints.many import verify_many
from agentltl.constraints.readers.jsonl import Reading, read_jsonl
from agentltl.constraints.trace import Trace
from measure import walk, workload
from measure.bench import Bench, rows
from measure.clock import sample
from measure.ours import constraints
from measure.rules import MIX10, ORDERINGS, past_rule, past_rules
from measure.table import NoRow, Row, Target, least, most, ratios

LENGTHS = ((50, 40, 20), (200, 130, 5), (1_000, 600, 1))
"""The calls of a trace, the target, and how many traces are one sample."""
TRACES, CALLS, DISTINCT = 10_000, 50, 1_000
"""Of the many traces at once; there are fewer objects than traces, for the memory of the machine."""


def evaluate(bench: Bench) -> Iterator[Row | NoRow]:
    """Prepared traces to verdicts."""
    for length, number, times in LENGTHS:
        work = f"offline, mix10, evaluation of traces of {length:,}: upstream over ours"

        def measure(work: str = work, length: int = length, number: int = number, times: int = times) -> list[Row]:
            judge, rules = _Many(list(MIX10.values())), list(MIX10)
            traces = [Trace.from_metrics(workload.metrics(length, workload.CYCLE * i)) for i in range(times)]
            peer = partial(bench.peer("upstream").ask, "evaluate", rules=rules, length=length, times=times)
            ours, other = bench.interleaved(lambda: judge.seconds(traces, times), peer)
            return [Row(work, ratios(other, ours), least(number), "x", ours, other)]

        yield from rows(work, least(number), "x", measure)


def from_lines(bench: Bench) -> Iterator[Row | NoRow]:
    """JSON lines to verdicts, on one core."""
    orderings = f"JSON lines to verdicts, {len(ORDERINGS)} orderings, traces of 50: upstream over ours"
    yield from _lines(bench, "JSON lines to verdicts, mix10, traces of 50: upstream over ours", MIX10, least(30))
    yield from _lines(bench, orderings, {"orderings": ""}, least(3.5), ORDERINGS)


def vectors(bench: Bench) -> Iterator[Row | NoRow]:
    """Rules without variables on many traces at once, beside a bare walk of tables in numpy."""
    rules = past_rules()
    steps = TRACES * CALLS * len(rules)
    work = f"{len(rules)} propositional rules on {TRACES:,} traces of {CALLS} at once"

    def measure() -> list[Row]:
        rules_ = constraints([past_rule(*rule) for rule in rules])
        traces = [Trace.from_metrics(workload.metrics(CALLS)) for _ in range(DISTINCT)] * (TRACES // DISTINCT)
        batch, bare = encode(traces), walk.prepared(rules, TRACES, CALLS)
        ours, base, loop = bench.interleaved(
            lambda: _judged(lambda: verify_batch(batch, rules_)),
            bare,
            lambda: _judged(lambda: verify_many(traces, rules_)),
        )
        rates = [steps / taken / 1e9 for taken in ours]
        return [
            Row(f"{work}, encoded, ours over a bare walk of tables", ratios(ours, base), most(3), "x", ours, base),
            Row(f"{work}, encoded, in 1e9 event-rules a second", rates, least(0.5), " G", ours),
            Row(f"{work}, one after another, ours over the same walk", ratios(loop, base), None, "x", loop, base),
        ]

    yield from rows(work, most(3), "x", measure)


class _Many:
    """`verify_many` over some rules."""

    def __init__(self, rules: Sequence[str]) -> None:
        self.constraints = constraints(rules)

    def seconds(self, traces: Sequence[Trace] | Reading, per: int) -> float:
        """The seconds of judging all traces, over `per`."""
        return _judged(lambda: verify_many(traces, self.constraints)) / per


def _judged(judge: Callable[[], Iterable[TraceResult]]) -> float:
    """The seconds in which traces are judged, each of which satisfies every rule."""
    results: list[TraceResult] = []

    def prepare() -> Callable[[], None]:
        results.clear()
        return lambda: results.extend(judge())

    taken = sample(prepare)
    if not results or any(result.compliance_score != 1 for result in results):
        raise RuntimeError("a rule is violated")
    return taken


def _lines(
    bench: Bench, work: str, rules: Mapping[str, str], target: Target, texts: Sequence[str] = ()
) -> Iterator[Row | NoRow]:
    def measure() -> list[Row]:
        count = 50
        judge, lines = _Many(texts or list(rules.values())), workload.lines(count, 50)
        peer = partial(bench.peer("upstream").ask, "from_lines", rules=list(rules), length=50, times=count)
        ours, other = bench.interleaved(lambda: judge.seconds(read_jsonl(lines), count), peer)
        return [Row(work, ratios(other, ours), target, "x", ours, other)]

    yield from rows(work, target, "x", measure)
