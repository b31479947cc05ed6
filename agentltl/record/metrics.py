"""The metrics dict of a run, to the key as the reference documents it, folded from the run's events.

A call belongs to the step that its events name, and is in `tool_calls` when its tool was entered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from agentltl.constraints.value import Json
from agentltl.record.events import Event
from agentltl.record.plain import plain

StepType = Literal["tool_call", "reasoning", "error"]

_CONSTRAINT_KEYS = {
    "run_status": "status",
    "stopped_by_constraint": "stopped_by",
    "constraint_violations": "violations",
    "constraint_checks": "constraint_checks",
    "completed_trace": "completed_trace",
}
"""The keys that a guarded run has besides, and what they are called in the guard's status."""


def metrics_of(events: Iterable[Event]) -> dict[str, Json]:
    """The metrics of the run that these events tell, also of one that is not over."""
    calls: dict[str, dict[str, Json]] = {}
    records: list[Mapping[str, Json]] = []
    status: Mapping[str, Json] | None = None
    for event in events:
        match event.kind:
            case "tool_call_start":
                calls[event.data["id"]] = dict(event.data)
            case "tool_call_end":
                calls.setdefault(event.data["id"], {}).update(event.data)
            case "step_end":
                records.append(event.data)
            case "agent_end":
                status = event.data.get("constraint_status")
    by_step: dict[int, list[dict[str, Json]]] = {}
    for call in calls.values():
        if call["by_model"]:
            by_step.setdefault(call["step"], []).append(call)
    ran = [call for call in calls.values() if call.get("ran")]
    tool_calls = [_tool_call(call) for call in sorted(ran, key=lambda call: call.get("order") or 0)]
    steps = [_step(record, by_step.get(record["step"], [])) for record in records]
    read, written = sum(s["input_tokens"] for s in steps), sum(s["output_tokens"] for s in steps)
    return {
        "num_steps": len(steps),
        "num_tool_calls": len(tool_calls),
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": read + written,
        "tool_calls": tool_calls,
        "steps": steps,
        **({} if status is None else {ours: plain(status[theirs]) for ours, theirs in _CONSTRAINT_KEYS.items()}),
    }


def _tool_call(call: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "step": call["step"],
        "tool_name": call["tool_name"],
        "arguments": call["arguments"],
        "id": call["call_id"],
        "tool_result": call["tool_result"],
        "action_output": call["action_output"],
    }


def _step(record: Mapping[str, Json], calls: list[dict[str, Json]]) -> dict[str, Json]:
    first = calls[0] if calls else None
    outputs = [call["action_output"] for call in calls if call.get("action_output") is not None]
    start, end = record["start_time"], record["end_time"]
    step: dict[str, Json] = {
        "step_number": record["step"],
        "type": _type(record["error"], first),
        "reasoning": record["reasoning"],
        "thinking": record["thinking"],
        "tool_name": first and first["tool_name"],
        "tool_args": None if first is None else first["arguments"],
        "tool_id": first and first["call_id"],
        "tool_result": record["observation"],
        "action_output": "\n".join(outputs) if outputs else record["action_output"],
        "input_tokens": record["input_tokens"],
        "output_tokens": record["output_tokens"],
        "start_time": start,
        "end_time": end,
        "duration": None if start is None or end is None else end - start,
        "error": record["error"],
        "model_input_raw": record["model_input_raw"],
        "model_input_parsed": record["model_input_parsed"],
    }
    if len(calls) > 1:
        step["step_tool_calls"] = [{"tool_name": c["tool_name"], "tool_args": c["arguments"]} for c in calls]
    return step


def _type(error: str | None, first: Mapping[str, Json] | None) -> StepType:
    if error is not None:
        return "error"
    return "reasoning" if first is None else "tool_call"
