"""Results of sub-agents that have none of their own: those that could not run to an end, and those never started."""

from __future__ import annotations

from agentltl.agents.models.hidden_error import error_text
from agentltl.guard.guard import Guard
from agentltl.record.events import Ending, Event
from agentltl.record.metrics import metrics_of
from agentltl.record.result import Result


def failed(error: BaseException) -> Result:
    """The result of a sub-agent that an error has kept from giving one: the error, and zeros."""
    return without_run(error_text(error), type(error).__name__)


def without_run(error: str, error_class: str, ending: Ending = "error") -> Result:
    """A result with this error and nothing else: every count is zero, and nothing is on record."""
    end = Event("agent_end", {"constraint_status": Guard().status()})
    return Result(metrics=metrics_of([end]), error=error, error_class=error_class, ending=ending)
