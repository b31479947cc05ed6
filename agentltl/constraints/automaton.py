"""The automaton of a formula without quantifiers: what is owed and remembered, numbered, with the way from state to
state by letters.

A letter is the judgement of each proposition at one event, so the events of all traces are finitely many letters.
States and ways are explored when they are first needed, by the laws of `here.py`, and remembered for all guards of the
process; from then on an event is a look-up.

Source: the residuals of a formula under formula progression (Bacchus and Kabanza 1996), canonical and therefore
finitely many, are the states of its automaton.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from threading import RLock
from typing import Any, cast

from agentltl.constraints import judgement as j
from agentltl.constraints.facts import First
from agentltl.constraints.forgive import forgiven
from agentltl.constraints.formula import Apply, Formula, Limit, Place, Proposition, Quantified
from agentltl.constraints.gauges import gauges, saturated, small
from agentltl.constraints.here import Here, Seen
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.limits import DEFAULT, Limits
from agentltl.constraints.operators import AT
from agentltl.constraints.proposition import Atom
from agentltl.constraints.registers import Registers, fresh
from agentltl.constraints.residual import FALSE, TRUE, Residual, Running, constant, owed
from agentltl.constraints.scope import Rule, Scope, opposite
from agentltl.constraints.tally import Tally
from agentltl.constraints.trace import Call, Position

MOST_LETTERS = 65_536
"""How many letters of one formula are remembered."""
NOWHERE = Position(Call(""), 0, (), None)
"""The position of an event of which only its letter is known."""


@dataclass(slots=True, eq=False)
class Letter:
    """What is true of one event: `judged` for each proposition, and how far each gauge says yes (`levels`).

    `number` is None for one beyond the cap, which is not remembered.
    """

    number: int | None
    judged: Mapping[Atom, Judgement]
    levels: Mapping[Apply, int]
    gauged: dict[tuple[int, ...], Letter] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """One state. `number` is None for one beyond the cap, which is not remembered.

    `home` is the automaton; `end` is what it is worth if the trace ends here, `running` says that it rests on a call
    that still runs; `index` counts events as far as `at` and `first` ask for them; `known` is what others remember of
    the state.
    """

    number: int | None
    residual: Residual
    registers: Registers
    index: int
    end: int
    running: bool
    home: Automaton
    ways: dict[Letter, Node] = field(default_factory=dict)
    kept: dict[Letter, Node] = field(default_factory=dict)
    counts: dict[Letter, tuple[Judgement, ...]] = field(default_factory=dict)
    known: dict[Any, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<state {'beyond the cap' if self.number is None else self.number}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _at_home, (self.home.rule, self.home.limits, self.residual, self.registers, self.index)

    @property
    def false(self) -> bool:
        return self.residual is FALSE

    @property
    def settled(self) -> bool:
        """Nothing that follows changes it."""
        return self.residual is TRUE or self.residual is FALSE


class Automaton:
    """The states of one formula in normal form without quantifiers: of `rule`, or of what its quantifiers stand around.

    Safe to share between threads.

    `atoms` are its propositions in a fixed order, `gauges` what is measured beside the states.
    """

    def __init__(self, rule: Rule, body: Formula, scope: Scope, limits: Limits = DEFAULT) -> None:
        self.rule, self.limits = rule, limits
        self.gauges = tuple(gauges(scope.past))
        measured = {gauge.node for gauge in self.gauges}
        self.scope = replaced(scope, past=tuple(node for node in scope.past if node not in measured))
        self.atoms = atoms(body, scope)
        places = [cast(Place, f.detail).index for f in body.walk() if isinstance(f, Apply) and f.op is AT]
        self._counts = any(small(node) for node in scope.past)
        places += [0 for atom in self.atoms if isinstance(atom, First)]
        self._last = max(places, default=-1) + 1
        self._lock = RLock()
        self.nodes: dict[object, Node] = {}
        self._letters: dict[tuple[Judgement, ...], Letter] = {}
        self.start = self.node(owed(body), fresh(self.scope), 0)
        self.none = self.letter([j.NO] * len(self.atoms))

    def letter(self, judged: Sequence[Judgement]) -> Letter:
        """The letter of these judgements, in the order of `atoms`."""
        own = tuple(judged)
        found = self._letters.get(own)
        if found is None:
            with self._lock:
                number = len(self._letters) if len(self._letters) < MOST_LETTERS else None
                found = Letter(number, dict(zip(self.atoms, own, strict=True)), {})
                if number is not None:
                    found = self._letters.setdefault(own, found)
        return found

    def gauged(self, letter: Letter, levels: tuple[int, ...]) -> Letter:
        """The letter, with how far each gauge says yes."""
        found = letter.gauged.get(levels)
        if found is None:
            nodes = (gauge.node for gauge in self.gauges)
            with self._lock:
                found = letter.gauged.setdefault(
                    levels, Letter(letter.number, letter.judged, dict(zip(nodes, levels, strict=True)))
                )
        return found

    def after(self, node: Node, letter: Letter) -> Node:
        """The state after one more event."""
        found = node.ways.get(letter)
        if found is not None:
            return found
        if node.settled:
            return self._remember(node, node.ways, letter, node)
        here = self._here(node, letter)
        residual = here.progress(node.residual)
        return self._remember(node, node.ways, letter, self._moved(node, here, residual))

    def forgiven(self, node: Node, letter: Letter) -> Node:
        """The state after an event whose breach is forgiven."""
        found = node.kept.get(letter)
        if found is None:
            here = self._here(node, letter)
            found = self._moved(node, here, forgiven(here, node.residual))
            found = self._remember(node, node.kept, letter, found)
        return found

    def counted(self, node: Node, letter: Letter) -> tuple[Judgement, ...]:
        """How far the event counts for each gauge."""
        found = node.counts.get(letter)
        if found is None:
            here = self._here(node, letter)
            found = tuple(_counted(here, gauge.node) for gauge in self.gauges)
            if node.number is not None and letter.number is not None:
                node.counts[letter] = found
        return found

    def alone(self, node: Node, residual: Residual) -> Node:
        """The state with other obligations."""
        return self.node(residual, node.registers, node.index)

    def _here(self, node: Node, letter: Letter) -> Here:
        here = _Lettered(NOWHERE, node.index, self.scope, node.registers, {}, Seen(), {})
        here.letter = letter
        return here

    def _moved(self, node: Node, here: Here, residual: Residual) -> Node:
        if residual is TRUE or residual is FALSE:
            return self.node(residual, node.registers, 0)
        registers = here.after
        if self._counts:
            slots = {
                n: saturated(s, cast(Limit, n.detail)) if isinstance(s, Tally) else s
                for n, s in registers.slots.items()
            }
            registers = Registers(slots, registers.partitions)
        return self.node(residual, registers, min(node.index + 1, self._last))

    def node(self, residual: Residual, registers: Registers, index: int) -> Node:
        """The state in which this is owed and remembered."""
        if residual is TRUE or residual is FALSE:
            registers, index = fresh(self.scope), 0
        name = (residual, registers, index)
        found = self.nodes.get(name)
        if found is None:
            running = _rests(residual) or any(map(_rests, registers.slots.values()))
            with self._lock:
                number = len(self.nodes) if len(self.nodes) < self.limits.states else None
                found = Node(number, residual, registers, index, residual.at_end(), running, self)
                if number is not None:
                    found = self.nodes.setdefault(name, found)
        return found

    @staticmethod
    def _remember(node: Node, ways: dict[Letter, Node], letter: Letter, after: Node) -> Node:
        if node.number is not None and after.number is not None and letter.number is not None:
            ways[letter] = after
        return after


def _at_home(rule: Rule, limits: Limits, residual: Residual, registers: Registers, index: int) -> Node:
    from agentltl.constraints.engine import engine

    body = engine(rule, limits).body  # type: ignore[attr-defined]
    return cast(Node, body.automaton.node(residual, registers, index))


class _Lettered(Here):
    """An event of which its letter is known and nothing else."""

    letter: Letter

    def literal(self, proposition: Proposition, side: int) -> Residual:
        return constant(self.letter.judged[proposition.atom][side])

    def gauge(self, node: Apply) -> Residual:
        level = self.letter.levels.get(node)
        return super().gauge(node) if level is None else constant(level)


def _counted(here: Here, node: Apply) -> Judgement:
    true = here.value(node.args[0]).at_end()
    if node.op.shape != "tally":
        return true, j.T - true
    return true, here.value(opposite(node)).at_end()


def _rests(register: object) -> bool:
    """Whether something rests on a call that still runs."""
    if isinstance(register, Tally):
        return bool(register.running_high or register.running_low or register.risk)
    return isinstance(register, Residual) and any(isinstance(o, Running) for clause in register.clauses for o in clause)


def atoms(body: Formula, scope: Scope) -> tuple[Atom, ...]:
    """The propositions of a formula, those that only the opposite of a `count` holds included."""
    tallies = (opposite(node) for node in scope.past if node.op.shape == "tally")
    return tuple(dict.fromkeys(f.atom for part in (body, *tallies) for f in part.walk() if isinstance(f, Proposition)))


def numberable(body: Formula, scope: Scope) -> bool:
    """Whether a formula has an automaton: nothing inside is quantified, or measured inside something measured."""
    if any(isinstance(f, Quantified) for f in body.walk()):
        return False
    kept = {gauge.node for gauge in gauges(scope.past)}
    return all(node in kept or small(node) or (node.op.shape != "tally" and node.window is None) for node in scope.past)
