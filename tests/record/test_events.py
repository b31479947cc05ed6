import logging
import threading
from dataclasses import FrozenInstanceError
from typing import get_args

import pytest

from agentltl.record.events import Event, EventKind, RunEnd, Stream, data_of


def test_an_event_can_be_made_by_hand_and_not_changed() -> None:
    event = Event("text_delta")
    assert (event.kind, dict(event.data)) == ("text_delta", {})
    with pytest.raises(FrozenInstanceError):
        event.kind = "agent_end"  # type: ignore[misc]


def test_the_kinds_of_the_reference_are_there() -> None:
    assert {"text_delta", "tool_call_start", "tool_call_end", "agent_start", "agent_end"} <= set(get_args(EventKind))


def test_a_stream_keeps_its_events_and_tells_every_sink() -> None:
    one: list[Event] = []
    other: list[Event] = []
    stream = Stream([one.append, other.append])
    stream.emit("text_delta", {"text": "a"})
    stream.emit("agent_end", data_of(RunEnd("answer", "a")))
    assert one == other == stream.events
    assert [event.kind for event in one] == ["text_delta", "agent_end"]


def test_a_sink_that_raises_is_logged_and_the_others_are_told(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Event] = []

    def broken(event: Event) -> None:
        raise RuntimeError("sink")

    with caplog.at_level(logging.ERROR, "agentltl"):
        Stream([broken, seen.append]).emit("text_delta", {"text": "a"})
    assert len(seen) == 1
    assert "text_delta" in caplog.text


def test_sinks_are_called_one_at_a_time() -> None:
    inside, most = 0, 0
    gate = threading.Barrier(8)

    def sink(event: Event) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        threading.Event().wait(0.002)
        inside -= 1

    stream = Stream([sink])

    def work() -> None:
        gate.wait()
        stream.emit("text_delta", {"text": "a"})

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(stream.events)) == (1, 8)
