"""What a broken constraint is answered with: its severity, and what has been counted, insisted on or approved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.trace import Call
from agentltl.guard.approvals import Approvals
from agentltl.guard.counts import Counts, Soft
from agentltl.guard.decision import Violation
from agentltl.guard.settings import Settings
from agentltl.guard.severity import ConstraintSeverity

REPEATED = "repeated-refusals"
"""The name under which a run is stopped that makes one refused call again and again."""


def weighed(
    violations: Sequence[Violation],
    constraints: Mapping[str, Constraint],
    settings: Settings,
    counts: Counts,
    call: Call,
    message: int | None,
    proposal: int,
    approvals: Approvals,
) -> tuple[Violation, ...]:
    """The violations of a proposed call with what each is answered with, strongest first; `message` is the number of
    the model's message, if it is known."""
    found = [_one(v, constraints[v.constraint_name], settings, counts, call, message, proposal) for v in violations]
    if approvals.grants:
        found = [
            replace(v, approved=True) if v.refuses and approvals.covers(call, v.constraint_name) else v for v in found
        ]
    return tuple(sorted(found, key=lambda v: (not v.refuses, v.severity.value.rank)))


def _one(
    violation: Violation,
    constraint: Constraint,
    settings: Settings,
    counts: Counts,
    call: Call,
    message: int | None,
    proposal: int,
) -> Violation:
    if not settings.enforce or not constraint.enforce:
        return replace(violation, enforced=False)
    row = violation.severity.value
    if row.counts:
        soft = counts.soft.get(constraint.name, Soft())
        if settings.too_many(constraint, soft.refused, soft.in_a_row):
            return replace(violation, severity=settings.escalate_to, escalated=True)
    if row.insists and counts.insists(constraint.name, call, message, proposal):
        return replace(violation, override=True)
    return violation


def recounted(
    counts: Counts,
    violations: Sequence[Violation],
    told: Sequence[Violation],
    call: Call,
    message: int | None,
    proposal: int,
    refused: bool,
) -> Counts:
    """The counts after a proposed call; `told` are the violations that the model hears of."""
    for violation in violations:
        counts = counts.violated(violation.constraint_name)
        if violation.override:
            counts = counts.overridden(violation.constraint_name, call)
    if not refused:
        return counts.allowed()
    soft = [v.constraint_name for v in violations if v.severity.value.counts or v.escalated]
    counts = counts.refused(call, soft)
    for violation in told:
        if violation.severity.value.insists:
            counts = counts.warn(violation.constraint_name, call, message, proposal)
    return counts


def stopping(violation: Violation, times: int) -> Violation:
    """The violation that stops a run which makes one refused call again and again."""
    return replace(
        violation,
        constraint_name=REPEATED,
        severity=ConstraintSeverity.HARD_STOP,
        detail=f"the identical call was refused {times} times in a row",
        repair="",
        description="A refused call is not made again and again",
        escalated=False,
    )
