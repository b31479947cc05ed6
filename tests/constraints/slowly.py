"""The other judge: one monitor a rule, event by event; and random traces to judge."""

import random

from agentltl.constraints.check import naming
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.formula import Formula
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.trace import NEVER, Call, Message, Outcome, Trace
from agentltl.constraints.verdict import Truth
from agentltl.errors import TraceError


def breaches(formula: Formula, trace: Trace) -> list[int]:
    """What `check.breaches` must give."""
    ended, monitor, found = trace.finished(), Monitor.of(formula), []
    never = monitor.verdict.truth is Truth.FALSE
    for position in ended.positions(monitor.rule.hidden):
        before = monitor.verdict.truth
        monitor = monitor.step(position)
        if monitor.verdict.truth is Truth.FALSE and before is not Truth.FALSE:
            found.append(position.index)
            monitor = monitor.forgive()
    if never or monitor.verdict.truth < Truth.PTRUE:
        found.append(len(trace))
    return found


def violations(constraint: Constraint, trace: Trace) -> list[int]:
    """What `check.violations` must give."""
    try:
        return breaches(constraint.formula, trace) if constraint.applies(trace) else []
    except TraceError as error:
        raise naming(constraint, error) from error


TOOLS = ("a", "b", "c", "a", "b", "c", "final_answer", "approved")
VALUES = (0, 1, 2, "u", "v", "w", True, None, 1.5)


def outcome(rng: random.Random, end: float) -> Outcome | None:
    """Any way to settle, and calls that still run."""
    made = rng.choice(
        [None, NEVER, Outcome.of(error="no"), *(Outcome.of(v) for v in ("u", "v", {"k": "u"}, {"k": [1, 2]}, 2, None))]
    )
    return made if made is None or not made.settled or rng.random() < 0.1 else made._replace(end=end)


def random_trace(rng: random.Random, most: int = 9) -> Trace:
    """A trace of few tools, arguments and values, so that rules have something to say about it."""
    calls, now = [], 0.0
    for i in range(rng.randint(0, most)):
        now += rng.choice([0, 1, 2.5])
        args = {name: rng.choice(VALUES) for name in ("k", "m") if rng.random() < 0.8}
        calls.append(
            Call(
                rng.choice(TOOLS),
                args,
                step=i // 2 if rng.random() < 0.95 else None,
                start=now,
                outcome=outcome(rng, now + rng.random()),
            )
        )
    return Trace(tuple(calls), (Message("u 1"), Message("v", 2)), f"trace {rng.random()}", {"suite": rng.choice("xy")})
