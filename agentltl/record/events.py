"""The stream of a run: everything that happens becomes one `Event`, in the order in which it happened.

Whatever is known of a run is a fold of its events: the metrics, the `Result`, a progress display.

| kind | when | data |
|---|---|---|
| `agent_start` | the run begins | `RunStart`'s fields |
| `step_start` | before a step's model call | `step` `time` |
| `model_attempt` | a model call is over, a failed one too | `ModelAttempt`'s fields |
| `model_fallback` | a model has finally failed, the next one is asked | `ModelFallback`'s fields |
| `tool_call_start` | a tool is called | `id` `call_id` `step` `tool_name` `arguments` `by_model` `time` |
| `tool_call_end` | it is over, or will not run | `status` `ran` `order` `tool_result` `action_output` `error` besides |
| `constraint_violation` | a call broke a constraint | the violation record of the reference |
| `approval_requested` | a person is asked about a call | what is asked, and `id` `call_id` `question` `time` |
| `approval_answered` | and has answered | the same, and `answer` `by`; `reason` of a `deny`, `changed` of a `change` |
| `step_end` | the step is over | `StepRecord`'s fields |
| `text_delta` | a piece of the answer's text | `text` `step` `restart` |
| `thinking_delta` | a piece of what the model thinks, when streaming | `text` `step` |
| `reasoning_delta` | a piece of what it says beside its calls, when streaming | `text` `step` |
| `agent_end` | the run is over, however it ended; exactly once | `RunEnd`'s fields, and `result` |

Times are Unix times in seconds. `id` is the event's own, `call_id` the provider's (None: it gave none).
What a person is asked is `tool_name`, `arguments`, `constraints` (each with `name`, `description` and `sentence`),
`task`, `step` and `agent`; `question` is the guard's id of it; an answer is `allow`, `deny`, `change` or `pending`.
`by_model`: the call is one of the model's message, and not one that another tool makes.
The pieces of the answer make up its text; at a `restart` it begins anew, and what was told before was no answer.
Every `tool_call_start` has exactly one `tool_call_end`, whose `status` is `ok`, `failed` (it raised, or could not be
called), `blocked` (a constraint refused it) or `cancelled` (the run went on or ended without it); `ran` says whether
the tool was entered, `order` is the call's place among those that the run has let start (None: it has not).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agentltl.constraints.value import Json
from agentltl.record.attempt import ModelAttempt, ModelFallback

EventKind = Literal[
    "agent_start",
    "step_start",
    "model_attempt",
    "model_fallback",
    "text_delta",
    "thinking_delta",
    "reasoning_delta",
    "tool_call_start",
    "tool_call_end",
    "constraint_violation",
    "approval_requested",
    "approval_answered",
    "step_end",
    "agent_end",
]
CallStatus = Literal["ok", "failed", "blocked", "cancelled"]
Ending = Literal["answer", "max_steps", "stop", "pending", "limit", "interrupt", "cancelled", "error"]
"""How a run ended: with an answer, at its last allowed step, by a constraint's stop, because a person who could allow a
call has not answered, by a limit on time, money, tokens or model calls, by a person, because whoever wanted its events
or its result has gone, by an error."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a run; what `data` holds for each kind is in the table of this module."""

    kind: EventKind
    data: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunStart:
    """What is known when a run begins. `messages` is the transcript of the conversation that it continues."""

    execution_id: str
    task: str
    system_prompt: str
    time: float
    name: str | None = None
    model: str | None = None
    temperature: float | None = None
    messages: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What is known when a step is over, apart from its tool calls: those have events of their own.

    `observation` is what the model is shown of the step's tool calls, `action_output` what a step without tool calls
    produced, `model_input_raw` and `model_input_parsed` what the model was sent (None: no model call).
    """

    step: int
    reasoning: str | None = None
    thinking: str | None = None
    observation: str | None = None
    action_output: str | None = None
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    start_time: float | None = None
    end_time: float | None = None
    model_input_raw: list[Json] | None = None
    model_input_parsed: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """What is known when a run is over.

    `output` is the answer in its own type; `error_class` names the class of the error's cause; `constraint_status` is
    the guard's status, None where no guard was; `pending` what a person is asked whose answer the run would have
    needed.
    """

    ending: Ending
    output: object = None
    error: str | None = None
    error_class: str | None = None
    constraint_status: dict[str, Json] | None = None
    time: float | None = None
    pending: dict[str, Json] | None = None


def data_of(record: RunStart | StepRecord | ModelAttempt | ModelFallback | RunEnd) -> dict[str, Json]:
    """The fields of a record as an event's data."""
    return {name: getattr(record, name) for name in record.__slots__}


Sink = Callable[[Event], None]
"""What is told of every event. It may be called from the threads that run tools, one call at a time."""

logger = logging.getLogger("agentltl")


class Stream:
    """The events of one run so far, passed on to the sinks one at a time.

    A sink that raises is logged and does not disturb the run, nor the other sinks.
    """

    def __init__(self, sinks: Iterable[Sink] = ()) -> None:
        self.events: list[Event] = []
        self._sinks = tuple(sinks)
        self._lock = threading.RLock()

    def emit(self, kind: EventKind, data: Mapping[str, Json]) -> None:
        """Append an event and tell every sink."""
        event = Event(kind, data)
        with self._lock:
            self.events.append(event)
            for sink in self._sinks:
                try:
                    sink(event)
                except Exception:
                    logger.exception("a sink failed on the event `%s`", kind)
