"""The rows about one check: how it compares, and what it does not grow with."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from functools import partial

from measure import workload
from measure.bench import Bench, rows
from measure.ours import EngineAt, GuardAt, Source
from measure.rules import (
    KINDS,
    MIX9,
    MIX10,
    ONE_PAST,
    PER_VALUE,
    fifty,
    past_rule,
    past_rules,
    untouchable,
)
from measure.table import NoRow, Row, Target, least, most, ratios

Rows = Iterator[Row | NoRow]
ENGINE = "the engine without the guard"
RECORD = "a guard without rules"


def ordering(bench: Bench) -> Rows:
    """One ordering at three lengths, beside the published package and Sponsio."""
    rule = {"before": MIX10["before"]}
    for length, number in ((10, 10), (100, 45), (1_000, 450)):
        yield from _upstream(bench, f"one ordering, n = {length:,}", rule, length, least(number))
    for length in (10, 100, 1_000):
        yield from _sponsio(bench, length)


def mix9(bench: Bench) -> Rows:
    """Nine rules of different kinds."""
    for length, number in ((100, 115), (1_000, 1_200)):
        yield from _upstream(bench, f"mix9, n = {length:,}", MIX9, length, least(number))


def mix10(bench: Bench) -> Rows:
    """The nine, and one that asks for a response."""
    for length, number in ((100, 470), (1_000, 40_000)):
        yield from _upstream(bench, f"mix10, n = {length:,}", MIX10, length, least(number))


def growth(bench: Bench) -> Rows:
    """For each kind of rule the cost late in a run over the cost early in it."""
    medians = []
    for rule in KINDS:
        for row in rows(f"growth, {rule}", most(1.1), "x", partial(_growth, bench, rule)):
            if isinstance(row, Row):
                medians.append(statistics.median(row.values))
            yield row
    if medians:
        note = f"of {len(medians)} kinds; the median kind is at {statistics.median(medians):.2f}"
        yield Row("growth, the worst kind", [max(medians)], most(1.1), note=note)


def fifty_rules(bench: Bench) -> Rows:
    """What forty more rules cost that the same calls touch."""
    made = fifty()
    yield from _more(bench, "fifty rules over ten of them, n = 100", made[:10], made, most(1.8))


def untouched(bench: Bench) -> Rows:
    """What rules cost that no call touches."""
    ten = list(MIX10.values())
    work = "500 rules that no call touches added to mix10, n = 100"
    yield from _more(bench, work, ten, [*ten, *untouchable(500)], most(1.1))


def values(bench: Bench) -> Rows:
    """A rule for each value, with many values read and few written."""
    few, many = 100, 10_000

    def grown() -> list[Row]:
        early, late = (GuardAt([PER_VALUE], n + workload.CYCLE, _reads(n)) for n in (few, many))
        ours, more = bench.interleaved(early.sample, late.sample)
        return [Row("per-value rule, 10,000 open values over 100", ratios(more, ours), most(3), "x", more, ours)]

    def beside() -> list[Row]:
        history, rule = many + workload.CYCLE, {"per path": PER_VALUE}
        return _beside_upstream(bench, work, rule, history, least(5_000), _reads(many), values=many)

    yield from rows("per-value rule, 10,000 open values over 100", most(3), "x", grown)
    work = "per-value rule, 10,000 open values"
    yield from rows(work, least(5_000), "x", beside)


def reelay(bench: Bench) -> Rows:
    """Rules about the past beside monitors in C++."""
    for name, rules, number in (("one rule", ONE_PAST, 1.0), ("fifty rules", past_rules(), 0.06)):
        work = f"{name} about the past, ours over reelay"
        yield from rows(work, most(number), "x", partial(_reelay, bench, work, rules, most(number)))


def _upstream(bench: Bench, work: str, rules: dict[str, str], length: int, target: Target) -> Rows:
    yield from rows(work, target, "x", lambda: _beside_upstream(bench, work, rules, length, target))


def _beside_upstream(
    bench: Bench,
    work: str,
    rules: dict[str, str],
    length: int,
    target: Target,
    source: Source = workload.call,
    *,
    values: int = 0,
) -> list[Row]:
    peer, texts = bench.peer("upstream"), list(rules.values())
    guard, engine, record = (
        GuardAt(texts, length, source),
        EngineAt(texts, length, source),
        GuardAt([], length, source),
    )
    ask = partial(peer.ask, "check", rules=list(rules), history=length, values=values)
    ours, other, bare, alone = bench.interleaved(guard.sample, ask, engine.sample, record.sample)
    return [
        Row(f"{work}: upstream over ours", ratios(other, ours), target, "x", ours, other),
        Row(f"{work}: upstream over {ENGINE}", ratios(other, bare), target, "x", bare, other),
        Row(f"{work}: upstream over {RECORD}", ratios(other, alone), None, "x", alone, other),
    ]


def _sponsio(bench: Bench, length: int) -> Rows:
    work = f"one ordering, n = {length:,}: Sponsio over ours"

    def measure() -> list[Row]:
        peer, guard = bench.peer("sponsio"), GuardAt([MIX10["before"]], length)
        ours, other = bench.interleaved(guard.sample, partial(peer.ask, "check", history=length))
        return [Row(work, ratios(other, ours), None, "x", ours, other)]

    yield from rows(work, None, "x", measure)


def _growth(bench: Bench, rule: str) -> list[Row]:
    early, late = (GuardAt([rule], n, timed=True) for n in (100, 10_000))
    ours, grown = bench.interleaved(early.sample, late.sample)
    return [Row(f"n = 10,000 over n = 100: {rule}", ratios(grown, ours), most(1.1), "x", grown, ours)]


def _more(bench: Bench, work: str, fewer: Sequence[str], more: Sequence[str], target: Target) -> Rows:
    def measure() -> list[Row]:
        small, large = GuardAt(fewer, 100), GuardAt(more, 100)
        base, ours = bench.interleaved(small.sample, large.sample)
        return [Row(work, ratios(ours, base), target, "x", ours, base)]

    yield from rows(work, target, "x", measure)


def _reelay(bench: Bench, work: str, rules: list[tuple[str, str, bool]], target: Target) -> list[Row]:
    peer, texts = bench.peer("reelay"), [past_rule(*rule) for rule in rules]
    guard, engine = GuardAt(texts, 100), EngineAt(texts, 100)
    ask = partial(peer.ask, "check", rules=rules, times=max(10, 500 // len(rules)))
    ours, other, bare = bench.interleaved(guard.sample, ask, engine.sample)
    return [
        Row(work, ratios(ours, other), target, "x", ours, other),
        Row(f"{work}, {ENGINE}", ratios(bare, other), target, "x", bare, other),
    ]


def _reads(values: int) -> Source:
    return partial(_read, values)


def _read(values: int, index: int) -> workload.Call:
    return workload.values_call(index, values)
