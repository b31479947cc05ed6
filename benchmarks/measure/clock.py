"""Taking times, the same way on all sides."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable

LEAST = 0.005
"""The seconds that one sample takes at the least, unless it has `MOST` repetitions by then."""
MOST = 400

Action = Callable[[], object]


def sample(prepare: Callable[[], Action]) -> float:
    """The seconds of an action, the median of as many repetitions as a sample has; each is prepared anew, untimed."""
    taken: list[float] = []
    while sum(taken) < LEAST and len(taken) < MOST:
        taken.append(seconds(prepare()))
    return statistics.median(taken)


def seconds(action: Action) -> float:
    """The seconds that an action takes.

    What exists before is taken out of the collector's sight, so that a side does not pay for what a benchmark holds.
    """
    gc.freeze()
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
