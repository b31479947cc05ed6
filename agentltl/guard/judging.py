"""What an event breaks: a violation for each rule, strongest first, with the sentence that says why.

It fails closed: a rule that cannot be judged counts as broken.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.explain import explain_breach
from agentltl.constraints.panel import Moved
from agentltl.constraints.sentences.why import Effort
from agentltl.constraints.trace import Position, Trace
from agentltl.guard.decision import Violation
from agentltl.guard.severity import ConstraintSeverity

log = logging.getLogger("agentltl")

LEAST = 1_000
"""What is left at least for the sentence of each constraint that one event breaks, of the effort that they share."""


def violations(
    constraints: Sequence[Constraint],
    severities: Mapping[str, ConstraintSeverity],
    moved: Moved,
    position: Position,
    step: int | None,
    said: set[str],
) -> tuple[Violation, ...]:
    """What an event broke, strongest first; `step` is the run's. That a constraint cannot be judged is logged with the
    traceback, once: `said` are the names of those of which it has been."""
    _, broken, failed = moved
    effort = Effort()
    found: list[Violation] = []
    for place in sorted({*broken, *failed}):
        constraint, error = constraints[place], failed.get(place)
        if error is None:
            detail = _why(constraint, position, effort)
        else:
            tool = position.call.tool
            if constraint.name not in said:
                said.add(constraint.name)
                log.error("constraint `%s` could not judge a call of `%s`", constraint.name, tool, exc_info=error)
            detail = f"the rule cannot be judged: {error}"
        found.append(
            Violation(
                constraint.name,
                severities[constraint.name],
                step,
                position.call.tool,
                position.call.args,
                detail,
                constraint.repair,
                constraint.description,
            )
        )
    found.sort(key=lambda v: v.severity.value.rank)
    return tuple(found)


def _why(constraint: Constraint, position: Position, effort: Effort) -> str:
    calls = (*position.calls[: position.index], position.call, *position.calls[position.index + 1 :])
    effort.left = max(effort.left, LEAST)
    try:
        return explain_breach(constraint.formula, Trace(calls, tuple(position.messages or ())), position.index, effort)
    except Exception:  # the verdict stands without its sentence
        log.exception("no sentence says why `%s` is broken", constraint.name)
        return f"the call breaks the rule {constraint.formula}"
