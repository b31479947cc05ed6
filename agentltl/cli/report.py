"""What `check` finds: for each trace the calls that break a rule, and what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest

from agentltl.constraints.check import violations
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.explain import explain_breach
from agentltl.constraints.sentences.places import Places
from agentltl.constraints.trace import Trace
from agentltl.constraints.value import Json
from agentltl.errors import TraceError


@dataclass(frozen=True, slots=True)
class Violation:
    """One breach: `index` counts calls from 0, the length of the trace means at its end.

    `place` is the same for people (`#8`, from 1; `end`), `tool` the tool of the call, `why` a sentence if asked for.
    """

    index: int
    place: str
    tool: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """What could not be read or judged: an input, a place in it, or a rule for which a trace lacks something."""

    input: str
    problem: str
    place: str | None = None
    trace: str | None = None
    constraint: str | None = None

    def to_json(self) -> dict[str, Json]:
        return {
            "input": self.input,
            "place": self.place,
            "trace": self.trace,
            "constraint": self.constraint,
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True)
class Judged:
    """One trace: `violations` has the breaches of every constraint that was judged, `lacking` why others were not.

    `score` is None when constraints are meant for the trace and none could be judged.
    """

    input: str
    id: str
    calls: int
    violations: Mapping[str, tuple[Violation, ...]]
    lacking: Mapping[str, str]
    score: Fraction | None


def judge(trace: Trace, constraints: Sequence[Constraint], source: str, *, reasons: int = 0) -> Judged:
    """Judge one trace by the constraints that are meant for it, with reasons for the first breaches of each."""
    found: dict[str, tuple[Violation, ...]] = {}
    lacking: dict[str, str] = {}
    meant = [constraint for constraint in constraints if constraint.applies(trace)]
    places = Places(tuple(trace.positions(frozenset())), ended=True)
    for constraint in meant:
        try:
            indices = violations(constraint, trace)
        except TraceError as error:
            lacking[constraint.name] = str(error)
            continue
        why = [explain_breach(constraint.formula, trace, index) for index in indices[:reasons]]
        found[constraint.name] = tuple(_violation(places, trace, i, told) for i, told in zip_longest(indices, why))
    score = None if lacking and not found else _score([c for c in meant if c.name in found], found)
    return Judged(source, trace.id or "", len(trace), found, lacking, score)


def _violation(places: Places, trace: Trace, index: int, why: str | None) -> Violation:
    if index >= len(trace):
        return Violation(index, "end", None, why)
    return Violation(index, places.call(index).removeprefix("call "), trace.calls[index].tool, why)


def _score(constraints: Sequence[Constraint], found: Mapping[str, Sequence[Violation]]) -> Fraction:
    """One minus the weight of what is violated over the weight of all."""
    failed = [constraint for constraint in constraints if found[constraint.name]]
    total = sum(Fraction(constraint.weight) for constraint in constraints)
    if total == 0:
        return Fraction(not failed)
    return 1 - sum(Fraction(constraint.weight) for constraint in failed) / total


@dataclass(slots=True)
class Report:
    """All that was found. `traces` have distinct ids once `finish` has been called."""

    constraints: Sequence[Constraint]
    traces: list[Judged] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def finish(self) -> None:
        """Name each trace, and list what traces lacked before the rest of what could not be read."""
        self.names = distinct([(judged.input, judged.id) for judged in self.traces])
        lacking = [
            Unread(judged.input, problem, trace=name, constraint=constraint)
            for name, judged in zip(self.names, self.traces, strict=True)
            for constraint, problem in judged.lacking.items()
        ]
        self.unread = lacking + self.unread

    def broken(self, constraint: Constraint) -> Iterator[tuple[str, tuple[Violation, ...]]]:
        """The traces that break a constraint, by name, with their violations."""
        for name, judged in zip(self.names, self.traces, strict=True):
            if found := judged.violations.get(constraint.name):
                yield name, found

    def meant(self, constraint: Constraint) -> int:
        """For how many traces a constraint was judged."""
        return sum(constraint.name in judged.violations for judged in self.traces)

    @property
    def violated(self) -> bool:
        return any(any(judged.violations.values()) for judged in self.traces)

    @property
    def calls(self) -> int:
        return sum(judged.calls for judged in self.traces)

    @property
    def score(self) -> float | None:
        """The mean of the scores, from 0 to 1; None when no trace was judged."""
        scores = [judged.score for judged in self.traces if judged.score is not None]
        return float(sum(scores) / len(scores)) if scores else None

    def to_json(self) -> dict[str, Json]:
        """Plain data, as `--json` prints it."""
        constraints: dict[str, Json] = {}
        for constraint in self.constraints:
            broken = {name: [v.index for v in found] for name, found in self.broken(constraint)}
            constraints[constraint.name] = {
                "weight": constraint.weight,
                "violating_traces": len(broken),
                "violations": broken,
            }
        return {
            "traces": len(self.traces),
            "calls": self.calls,
            "score": self.score,
            "constraints": constraints,
            "unread": [unread.to_json() for unread in self.unread],
        }


def distinct(traces: Iterable[tuple[str, str]]) -> list[str]:
    """A name for each trace, given its input and its id.

    That is its id; `input:id` where several inputs have a trace of this id; with `#2`, `#3`, ... for a further one.
    """
    pairs = list(traces)
    inputs = Counter(trace_id for _, trace_id in set(pairs))
    taken = set()
    names = []
    for source, trace_id in pairs:
        own = name = f"{source}:{trace_id}" if inputs[trace_id] > 1 else trace_id
        number = 1
        while name in taken:
            number += 1
            name = f"{own}#{number}"
        taken.add(name)
        names.append(name)
    return names
