"""What the guard says of a call: may it run, which constraints does it break, and what to do instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from agentltl.constraints.trace import Call
from agentltl.constraints.value import Json, thaw
from agentltl.guard.planned import PlannedCall
from agentltl.guard.severity import Action, ConstraintSeverity


@dataclass(frozen=True, slots=True)
class Violation:
    """One constraint broken by one call. `step_number` is the run's; `detail` is the sentence that says why.

    `enforced=False`: it was only recorded. `escalated`: the severity is what a soft one became after too many refusals.
    `override`: the call insisted on what was refused in the message before. `approved`: a person has allowed it.
    """

    constraint_name: str
    severity: ConstraintSeverity
    step_number: int | None
    tool_name: str
    tool_args: Json
    detail: str
    repair: str = ""
    description: str = ""
    enforced: bool = True
    escalated: bool = False
    override: bool = False
    approved: bool = False

    @property
    def refuses(self) -> bool:
        """Whether the call does not run for it."""
        return self.severity.value.refuses and self.enforced and not self.override and not self.approved

    def record(self) -> dict[str, Json]:
        """The violation record that the reference documents."""
        return {
            "constraint_name": self.constraint_name,
            "severity": self.severity.name,
            "step_number": self.step_number,
            "tool_name": self.tool_name,
            "tool_args": thaw(self.tool_args),
            "detail": self.detail,
        }


class _Decision(NamedTuple):
    allowed: bool
    action: Action
    violations: tuple[Violation, ...] = ()
    feedback: str = ""
    repair: str = ""
    call: Call | None = None
    index: int | None = None  # type: ignore[assignment]  # the place of the call, as in `Position`
    own: int | str | None = None
    owed: tuple[str, ...] = ()
    plan: tuple[PlannedCall, ...] = ()


class Decision(_Decision):
    """The answer to `propose`, `settle` or `finish`.

    `allowed`: the call may run (propose), the run may go on (settle), the run may end (finish).
    `action` is that of the strongest constraint broken; `violations` are those newly broken, strongest first.
    `feedback` is the text for the model (empty when nothing is wrong), `repair` what the broken constraints say to do,
    and `plan` the shortest calls after which the refused one is allowed, where one was found.
    `call` is the call as it was judged and `index` its place in the guard's trace (None: it is no event, it was
    refused); `id` is the guard's own id of the call, and `own` that id or the number that it is written from. `owed` is
    filled by `finish`: the names of constraints with an open obligation.
    """

    __slots__ = ()

    @property
    def id(self) -> str | None:
        """The guard's own id of the call: `event-3` of one that has started, `call-4` of a refused one."""
        own = self.own
        return f"event-{own}" if isinstance(own, int) else own
