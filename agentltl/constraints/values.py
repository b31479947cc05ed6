"""The values of one rule's variables, moved in place: what `Partition` is, for a run of which no state is kept.

It serves `forall` rules whose states are numbers, as long as an event changes few values that it does not name; else it
hands over to a monitor.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, cast

from immutables import Map

from agentltl.constraints import judgement as j
from agentltl.constraints.automaton import Letter, Node
from agentltl.constraints.engine import Engine
from agentltl.constraints.for_each import ForEach
from agentltl.constraints.mixes import Mix, Mixes
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.partition import Part, Partition, Value
from agentltl.constraints.proposition import Called
from agentltl.constraints.trace import Position
from agentltl.constraints.value import Json

FEW = 8
"""Up to how many open values are moved one by one."""

Row = tuple[Hashable, Value, Letter]
"""A value that an event names, under its key, with its letter."""


Done = Literal["still", "moved"] | None
"""What an event did: nothing, or it moved some values. None: it has changed nothing because it is not known what it
says, it breaks the rule, or it is too much."""
STILL: Done = "still"
MOVED: Done = "moved"


class Named:
    """How calls of one tool name a value: by `argument` alone. `letters` has, for each way to settle, that of all other
    values and that of the value."""

    __slots__ = ("argument", "letters")

    def __init__(self, argument: str) -> None:
        self.argument = argument
        self.letters: list[tuple[Letter, Letter] | None] = [None, None, None, None]


class Values:
    """The state of one rule. `other` is that of every value that is not in `homes`; `rows` has the values of these
    whose key is no text. `present` says how many are in each state; `mix` is what is known of these states, and `quiet`
    that of it.
    """

    __slots__ = ("engine", "homes", "mix", "mixes", "most", "other", "present", "quiet", "rows", "safe")

    def __init__(self, engine: ForEach) -> None:
        self.engine, self.mixes = engine, cast(Mixes, engine.mixes)
        self.safe, self.other = self.mixes.known, cast(Node, engine.first.other)
        self.most = engine.body.automaton.limits.values
        self._mixed(self.mixes.of((self.other,)))
        self.homes: dict[Hashable, Node] = {}
        self.rows: dict[Hashable, Value] = {}
        self.present: dict[Node, int] = {}

    def step(self, named: Named, args: Json, way: int) -> Done:
        """Moved by a call that names its value by one argument, as far as that is known; else None."""
        letters = named.letters[way]
        if letters is None or not isinstance(args, dict):
            return None
        value = args.get(named.argument)
        if type(value) is not str:
            return None
        other, own = letters
        node = self.homes.get(value, self.other)
        new = node.ways.get(own)
        if other in self.quiet:
            if new is node:
                return STILL
            if self.safe.get(new) and node is self.other and len(self.homes) < self.most:
                count = self.present.get(new, 0)  # type: ignore[arg-type]
                self.present[new] = count + 1  # type: ignore[index]
                self.homes[value] = new  # type: ignore[assignment]
                if count:
                    return STILL
                self._changed()
                return MOVED
        return self.move(other, ((value, (value,), own),))

    def read(self, position: Position, named: Named | None, way: int) -> Done:
        """Moved by any call."""
        hidden = self.engine.rule.hidden
        if position.call.tool in hidden or (self.other.settled and not self.homes):
            return STILL
        if position.hidden != hidden:
            position = position._replace(hidden=hidden)
        letter, rows = self.engine.reading.read(position)
        if named is not None and len(rows) == 1 and type(rows[0][0]) is str:
            named.letters[way] = letter, rows[0][2]
        return self.move(letter, rows)

    def move(self, letter: Letter, rows: Sequence[Row]) -> Done:
        """Moved by an event: every value in `rows` by its own letter, all others by `letter`."""
        after = self.engine.body.automaton.after
        if letter not in self.quiet and not self.mix.stays(letter):
            return self._all(letter, rows)
        homes, other = self.homes, self.other
        moved: list[tuple[Hashable, Value, Node, Node]] = []
        for own, row, here in rows:
            node = homes.get(own, other)
            new = node.ways.get(here) or after(node, here)
            if new is not node:
                if self._lost(row, new):
                    return None
                moved.append((own, row, node, new))
            elif node.settled:
                node.ways[here] = node
        if not moved:
            return STILL
        if len(homes) + len(moved) > self.most:
            return None
        for own, row, node, new in moved:
            self._put(own, row, node, new)
        return MOVED

    def _all(self, letter: Letter, rows: Sequence[Row]) -> Done:
        """An event that moves values which it does not name."""
        if len(self.homes) > FEW:
            return None
        after = self.engine.body.automaton.after
        letters = {own: here for own, _, here in rows}
        values = {own: self._row(own) for own in self.homes} | {own: row for own, row, _ in rows}
        other = after(self.other, letter)
        found = {own: after(self.homes.get(own, self.other), letters.get(own, letter)) for own in values}
        if self._lost(None, other) or any(self._lost(values[own], node) for own, node in found.items()):
            return None
        self.other = other
        self.homes = {own: node for own, node in found.items() if node is not other}
        self.rows = {own: values[own] for own in self.homes if type(own) is not str}
        self.present = {}
        for node in self.homes.values():
            self.present[node] = self.present.get(node, 0) + 1
        self._changed()
        return MOVED

    def _put(self, own: Hashable, row: Value, node: Node, new: Node) -> None:
        present, other = self.present, self.other
        changed = False
        if node is not other:
            left = present[node] - 1
            if left:
                present[node] = left
            else:
                del present[node]
                changed = True
        if new is other:
            del self.homes[own]
            self.rows.pop(own, None)
        else:
            count = present.get(new, 0)
            present[new] = count + 1
            changed |= not count
            self.homes[own] = new
            if type(own) is not str:
                self.rows[own] = row
        if changed:
            self._changed()

    def _changed(self) -> None:
        self._mixed(self.mixes.of((self.other, *self.present)))

    def _mixed(self, mix: Mix) -> None:
        self.mix, self.quiet = mix, mix.quiet

    def _lost(self, row: Value | None, node: Node) -> bool:
        """Whether a value in this state is lost, whatever follows; so is one whose state is not remembered."""
        if self.mixes.safe(node) or node.end == j.T:
            return False
        if node.number is None or node.false:
            return True
        return self.engine.hopeless(node, row)

    def _row(self, own: Hashable) -> Value:
        return (own,) if type(own) is str else self.rows[own]

    @property
    def restless(self) -> bool:
        """Whether events which name no value may move one."""
        return not self.mix.idle

    @property
    def owes(self) -> bool:
        """Whether the rule is violated if the trace ends here."""
        return self.other.end != j.T or any(node.end != j.T for node in self.present)

    def monitor(self) -> Monitor:
        """A monitor in the same state."""
        numbers = {node: number for number, node in enumerate(self.present)}
        parts: dict[int, dict[Hashable, Value]] = {number: {} for number in numbers.values()}
        for own, node in self.homes.items():
            parts[numbers[node]][own] = self._row(own)
        made = {number: Part(node, Map(parts[number])) for node, number in numbers.items()}
        homes = Map({own: numbers[node] for own, node in self.homes.items()})
        return Monitor(self.engine, Partition(self.other, made, homes, len(numbers)))


def movable(engine: Engine) -> bool:
    """Whether the values of a rule can be moved in place."""
    if not isinstance(engine, ForEach) or engine.prefix.kind != "forall":
        return False
    return engine.mixes is not None and all(isinstance(atom, Called) for atom in engine.atoms)
