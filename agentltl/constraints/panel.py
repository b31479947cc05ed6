"""The monitors of several rules, as one value that is never changed: an event costs what it touches.

Rules whose state is a number are moved together by one look-up; of the others an event moves those that name its tool,
and those that any event moves. A breach is reported and forgiven at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from immutables import Map

from agentltl.constraints.automaton import Node
from agentltl.constraints.engine import Engine, engine
from agentltl.constraints.formula import Formula
from agentltl.constraints.limits import DEFAULT, Limits
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.proposition import Called
from agentltl.constraints.scope import rule
from agentltl.constraints.together import MOST, Joint, Table, Together, joins
from agentltl.constraints.trace import Call, Position
from agentltl.constraints.whole import Whole


class Rules:
    """The rules of a panel: `together` those at the places `joined`; `alone` the places of the others."""

    def __init__(self, formulas: Sequence[Formula], limits: Limits) -> None:
        self.formulas, self.limits = tuple(formulas), limits
        self.engines = engines = tuple(engine(rule(formula), limits) for formula in formulas)
        self.joined = tuple(i for i, one in enumerate(engines) if joins(one))
        self.places = {place: at for at, place in enumerate(self.joined)}
        self.alone = tuple(i for i in range(len(engines)) if i not in set(self.joined))
        self.together = Together([one for one in engines if isinstance(one, Whole) and joins(one)])
        self.entries: dict[str, tuple[Table, tuple[int, ...]]] = {}

    def entry(self, tool: str) -> tuple[Table, tuple[int, ...]]:
        """How the calls of a tool are told apart by the rules together, and the rules on their own that name it."""
        found = self.entries.get(tool)
        if found is None:
            if len(self.entries) >= MOST:
                self.entries.clear()
            named = tuple(i for i in self.alone if _names(self.engines[i], tool))
            found = self.entries[tool] = self.together.table(tool), named
        return found


def _names(engine: Engine, tool: str) -> bool:
    if tool in engine.rule.hidden:
        return False
    return any(isinstance(atom, Called) and atom.tools.match(tool) for atom in engine.atoms)


class Panel(NamedTuple):
    """The state of several rules.

    `joint` is that of those that move together and `open` the events that rest on a running call, each with the joint
    state before it; `alone` are the monitors of the others, and of all while one that was broken rests on a call that
    still runs; `restless` are the places of those that any event may move.
    """

    rules: Rules
    joint: Joint | None
    open: tuple[tuple[Joint, Position], ...]
    alone: Map[int, Monitor]
    restless: frozenset[int]

    @classmethod
    def of(cls, formulas: Sequence[Formula], limits: Limits = DEFAULT) -> Panel:
        """The panel of some rules before the first event."""
        rules = _rules(tuple(formulas), limits)
        alone = Map({i: Monitor.on(rules.engines[i]) for i in rules.alone})
        return cls(rules, rules.together.first, (), alone, _restless(alone))

    def __reduce__(self) -> tuple[object, ...]:
        joint, events = self.joint, [(before.nodes, position) for before, position in self.open]
        nodes = None if joint is None else joint.nodes
        return _restored, (self.rules.formulas, self.rules.limits, nodes, events, dict(self.alone))

    def monitor(self, place: int) -> Monitor:
        """The monitor of one rule."""
        found = self.alone.get(place)
        if found is not None:
            return found
        assert self.joint is not None
        at = self.rules.places[place]
        first = self.open[0][0] if self.open else self.joint
        monitor = Monitor(self.rules.engines[place], first.nodes[at])
        for _, position in self.open:
            monitor = monitor.step(position)
        return monitor

    def quick(self, call: Call) -> Panel | None:
        """With one more call, where the call alone says all there is to know; None where more must be looked at."""
        rules, joint, open_, alone, restless = self
        if joint is None or open_ or restless:
            return None
        after = joint.at_once.get(call.tool)
        if after is None:
            table, named = rules.entries.get(call.tool) or rules.entry(call.tool)
            after = joint.ways.get(table.settled[0] if table.settled is not None else table.key(call))
            if after is None or not after.clean:
                return None
            for place in named:
                engine, state, events, _, _ = alone[place]
                if events or not engine.stays(state, call):
                    return None
            if table.settled is not None and not named and len(joint.at_once) < MOST:
                joint.at_once[call.tool] = after
        return self if after is joint else _new(Panel, (rules, after, (), alone, restless))

    @property
    def waits(self) -> bool:
        """Whether what comes of a call may move some rule."""
        return bool(self.open or self.restless or self.joint is None)

    def step(self, position: Position) -> Moved:
        """With one more event."""
        rules, joint, open_, alone, restless = self
        if joint is None:
            return self._apart(position, False, alone)
        call = position.call
        table, named = rules.entries.get(call.tool) or rules.entry(call.tool)
        if (keys := table.settled) is not None:
            key = keys[0 if call.outcome is None else call.outcome.way]
        else:
            key = table.key(call)
        after = joint.ways.get(key) or rules.together.found(joint, key, position)
        if not after.clean:
            if after.lost:
                return self._apart(position, False, self._all())
            open_ = (*open_, (joint, position))
        elif open_:
            open_ = ()
        broken: tuple[int, ...] = ()
        failed = NONE
        if restless or named:
            places = restless.union(named) if restless else named
            alone, restless, broken, failed = self._moved(position, places, False)
        if after is joint and alone is self.alone and open_ is self.open:
            return self, broken, failed
        return _new(Panel, (rules, after, open_, alone, restless)), broken, failed

    def settle(self, position: Position) -> Moved:
        """With what came of an event: `position` is that event again, its call settled."""
        if self.joint is None:
            return self._apart(position, True, self.alone)
        open_, joint = self.open, self.joint
        waiting = [i for i in self.restless if self.alone[i].open] if self.restless else []
        if open_:
            events = [(before, _learnt(at, position)) for before, at in open_]
            joint = events[0][0]
            again: list[tuple[Joint, Position]] = []
            for _, at in events:
                before, joint = joint, self.rules.together.after(joint, at)
                if joint.lost:
                    return self._apart(position, True, self._all())
                again = [] if joint.clean else [*again, (before, at)]
            open_ = tuple(again)
        if not waiting:
            return (self._replace(joint=joint, open=open_) if self.open else self), (), NONE
        alone, restless, broken, failed = self._moved(position, waiting, True)
        return Panel(self.rules, joint, open_, alone, restless), broken, failed

    def _moved(
        self, position: Position, places: Iterable[int], settles: bool
    ) -> tuple[Map[int, Monitor], frozenset[int], tuple[int, ...], Mapping[int, Exception]]:
        """The monitors after an event that these rules look at, and which of them any event may move then."""
        alone, restless = self.alone, self.restless
        broken: list[int] = []
        failed: dict[int, Exception] = {}
        for place in places:
            before = alone[place]
            try:
                monitor = before.settle(position) if settles else before.step(position)
                if monitor.broken is not None:
                    while monitor.broken is not None:
                        monitor = monitor.forgive()
                    broken.append(place)
            except Exception as error:
                failed[place] = error
                continue
            if monitor is not before:
                alone = alone.set(place, monitor)
                if monitor.idle is (place in restless):
                    restless = restless.symmetric_difference((place,))
        return alone, restless, tuple(broken), failed or NONE

    def _all(self) -> Map[int, Monitor]:
        """Every rule with a monitor of its own."""
        alone = self.alone
        for place in self.rules.joined:
            alone = alone.set(place, self.monitor(place))
        return alone

    def _apart(self, position: Position, settles: bool, alone: Map[int, Monitor]) -> Moved:
        """One event, with every rule on its own; they go together again once none of them waits for an outcome."""
        apart = self._replace(joint=None, open=(), alone=alone)
        alone, _, broken, failed = apart._moved(position, range(len(self.rules.engines)), settles)
        joined = self.rules.joined
        if any(alone[i].open for i in joined):
            return apart._replace(alone=alone, restless=frozenset(alone)), broken, failed
        joint = self.rules.together.joint(tuple(alone[i].state for i in joined))
        if joint.lost:
            return apart._replace(alone=alone, restless=frozenset(alone)), broken, failed
        for place in joined:
            alone = alone.delete(place)
        return Panel(self.rules, joint, (), alone, _restless(alone)), broken, failed


_new = tuple.__new__
Moved = tuple[Panel, tuple[int, ...], Mapping[int, Exception]]
"""The panel after an event, the places of the rules that it broke, and why others could not be judged: those stay as
they were."""
NONE: Mapping[int, Exception] = {}


def _restless(alone: Map[int, Monitor]) -> frozenset[int]:
    return frozenset(place for place, monitor in alone.items() if not monitor.idle)


def _learnt(at: Position, settled: Position) -> Position:
    return settled if at.index == settled.index else at


@lru_cache(maxsize=256)
def _rules(formulas: tuple[Formula, ...], limits: Limits) -> Rules:
    return Rules(formulas, limits)


def _restored(
    formulas: tuple[Formula, ...],
    limits: Limits,
    nodes: tuple[Node, ...] | None,
    open_: list[tuple[tuple[Node, ...], Position]],
    alone: dict[int, Monitor],
) -> Panel:
    rules = _rules(formulas, limits)
    joint = rules.together.joint
    monitors = Map(alone)
    return Panel(
        rules,
        None if nodes is None else joint(nodes),
        tuple((joint(before), position) for before, position in open_),
        monitors,
        frozenset(monitors) if nodes is None else _restless(monitors),
    )
