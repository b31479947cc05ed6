"""A conversation as plain JSON: what the agent remembers and what its guard knows, to go on in another process.

Kept is what a later prompt is made of: tasks, plans, replies, tool calls, observations and errors. Images are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from smolagents.memory import ActionStep, MemoryStep, PlanningStep, TaskStep, ToolCall
from smolagents.models import ChatMessage, MessageRole
from smolagents.monitoring import Timing
from smolagents.utils import AgentError

from agentltl.constraints.value import Json
from agentltl.errors import ConstraintError
from agentltl.guard.guard import Guard
from agentltl.record.plain import plain
from agentltl.record.text import text_of

Step = TaskStep | PlanningStep | ActionStep
KIND, VERSION = "agentltl conversation", 1


class RememberedError(AgentError):
    """The error of a step of another process: its text."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)
        self.message = message


def state_of(steps: Iterable[MemoryStep], guard: Guard) -> dict[str, Json]:
    """The conversation as JSON."""
    return {"kind": KIND, "version": VERSION, "steps": steps_data(steps), "guard": guard.to_state()}


def steps_data(steps: Iterable[MemoryStep]) -> list[dict[str, Json]]:
    """The steps as JSON, those that a later prompt is made of."""
    return [data for step in steps if (data := _data(step)) is not None]


def steps_of(data: object) -> list[Step]:
    """The steps that `steps_data` was made from. Raises `ConstraintError` for what is none."""
    if not isinstance(data, list):
        raise ConstraintError(
            "`steps` of this state of an agent is no list\ngive what `agent.to_state()` gave, unchanged"
        )
    steps: list[Step] = []
    for number, one in enumerate(data, 1):
        try:
            steps.append(_step(one))
        except (LookupError, TypeError, ValueError) as error:
            raise ConstraintError(
                f"step {number} of this state of an agent cannot be read ({type(error).__name__}: {error})\n"
                "give what `agent.to_state()` gave, unchanged"
            ) from error
    return steps


def restored(state: object, kind: type[Guard]) -> tuple[list[Step], Guard]:
    """What `state_of` was made from, with a guard of this kind.

    Raises `ConstraintError` for data that is no conversation.
    """
    if not isinstance(state, Mapping) or state.get("kind") != KIND:
        raise ConstraintError("this is not the state of an agent\ngive what `agent.to_state()` gave")
    if state.get("version") != VERSION:
        raise ConstraintError(
            f"this state of an agent has version {state.get('version')}, and this package reads version {VERSION}\n"
            "read it with the release that wrote it"
        )
    return steps_of(state.get("steps")), kind.from_state(state.get("guard", {}))


def _data(step: MemoryStep) -> dict[str, Json] | None:
    match step:
        case TaskStep():
            return {"task": step.task}
        case PlanningStep():
            return {"plan": step.plan}
        case ActionStep():
            data: dict[str, Json] = {
                "step": step.step_number,
                "output": text_of(step.model_output),
                "calls": None if step.tool_calls is None else [_call_data(call) for call in step.tool_calls],
                "observations": step.observations,
                "error": None if step.error is None else str(step.error),
            }
            return {name: value for name, value in data.items() if value is not None}
    return None


def _call_data(call: ToolCall) -> dict[str, Json]:
    return {"id": call.id, "name": str(call.name), "arguments": plain(call.arguments)}


def _step(data: Mapping[str, Any]) -> Step:
    if "task" in data:
        return TaskStep(data["task"])
    if "plan" in data:
        said = ChatMessage(role=MessageRole.ASSISTANT, content=data["plan"])
        return PlanningStep([], said, data["plan"], Timing(0.0, 0.0))
    calls, error = data.get("calls"), data.get("error")
    return ActionStep(
        step_number=data["step"],
        timing=Timing(0.0, 0.0),
        model_output=data.get("output"),
        tool_calls=None if calls is None else [ToolCall(c["name"], c["arguments"], c["id"]) for c in calls],
        observations=data.get("observations"),
        error=None if error is None else RememberedError(error),
    )
