"""The engine beside its peers: all tables of its targets, in one run.

`--only NAME` runs the tables of that name (several may be given), `--quick` takes three pairs instead of nine.
What the rows mean is in `benchmarks/README.md`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

from measure import checks, loop, memory, offline, questions, results
from measure.bench import Bench
from measure.table import HEAD, NoRow, Row

TABLES: dict[str, Callable[[Bench], Iterator[Row | NoRow]]] = {
    "ordering": checks.ordering,
    "mix9": checks.mix9,
    "mix10": checks.mix10,
    "growth": checks.growth,
    "fifty": checks.fifty_rules,
    "untouched": checks.untouched,
    "values": checks.values,
    "reelay": checks.reelay,
    "loop": loop.loop,
    "wrapper": results.wrapper,
    "event": results.event,
    "allowed": questions.allowed,
    "first": questions.first_use,
    "lint": questions.linting,
    "evaluate": offline.evaluate,
    "lines": offline.from_lines,
    "vectors": offline.vectors,
    "memory": memory.memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", choices=TABLES, default=list(TABLES), metavar="NAME", help=", ".join(TABLES)
    )
    parser.add_argument("--quick", action="store_true", help="three pairs a row: a look, no proof of a target")
    chosen = parser.parse_args()
    bench = Bench(rounds=3 if chosen.quick else 9)
    began, failed = time.perf_counter(), False
    print(f"medians of {bench.rounds} pairs, taken in turn" + (" (quick: no target counts)" if chosen.quick else ""))
    try:
        for name in chosen.only:
            print(f"\n{name}\n{HEAD}", flush=True)
            print(f"{name}, after {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
            for row in TABLES[name](bench):
                print(row, flush=True)
                failed = failed or (isinstance(row, NoRow) and row.failed)
    finally:
        bench.close()
    sys.exit(failed)


if __name__ == "__main__":
    main()
