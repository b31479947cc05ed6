"""What many traces are judged by: constraints with their weights, made ready once, and the result for each trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentltl.constraints.check import violations
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.course import Course, Event, Look, course
from agentltl.constraints.trace import Trace
from agentltl.constraints.value import FrozenDict, Json
from agentltl.constraints.verify import scored, verify_trace, weights_of
from agentltl.constraints.walk import Walk
from agentltl.errors import TraceError

Found = Mapping[int, Sequence[int]]
"""For each violated constraint, by its place, the calls that violate it; the number of calls means the end."""


@dataclass(frozen=True, slots=True)
class TraceResult:
    """What one trace is worth.

    `position` is the place of the trace in the input, from 0, and `id` its own. `passed` says for each constraint, by
    name, whether the finished trace satisfies it, and `violations` lists the calls that violate it, from 0; the number
    of calls means the end of the trace. A constraint that is not meant for the trace passes.
    `compliance_score` and `compliance_label` are those of `verify_trace`. `trace` is the trace if it was to be kept.
    """

    position: int
    id: str | None
    passed: Mapping[str, bool]
    violations: Mapping[str, tuple[int, ...]]
    compliance_score: float
    compliance_label: str
    trace: Trace | None = field(default=None, repr=False, compare=False)
    _judge: Judge | None = field(default=None, repr=False, compare=False)

    def report(self) -> dict[str, Json]:
        """The dict of `verify_trace`, with its sentences. Raises `TraceError` if the trace was not kept."""
        if self.trace is None or self._judge is None:
            raise TraceError(
                "the trace was not kept, so there are no sentences about it\n"
                "keep the traces: verify_many(..., keep=True)"
            )
        return verify_trace(self.trace, self._judge.constraints, weight_overrides=self._judge.overrides)


Worth = tuple[Mapping[str, bool], float, str]


class Judge:
    """Some constraints, ready to judge. Raises `ConstraintError` as `verify_trace` does."""

    def __init__(self, constraints: Sequence[Constraint], overrides: Mapping[str, float] | None = None) -> None:
        self.constraints, self.overrides = tuple(constraints), dict(overrides or {})
        self.weights = weights_of(self.constraints, self.overrides)
        self.names = tuple(constraint.name for constraint in self.constraints)
        self.limited = any(constraint.where is not None for constraint in self.constraints)
        self.all = tuple(range(len(self.constraints)))
        self._whole: Course | None = None
        self._courses: dict[tuple[int, ...], Course] = {}
        self._worth: dict[tuple[tuple[int, ...], tuple[int, ...]], Worth] = {}
        self._clean: Mapping[str, tuple[int, ...]] = FrozenDict(dict.fromkeys(self.names, ()))
        self._perfect = self._weighed(self.all, ())

    def __reduce__(self) -> tuple[object, ...]:
        return Judge, (self.constraints, self.overrides)

    def meant(self, trace: Trace) -> tuple[int, ...]:
        """The places of the constraints that are meant for a trace."""
        if not self.limited:
            return self.all
        return tuple(place for place, constraint in enumerate(self.constraints) if constraint.applies(trace))

    def course(self, meant: tuple[int, ...]) -> Course:
        """The rules at these places, ready to be walked."""
        if meant is self.all and self._whole is not None:
            return self._whole
        found = self._courses.get(meant)
        if found is None:
            found = self._courses[meant] = course(tuple(self.constraints[place].formula for place in meant))
            if meant is self.all:
                self._whole = found
        return found

    def found_quickly(self, meant: tuple[int, ...], tools: Sequence[str]) -> Found | None:
        """The violations of a trace whose calls all are ok; None where that is not all there is to it."""
        course = self.course(meant)
        state = None if course.alone else course.run(tools)
        return None if state is None else {meant[place]: (len(tools),) for place in state.owed}

    def found(self, meant: tuple[int, ...], events: Iterable[Event], length: int, look: Look, at: int = 6) -> Found:
        """The violations of a trace."""
        walk = Walk(self.course(meant))
        found: dict[int, list[int]] = {}
        for index, places in walk.breaches(events, look, at):
            for place in places:
                found.setdefault(meant[place], []).append(index)
        for place in walk.owed:
            found.setdefault(meant[place], []).append(length)
        return found

    def found_one_by_one(self, trace: Trace) -> Found:
        """The same by each constraint alone; it raises for the first that cannot be judged."""
        each = ((place, violations(constraint, trace)) for place, constraint in enumerate(self.constraints))
        return {place: calls for place, calls in each if calls}

    def result(
        self, position: int, id: str | None, meant: tuple[int, ...], found: Found, trace: Trace | None = None
    ) -> TraceResult:
        """The result for a trace with these violations."""
        if not found and meant is self.all:
            passed, score, label = self._perfect
            return TraceResult(position, id, passed, self._clean, score, label, trace, self)
        broken = tuple(sorted(found))
        worth = self._worth.get((meant, broken)) or self._weighed(meant, broken)
        violated = {self.names[place]: tuple(calls) for place, calls in found.items()}
        violated_all = FrozenDict({**self._clean, **violated})
        return TraceResult(position, id, worth[0], violated_all, worth[1], worth[2], trace, self)

    def _weighed(self, meant: tuple[int, ...], broken: tuple[int, ...]) -> Worth:
        passed = FrozenDict({name: place not in broken for place, name in enumerate(self.names)})
        records: list[dict[str, Any]] = [
            {"weight": self.weights[self.names[place]], "passed": place not in broken} for place in meant
        ]
        score, label = scored(records)
        if len(self._worth) >= 4096:
            self._worth.clear()
        worth = self._worth[meant, broken] = passed, score, label
        return worth


_judges: dict[tuple[int, ...], Judge] = {}
"""By the identities of their constraints, which they keep alive."""


def judge_of(constraints: tuple[Constraint, ...], overrides: Mapping[str, float] | None = None) -> Judge:
    """A judge, the same for the same constraints under their own weights."""
    if overrides:
        return Judge(constraints, overrides)
    own = tuple(map(id, constraints))
    found = _judges.get(own)
    if found is None:
        if len(_judges) >= 64:
            _judges.clear()
        found = _judges[own] = Judge(constraints)
    return found
