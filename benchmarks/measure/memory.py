"""The row about memory: what a guard holds after a long run, over what its trace alone would hold.

As a module it is the process that is measured: `python -m measure.memory EVENTS` prints what it found as JSON.
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
PATIENCE = 60
"""Seconds after which a slow run is cut off; the row says so."""


def memory(bench: Bench) -> Iterator[Row | NoRow]:
    """A guard with ten rules after many calls."""
    work = "memory of a guard after 100,000 events, over its trace's own"
    yield from rows(work, most(40), " MB", lambda: _measure(work, 1 if bench.rounds < 9 else 3))


def _measure(work: str, times: int) -> list[Row]:
    held = []
    for _ in range(times):
        events, own, trace = _process()
        if events < EVENTS:
            raise Missing(f"stopped after {PATIENCE} s and {events:,} events, with {own / 1e6:.3g} MB by then")
        held.append(own / 1e6)
    return [Row(work, held, most(40), " MB", note=f"the trace alone: {trace / 1e6:.0f} MB")]


def _process() -> tuple[int, int, int]:
    command = [sys.executable, "-m", "measure.memory", str(EVENTS)]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    if done.returncode:
        raise Missing(done.stderr.strip().splitlines()[-1])
    events, own, trace = json.loads(done.stdout)
    return events, own, trace


def main() -> None:
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
