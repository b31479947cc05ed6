"""The money that the sub-agents of a fan-out may spend together."""

from __future__ import annotations

import math

from agentltl.errors import ConstraintError
from agentltl.record.result import Result


class Budget:
    """`limit` US dollars, None for no limit. What a sub-agent has cost is known when it is over.

    A cost that is not known is never taken for 0: from then on the budget cannot be kept, and counts as spent.
    Raises `ConstraintError` for a limit that is none.
    """

    def __init__(self, limit: float | None) -> None:
        number: object = limit
        if limit is not None and (
            not isinstance(number, int | float) or isinstance(number, bool) or not 0 < limit < math.inf
        ):
            raise ConstraintError(f"`max_cost_usd` is `{limit!r}`\ngive a number of US dollars above 0, or None")
        self.limit = limit
        self.spent = 0.0
        self._unknown: str | None = None

    def add(self, id: str, result: Result | None) -> None:
        """The sub-agent of a requirement is over, with this result; None if nobody knows what it came to."""
        cost = None if result is None else result.total_cost
        if cost is not None:
            self.spent += cost
        elif result is None or result.total_tokens or any(a["status"] == "success" for a in result.attempts):
            self._unknown = id

    @property
    def why_not(self) -> str | None:
        """Why no more sub-agent may start, for an error; None while one may."""
        if self.limit is None:
            return None
        if self._unknown is not None:
            return (
                f"not started: what the sub-agent of `{self._unknown}` has cost is not known, "
                f"so `max_cost_usd={self.limit:g}` cannot be kept\nuse a model whose price is known, or no budget"
            )
        if self.spent >= self.limit:
            return (
                f"not started: the sub-agents have spent ${self.spent:.6g} of `max_cost_usd={self.limit:g}`\n"
                "raise it, and run the requirements that are left"
            )
        return None
