"""What goes wrong before a model can be asked: a name nobody knows, a file that is not there, a part not installed.

Failures of a request are the provider's own exceptions and pass through unchanged, except for the secrets in them.
"""

from agentltl.errors import AgentLTLError


class ModelError(AgentLTLError, ValueError):
    """A model cannot be built; the text says what was given and what to do instead."""
