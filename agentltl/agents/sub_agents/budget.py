"""The money that the sub-agents of a fan-out may spend together."""

from __future__ import annotations

from agentltl.agents.limits import require_positive
from agentltl.record.result import Result


class Budget:
    """`limit` US dollars, None for no limit. What a sub-agent has cost is known when it is over.

    A cost that is not known is never taken for 0: from then on the budget cannot be kept, and counts as spent.
    Raises `ConstraintError` for a limit that is none.
    """

    def __init__(self, limit: float | None) -> None:
        require_positive("max_cost_usd", limit)
        self.limit = limit
        self.spent = 0.0
        self._unknown: str | None = None

    def add(self, id: str, result: Result | None) -> None:
        """The sub-agent of a requirement is over, with this result; None if nobody knows what it came to."""
        usage = None if result is None else result.usage
        if usage is not None and usage.total_cost_usd is not None:
            self.spent += usage.total_cost_usd
        elif usage is None or usage.model_calls > usage.failed_calls:
            self._unknown = id

    @property
    def why_not(self) -> str | None:
        """Why no more sub-agent may start, for an error; None while one may."""
        if self.limit is None:
            return None
        if self._unknown is not None:
            return (
                f"not started: `max_cost_usd={self.limit}` cannot be kept, since nobody knows what the sub-agent of "
                f"`{self._unknown}` has cost\n"
                "tell the price of its model with `litellm.register_model`, or do without a budget"
            )
        if self.spent >= self.limit:
            return (
                f"not started: the sub-agents have used up `max_cost_usd={self.limit}`: {self.spent:.6g} USD\n"
                "raise it, and run the requirements that are left"
            )
        return None
