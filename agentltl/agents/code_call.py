"""A call that the model's code makes: what is known of it, and the stop that leaves the code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentltl.constraints.value import Json, thaw
from agentltl.guard.decision import Decision

Status = Literal["running", "ok", "failed", "refused"]


class CodeStop(BaseException):
    """A constraint has stopped the run. No `except Exception` of the model's code can hold it up."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.feedback)
        self.decision = decision


@dataclass(slots=True)
class CodeCall:
    """One call, as it was judged: `step` is the run's, `arguments` are those by name that the tool gets.

    `decision` is that before the call, `outcome` that after it, None while it runs and if it was refused.
    """

    step: int
    tool: str
    decision: Decision
    outcome: Decision | None = None

    @property
    def id(self) -> str:
        """The guard's own id of the call."""
        return self.decision.id or ""

    @property
    def arguments(self) -> Json:
        """Plain data; a value that is none is the object itself."""
        return None if self.decision.call is None else thaw(self.decision.call.args)

    @property
    def status(self) -> Status:
        """`failed`: the tool raised."""
        if not self.decision.allowed:
            return "refused"
        call = None if self.outcome is None else self.outcome.call
        if call is None or call.outcome is None:
            return "running"
        return "failed" if call.outcome.failed else "ok"

    @property
    def result(self) -> str | None:
        """The result as text."""
        call = None if self.outcome is None else self.outcome.call
        return None if call is None or call.outcome is None else call.outcome.text

    @property
    def error(self) -> str | None:
        """The text of what the tool raised."""
        call = None if self.outcome is None else self.outcome.call
        return None if call is None or call.outcome is None else call.outcome.error

    @property
    def feedback(self) -> str:
        """What the model is to hear of it: that it was refused, or that what came of it breaks a rule."""
        if not self.decision.allowed:
            return self.decision.feedback
        return "" if self.outcome is None or self.outcome.action not in ("block", "stop") else self.outcome.feedback
