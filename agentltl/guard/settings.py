"""How a guard answers: its settings, checked when it is made."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Literal

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.constraint_values import checked_attempts, checked_mode
from agentltl.constraints.value import Json
from agentltl.errors import ConstraintError
from agentltl.guard.severity import ConstraintSeverity

Lookahead = Literal["rule", "joint"]


@dataclass(frozen=True, slots=True)
class Settings:
    """`enforce=False`: everything is judged and recorded, and nothing refused.
    `lookahead="joint"` also refuses a call after which the blocking rules cannot all be kept.

    A `SOFT_BLOCK` refuses `max_soft_attempts` calls and then does what `escalate_to` does. `soft_block_mode` says which
    refusals count: `cumulative` all of them, `consecutive` those since the last call that was allowed, `hybrid` both,
    for the latter up to `max_consecutive_soft_attempts` (None: half as many, rounded up).
    `max_identical_refusals` is how often one call may be refused in a row before the run is stopped (None: always).
    An approval is good for `approval_seconds` where it says nothing else.
    `final_answer_retries` is how often the model is sent back from its answer, since the user spoke last, to do what
    constraints marked `applies_to_final_answer` still owe.
    """

    enforce: bool = True
    lookahead: Lookahead = "rule"
    max_soft_attempts: int = 3
    soft_block_mode: str = "cumulative"
    max_consecutive_soft_attempts: int | None = None
    escalate_to: ConstraintSeverity = ConstraintSeverity.HARD_STOP
    max_identical_refusals: int | None = None
    approval_seconds: float = 600.0
    final_answer_retries: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.enforce, bool):
            raise ConstraintError(f"`enforce` is `{self.enforce}`\ngive True or False")
        if self.lookahead not in ("rule", "joint"):
            raise ConstraintError(f'`lookahead` is `{self.lookahead}`\nuse "rule" or "joint"')
        if checked_attempts(self.max_soft_attempts, "the guard") is None:
            raise ConstraintError("`max_soft_attempts` of the guard is nothing\ngive a whole number from 0 up")
        checked_attempts(self.max_consecutive_soft_attempts, "the guard")
        if checked_mode(self.soft_block_mode, "the guard") is None:
            raise ConstraintError(
                "`soft_block_mode` of the guard is nothing\nuse one of: cumulative, consecutive, hybrid"
            )
        if self.escalate_to not in (ConstraintSeverity.HARD_STOP, ConstraintSeverity.ASK):
            raise ConstraintError(f"`escalate_to` is `{self.escalate_to.name}`\nuse HARD_STOP or ASK")
        most = self.max_identical_refusals
        if most is not None and (isinstance(most, bool) or most < 1):
            raise ConstraintError(f"`max_identical_refusals` is `{most}`\ngive a whole number from 1 up, or None")
        seconds = self.approval_seconds
        if isinstance(seconds, bool) or not 0 < seconds < math.inf:
            raise ConstraintError(f"`approval_seconds` is `{seconds}`\ngive a number of seconds above 0")
        retries: object = self.final_answer_retries
        if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
            raise ConstraintError(f"`final_answer_retries` is `{retries}`\ngive a whole number from 0 up")

    def to_data(self) -> dict[str, Json]:
        """The settings as keywords of a guard, in plain JSON."""
        return {**asdict(self), "escalate_to": self.escalate_to.name}

    def too_many(self, constraint: Constraint, refused: int, in_a_row: int) -> bool:
        """Whether a soft constraint has refused as often as it may: so many calls in all, so many of them in a row."""
        most = self.max_soft_attempts if constraint.max_soft_attempts is None else constraint.max_soft_attempts
        mode = constraint.soft_block_mode or self.soft_block_mode
        row = most if mode == "consecutive" else self.max_consecutive_soft_attempts
        row = -(-most // 2) if row is None else row
        return (mode != "consecutive" and refused >= most) or (mode != "cumulative" and in_a_row >= row)
