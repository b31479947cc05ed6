"""What a run gives back: the documented dict `{"answer", "metrics", "error"}` itself, and more as attributes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from pydantic_core import to_jsonable_python

from agentltl.constraints.value import Json, as_text
from agentltl.record.events import Ending, Event
from agentltl.record.flat import flat
from agentltl.record.html import html_of
from agentltl.record.metrics import metrics_of
from agentltl.record.model_calls import ModelCalls
from agentltl.record.plain import plain
from agentltl.record.text import is_blocks, text_of
from agentltl.record.transcript import transcript_of

FINAL_ANSWER = "final_answer"


class Result(ModelCalls, dict[str, Json]):
    """The dict that the reference documents, JSON-serialisable, with attributes for what it has no key for.

    `output` is the answer in its own type, None when the run failed or was stopped; `str(result)` is its text, empty
    for none.
    `messages` is the transcript in the form of OpenAI, tool calls and results included; of a run that continued a
    conversation, the whole of it.
    `error_class` is the class of the error's cause; `ending` says how the run ended.
    `started_at` and `completed_at` are aware datetimes, None for a result made by hand.
    `constraint_status` is the guard's status, None without a guard; `execution_id` is unique.
    `attempts` has a dict for each model call of the run, in the order of their ends; `model_id` is the run's model.
    `compliance` is the score of the run's own trace under its constraints, from 0 to 1; None without constraints.
    `pending` is the call about which a person was asked without an answer, None if the run did not end for that: a dict
    with `tool_name`, `arguments`, `constraints` (name, description, sentence), `task`, `step`, `agent` and `id`.
    """

    def __init__(
        self,
        output: object = None,
        *,
        metrics: Mapping[str, Json] | None = None,
        error: str | None = None,
        error_class: str | None = None,
        ending: Ending | None = None,
        messages: Sequence[dict[str, Json]] = (),
        model_id: str | None = None,
        temperature: float | None = None,
        started_at: datetime | None = None,
        completed_at: datetime | None = None,
        constraint_status: dict[str, Json] | None = None,
        execution_id: str | None = None,
        pending: dict[str, Json] | None = None,
        attempts: Sequence[dict[str, Json]] = (),
        compliance: float | None = None,
    ) -> None:
        self.output = output
        self.error_class = error_class
        self.ending: Ending = ending or ("answer" if error is None else "error")
        self.messages = list(messages)
        self.model_id = model_id
        self.temperature = temperature
        self.started_at = started_at
        self.completed_at = completed_at
        self.constraint_status = constraint_status
        self.pending = pending
        self.attempts = list(attempts)
        self.compliance = compliance
        self.execution_id = execution_id or str(uuid.uuid4())
        answer = None if output is None else str(self)
        super().__init__(answer=answer, metrics=dict(metrics_of([]) if metrics is None else metrics), error=error)

    @classmethod
    def of(cls, events: Iterable[Event], *, compliance: float | None = None) -> Result:
        """The result of the run that these events tell; the last of them is its `agent_end`."""
        events = list(events)
        start, end = events[0].data, events[-1].data
        return cls(
            end["output"],
            metrics=metrics_of(events),
            error=end["error"],
            error_class=end["error_class"],
            ending=end["ending"],
            messages=transcript_of(events),
            model_id=start["model"],
            temperature=start["temperature"],
            started_at=datetime.fromtimestamp(start["time"], UTC),
            completed_at=datetime.fromtimestamp(end["time"], UTC),
            constraint_status=end["constraint_status"],
            attempts=[dict(event.data) for event in events if event.kind == "model_attempt"],
            compliance=compliance,
            execution_id=start["execution_id"],
            pending=end.get("pending"),
        )

    def __str__(self) -> str:
        if self.output is None:
            return ""
        return (text_of(self.output) or "") if is_blocks(self.output) else as_text(self.output)

    def __repr__(self) -> str:
        metrics = self["metrics"]
        return (
            f"Result(answer={self['answer']!r}, error={self['error']!r}, "
            f"steps={metrics.get('num_steps')}, tool_calls={metrics.get('num_tool_calls')})"
        )

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_dict(self) -> dict[str, Json]:
        """Everything that is known of the run as one JSON object; times are ISO 8601."""
        return flat(self)

    @property
    def content(self) -> Json:
        """`output` as plain data: models of pydantic and dataclasses become dicts, also within lists."""
        try:
            return plain(to_jsonable_python(self.output, serialize_unknown=True, inf_nan_mode="constants"))
        except ValueError:  # an object that holds itself
            return plain(self.output)

    @property
    def success(self) -> bool:
        """The run has an answer that it gave itself: no error, no stop, and not for want of steps."""
        return self.ending == "answer"

    @property
    def is_error(self) -> bool:
        """Whether there is an error: one that was raised, or the message of a stop."""
        return self["error"] is not None

    @property
    def error_message(self) -> str | None:
        """The error's message, None for none."""
        error: str | None = self["error"]
        return error

    @property
    def interrupted(self) -> bool:
        """Whether the run was ended early on purpose: by a constraint, by a limit, by a person or for want of one, by
        being cancelled."""
        return self.ending in ("stop", "pending", "limit", "interrupt", "cancelled")

    @property
    def duration_ms(self) -> float | None:
        """Milliseconds from start to end, None for a result made by hand."""
        if self.started_at is None or self.completed_at is None:
            return None
        return (self.completed_at - self.started_at).total_seconds() * 1000

    @property
    def tool_calls(self) -> list[dict[str, Json]]:
        """The calls that ran, without `final_answer`: dicts with `id`, `name` and `arguments`."""
        return [
            {"id": call["id"], "name": call["tool_name"], "arguments": call["arguments"]}
            for call in self["metrics"].get("tool_calls", [])
            if call["tool_name"] != FINAL_ANSWER
        ]

    @property
    def tool_calls_count(self) -> int:
        """How many calls ran, without `final_answer`."""
        return len(self.tool_calls)

    @property
    def has_tool_calls(self) -> bool:
        """Whether any call ran besides `final_answer`."""
        return bool(self.tool_calls)
