"""The process of Sponsio: `guard_before` for each call, an ordering in its own words.

Its `guard_after` is left out: it judges the quality of outputs, of which no rule here speaks.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

from measure.clock import Action, sample
from measure.peers.serve import expect, serve
from measure.workload import CYCLE, Call, call

peer: Any = importlib.import_module("sponsio")


def check(history: int) -> float:
    """Seconds of one check of one ordering: the cycle after a history."""
    run = [call(i) for i in range(history + CYCLE)]

    def prepare() -> Action:
        guard = peer.Sponsio(contracts=["tool `read` must precede `write`"], verbose=False, mode="enforce")
        _check_all(guard, run[:history])
        return partial(_check_all, guard, run[history:])

    return sample(prepare) / CYCLE


def _check_all(guard: Any, calls: list[Call]) -> None:
    judge = guard.guard_before
    for tool, arguments in calls:
        expect(judge(tool, arguments).allowed, f"`{tool}` is refused")


if __name__ == "__main__":
    serve({"check": check})
