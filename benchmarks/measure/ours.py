"""Our side: a guard and bare monitors, brought to a place of a run and timed from there."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.panel import Panel
from agentltl.constraints.trace import Call, Outcome, Position
from agentltl.guard.guard import Guard
from measure import workload
from measure.clock import Action, sample
from measure.peers.process import Missing

Source = Callable[[int], workload.Call]


def find(module: str, name: str) -> Any:
    """A name of our package that may not be there yet; `Missing` if it is not."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        raise Missing("not there yet") from None


def method(of: object, name: str) -> Any:
    """A method that may not be there yet; `Missing` if it is not."""
    if not hasattr(of, name):
        raise Missing("not there yet")
    return getattr(of, name)


def constraints(rules: Sequence[str]) -> list[Constraint]:
    """The rules as constraints, named by their places."""
    return [Constraint(f"rule {i}", rule) for i, rule in enumerate(rules, 1)]


def check_all(guard: Guard, calls: Sequence[workload.Call], first: int | None = None) -> None:
    """Propose and settle each call; with `first`, the index of the first of them, they start a second apart."""
    propose, settle = guard.propose, guard.settle
    for place, (tool, arguments) in enumerate(calls):
        if first is None:
            decision = propose(tool, arguments)
        else:
            decision = propose(tool, arguments, start=float(first + place))
        if not decision.allowed:
            raise RuntimeError(f"`{tool}` is refused: {decision.feedback}")
        settle(decision, "ok", end=None if first is None else first + place + 0.5)


class GuardAt:
    """A guard a cycle before a place of a run. A sample is the seconds of one check in the cycle after that place.

    Each sample runs copies of the guard, so that the place stays; the cycle before the place is not timed.
    `timed` gives calls times a second apart, for rules that look at them.
    """

    def __init__(
        self, rules: Sequence[str], history: int, source: Source = workload.call, *, timed: bool = False
    ) -> None:
        before = history - workload.CYCLE
        self.guard, self.timed, self.before = Guard(constraints(rules)), timed, before
        check_all(self.guard, [source(i) for i in range(before)], 0 if timed else None)
        self.warm = [source(i) for i in range(before, history)]
        self.cycle = [source(i) for i in range(history, history + workload.CYCLE)]

    def sample(self) -> float:
        """The seconds of one check."""
        return sample(self._prepare) / len(self.cycle)

    def _prepare(self) -> Action:
        guard, first = copy.deepcopy(self.guard), None
        check_all(guard, self.warm, self.before if self.timed else None)
        if self.timed:
            first = self.before + len(self.warm)
        return partial(check_all, guard, self.cycle, first)


class EngineAt:
    """The panel of some rules at a place of a run, without a guard. A sample is the seconds of one event for all of
    them, started and settled, on prepared positions."""

    def __init__(self, rules: Sequence[str], history: int, source: Source = workload.call) -> None:
        length = history + workload.CYCLE
        done = [Call(*source(i)).settle(Outcome.of("ok")) for i in range(length)]
        started = [Position(Call(c.tool, c.args), i, done, ()) for i, c in enumerate(done)]
        settled = [Position(c, i, done, ()) for i, c in enumerate(done)]
        moves = list(zip(started, settled, strict=True))
        self.panel = _judge(Panel.of([c.formula for c in constraints(rules)]), moves[:history])
        self.moves = moves[history:]

    def sample(self) -> float:
        """The seconds of one event for all rules."""
        return sample(lambda: partial(_judge, self.panel, self.moves)) / len(self.moves)


def _judge(panel: Panel, moves: Sequence[tuple[Position, Position]]) -> Panel:
    for started, settled in moves:
        panel, broken, failed = panel.step(started)
        if broken or failed:
            raise RuntimeError("a rule is broken")
        panel, broken, failed = panel.settle(settled)
        if broken or failed:
            raise RuntimeError("a rule is broken")
    return panel
