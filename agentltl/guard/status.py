"""The status dict of a guarded run, exactly as the reference documents it, with what was counted beside it."""

from __future__ import annotations

from agentltl.constraints.value import Json, thaw
from agentltl.guard.counts import Soft
from agentltl.guard.state import State


class Status(dict[str, Json]):
    """The documented dict; `counts` is no key of it: how often each constraint was violated, overridden, and refused
    softly, in all and in a row."""

    counts: dict[str, dict[str, int]]


def status(state: State) -> Status:
    """The dict; a run that an outcome stopped has no `blocked_tool_call`, since its call has run."""
    stopped, stopped_by, refused = state.stopped, None, None
    if stopped is not None:
        stopped_by = stopped.violations[0].constraint_name
        if stopped.index is None and stopped.call is not None:
            refused = {
                "tool_name": stopped.call.tool,
                "tool_args": thaw(stopped.call.args),
                "tool_id": stopped.call.id,
                "tool_result": "BLOCKED_BY_CONSTRAINT",
                "blocked_by": stopped_by,
                "step_number": stopped.violations[0].step_number,
            }
    found = Status({
        "status": "completed" if stopped is None else "stopped",
        "stopped_by": stopped_by,
        "blocked_tool_call": refused,
        "violations": [violation.record() for violation in state.violations],
        "completed_trace": [
            {
                "tool_name": call.tool,
                "tool_args": thaw(call.args),
                "tool_id": call.id,
                "tool_result": call.outcome.text if call.outcome is not None else None,
            }
            for call in state.calls
            if call.tool != "final_answer" and call.approves is None
        ],
        "constraint_checks": state.checks,
    })  # fmt: skip
    counts = state.counts
    names = dict.fromkeys([*counts.violations, *counts.overrides, *counts.soft])
    found.counts = {
        name: {
            "violations": counts.violations.get(name, 0),
            "overrides": counts.overrides.get(name, 0),
            "soft_refusals": counts.soft.get(name, Soft()).refused,
            "soft_refusals_in_a_row": counts.soft.get(name, Soft()).in_a_row,
        }
        for name in names
    }
    return found
