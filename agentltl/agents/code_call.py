"""A call that the model's code makes: what is known of it, and what leaves the code when the run ends at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from smolagents.monitoring import AgentLogger

from agentltl.agents.approval import ApprovalRequest
from agentltl.agents.joint_call import JointCall
from agentltl.agents.stop import ConstraintStopError, PendingStopError
from agentltl.agents.ticket import changed_to
from agentltl.constraints.value import Json, thaw
from agentltl.guard.decision import Decision

Status = Literal["running", "ok", "failed", "refused"]


class CodeStop(BaseException):
    """A constraint has stopped the run. No `except Exception` of the model's code can hold it up."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.feedback)
        self.decision = decision

    def __reduce__(self) -> tuple[type[CodeStop], tuple[object, ...]]:
        return type(self), (self.decision,)

    def error(self, logger: AgentLogger) -> ConstraintStopError | PendingStopError:
        """What the run raises."""
        return ConstraintStopError(self.decision.feedback, self.decision, logger)


class CodePending(CodeStop):
    """A call waits for a person. The run ends there as at a stop, and can be taken up when there is an answer."""

    def __init__(self, decision: Decision, request: ApprovalRequest | None) -> None:
        super().__init__(decision)
        self.request = request

    def __reduce__(self) -> tuple[type[CodeStop], tuple[object, ...]]:
        return type(self), (self.decision, self.request)

    def error(self, logger: AgentLogger) -> ConstraintStopError | PendingStopError:
        return PendingStopError(self.decision.feedback, self.decision, self.request, logger)


class CodeAnswer(NamedTuple):
    """What a judged call of `final_answer` has returned to the code: the `value`, how that `was` then, and the place of
    the call in the guard's trace."""

    value: object
    was: Json
    index: int | None  # type: ignore[assignment]  # the place of the call, as in `Decision`


@dataclass(slots=True)
class CodeCall:
    """One call, as it was judged: `step` is the run's, `arguments` are those by name that the tool gets.

    `proposed` is the guard's first answer, `decision` the one that holds: another where a person was asked. `outcome`
    is that after the call, None while it runs and if it was refused. `changed` are the arguments that a person has put
    in the place of the code's, `pending` is the question to a person who has not answered. `joint` is the call as the
    guards of managers judge it, too, and `above` what these say of what came of it.
    """

    step: int
    tool: str
    proposed: Decision
    decision: Decision
    outcome: Decision | None = None
    changed: dict[str, Any] | None = None
    pending: ApprovalRequest | None = None
    joint: JointCall | None = None
    above: list[Decision] = field(default_factory=list)

    @property
    def stop(self) -> Decision | None:
        """What came of it stops the run: the decision of the guard that says so."""
        outcomes = self.above if self.outcome is None else [self.outcome, *self.above]
        return next((one for one in outcomes if one.action == "stop"), None)

    @property
    def id(self) -> str:
        """The guard's own id of the call."""
        return self.decision.id or ""

    @property
    def key(self) -> str:
        """The id under which the call is known from its first judgement on."""
        return self.proposed.id or ""

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
        """What the model is to hear of it: that it was refused, that a person has changed it, or that what came of it
        breaks a rule."""
        told = [] if self.decision.allowed else [self.decision.feedback]
        if self.changed is not None and self.decision.call is not None:
            told.append(changed_to(self.decision.call.args))
        if self.outcome is not None:
            told.append(self.outcome.feedback)
        told += [one.feedback for one in self.above]
        return "\n".join(filter(None, told))
