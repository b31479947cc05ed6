"""What runs in a worker: it builds the agent of a fan-out once, and a child of it for each parcel."""

from __future__ import annotations

import sys

import cloudpickle

from agentltl.agents.models.hidden_error import error_text
from agentltl.agents.running import Running
from agentltl.agents.sub_agents.kept import KEPT
from agentltl.agents.sub_agents.parcel import Parcel, Reply
from agentltl.agents.sub_agents.threads import ended
from agentltl.record.events import Event
from agentltl.record.plain import plain


def work(parcel: Parcel) -> bytes:
    """Run one child; what came of it, pickled. Only what ends the whole process is raised."""
    try:
        reply = _reply(parcel)
    except Exception as error:
        reply = Reply(error=error_text(error), error_class=type(error).__name__)
    return _packed(reply)


def _reply(parcel: Parcel) -> Reply:
    if parcel.once and not _first_time(parcel.submission):
        return Reply(lost=True)
    events: list[Event] = []
    with KEPT.lent(parcel.fan_out, parcel.blueprint) as (agent, guard):
        child = agent._child(guard)
        child.sinks = [events.append] if parcel.events else []
        result = ended(child, Running(child, parcel.prompt, reset=guard is None))
    return Reply(result, tuple(events))


def _packed(reply: Reply) -> bytes:
    """The reply as bytes; an answer that cannot be pickled becomes plain data."""
    try:
        return bytes(cloudpickle.dumps(reply))
    except Exception:
        result = reply.result
        assert result is not None
        result.output = plain(result.output)
        events = tuple(
            Event(e.kind, {**e.data, "output": plain(e.data["output"])}) if e.kind == "agent_end" else e
            for e in reply.events
        )
        return bytes(cloudpickle.dumps(Reply(result, events)))


def _first_time(submission: str) -> bool:
    """Whether no worker has begun with this submission, as far as anyone here can tell.

    Dask runs what was lost with a worker once more by itself, so the flag is kept where that cannot take it along.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return True
    try:
        distributed.get_worker()
    except ValueError:
        return True
    flag = distributed.Event(f"agentltl {submission}")
    if flag.is_set():
        return False
    flag.set()
    return True
