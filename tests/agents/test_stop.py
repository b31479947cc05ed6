"""The exceptions of a guarded agent: of two kinds at once, logged once, and able to travel between processes."""

import io
import pickle

import pytest
from rich.console import Console
from smolagents.monitoring import AgentLogger
from smolagents.utils import AgentError, AgentGenerationError, AgentToolExecutionError

from agentltl.agents.stop import ConstraintStopError, RefusedCallError
from agentltl.constraints.trace import Call
from agentltl.errors import AgentLTLError, ConstraintViolationError
from agentltl.guard.decision import Decision, Violation
from agentltl.guard.severity import ConstraintSeverity

VIOLATION = Violation("r", ConstraintSeverity.HARD_STOP, 1, "write", {"text": "a"}, "write came first")
DECISION = Decision(False, "stop", (VIOLATION,), "do not write", call=Call("write", {"text": "a"}))


@pytest.mark.parametrize(
    ("kind", "of"), [(ConstraintStopError, AgentGenerationError), (RefusedCallError, AgentToolExecutionError)]
)
def test_an_error_of_two_kinds(kind: type, of: type) -> None:
    console = io.StringIO()
    error = kind("do not write", DECISION, AgentLogger(console=Console(file=console)))
    assert isinstance(error, ConstraintViolationError)
    assert isinstance(error, AgentLTLError)
    assert isinstance(error, of)
    assert isinstance(error, AgentError)
    assert str(error) == error.message == "do not write"
    assert error.decision is DECISION
    assert error.dict() == {"type": kind.__name__, "message": "do not write"}
    assert console.getvalue().count("do not write") == 1


@pytest.mark.parametrize("kind", [ConstraintStopError, RefusedCallError])
def test_an_error_can_be_pickled(kind: type) -> None:
    again = pickle.loads(pickle.dumps(kind("do not write", DECISION)))
    assert type(again) is kind
    assert str(again) == "do not write"
    assert again.decision == DECISION
