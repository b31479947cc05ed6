"""How the end of a run is told as the end of a task."""

from __future__ import annotations

from a2a.types import TaskState

from agentltl.constraints.value import Json
from agentltl.record.result import Result

KEY = "agentltl"
"""Under this key of the metadata is what the protocol has no place for."""

_STATES: dict[str, TaskState] = {
    "answer": TaskState.TASK_STATE_COMPLETED,
    "stop": TaskState.TASK_STATE_REJECTED,
    "pending": TaskState.TASK_STATE_INPUT_REQUIRED,
    "interrupt": TaskState.TASK_STATE_CANCELED,
    "cancelled": TaskState.TASK_STATE_CANCELED,
}


def state_of(result: Result) -> TaskState:
    """The state of the task: what is no answer, no stop, no question and no cancellation has failed."""
    return _STATES.get(result.ending, TaskState.TASK_STATE_FAILED)


def words_of(result: Result) -> str | None:
    """What is said of the state; None where the answer says it all."""
    match result.ending:
        case "answer":
            return None
        case "pending" if result.pending is not None:
            why = [f"{rule['name']}: {rule['sentence']}" for rule in result.pending["constraints"]]
            return "\n".join([f"a person has to allow `{result.pending['tool_name']}` first", *why])
        case "max_steps":
            return "the run has used all of its steps"
    return result.error_message or "the run has ended without an answer"


def metadata_of(result: Result | None, turn: int) -> dict[str, Json]:
    """What is known of a run beside its answer; `turn` is the number of the message in its conversation."""
    if result is None:
        return {"turn": turn}
    return {
        "turn": turn,
        "ending": result.ending,
        "execution_id": result.execution_id,
        "usage": result.usage.to_dict(),
        "compliance": result.compliance,
    }
