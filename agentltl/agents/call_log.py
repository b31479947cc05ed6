"""The tool calls of one run as events: each call that the model makes starts once and ends once.

A call is found by its step and the provider's id, since of the calls of one message that share an id only one runs.
"""

from __future__ import annotations

import itertools
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smolagents.agent_types import AgentAudio, AgentImage
from smolagents.models import ChatMessageToolCall

from agentltl.agents.models.hidden_error import error_text
from agentltl.constraints.value import Json, as_text
from agentltl.record.events import CallStatus, Stream
from agentltl.record.plain import plain

Key = tuple[int | None, str | None]


@dataclass(slots=True)
class LoggedCall:
    """A call that the model or a tool makes. `order` is its place among those that may run, None until it may;
    `entered`: its tool has been entered; `ended`: its end has been told."""

    start: dict[str, Json]
    order: int | None = None
    entered: bool = False
    ended: bool = False


class CallLog:
    """Tells a stream of the calls of one run. `tools` are those that the run can call, by name."""

    def __init__(self, stream: Stream, tools: Mapping[str, object]) -> None:
        self._stream, self._tools = stream, tools
        self._calls: list[LoggedCall] = []
        self._by_key: dict[Key, LoggedCall] = {}
        self._orders = itertools.count()
        self._run, self._ids = uuid.uuid4().hex, itertools.count(1)
        self._lock = threading.Lock()

    def called(self, step: int, calls: Sequence[ChatMessageToolCall]) -> None:
        """The model has called these tools in one message; of calls with one id smolagents runs the last."""
        replaced = []
        for call in calls:
            key = (step, call.id)
            if key in self._by_key:
                replaced.append(self._by_key[key])
            self._by_key[key] = self._start(step, call.id, call.function.name, call.function.arguments, by_model=True)
        for one in replaced:
            self._end(one, "cancelled")

    def entered(self, step: int, id: str | None, name: str, arguments: object, *, changed: bool = False) -> LoggedCall:
        """A tool is about to be called; a call that no message announced starts here. `changed`: with these arguments,
        and not with those of the message."""
        call = self.find(step, id)
        if call is None or call.entered:
            call = self._start(step, id, name, arguments, by_model=False)
        elif changed:
            call.start = {**call.start, "arguments": arguments_of(self._tools.get(name), arguments)}
        call.entered = True
        self.started(call)
        return call

    def next_order(self) -> int:
        """The place of a call that may run now."""
        return next(self._orders)

    def started(self, call: LoggedCall, order: int | None = None) -> None:
        """The call may run; those of one message may all run before the first tool is entered."""
        if call.order is None:
            call.order = self.next_order() if order is None else order

    def made(self, step: int, id: str | None, name: str, arguments: object) -> LoggedCall:
        """A managed agent calls one of its tools."""
        call = self._start(step, id, name, arguments, by_model=False, known=False)
        call.entered = True
        return call

    def changed(self, call: LoggedCall, arguments: object) -> None:
        """A person has changed the arguments of a managed agent's call."""
        call.start = {**call.start, "arguments": arguments_of(None, arguments)}

    def returned(self, call: LoggedCall, result: object) -> None:
        """The tool has returned this."""
        self._end(call, "ok", tool_result=observation_of(result), action_output=as_text(result))

    def raised(self, call: LoggedCall, error: BaseException, *, entered: bool) -> None:
        """The call raised; `entered`: in its tool, and not because there is no such tool or no such argument."""
        call.entered = entered
        self._end(call, "failed", error=error_text(error))

    def find(self, step: int, id: str | None) -> LoggedCall | None:
        """The call of that id in that step's message; of several the one that smolagents runs."""
        return self._by_key.get((step, id))

    def refused(self, call: LoggedCall, told: str) -> None:
        """The call was refused; this is what the model is told."""
        call.entered = False
        self._end(call, "blocked", tool_result=told)

    def close(self) -> None:
        """The run is over, and whatever is still open goes without an end of its own."""
        for call in list(self._calls):
            self._end(call, "cancelled")

    def _start(
        self, step: int, id: str | None, name: str, arguments: object, *, by_model: bool, known: bool = True
    ) -> LoggedCall:
        start: dict[str, Json] = {
            "id": f"{self._run}-{next(self._ids)}",
            "call_id": id,
            "step": step,
            "tool_name": str(name),
            "arguments": arguments_of(self._tools.get(name) if known else None, arguments),
            "by_model": by_model,
            "time": time.time(),
        }
        call = LoggedCall(start)
        self._calls.append(call)
        self._stream.emit("tool_call_start", start)
        return call

    def _end(
        self,
        call: LoggedCall,
        status: CallStatus,
        *,
        tool_result: str | None = None,
        action_output: str | None = None,
        error: str | None = None,
    ) -> None:
        with self._lock:
            if call.ended:
                return
            call.ended = True
        end = {
            **call.start,
            "time": time.time(),
            "status": status,
            "ran": call.entered,
            "order": call.order,
            "tool_result": tool_result,
            "action_output": action_output,
            "error": error,
        }
        self._stream.emit("tool_call_end", end)


def arguments_of(tool: object, arguments: object) -> dict[str, Json]:
    """Arguments as an object: nothing is no arguments, a bare value stands under the tool's first input."""
    if isinstance(arguments, Mapping):
        return {as_text(name): plain(value) for name, value in arguments.items()}
    if not arguments:
        return {}
    return {next(iter(getattr(tool, "inputs", {})), "input"): plain(arguments)}


def observation_of(result: object) -> str:
    """What smolagents shows the model of one call's result."""
    if isinstance(result, AgentImage):
        return "Stored 'image.png' in memory."
    if isinstance(result, AgentAudio):
        return "Stored 'audio.mp3' in memory."
    return as_text(result).strip()
