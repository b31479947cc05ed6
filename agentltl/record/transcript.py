"""A run as a chat transcript in the form of OpenAI: system, user, assistant and tool messages, folded from the events.

It says what the model was told and what it did, not the form in which a framework sent it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from agentltl.constraints.value import Json
from agentltl.record.events import Event

_NOT_RUN = "This call did not run."


def transcript_of(events: Iterable[Event]) -> list[dict[str, Json]]:
    """The messages of the run, after those of the conversation that it continues.

    A call of a provider that gives no ids has the event's own. A call that raised has the error as its result and the
    key `is_error` besides; one that did not run has `status`: `blocked` with the refusal as its result, `cancelled`, or
    `rejected` when there is no such tool or it takes no such arguments.
    A step that failed apart from its calls is answered by a user message with the error, if
    the run went on after it; that message has `is_error`, for it is not the user's.
    """
    events = list(events)
    messages: list[dict[str, Json]] = []
    calls = _calls(events)
    error: str | None = None
    for event in events:
        data = event.data
        match event.kind:
            case "agent_start":
                messages += data["messages"] or [{"role": "system", "content": data["system_prompt"]}]
                messages.append({"role": "user", "content": data["task"]})
            case "step_start" if error is not None:
                messages.append({"role": "user", "content": error, "is_error": True})
                error = None
            case "step_end":
                made = list(calls.get(data["step"], {}).values())
                messages += _step(data["reasoning"], made)
                error = None if any(call.get("error") for call in made) else data["error"]
    return messages


def _calls(events: Iterable[Event]) -> dict[int, dict[str, dict[str, Json]]]:
    """The model's calls by step; some end after their step has."""
    calls: dict[int, dict[str, dict[str, Json]]] = {}
    for event in events:
        if event.kind in ("tool_call_start", "tool_call_end") and event.data["by_model"]:
            calls.setdefault(event.data["step"], {}).setdefault(event.data["id"], {}).update(event.data)
    return calls


def _step(text: str | None, calls: list[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    if calls:
        yield {"role": "assistant", "content": text, "tool_calls": [_call(call) for call in calls]}
    elif text is not None:
        yield {"role": "assistant", "content": text}
    for call in calls:
        yield {"role": "tool", "tool_call_id": _id(call), "content": _result(call), **_fate(call)}


def _id(call: Mapping[str, Json]) -> str:
    return str(call["call_id"] or call["id"])


def _call(call: Mapping[str, Json]) -> dict[str, Json]:
    function = {"name": call["tool_name"], "arguments": json.dumps(call["arguments"])}
    return {"id": _id(call), "type": "function", "function": function}


def _fate(call: Mapping[str, Json]) -> dict[str, Json]:
    """What its text does not say of a call that did not do what it was to do."""
    match call.get("status"), call.get("ran"):
        case "failed" | "cancelled", True:
            return {"is_error": True}
        case "failed", _:
            return {"is_error": True, "status": "rejected"}
        case "blocked" | "cancelled" as status, _:
            return {"status": status}
    return {}


def _result(call: Mapping[str, Json]) -> str:
    if call.get("tool_result") is not None:
        return str(call["tool_result"])
    return str(call.get("error") or _NOT_RUN)
