"""The parent's sinks, as its sub-agents tell them of their events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from agentltl.record.events import Event, Sink

SinksFor = Callable[[str], list[Sink]]
"""The sinks of the sub-agent of the requirement with this id."""


def sinks_for(sinks: Iterable[Sink]) -> SinksFor:
    """Each event has the `requirement_id` in its data, and a sink is told of one at a time, whoever tells it."""
    lock, sinks = threading.RLock(), tuple(sinks)

    def of(id: str) -> list[Sink]:
        return [_tagged(sink, id, lock) for sink in sinks]

    return of


def _tagged(sink: Sink, id: str, lock: threading.RLock) -> Sink:
    def tell(event: Event) -> None:
        with lock:
            sink(Event(event.kind, {**event.data, "requirement_id": id}))

    return tell
