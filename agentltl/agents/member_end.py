"""What ends the manager's run from inside a managed agent: a stop, or a call that waits for a person."""

from __future__ import annotations

from agentltl.agents.stop import ConstraintStopError, PendingStopError

End = ConstraintStopError | PendingStopError


class MemberEnd(BaseException):
    """An end on its way through a managed agent that is not ours. No `except Exception` holds it up."""

    def __init__(self, end: End) -> None:
        super().__init__(end.message)
        self.end = end


def end_of(error: BaseException) -> End | None:
    """What the error of a managed agent's call says of the manager's run, if that is to end; smolagents wraps it."""
    for one in (error, error.__cause__):
        if isinstance(one, MemberEnd):
            return one.end
        if isinstance(one, ConstraintStopError | PendingStopError):
            return one
    return None
