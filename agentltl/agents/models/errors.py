"""What goes wrong with a model: before it can be asked (a name nobody knows, a file that is not there, a part not
installed), and in a call where no provider said so.

Failures that a provider reports are its own exceptions and pass through unchanged, except for the secrets in them.
"""

from agentltl.errors import AgentLTLError


class ModelError(AgentLTLError, ValueError):
    """A model cannot be built; the text says what was given and what to do instead."""


class ModelCallError(AgentLTLError):
    """A call of a model came to nothing, and no provider says why. Another model may do better."""


class EmptyReplyError(ModelCallError, RuntimeError):
    """A provider answered without an answer."""


class ModelTimeoutError(ModelCallError, TimeoutError):
    """A model has not answered in time. What it says later is ignored."""


class CircuitOpenError(ModelCallError):
    """A model that has failed again and again is not asked for a while. `seconds` is how long, from when it was raised
    on; 0 while one call is trying it."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds

    def __reduce__(self) -> tuple[type["CircuitOpenError"], tuple[str, float]]:
        return type(self), (str(self), self.seconds)
