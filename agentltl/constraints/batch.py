"""Many traces at once: rules that ask only for tools and for how calls settled, walked over arrays of letters.

A letter is a tool and a way to settle. The rules move together as one table of joint states, which is filled where the
traces lead, so an event of all traces is a few look-ups of `numpy`, however many the rules are. Where joint states are
too many, the rules are halved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from agentltl.constraints.automaton import Node
from agentltl.constraints.constraint import Constraint, constraints_of
from agentltl.constraints.course import WAYS, Course, Places, State, course
from agentltl.constraints.formula import Formula
from agentltl.constraints.judging import Judge, TraceResult, judge_of
from agentltl.constraints.trace import Call, Position, Trace
from agentltl.constraints.value import Json
from agentltl.constraints.walk import looking
from agentltl.errors import MissingExtraError, TraceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.intp]

MOST = 2048
"""How many joint states have a row in one table."""
LARGEST = 4_000_000
"""How many entries a table has at the most."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Traces with their letters: `letters[i]` has those of all their calls number i, `width - 1` past the end of one.

    The letter of a call is three times the place of its tool in `tools`, and 0, 1 or 2 more where it never settled,
    failed or was ok.
    """

    traces: tuple[Trace, ...]
    tools: tuple[str, ...]
    letters: Numbers = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.traces)

    def __iter__(self) -> Iterator[Trace]:
        return iter(self.traces)

    @property
    def width(self) -> int:
        """How many letters there are, that past the end included."""
        return 3 * len(self.tools) + 1


def encode(traces: Iterable[Trace]) -> Batch:
    """The letters of traces, to be judged by `verify_batch` under any rules. It needs numpy."""
    np = _numpy()
    kept = tuple(traces)
    for position, trace in enumerate(kept):
        if not isinstance(trace, Trace):
            raise TraceError(
                f"`traces[{position}]` is a {type(trace).__name__}\nread it first: Trace.from_metrics(...)"
            )
    numbers: dict[str, int] = {}
    rows = [[3 * numbers.setdefault(c.tool, len(numbers)) + _way(c) for c in trace.calls] for trace in kept]
    longest = max(map(len, rows), default=0)
    letters = np.full((len(rows), longest), 3 * len(numbers), dtype=np.intp)
    for own, row in zip(letters, rows, strict=True):
        own[: len(row)] = row
    return Batch(kept, tuple(numbers), np.ascontiguousarray(letters.T))


def _way(call: Call) -> int:
    return 0 if call.outcome is None else call.outcome.way - 1


def verify_batch(
    batch: Batch,
    constraints: Sequence[Constraint | Mapping[str, Json]] | str | PathLike[str],
    *,
    weight_overrides: Mapping[str, float] | None = None,
) -> list[TraceResult]:
    """What `verify_many` gives for the traces of a batch.

    Rules without variables, arguments and facts are judged for all traces at once; each trace is walked for the others.
    It pays when the same traces are judged more than once: to encode them costs as much as to walk them.
    """
    return judged(batch, judge_of(constraints_of(constraints), weight_overrides))


def judged(batch: Batch, judge: Judge) -> list[TraceResult]:
    """As `verify_batch`."""
    lettered = [place for place, one in enumerate(judge.constraints) if _lettered(one.formula, batch.tools)]
    others = [place for place in range(len(judge.constraints)) if place not in set(lettered)]
    found: dict[int, dict[int, list[int]]] = {}
    _walk(batch, judge, lettered, found)
    if others:
        _one_by_one(batch, judge, others, found)
    results = []
    for position, trace in enumerate(batch.traces):
        meant, own = judge.meant(trace), found.get(position)
        if own and judge.limited:
            own = {place: calls for place, calls in own.items() if place in meant}
        results.append(judge.result(position, trace.id, meant, own or {}))
    return results


def _lettered(formula: Formula, tools: tuple[str, ...]) -> bool:
    """Whether a rule asks for nothing but tools, and how their calls settled."""
    alone = course((formula,))
    return not alone.alone and all(alone.turn(tool).keys is not None for tool in tools)


def _one_by_one(batch: Batch, judge: Judge, places: list[int], found: dict[int, dict[int, list[int]]]) -> None:
    for position, trace in enumerate(batch.traces):
        own = tuple(place for place in places if judge.constraints[place].applies(trace))
        try:
            violations = judge.found(own, trace.calls, len(trace), looking(trace))
        except Exception:
            try:
                violations = judge.found_one_by_one(trace)
            except TraceError as error:
                raise TraceError(f"`traces[{position}]`: {error}") from error
        for place, calls in violations.items():
            found.setdefault(position, {})[place] = list(calls)


def _walk(batch: Batch, judge: Judge, places: list[int], found: dict[int, dict[int, list[int]]]) -> None:
    """The violations of rules that are lettered, put into `found`: for each trace, for each rule, its calls."""
    if not places or not batch.traces:
        return
    table = Table(batch, course(tuple(judge.constraints[place].formula for place in places)))
    try:
        steps = table.walk()
    except _TooMany:
        if len(places) == 1:
            _one_by_one(batch, judge, places, found)
        else:
            _walk(batch, judge, places[: len(places) // 2], found)
            _walk(batch, judge, places[len(places) // 2 :], found)
        return
    for call, position, broken in steps:
        own = found.setdefault(position, {})
        for place in broken:
            own.setdefault(places[place], []).append(call)


class _TooMany(Exception):
    """There are more joint states than a table has rows."""


class Table:
    """The joint states of some rules, numbered: `next[state + letter]` is the next state, a multiple of the number of
    letters, or -1 where no trace has led yet. A state that has just broken rules is one of its own."""

    def __init__(self, batch: Batch, rules: Course) -> None:
        self.batch, self.rules, self.np = batch, rules, _numpy()
        self.states: list[tuple[State, Places]] = []
        self._numbers: dict[tuple[tuple[Node, ...], Places], int] = {}
        self.rows = max(1, min(MOST, LARGEST // batch.width))
        self.next = self.np.full(self.rows * batch.width, -1, dtype=self.np.intp)
        self.breaks = self.np.zeros(self.rows, dtype=bool)
        self.first = self._number(rules.first, ())

    def walk(self) -> list[tuple[int, int, Places]]:
        """Each breach: the call, the trace, and the places of the rules."""
        np, batch, width = self.np, self.batch, self.batch.width
        state = np.full(len(batch.traces), self.first, dtype=np.intp)
        steps: list[tuple[int, int, Places]] = []
        for call, letters in enumerate(batch.letters):
            way = state + letters
            state = self.next.take(way)
            if len(state) and state.min() < 0:
                self._explore(np.unique(way[state < 0]).tolist())
                state = self.next.take(way)
            if self.breaks.any():
                number = state // width
                for position in np.flatnonzero(self.breaks.take(number)).tolist():
                    steps.append((call, position, self.states[number[position]][1]))
        return steps + self._ends(state)

    def _ends(self, state: Numbers) -> list[tuple[int, int, Places]]:
        np, traces = self.np, self.batch.traces
        number = state // self.batch.width
        owed = [state.owed for state, _ in self.states]
        owing = np.fromiter(map(bool, owed), dtype=bool, count=len(owed))
        places = np.flatnonzero(owing.take(number)).tolist()
        return [(len(traces[position]), position, owed[number[position]]) for position in places]

    def _number(self, state: State, broken: Places) -> int:
        name = state.nodes, broken
        found = self._numbers.get(name)
        if found is None:
            found = len(self.states) * self.batch.width
            if len(self.states) >= self.rows:
                raise _TooMany
            self.states.append((state, broken))
            self._numbers[name] = found
            self.breaks[found // self.batch.width] = bool(broken)
        return found

    def _explore(self, ways: list[int]) -> None:
        for way in ways:
            number, letter = divmod(way, self.batch.width)
            state = self.states[number][0]
            if letter == self.batch.width - 1:
                self.next[way] = self._number(state, ())
                continue
            tool, settled = self.batch.tools[letter // 3], letter % 3
            turn = self.rules.turn(tool)
            assert turn.keys is not None
            broken: Places = ()
            after = state.get(turn.keys[settled + 1])
            if after is None:
                position = Position(Call(tool, outcome=WAYS[settled]), 0, (), None)
                broken, after = self.rules.after(state, turn.keys[settled + 1], position, turn)
            self.next[way] = self._number(after, broken)


def _numpy() -> Any:
    try:
        return import_module("numpy")
    except ImportError:
        raise MissingExtraError("judging many traces at once", "fast") from None
