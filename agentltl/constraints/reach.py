"""What can still become of a configuration: the states that can be reached from it over the letters of its formula.

A rule from whose state no accepting one can be reached is `FALSE`, one from which no rejecting one can be is `TRUE`.
The states are explored when they are first asked for, and remembered with the automaton.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from math import floor, lcm
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints.automaton import NOWHERE, Letter
from agentltl.constraints.body import Body, Config, Loaded, node_of
from agentltl.constraints.formula import Limit
from agentltl.constraints.letters import letters_of
from agentltl.constraints.operators import COUNT, SUM
from agentltl.constraints.path import Env
from agentltl.constraints.residual import TRUE, Residual
from agentltl.constraints.tally import Tally
from agentltl.constraints.trace import Position
from agentltl.constraints.verdict import AT_END, Truth, Verdict

WORK = 10
"""How many obligations may be moved by letters, for each state that may be looked at."""
FAR = 8
"""How many states may be met while a count is far from its limit, for the limit to be brought near."""


@dataclass(slots=True, eq=False)
class Reach:
    """The future of the configurations of a body, for one choice of values for its variables.

    It says nothing (None) where the body has no letters, or too many states.
    """

    body: Body
    env: Env
    letters: tuple[Letter, ...] | None = None
    read: bool = False
    full: bool = False
    work: int = 0
    next: dict[Hashable, list[tuple[Hashable, Config]]] = field(default_factory=dict)
    known: dict[tuple[Hashable, int], bool] = field(default_factory=dict)
    sizes: dict[Hashable, int | None] = field(default_factory=dict)

    def reaches(self, config: Config, end: int) -> bool | None:
        """Whether the trace can go on, or end here, so that the formula is worth `end` (`T` or `F`) at its end."""
        node = node_of(config)
        if node.end == end:
            return True
        if node.settled:
            return False
        alphabet = self.alphabet()
        if alphabet is None:
            return None
        near = self._near(config)
        if near is None:
            return None
        start = (self.body.name(near), end)
        if start not in self.known and not self.full:
            self._search(*start, near)
        return self.known.get(start)

    def dead(self, config: Config) -> bool:
        """Whether no continuation satisfies the formula. Asked of configurations that rest on no running call."""
        node = node_of(config)
        if node.settled or node.end == j.T:
            return node.false
        return self.reaches(config, j.T) is False

    def verdict(self, config: Config) -> Verdict:
        """What the formula is worth now."""
        node = node_of(config)
        if node.settled:
            return Verdict(Truth.FALSE if node.false else Truth.TRUE, True)
        if self.body.running(config):
            return Verdict(AT_END[node.end], False)
        holds, fails = self.reaches(config, j.T), self.reaches(config, j.F)
        if holds is False or fails is False:
            return Verdict(Truth.FALSE if holds is False else Truth.TRUE, True)
        return Verdict(AT_END[node.end], holds is not None and fails is not None)

    def alphabet(self) -> tuple[Letter, ...] | None:
        """The letters of all events there can be."""
        if not self.read:
            self.letters, self.read = self._read(), True
        return self.letters

    def _read(self) -> tuple[Letter, ...] | None:
        automaton = self.body.automaton
        if any(gauge.node.op is SUM or gauge.timed for gauge in automaton.gauges):
            return None
        calls = letters_of(automaton.atoms, self.env)
        if calls is None:
            return None
        positions = (Position(call, 0, (call,), None) for call in calls)
        return tuple(dict.fromkeys(self.body.reading.letter(position, self.env) for position in positions))

    def _search(self, start: Hashable, end: int, config: Config) -> None:
        """Breadth first; where nothing is found, nothing can be found from any state on the way."""
        queue, met = deque([(start, config)]), {start}
        while queue:
            name, now = queue.popleft()
            known = self.known.get((name, end))
            if known or node_of(now).end == end:
                self.known[start, end] = True
                return
            for other, after in () if known is False else self.following(name, now):
                if other not in met:
                    met.add(other)
                    queue.append((other, after))
            if self.full:
                return
        self.known.update(((name, end), False) for name in met)

    def following(self, name: Hashable, config: Config) -> list[tuple[Hashable, Config]]:
        """The configurations after one more event, under their names."""
        found = self.next.get(name)
        if found is None:
            node = node_of(config)
            self.work += len(self.letters or ()) * (1 + sum(map(len, node.residual.clauses)))
            most = self.body.automaton.limits.states
            if len(self.next) >= most or self.work > most * WORK:
                self.full = True
                return []
            after: dict[Hashable, Config] = {}
            if not node.settled:
                for letter in self.letters or ():
                    moved = self.body.step(config, letter, NOWHERE)
                    after.setdefault(self.body.name(moved), moved)
            found = self.next[name] = list(after.items())
        return found

    def _near(self, config: Config) -> Config | None:
        """The configuration with a count that is far from its limit brought near it.

        While the limit is far, a count decides nothing, and which states can be met after d more that count is a set
        that repeats itself: for N states from N² on at the latest, with a period that divides the least common multiple
        of 1 to N (Wielandt, on the index of a Boolean matrix). So a distance may be shortened by such periods.
        None where the states are too many for that.
        """
        if not isinstance(config, Loaded):
            return config
        far = []
        for place, (gauge, register) in enumerate(zip(self.body.automaton.gauges, config.registers, strict=False)):
            if gauge.node.op is COUNT and isinstance(register, Tally) and self._far(place, register):
                far.append(place)
        if not far:
            return config
        if len(far) > 1:
            return None
        (place,) = far
        others = (*config.registers[:place], *config.registers[place + 1 :])
        alike = (config.node, *others) if not self.body.counted else None
        if alike is None or alike not in self.sizes:
            self.sizes[alike] = self._states(config)
        if (size := self.sizes[alike]) is None:
            return None
        gauge, register = self.body.automaton.gauges[place], cast(Tally, config.registers[place])
        base, period = size * size + 1, lcm(*range(1, size + 1))
        away = floor(cast(Limit, gauge.node.detail).number) - int(register.sure)
        if away > base + period:
            short = base + (away - base) % period
            moved = Tally(register.sure + (away - short), register.low, register.high)
            registers = (*config.registers[:place], moved, *config.registers[place + 1 :])
            return config._replace(registers=registers)
        return config

    def _states(self, config: Loaded) -> int | None:
        """How many configurations can be met while the limit is far; None if more than `FAR`."""
        met = {self.body.name(config)}
        queue = deque([config])
        while queue:
            now = queue.popleft()
            for letter in self.letters or ():
                # The far count stays where it is: only the state and what else is measured move.
                moved = self.body.step(now, letter, NOWHERE)
                assert isinstance(moved, Loaded)
                back = moved if moved.node.settled else self._held(now, moved)
                if (name := self.body.name(back)) not in met:
                    met.add(name)
                    if not moved.node.settled:
                        queue.append(back)
                    if len(met) > FAR:
                        return None
        return len(met)

    def _held(self, before: Loaded, after: Loaded) -> Loaded:
        registers = tuple(
            old if isinstance(old, Tally) and self._far(place, old) else new
            for place, (old, new) in enumerate(zip(before.registers, after.registers, strict=True))
        )
        return after._replace(registers=registers)

    def _far(self, place: int, register: Tally) -> bool:
        number = cast(Limit, self.body.automaton.gauges[place].node.detail).number
        finite = number - number == 0
        return finite and floor(number) - register.sure > self.body.automaton.limits.states // 4

    def revived(self, config: Config) -> Config:
        """A configuration that is not dead: of the obligations that contradict one another, those that are kept at the
        end of the trace stay first, then the others as far as they can be met together."""
        kept = TRUE
        clauses = node_of(config).residual.clauses
        for clause in sorted(clauses, key=lambda c: (Residual(frozenset({c})).at_end() != j.T, str(c))):
            more = kept & Residual(frozenset({clause}))
            if self.reaches(self.body.changed(config, more), j.T) is not False:
                kept = more
        return self.body.changed(config, kept)
