"""How a run ended, told from what smolagents gave back or raised."""

from __future__ import annotations

from smolagents.agent_types import AgentText
from smolagents.utils import AgentError

from agentltl.agents.models.hidden_error import error_text
from agentltl.agents.models.redaction import hide, known_secrets
from agentltl.agents.watched_model import RunCancelled
from agentltl.constraints.value import Json
from agentltl.errors import ApprovalPendingError, ConstraintViolationError, OutputError, RunLimitError
from agentltl.record.events import Ending, RunEnd
from agentltl.record.plain import plain
from agentltl.record.text import is_blocks, text_of


def answered(output: object, *, out_of_steps: bool, model_error: Exception | None) -> RunEnd:
    """How a run ended that smolagents has an answer of; the last model call may have failed all the same."""
    if isinstance(output, AgentText):
        output = str(output)
    if not out_of_steps:
        return RunEnd("answer", output)
    if is_blocks(output):
        output = text_of(output)
    if model_error is None:
        return RunEnd("max_steps", output)
    if isinstance(model_error, RunLimitError):
        return _limited(model_error)
    # A rule can withhold the text of smolagents.
    text = error_text(model_error) if output is None else hide(str(output), known_secrets())
    return RunEnd("error", error=text, error_class=type(model_error).__name__)


def failed(error: BaseException, *, interrupted: bool, cancelled: bool) -> RunEnd:
    """How a run ended that an error ended; its class is that of the cause, which smolagents wraps.

    `interrupted` and `cancelled`: whether somebody has asked the run to end.
    """
    if isinstance(error, RunCancelled) or (cancelled and type(error) is AgentError):
        return RunEnd("cancelled", error="the run was cancelled", error_class="RunCancelled")
    if (limit := next((e for e in (error, error.__cause__) if isinstance(e, RunLimitError)), None)) is not None:
        return _limited(limit)
    cause: BaseException = error.__cause__ or error
    ending: Ending = "error"
    pending: dict[str, Json] | None = None
    if isinstance(error, ConstraintViolationError):
        ending, cause = "stop", error
    elif isinstance(error, ApprovalPendingError):
        ending, cause = "pending", error
        if error.request is not None:
            pending = {name: plain(value) for name, value in error.request.to_dict().items()}
    elif isinstance(error, OutputError):
        return RunEnd("error", error=error_text(error), error_class=OutputError.__name__)
    elif not isinstance(error, Exception) or (type(error) is AgentError and interrupted):
        ending = "interrupt"
    text = error_text(error)
    return RunEnd(ending, error=text, error_class=type(cause).__name__, pending=pending)


def _limited(error: RunLimitError) -> RunEnd:
    return RunEnd("limit", error=error_text(error), error_class=type(error).__name__)
