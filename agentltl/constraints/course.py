"""Rules made ready to be walked along many runs: what a call of each tool asks for, and where it leads.

The rules that `Together` joins are one state; of the others an event moves those that name its tool, and those that any
event moves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import RLock
from typing import Any, cast

from agentltl.constraints import judgement as j
from agentltl.constraints.automaton import Node
from agentltl.constraints.engine import Engine
from agentltl.constraints.facts import Predicate, Said, SameStep, Seen, Words
from agentltl.constraints.for_each import ForEach
from agentltl.constraints.formula import Formula, Proposition, Quantified
from agentltl.constraints.limits import DEFAULT, Limits
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.panel import Rules
from agentltl.constraints.proposition import Called
from agentltl.constraints.together import MOST, VALUES, Table
from agentltl.constraints.trace import ABSENT, NEVER, Call, Outcome, Position
from agentltl.constraints.values import Named, Values, movable

Places = tuple[int, ...]
"""The places of rules among those that are walked."""
Event = tuple[Any, ...]
"""A call, or a plain tuple that begins with the tool and the arguments and has the outcome at a place that is given.

Of an outcome `error` and `settled` are asked; None is a call that never settled. Arguments that are no dict, and values
in them that are no text, are looked at in the position.
"""
WAYS = (NEVER, Outcome(error="error"), Outcome())
"""An outcome for each way to settle."""
Look = Callable[[int], Position]
"""The position of an event."""


class State(dict[Hashable, "State"]):
    """The state of the rules that move together, with the ways out of it that break none.

    A way is under the tool alone where that says all there is to an event in this state. `breaks` are the others.
    `owed` are the places of the rules that are violated if the run ends here. `fine` has the ways, under the tool, of
    calls that are ok where a tool and how it settled say all.
    """

    __slots__ = ("breaks", "fine", "nodes", "owed")

    def __init__(self, nodes: tuple[Node, ...], owed: Places) -> None:
        self.nodes, self.owed = nodes, owed
        self.breaks: dict[Hashable, tuple[Places, State]] = {}
        self.fine: dict[str, State] = {}


class Key:
    """Stands for all calls that are alike to the rules that move together; a text is one for all calls of a tool."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Turn:
    """What a call of one tool asks for.

    `flags` says that it matters how it settled. `keys` has a key for each way to settle, None where conditions are
    judged; `made` are those by what was judged, `argument` is the one that the conditions ask for, where it is one, and
    `known` has the keys for its values. `alone` are the places of the rules on their own that name the tool, each with
    how it does where that is simple; `place` and `named` are the only one.
    """

    table: Table
    flags: bool
    keys: Sequence[Hashable] | None
    argument: str | None
    alone: tuple[tuple[int, Named | None], ...]
    named: Named | None
    place: int
    known: dict[object, list[Hashable]] = field(default_factory=dict)
    made: dict[Hashable, Key] = field(default_factory=dict)

    def judged(self, position: Position, way: int) -> Hashable:
        """The key of a call whose conditions are judged, remembered under the value of the one argument.

        It is None where one cannot be judged: perhaps no rule that still asks for it is left.
        """
        try:
            judged = self.table.key(position.call)
        except Exception:
            return None
        if len(self.made) >= MOST:
            self.made.clear()
        key = self.made.setdefault(judged, Key())
        args = position.call.args
        if self.argument is not None and isinstance(args, dict):
            value = args.get(self.argument, ABSENT)
            if type(value) is str or value is ABSENT:
                if len(self.known) >= VALUES:
                    self.known.clear()
                self.known.setdefault(value, [None] * 4)[way] = key
        return key


class Course:
    """Some rules, ready to be walked along many runs. Safe to share between threads.

    `past` says that a rule looks at all earlier calls and not only at the one before; `local` that no rule looks at
    anything but the call of each event. `always` are the places of the rules that are asked at every event.
    """

    def __init__(self, formulas: Sequence[Formula], limits: Limits = DEFAULT) -> None:
        self.rules = Rules(formulas, limits)
        self.together = self.rules.together
        engines = self.rules.engines
        first = {place: Monitor.on(engines[place]) for place in self.rules.alone}
        self.never = tuple(place for place, monitor in first.items() if monitor.never)
        self.monitors = {
            place: monitor for place, monitor in first.items() if not monitor.never and not movable(engines[place])
        }
        self.values = {
            place: cast(ForEach, engines[place])
            for place in first
            if place not in self.never and place not in self.monitors
        }
        self.past = any(_looks_back(engine.rule.formula) for engine in engines)
        self.local = all(_local(engine.rule.formula) for engine in engines)
        self.turns: dict[str, Turn] = {}
        self._lock = RLock()
        self._states: dict[tuple[Node, ...], State] = {}
        self._start: State | None = None
        self._first = self.together.first.nodes
        self.always = frozenset(place for place in self.monitors if _may_fail(engines[place].rule.formula))
        moving = [place for place, monitor in self.monitors.items() if place in self.always or not monitor.idle]
        moving += [place for place, one in self.values.items() if Values(one).restless]
        self.restless = frozenset(moving)

    @property
    def alone(self) -> bool:
        """Whether some rule does not move together with the others."""
        return bool(self.rules.alone)

    @property
    def first(self) -> State:
        """The state before the first event."""
        if self._start is None:
            self._start = self.state(self._first)
        return self._start

    def run(self, tools: Iterable[str]) -> State | None:
        """The state after calls that all are ok; None where a rule is broken, or they are not all there is to it."""
        state = self.first
        if self.alone:
            return None
        for tool in tools:
            after = state.fine.get(tool)
            if after is None:
                turn = self.turn(tool)
                if turn.keys is None:
                    return None
                look = Position(Call(tool, outcome=WAYS[2]), 0, (), None)
                broken, after = self.after(state, turn.keys[3], look, turn)
                if broken:
                    return None
            state = after
        return state

    def state(self, nodes: tuple[Node, ...]) -> State:
        """The state of these nodes."""
        found = self._states.get(nodes)
        if found is None:
            joined = self.rules.joined
            owed = tuple(joined[at] for at, node in enumerate(nodes) if node.end != j.T)
            found = State(nodes, owed)
            if all(node.number is not None for node in nodes):
                with self._lock:
                    if len(self._states) >= MOST:
                        self._states.clear()
                        self._start = None
                    found = self._states.setdefault(nodes, found)
        return found

    def turn(self, tool: str) -> Turn:
        """What a call of a tool asks for."""
        found = self.turns.get(tool)
        if found is None:
            if len(self.turns) >= MOST:
                self.turns.clear()
            table = self.together.table(tool)
            named = tuple(
                (place, self._named(place, tool)) for place in self.rules.entry(tool)[1] if place not in self.never
            )
            place, how = named[0] if len(named) == 1 else (0, None)
            flags = any(_outcomes(engine, tool) for engine in self.rules.engines)
            found = Turn(table, flags, self._keys(table, bool(named)), table.argument, named, how, place)
            self.turns[tool] = found
        return found

    def _named(self, place: int, tool: str) -> Named | None:
        values = self.values.get(place)
        argument = None if values is None else values.reading.argument(tool)
        return None if argument is None else Named(argument)

    @staticmethod
    def _keys(table: Table, named: bool) -> Sequence[Hashable] | None:
        """A key for each way to settle; equal ones for equal ones of the table."""
        if table.settled is None:
            return None
        own: dict[Hashable, Hashable] = {} if named else {table.tool: table.tool}
        return tuple(own.setdefault(key, Key()) for key in table.settled)

    def after(self, state: State, key: Hashable, position: Position, turn: Turn) -> tuple[Places, State]:
        """The places of the rules that an event breaks, and the state after it; without a key it is not remembered."""
        known = state.breaks.get(key)
        if known is not None:
            return known
        found = self._after(state, key, position)
        if turn.keys is not None and key == turn.keys[3] and not found[0] and key in state:
            if len(state.fine) >= MOST:
                state.fine.clear()
            state.fine[position.call.tool] = found[1]
        if found[1] is state and not found[0] and turn.keys is not None and not turn.alone:
            call = position.call
            for outcome, other in zip(WAYS, turn.keys[1:], strict=True):
                if other not in state and other not in state.breaks:
                    self._after(state, other, position._replace(call=call.settle(outcome)))
            if all(state.get(other) is state for other in turn.keys[1:]):
                state[call.tool] = state  # however it settles, a call of the tool changes nothing
        return found

    def _after(self, state: State, key: Hashable, position: Position) -> tuple[Places, State]:
        nodes, places, own = [], [], True
        for at, (rule, node) in enumerate(zip(self.together.rules, state.nodes, strict=True)):
            if position.call.tool not in rule.rule.hidden and not node.settled:
                automaton, letter = rule.body.automaton, rule.body.reading.letter(position)
                after = automaton.after(node, letter)
                if after.false or rule.dead(after):
                    places.append(self.rules.joined[at])
                    after = automaton.forgiven(node, letter)
                    if after.false or rule.dead(after):
                        after = cast(Node, rule.revived(after))
                node = after
            own &= node.number is not None
            nodes.append(node)
        found = tuple(places), self.state(tuple(nodes))
        if own and key is not None and all(node.number is not None for node in state.nodes):
            ways: dict[Hashable, object] = state.breaks if places else state  # type: ignore[assignment]
            if len(ways) >= MOST:
                ways.clear()
            ways[key] = found if places else found[1]
        return found


def _outcomes(engine: Engine, tool: str) -> bool:
    """Whether a rule asks what came of a tool's calls."""
    return any(isinstance(atom, Called) and atom.outcome and atom.tools.match(tool) for atom in engine.atoms)


def _looks_back(formula: Formula) -> bool:
    """Whether a rule looks at all earlier calls: at what they returned, by a predicate, or by a registered domain."""
    return any(
        isinstance(inner.atom, Seen | Predicate)
        if isinstance(inner, Proposition)
        else isinstance(inner, Quantified) and inner.domain is not None
        for inner in formula.walk()
    )


def _may_fail(formula: Formula) -> bool:
    """Whether a fact can be an error at any event, also at one that does not move the rule."""
    return any(
        isinstance(inner.atom, Said | Words | SameStep | Predicate)
        if isinstance(inner, Proposition)
        else isinstance(inner, Quantified) and inner.domain is not None
        for inner in formula.walk()
    )


def _local(formula: Formula) -> bool:
    """Whether a rule asks for the call of each event alone, so that nothing but the call need be in a position."""
    return all(
        isinstance(inner.atom, Called)
        if isinstance(inner, Proposition)
        else not isinstance(inner, Quantified) or inner.domain is None
        for inner in formula.walk()
    )


@lru_cache(maxsize=1024)
def course(formulas: tuple[Formula, ...], limits: Limits = DEFAULT) -> Course:
    """Rules made ready, shared by all who walk them."""
    return Course(formulas, limits)
