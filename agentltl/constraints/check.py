"""Judging a recorded trace call by call: every call that breaks a rule, not only the first.

A call at which the rule becomes false is a breach and is forgiven, so each breach is found once; what is still owed at
the end is a breach there.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.course import course
from agentltl.constraints.formula import Formula
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.trace import Trace
from agentltl.constraints.verdict import Truth
from agentltl.constraints.walk import Walk, looking
from agentltl.errors import TraceError


def violations(constraint: Constraint, trace: Trace) -> list[int]:
    """The indices, from 0, of the calls of a finished trace that break a constraint; `len(trace)` means at its end.

    It is empty exactly when the trace satisfies the constraint, or when the constraint is not meant for it.
    A `TraceError` names the constraint for which the trace lacks something.
    """
    if not constraint.applies(trace):
        return []
    try:
        return list(breaches(constraint.formula, trace))
    except TraceError as error:
        raise naming(constraint, error) from error


def breaches(formula: Formula, trace: Trace) -> Iterator[int]:
    """As `violations`, one after another, for a formula."""
    walk = Walk(course((formula,)))
    for index, _ in walk.breaches(trace.calls, looking(trace)):
        yield index
    if walk.owed:
        yield len(trace)


def newly_false(formula: Formula, trace: Trace) -> Iterator[int]:
    """The calls of a trace that goes on at which a rule becomes false, each breach forgiven."""
    monitor = Monitor.of(formula)
    for position in trace.positions(monitor.rule.hidden):
        before = monitor.verdict.truth
        monitor = monitor.step(position)
        if monitor.verdict.truth is Truth.FALSE and before is not Truth.FALSE:
            yield position.index
            monitor = monitor.forgive()


def naming(constraint: Constraint, error: TraceError) -> TraceError:
    """The same error, with the constraint that asked for what the trace lacks."""
    return TraceError(f"constraint `{constraint.name}`: {error}")
