"""One event against all constraints: where each monitor goes, and what is broken.

It fails closed: a rule that cannot be judged counts as broken. A breach is forgiven at once, so the rule goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.explain import explain_breach
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.sentences.proof import Effort
from agentltl.constraints.trace import Position, Trace
from agentltl.guard.decision import Violation
from agentltl.guard.severity import ConstraintSeverity

log = logging.getLogger("agentltl")

LEAST = 1_000
"""What is left at least for the sentence of each constraint that one event breaks, of the effort that they share."""

Move = Callable[[Monitor, Position], Monitor]
"""What the event does to a monitor: `Monitor.step` when a call starts, `Monitor.settle` when it has settled."""


def judge(
    constraints: Sequence[Constraint],
    severities: Mapping[str, ConstraintSeverity],
    monitors: Mapping[str, Monitor],
    move: Move,
    position: Position,
    step: int | None,
) -> tuple[dict[str, Monitor], tuple[Violation, ...]]:
    """The monitors after the event, and what it breaks, strongest first; `step` is the run's."""
    after: dict[str, Monitor] = {}
    broken: list[Violation] = []
    effort = Effort()
    for constraint in constraints:
        monitor, detail = _one(constraint, monitors[constraint.name], move, position, effort)
        after[constraint.name] = monitor
        if detail is not None:
            broken.append(
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
    broken.sort(key=lambda v: v.severity.value.rank)
    return after, tuple(broken)


def _one(
    constraint: Constraint, before: Monitor, move: Move, position: Position, effort: Effort
) -> tuple[Monitor, str | None]:
    """The monitor after the event, and why the event breaks the constraint, if it does."""
    try:
        monitor = move(before, position)
        newly = monitor.broken is not None
        while monitor.broken is not None:
            monitor = monitor.forgive()
    except Exception as error:
        log.exception("constraint `%s` could not judge a call of `%s`", constraint.name, position.call.tool)
        return before, f"the rule cannot be judged: {error}"
    return monitor, _why(constraint, position, effort) if newly else None


def _why(constraint: Constraint, position: Position, effort: Effort) -> str:
    calls = (*position.calls[: position.index], position.call, *position.calls[position.index + 1 :])
    effort.left = max(effort.left, LEAST)
    try:
        return explain_breach(constraint.formula, Trace(calls, tuple(position.messages or ())), position.index, effort)
    except Exception:  # the verdict stands without its sentence
        log.exception("no sentence says why `%s` is broken", constraint.name)
        return f"the call breaks the rule {constraint.formula}"
