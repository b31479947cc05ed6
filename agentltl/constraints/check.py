"""Judging a recorded trace call by call: every call that breaks a rule, not only the first.

A call at which the rule becomes false is a breach and is forgiven, so each breach is found once; what is still owed at
the end is a breach there.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.formula import Formula
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.trace import Trace
from agentltl.constraints.verdict import Truth
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
    ended = trace.finished()
    monitor = Monitor.of(formula)
    never = monitor.verdict.truth is Truth.FALSE  # no call is to blame
    monitor = yield from _newly_false(monitor.forgive() if never else monitor, ended)
    if never or monitor.verdict.truth < Truth.PTRUE:
        yield len(trace)


def newly_false(formula: Formula, trace: Trace) -> Iterator[int]:
    """The calls of a trace that goes on at which a rule becomes false, each breach forgiven."""
    yield from _newly_false(Monitor.of(formula), trace)


def _newly_false(monitor: Monitor, trace: Trace) -> Generator[int, None, Monitor]:
    for position in trace.positions(monitor.rule.hidden):
        before = monitor.verdict.truth
        monitor = monitor.step(position)
        if monitor.verdict.truth is Truth.FALSE and before is not Truth.FALSE:
            yield position.index
            monitor = monitor.forgive()
    return monitor


def naming(constraint: Constraint, error: TraceError) -> TraceError:
    """The same error, with the constraint that asked for what the trace lacks."""
    return TraceError(f"constraint `{constraint.name}`: {error}")
