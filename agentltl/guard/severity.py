"""What happens when a constraint is broken: one row per severity, strongest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Literal

from agentltl.constraints.constraint import Constraint
from agentltl.errors import ConstraintError

Action = Literal["allow", "warn", "retry", "ask", "block", "stop"]


@dataclass(frozen=True, slots=True)
class SeverityRow:
    """`rank`: 0 is the strongest; `refuses`: the call does not run; `action`: what the decision says.

    `counts`: refusals are counted, and after too many another severity takes its place. `insists`: the identical call
    in the next message goes through.
    """

    rank: int
    refuses: bool
    action: Action
    counts: bool = False
    insists: bool = False


class ConstraintSeverity(Enum):
    """How a broken constraint is answered."""

    HARD_STOP = SeverityRow(0, True, "stop")
    """the call is refused and the run stops"""
    PERSISTENT_BLOCK = SeverityRow(1, True, "block")
    """the call is refused, every time, and the model is told what to do instead"""
    ASK = SeverityRow(2, True, "ask")
    """a person is asked; the call is refused unless it is approved"""
    SOFT_BLOCK = SeverityRow(3, True, "retry", counts=True)
    """the call is refused and the model told; after too many refusals it stops the run, or asks"""
    BLOCK_AND_WARN = SeverityRow(4, True, "block", insists=True)
    """the call is refused once and the model told; the identical call in the next message runs and is an override"""
    TOLERATE = SeverityRow(5, False, "warn")
    """the call runs; the violation is recorded and logged as a warning"""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    @classmethod
    def of(cls, name: ConstraintSeverity | str) -> ConstraintSeverity:
        """The severity of that name. A name that is none, or none yet, is a `ConstraintError` that says so."""
        if isinstance(name, cls):
            return name
        if isinstance(name, str) and name in cls.__members__:
            return cls[name]
        raise ConstraintError(_unknown(str(name), list(cls.__members__)))


def resolve(
    constraints: Iterable[Constraint], given: Mapping[str, ConstraintSeverity | str], default: ConstraintSeverity
) -> dict[str, ConstraintSeverity]:
    """The severity of each constraint: the one given for its name, else its own, else the default."""
    own = {c.name: default if c.severity is None else ConstraintSeverity.of(c.severity) for c in constraints}
    for name in given:
        if name not in own:
            near = get_close_matches(name, own, 1)
            raise ConstraintError(
                f"a severity is given for `{name}`, and there is no such constraint\n"
                + (f"did you mean `{near[0]}`?" if near else f"the constraints are: {', '.join(own) or 'none'}")
            )
    return own | {name: ConstraintSeverity.of(severity) for name, severity in given.items()}


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name.upper(), known, 1, 0.5)
    hint = f"did you mean `{near[0]}`?" if near else f"use one of: {', '.join(known)}"
    return f"unknown severity `{name}`\n{hint}"
