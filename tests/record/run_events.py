"""Events of runs, written by hand."""

from typing import Any

from agentltl.record.events import Event, RunEnd, RunStart, StepRecord, data_of


def start(**more: Any) -> Event:
    given = {"execution_id": "run-1", "task": "Go.", "system_prompt": "Be good.", "time": 100.0, **more}
    return Event("agent_start", data_of(RunStart(**given)))


def call(id: str, step: int, name: str, status: str = "ok", **more: Any) -> tuple[Event, Event]:
    """The start and the end of a call; a call that is ok or failed has run."""
    begun = {
        "id": id,
        "call_id": more.pop("call_id", f"call_{id}"),
        "step": step,
        "tool_name": name,
        "arguments": more.pop("arguments", {}),
        "by_model": more.pop("by_model", True),
        "time": 101.0,
    }
    over = {
        **begun,
        "status": status,
        "ran": status in ("ok", "failed"),
        "tool_result": None,
        "action_output": None,
        "error": None,
        **more,
    }
    return Event("tool_call_start", begun), Event("tool_call_end", over)


def step_start(step: int) -> Event:
    return Event("step_start", {"step": step, "time": 100.5})


def step_end(step: int, **more: Any) -> Event:
    return Event("step_end", data_of(StepRecord(step, **more)))


def end(ending: Any = "answer", output: Any = None, **more: Any) -> Event:
    return Event("agent_end", data_of(RunEnd(ending, output, **{"time": 102.5, **more})))
