"""Breadth-first search over the joint states of several rules: tuples of monitors, equal when their futures are.

A rule that looks at nothing but calls is stepped once for each of its states and each call, however many joint states
share the two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agentltl.constraints.ahead import Ahead
from agentltl.constraints.formula import Proposition
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.proposition import Called
from agentltl.constraints.scope import Rule
from agentltl.constraints.trace import Call

UNNAMED = 10
"""What a joint state costs that cannot be told from others, so that each path leads to one of its own."""
VALUED = 5
"""What a step costs of a rule that looks at each value on its own, or at more than the call; and more, the more values
have something open."""
DEEPEST = 8
"""How many calls a path through such states may have."""

Aim = Callable[[Monitor, Ahead], bool]
"""What is asked of one rule at the end of a continuation, given what has been planned by then."""


class Exhausted(Exception):
    """The budget is spent."""


@dataclass(slots=True)
class Budget:
    """How many joint states and monitor steps may still be looked at, and how many calls a path may have."""

    left: int
    deepest: int | None = None

    def spend(self, much: int = 1) -> None:
        if self.left <= 0:
            raise Exhausted
        self.left -= much


@lru_cache(maxsize=4096)
def timeless(rule: Rule) -> bool:
    """Whether the rule looks at nothing but the calls as they come: at no fact, no time and no earlier call again."""
    called = all(isinstance(f.atom, Called) for f in rule.normal.walk() if isinstance(f, Proposition))
    timed = any("outcome.duration" in str(f) for f in rule.normal.walk() if isinstance(f, Proposition))
    return called and not timed and not rule.windowed and not rule.late


@dataclass(frozen=True, slots=True)
class _Joint:
    """A joint state, and the letters that lead to it."""

    monitors: tuple[Monitor, ...]
    futures: tuple[Hashable | None, ...]
    path: tuple[int, ...]
    ahead: Ahead


class Search:
    """One search. `letters` are the calls tried, `aims` one for each monitor, `free` the places of rules that may
    break: they stay broken, or are `forgiven` and go on. `failed` says that some rule could not judge some call, that a
    path was given up, or that a call still runs: what is not found may be there all the same."""

    def __init__(
        self,
        monitors: Sequence[Monitor],
        aims: Sequence[Aim],
        free: Collection[int],
        letters: Sequence[Call],
        ahead: Ahead,
        budget: Budget,
        forgiven: bool = False,
    ) -> None:
        self.start, self.aims, self.free, self.forgiven = tuple(monitors), aims, free, forgiven
        self.letters, self.ahead, self.budget = letters, ahead, budget
        self.failed = False
        self._memo = [timeless(m.rule) for m in monitors]
        self._moves: dict[tuple[int, Hashable, int], tuple[Monitor, Hashable | None] | None] = {}
        self._met: dict[tuple[int, Hashable], bool] = {}

    def run(self) -> tuple[Call, ...] | None:
        """The shortest continuation to the aims, as stamped calls; None if there is none. Raises `Exhausted`."""
        first = _Joint(self.start, tuple(m.future for m in self.start), (), self.ahead)
        if self._arrived(first):
            return ()
        self.failed = None in first.futures  # what a running call comes to may change everything
        queue, known = deque([first]), {self._name(first)}
        while queue:
            now = queue.popleft()
            length = len(now.path)
            if length == self.budget.deepest or (None in now.futures and length >= DEEPEST):
                self.failed = True
                continue
            for number, letter in enumerate(self.letters):
                after = self._after(now, number, letter)
                if after is None or (name := self._name(after)) in known:
                    continue
                if self._arrived(after):
                    return after.ahead.planned[len(self.ahead.planned) :]
                self.budget.spend(UNNAMED if None in after.futures else 1)
                known.add(name)
                queue.append(after)
        return None

    def _name(self, joint: _Joint) -> Hashable:
        """Where a future is not known, each path leads to a state of its own."""
        return joint.path if None in joint.futures else joint.futures

    def _arrived(self, joint: _Joint) -> bool:
        return all(
            self._meets(place, monitor, future, joint.ahead)
            for place, (monitor, future) in enumerate(zip(joint.monitors, joint.futures, strict=True))
        )

    def _meets(self, place: int, monitor: Monitor, future: Hashable | None, ahead: Ahead) -> bool:
        if future is None or not self._memo[place]:
            return self.aims[place](monitor, ahead)
        known = self._met.get((place, future))
        if known is None:
            known = self._met[place, future] = self.aims[place](monitor, ahead)
        return known

    def _after(self, joint: _Joint, number: int, letter: Call) -> _Joint | None:
        """The joint state after one more call; None if a rule that may not breaks."""
        monitors, futures = [], []
        call: Call | None = None
        for place, (monitor, future) in enumerate(zip(joint.monitors, joint.futures, strict=True)):
            shared = future is not None and self._memo[place]
            if shared and (place, future, number) in self._moves:
                move = self._moves[place, future, number]
            else:
                call = call or joint.ahead.stamped(letter)
                move = self._move(place, monitor, joint.ahead, call)
                if shared:
                    self._moves[place, future, number] = move
            if move is None:
                return None
            monitors.append(move[0])
            futures.append(move[1])
        call = call or joint.ahead.stamped(letter)
        return _Joint(tuple(monitors), tuple(futures), (*joint.path, number), joint.ahead.then(call))

    def _move(self, place: int, monitor: Monitor, ahead: Ahead, call: Call) -> tuple[Monitor, Hashable | None] | None:
        plain = self._memo[place] and not monitor.rule.scope.quantifiers
        self.budget.spend(1 if plain else VALUED + len(monitor.open_values) // 10)
        after = step(monitor, ahead, call, forgiven=self.forgiven and place in self.free)
        if after is None:
            self.failed = True
            return None
        if after.broken is not None and place not in self.free:
            return None
        return after, after.future


def step(monitor: Monitor, ahead: Ahead, call: Call, *, forgiven: bool = False) -> Monitor | None:
    """The monitor after a stamped call, a breach forgiven or not; None for a rule that cannot judge the call."""
    try:
        monitor = monitor.step(ahead.position(call))
        while forgiven and monitor.broken is not None:
            monitor = monitor.forgive()
        return monitor
    except Exception:  # a predicate that raises, a time or a step that is missing: nothing can be planned with it
        return None


__all__ = ["Aim", "Budget", "Exhausted", "Search", "step", "timeless"]
