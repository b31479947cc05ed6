"""The exceptions of a guarded agent: each is a constraint's and, at the same time, of the kind that smolagents' loop
treats in the right way.

smolagents ends a run on an `AgentGenerationError` in whatever step it comes, and turns every other `AgentError` into an
observation after which the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable

from smolagents.monitoring import AgentLogger
from smolagents.utils import AgentError, AgentGenerationError, AgentToolExecutionError

from agentltl.agents.approval import ApprovalRequest
from agentltl.errors import ApprovalPendingError, ConstraintViolationError, OutputError
from agentltl.guard.decision import Decision


class _Told(ConstraintViolationError, AgentError):
    """A decision that leaves the agent as an exception. With a logger the message is logged, as smolagents does."""

    def __init__(self, message: str, decision: Decision | None = None, logger: AgentLogger | None = None) -> None:
        Exception.__init__(self, message)
        self.message = message
        self.decision = decision
        if logger is not None:
            logger.log_error(message)

    def __reduce__(self) -> tuple[Callable[..., _Told], tuple[object, ...]]:
        return type(self), (self.message, self.decision)


class ConstraintStopError(_Told, AgentGenerationError):
    """A constraint has stopped the run: it ends here, whatever step it is in."""


class RefusedCallError(_Told, AgentToolExecutionError):
    """A call that was not made through a message of the model has been refused; a run goes on after it."""


class OutputStopError(OutputError, AgentGenerationError):
    """The answers of the model were none, as often as it may try: the run ends here."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)
        self.message = message


class PendingStopError(ApprovalPendingError, AgentGenerationError):
    """A call waits for a person: the run ends here, whatever step it is in."""

    def __init__(
        self,
        message: str,
        decision: Decision | None = None,
        request: ApprovalRequest | None = None,
        logger: AgentLogger | None = None,
    ) -> None:
        Exception.__init__(self, message)
        self.message = message
        self.decision = decision
        self.request = request
        if logger is not None:
            logger.log_error(message)

    def __reduce__(self) -> tuple[Callable[..., PendingStopError], tuple[object, ...]]:
        return type(self), (self.message, self.decision, self.request)
