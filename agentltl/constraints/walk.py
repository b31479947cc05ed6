"""A run walked along by rules, its calls having settled: in place, so that most events cost a look-up or two.

A breach is found and forgiven at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import cast

from agentltl.constraints.course import Course, Event, Look, Places, State, Turn
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.trace import ABSENT, Call, Position, Trace
from agentltl.constraints.value import FrozenDict
from agentltl.constraints.values import STILL, Named, Values
from agentltl.constraints.verdict import Truth


class Walk:
    """A run under way; events change it.

    `alone` are the rules on their own, `restless` the places of those that any event may move.
    """

    __slots__ = ("alone", "course", "restless", "state")

    def __init__(self, course: Course) -> None:
        self.course = course
        self.state: State = course.first
        self.alone: dict[int, Monitor | Values] = dict(course.monitors)
        for place, engine in course.values.items():
            self.alone[place] = Values(engine)
        self.restless = course.restless

    def breaches(self, events: Iterable[Event], look: Look, at: int = 6) -> Iterator[tuple[int, Places]]:
        """The events that break rules, counted from 0, each with the places of these rules in ascending order.

        `look` gives the position of the event that is looked at, its call settled. `at` is where an event has its
        outcome. A rule that cannot be judged raises.
        """
        course, state, alone, restless = self.course, self.state, self.alone, self.restless
        turns = course.turns
        position: Position | None
        broken: Places
        for index, event in enumerate(events):
            tool: str = event[0]
            if (after := state.get(tool)) is not None and not restless:
                state = after
                continue
            turn = turns.get(tool) or course.turn(tool)
            way = 3
            if turn.flags:
                outcome = event[at]
                way = 1 if outcome is None or not outcome[5] else 2 if outcome[2] else 3
            key: Hashable = None
            if (keys := turn.keys) is not None:
                key = keys[way]
            elif (argument := turn.argument) is not None and (
                type(args := event[1]) is FrozenDict or type(args) is dict
            ):
                value = args.get(argument, ABSENT)
                if (type(value) is str or value is ABSENT) and (known := turn.known.get(value)) is not None:
                    key = known[way]
            if (after := state.get(key)) is not None:
                state = after
                if not restless and not turn.alone:
                    continue
                position, broken = None, ()
            else:
                self.state, position = state, look(index)
                if key is None:
                    key = turn.judged(position, way)
                broken, state = course.after(state, key, position, turn)
            if not restless and (named := turn.named) is not None and type(one := alone[turn.place]) is Values:
                # The same as `Values.step` does for an event that moves nothing.
                letters, args = named.letters[way], event[1]
                if (
                    letters is not None
                    and (type(args) is FrozenDict or type(args) is dict)
                    and type(value := args.get(named.argument)) is str
                    and (node := one.homes.get(value, one.other)).ways.get(letters[1]) is node
                    and letters[0] in one.quiet
                ):
                    if broken:
                        yield index, broken
                    continue
            if turn.alone or restless:
                self.restless = restless
                more = self._others(turn, event[1], way, position, index, look)
                restless = self.restless
                if more:
                    broken = tuple(sorted((*broken, *more)))
            if broken:
                yield index, broken
        self.state = state

    def _others(
        self, turn: Turn, args: object, way: int, position: Position | None, index: int, look: Look
    ) -> list[int]:
        """Moves the rules on their own by an event, and gives the places of those that it breaks."""
        alone, restless = self.alone, self.restless
        broken: list[int] = []
        changed = False
        for place, named in turn.alone if not restless else _with(restless, turn.alone):
            one = alone[place]
            if type(one) is Values:
                done = None if named is None else one.step(named, args, way)
                if done is STILL:
                    continue
                if done is None:
                    position = position or look(index)
                    done = one.read(position, named, way)
                if done is not None:
                    changed |= one.restless is not (place in restless)
                    continue
                one = one.monitor()
            position = position or look(index)
            monitor = cast(Monitor, one).step(position)
            if monitor.broken is not None:
                monitor = monitor.forgive()
                broken.append(place)
            if monitor is not alone[place]:
                alone[place] = monitor
                changed = True
        if changed:
            self.restless = self.course.always.union(place for place, rule in alone.items() if _moves(rule))
        return broken

    def failing(self, position: Position) -> int | None:
        """The place of the first rule that cannot be judged at an event at which `breaches` has raised, asked again."""
        rules, tool = self.course.rules, position.call.tool
        lettered = dict(zip(rules.joined, zip(rules.together.rules, self.state.nodes, strict=True), strict=True))
        for place in range(len(rules.engines)):
            try:
                if place in lettered:
                    rule, node = lettered[place]
                    if tool not in rule.rule.hidden and not node.settled:
                        rule.body.reading.letter(position)
                elif (one := self.alone.get(place)) is not None:
                    (one.monitor() if isinstance(one, Values) else one).step(position)
            except Exception:
                return place
        return None

    @property
    def owed(self) -> Places:
        """The places of the rules that are violated if the run ends here, in ascending order."""
        left = [place for place, rule in self.alone.items() if _owes(rule)]
        if not left and not self.course.never:
            return self.state.owed
        return tuple(sorted((*self.state.owed, *self.course.never, *left)))


def _with(restless: frozenset[int], named: tuple[tuple[int, Named | None], ...]) -> list[tuple[int, Named | None]]:
    """Those that name the tool, and those that any event may move."""
    return sorted({**dict.fromkeys(restless), **dict(named)}.items())


def _moves(rule: Monitor | Values) -> bool:
    return rule.restless if type(rule) is Values else not cast(Monitor, rule).idle


def _owes(rule: Monitor | Values) -> bool:
    return rule.owes if type(rule) is Values else cast(Monitor, rule).verdict.truth < Truth.PTRUE


def looking(trace: Trace) -> Look:
    """The positions of a trace, which has ended: what still runs never settled."""
    calls: tuple[Call, ...] = ()

    def look(index: int) -> Position:
        nonlocal calls
        if not calls:
            calls = trace.finished().calls
        return Position(calls[index], index, calls, trace.messages)

    return look
