"""Judging many traces, one after another: each is read once and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Literal, overload

from agentltl.constraints.batch import Batch, judged
from agentltl.constraints.constraint import Constraint, constraints_of
from agentltl.constraints.judging import Judge, TraceResult, judge_of
from agentltl.constraints.readers.jsonl import Reading, Record, parse, read_jsonl
from agentltl.constraints.readers.record import trace_of
from agentltl.constraints.readers.sketch import Sketch, decoded
from agentltl.constraints.trace import Trace
from agentltl.constraints.value import Json
from agentltl.constraints.walk import looking
from agentltl.errors import AgentLTLError, TraceError

Traces = Iterable[Trace | Mapping[str, Json] | Sequence[Json]] | Reading | Batch | str | PathLike[str]
Constraints = Sequence[Constraint | Mapping[str, Json]] | str | PathLike[str]


@overload
def verify_many(
    traces: Traces,
    constraints: Constraints,
    *,
    weight_overrides: Mapping[str, float] | None = None,
    keep: bool = False,
    on_error: Literal["raise"] = "raise",
) -> Iterator[TraceResult]: ...


@overload
def verify_many(
    traces: Traces,
    constraints: Constraints,
    *,
    weight_overrides: Mapping[str, float] | None = None,
    keep: bool = False,
    on_error: Literal["yield"],
) -> Iterator[TraceResult | TraceError]: ...


def verify_many(
    traces: Traces,
    constraints: Constraints,
    *,
    weight_overrides: Mapping[str, float] | None = None,
    keep: bool = False,
    on_error: Literal["raise", "yield"] = "raise",
) -> Iterator[TraceResult] | Iterator[TraceResult | TraceError]:
    """Judge finished traces: one result for each, in their order, as they are asked for.

    A trace is a `Trace`, the metrics dict of a run, a result that holds it, or any other record of a JSON lines file,
    parsed. `traces` may also be the path of such a file, what `read_jsonl` gives, or what `encode` has made of traces
    to judge them all at once; a trace from a file that has no `id` has the number of its line.
    `constraints` and `weight_overrides` are those of `verify_trace`.

    With `keep=True` each result has its trace, and `report()` says in sentences what `verify_trace` says.

    What is no trace, or lacks what a rule needs, is a `TraceError` that begins with its place (`traces[3]` or
    `line 4`). It ends the iteration; with `on_error="yield"` it stands in place of the result and the others follow.
    A `ConstraintError` is raised at once, before the first trace is read.
    """
    if on_error not in ("raise", "yield"):
        raise ValueError(f"`on_error` is `{on_error}`\nuse `raise` or `yield`")
    judge = judge_of(constraints_of(constraints), weight_overrides)
    if isinstance(traces, str | PathLike):
        traces = read_jsonl(traces)
    if isinstance(traces, Trace | Mapping | bytes) or not isinstance(traces, Iterable):
        raise TraceError(f"traces are expected, not a {type(traces).__name__}\nput a single trace into a list")
    if isinstance(traces, Batch) and not keep:
        results = _batch(judge, traces)
    else:
        results = _lines(judge, traces, keep) if isinstance(traces, Reading) else _each(judge, traces, keep)
    return results if on_error == "yield" else _raising(results)


def _raising(results: Iterator[TraceResult | TraceError]) -> Iterator[TraceResult]:
    for result in results:
        if isinstance(result, TraceError):
            raise result
        yield result


def _batch(judge: Judge, batch: Batch) -> Iterator[TraceResult | TraceError]:
    try:
        yield from judged(batch, judge)
    except AgentLTLError:  # of one trace; the others have results
        yield from _each(judge, batch, False)


def _each(judge: Judge, traces: Iterable[object], keep: bool) -> Iterator[TraceResult | TraceError]:
    for position, value in enumerate(traces):
        try:
            if isinstance(value, Trace):
                result = _judged(judge, position, value, keep)
            else:
                sketch = Sketch.of(value)
                quick = _sketched(judge, position, sketch, keep) if sketch is not None else None
                result = quick or _judged(judge, position, trace_of(value), keep)
        except AgentLTLError as error:
            yield _placed(f"`traces[{position}]`", error)
        else:
            yield result


def _lines(judge: Judge, reading: Reading, keep: bool) -> Iterator[TraceResult | TraceError]:
    position = -1
    for position, record in enumerate(reading.records()):
        try:
            yield _line(judge, position, record, keep, reading)
        except AgentLTLError as error:
            yield _placed(record.place, error)
    for place, problem in reading.broken:
        yield TraceError(f"{place}: {problem}")


def _line(judge: Judge, position: int, record: Record, keep: bool, reading: Reading) -> TraceResult:
    number = str(record.number)
    try:
        value, hasty = decoded(record.value) if record.raw else (record.value, False)
        sketch = Sketch.of(value, record.value if hasty else None)
        if sketch is not None:
            result = _sketched(judge, position, sketch, keep, number)
            if result is not None:
                return result
        trace = trace_of(parse(record.value) if hasty else value)
    except TraceError as error:
        reading.unread.append((record.place, str(error)))
        raise
    return _judged(judge, position, trace if trace.id is not None else replace(trace, id=number), keep)


def _judged(judge: Judge, position: int, trace: Trace, keep: bool) -> TraceResult:
    meant = judge.meant(trace)
    try:
        found = judge.found(meant, trace.calls, len(trace), looking(trace))
    except Exception:
        found = judge.found_one_by_one(trace)
    return judge.result(position, trace.id, meant, found, trace if keep else None)


def _sketched(judge: Judge, position: int, sketch: Sketch, keep: bool, number: str | None = None) -> TraceResult | None:
    """The result for a record that is not read in full; None where it has to be."""
    id = sketch.id if sketch.id is not None else number
    try:
        meant = judge.meant(replace(sketch.head, id=id)) if judge.limited else judge.all
        found = judge.found_quickly(meant, sketch.tools)
        if found is None:
            look = sketch.near if judge.course(meant).local else sketch.far
            found = judge.found(meant, sketch.events(), len(sketch.tools), look, 2)
        trace = replace(sketch.trace, id=id) if keep else None
    except Exception:
        return None
    return judge.result(position, id, meant, found, trace)


def _placed(place: str, error: AgentLTLError) -> TraceError:
    placed = TraceError(f"{place}: {error}")
    placed.__cause__ = error
    return placed
