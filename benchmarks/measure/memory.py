"""The rows about memory: what a guard holds after a long run, over what its trace alone would hold, and what judging a
stream of calls holds.

As a module it is the process that is measured: `python -m measure.memory EVENTS` prints as JSON what it found of a
guard, `python -m measure.memory EVENTS stream` what it found of a stream.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from measure.bench import Bench, rows
from measure.peers.process import Missing
from measure.table import NoRow, Row, most

EVENTS = 100_000
STREAMED = 1_000_000
PATIENCE = 60
"""Seconds after which a slow run is cut off; the row says so."""


def memory(bench: Bench) -> Iterator[Row | NoRow]:
    """A guard with ten rules after many calls."""
    work = "memory of a guard after 100,000 events, over its trace's own"
    yield from rows(work, most(40), " MB", lambda: _measure(work, 1 if bench.rounds < 9 else 3))
    stream = "memory of judging a stream of 1,000,000 calls under mix10, the most at any time"
    yield from rows(stream, most(2), " MB", lambda: _stream(stream, STREAMED if bench.rounds >= 9 else STREAMED // 10))


def _measure(work: str, times: int) -> list[Row]:
    held = []
    for _ in range(times):
        events, own, trace = _process()
        if events < EVENTS:
            raise Missing(f"stopped after {PATIENCE} s and {events:,} events, with {own / 1e6:.3g} MB by then")
        held.append(own / 1e6)
    return [Row(work, held, most(40), " MB", note=f"the trace alone: {trace / 1e6:.0f} MB")]


def _stream(work: str, calls: int) -> list[Row]:
    found = _asked(str(calls), "stream")
    if found[0] < calls:
        raise Missing(f"stopped after {PATIENCE} s and {found[0]:,} calls")
    return [
        Row(
            work,
            [found[1] / 1e6],
            most(2),
            " MB",
            note=f"{calls:,} calls; after the first tenth: {found[2] / 1e6:.2f} MB",
        )
    ]


def _process() -> tuple[int, int, int]:
    events, own, trace = _asked(str(EVENTS))
    return events, own, trace


def _asked(*words: str) -> list[int]:
    command = [sys.executable, "-m", "measure.memory", *words]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    if done.returncode:
        raise Missing(done.stderr.strip().splitlines()[-1])
    found: list[int] = json.loads(done.stdout)
    return found


def stream() -> None:
    from agentltl.constraints.stream import judge_stream
    from agentltl.constraints.trace import Call, Outcome
    from measure.ours import constraints
    from measure.rules import MIX10
    from measure.workload import call

    wanted, began, done, early = int(sys.argv[1]), time.monotonic(), 0, 0
    rules = constraints(list(MIX10.values()))

    def calls() -> Iterator[Call]:
        nonlocal done, early
        while done < wanted and time.monotonic() - began < PATIENCE:
            for i in range(done, done + 1_000):
                yield Call(*call(i)).settle(Outcome.of("ok"))
            done += 1_000
            if not early and done >= wanted // 10:
                early = tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    for breach in judge_stream(calls(), rules):
        raise RuntimeError(f"{breach} is no breach")
    print(json.dumps([done, tracemalloc.get_traced_memory()[1], early]))


def main() -> None:
    if sys.argv[2:] == ["stream"]:
        return stream()
    from agentltl.constraints.trace import Call, Outcome
    from agentltl.guard.guard import Guard
    from measure.ours import check_all, constraints
    from measure.rules import MIX10
    from measure.workload import call

    check_all(Guard(constraints(list(MIX10.values()))), [call(i) for i in range(1_000)])  # what all guards share
    wanted, done, began = int(sys.argv[1]), 0, time.monotonic()
    tracemalloc.start()
    guard = Guard(constraints(list(MIX10.values())))
    while done < wanted and time.monotonic() - began < PATIENCE:
        check_all(guard, [call(i) for i in range(done, done + 1_000)])
        done += 1_000
    gc.collect()
    whole = tracemalloc.get_traced_memory()[0]
    trace = [
        Call(c.tool, call(i)[1], step=c.step, start=time.time()).settle(Outcome.of("ok", end=time.time()))
        for i, c in enumerate(guard.trace.calls)
    ]
    gc.collect()
    own = tracemalloc.get_traced_memory()[0] - whole
    assert len(trace) == done
    print(json.dumps([done, whole - own, own]))


if __name__ == "__main__":
    main()
