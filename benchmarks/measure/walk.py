"""A bare walk of transition tables in numpy over many runs at once: what vectorised judging costs at the least."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from measure.clock import seconds
from measure.workload import CYCLE, TOOLS

WAITING, SEEN, DEAD = 0, 1, 2
"""The states of a rule about the past: no earlier call that counts, there is one, violated."""


def prepared(rules: list[tuple[str, str, bool]], traces: int, calls: int) -> Callable[[], float]:
    """A sample: the seconds in which all rules walk all traces, whose letters are ready."""
    tables = [_table(*rule) for rule in rules]
    letters = np.empty((calls, traces), dtype=np.intp)
    for place in range(calls):
        letters[place] = place % CYCLE

    def walk() -> None:
        for table in tables:
            state = np.zeros(traces, dtype=np.intp)
            for letter in letters:
                state = table.take(state + letter)
            if (state == DEAD * len(TOOLS)).any():
                raise RuntimeError("a rule is violated")

    return lambda: seconds(walk)


def _table(before: str, after: str, since: bool) -> NDArray[np.intp]:
    """`state + letter` to the next state; states are multiples of the number of letters."""
    size = len(TOOLS)
    table = np.empty(3 * size, dtype=np.intp)
    for state in (WAITING, SEEN, DEAD):
        for letter, tool in enumerate(TOOLS):
            following = state
            if tool == after and state != DEAD:
                following = DEAD if state == WAITING else WAITING if since else SEEN
            elif tool == before and state == WAITING:
                following = SEEN
            table[state * size + letter] = following * size
    return table
