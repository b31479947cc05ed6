"""The engine of a rule that begins with quantifiers: the automaton of what they stand around, run for each value.

Its state is a partition of all values by the states of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from agentltl.constraints import judgement as j
from agentltl.constraints.automaton import Node
from agentltl.constraints.body import Body, Config, node_of
from agentltl.constraints.letters import alike, literals
from agentltl.constraints.limits import Limits, too_many
from agentltl.constraints.mixes import Mix, Mixes
from agentltl.constraints.partition import Partition, Value
from agentltl.constraints.prefix import Prefix, RowReading
from agentltl.constraints.proposition import Atom
from agentltl.constraints.reach import Reach
from agentltl.constraints.residual import FALSE, TRUE
from agentltl.constraints.scope import Rule
from agentltl.constraints.trace import Call, Position
from agentltl.constraints.value import Json, key
from agentltl.constraints.verdict import Truth, Verdict


@dataclass(slots=True, eq=False)
class ForEach:
    """A rule that begins with quantifiers: its state is a partition of their values by the states of the body."""

    rule: Rule
    prefix: Prefix
    body: Body
    reading: RowReading
    first: Partition
    _literals: dict[Hashable, Value]
    _alike: bool
    _reaches: dict[Hashable, Reach] = field(default_factory=dict)
    mixes: Mixes | None = None

    @classmethod
    def of(cls, rule: Rule, found: Prefix, limits: Limits) -> ForEach:
        body = Body.of(rule, found.body, found.scope, limits)
        atoms = body.automaton.atoms
        same = alike(atoms, len(found.variables))
        own: dict[Hashable, Value] = {}  # with several variables, no literal is in a row
        if len(found.variables) == 1:
            own = {name: (value,) for name, value in literals(atoms).items()}
        made = cls(rule, found, body, RowReading(found, body.reading), Partition(body.first), own, same)
        if type(body.first) is Node and not body.timed:
            made.mixes = Mixes(body, made._lost)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        from agentltl.constraints.engine import engine

        return engine, (self.rule, self.body.automaton.limits)

    def step(self, state: Partition, position: Position, forgive: bool = False) -> Partition:
        after = self._step(state, position, False)
        return self._forgiven(state, position) if forgive and self.false(after) else after

    def _forgiven(self, state: Partition, position: Position) -> Partition:
        """A broken `exists` is what its values leave, if any leaves something."""
        after = self._step(state, position, True)
        if self.prefix.kind == "forall":
            return after
        left = self._mapped(after, lambda _, config: self.body.changed(config, FALSE) if _true(config) else config)
        return left if not self.false(left) else Partition(self.body.changed(self.body.first, TRUE))

    def _step(self, state: Partition, position: Position, forgive: bool) -> Partition:
        body = self.body
        if body.timed:
            body.on_time(state.other, position)
        letter, rows = self.reading.read(position)
        if self.mixes is not None and not forgive and (state.mix or self._mix(state)).stays(letter):
            if not rows:
                return state
            if len(rows) == 1:
                ((own, value, here),) = rows
                node: Any = state.of(own)
                new = node.ways.get(here) or body.automaton.after(node, here)
                return state if new is node else self._few(state.put(own, value, new))
        step = body.step
        named = [(own, value, step(state.of(own), here, position, forgive)) for own, value, here in rows]
        after = state.moved(lambda config: step(config, letter, position, forgive), named)
        return state if after is state else self._few(after)

    def stays(self, state: Partition, call: Call) -> bool:
        mix = state.mix
        if mix is None or (said := self.reading.started(call)) is None or said[1] not in mix.quiet:
            return False
        node: Any = state.of(said[0])
        return node.ways.get(said[2]) is node

    def _few(self, state: Partition) -> Partition:
        """The state, if it has no more open values than there may be; what is known of it is kept with it."""
        if len(state.homes) > self.body.automaton.limits.values:
            raise too_many(len(state.homes), self.rule.formula)
        return state if state.mix is not None or self.mixes is None else state._replace(mix=self._mix(state))

    def _mix(self, state: Partition) -> Mix:
        assert self.mixes is not None
        return self.mixes.of(cast("Iterator[Node]", state.configs()))

    def _lost(self, node: Node) -> bool:
        """Whether some value in this state is lost, whatever follows."""
        return any(self.hopeless(node, value) for value in (None, *self._literals.values()))

    def clean(self, state: Partition) -> bool:
        if state.mix is not None and state.mix.clean:
            return True
        return not (self.running(state) or self.false(state) or self.dead(state))

    def running(self, state: Partition) -> bool:
        return any(map(self.body.running, state.configs()))

    def false(self, state: Partition) -> bool:
        each = (node_of(config).false for config in state.configs())
        return any(each) if self.prefix.kind == "forall" else all(each)

    def final(self, state: Partition) -> bool:
        return False if state.parts else node_of(state.other).settled

    def dead(self, state: Partition) -> bool:
        if self.prefix.kind == "exists":
            return all(reach.dead(config) for reach, config in self._each(state))
        if all(node_of(config).end == j.T for config in state.configs()):
            return False
        return any(reach.dead(config) for reach, config in self._each(state))

    def revived(self, state: Partition) -> Partition:
        if not self.dead(state):
            return state
        return self._mapped(state, lambda reach, config: reach.revived(config) if reach.dead(config) else config)

    def _mapped(self, state: Partition, change: Callable[[Reach, Config], Config]) -> Partition:
        """Every state changed, that of each value on its own."""
        named = [
            (own, value, change(self._reach(value), part.config))
            for part in state.parts.values()
            for own, value in part.values.items()
        ]
        return state.moved(lambda config: change(self._reach(None), config), named)

    def verdict(self, state: Partition) -> Verdict:
        """For `forall` the worst of its parts; `exact` where ending here, or one part alone, proves the rest."""
        verdicts = [reach.verdict(config) for reach, config in self._each(state)]
        forall = self.prefix.kind == "forall"
        truth = (min if forall else max)(verdict.truth for verdict in verdicts)
        if truth in (Truth.FALSE, Truth.TRUE):
            return Verdict(truth, True)
        # Ending here proves that a `forall` worth PTRUE can hold; that it can fail is proved by a part of which it is.
        clear = truth is (Truth.PTRUE if forall else Truth.PFALSE)
        final = Truth.TRUE if forall else Truth.FALSE
        open_ = any(verdict.exact and verdict.truth is not final for verdict in verdicts)
        return Verdict(truth, clear and open_)

    def _each(self, state: Partition) -> list[tuple[Reach, Config]]:
        """Each part once, with the future of its values; values that the rule itself names have one of their own,
        though no event has named them yet."""
        found = [(self._reach(None), state.other)]
        found += [(self._reach(value), state.other) for own, value in self._literals.items() if own not in state.homes]
        for part in state.parts.values():
            special = [part.values[own] for own in self._literals if own in part.values]
            if len(special) < len(part.values):
                found.append((self._reach(None), part.config))
            found += [(self._reach(value), part.config) for value in special]
        return found

    def _reach(self, value: Value | None) -> Reach:
        """What can still become of a value: for one that the rule does not name, the same as of any other."""
        names = () if value is None else tuple(key(one) for one in value)
        own = names if any(name in self._literals for name in names) else ()
        reach = self._reaches.get(own)
        if reach is None:
            values = value if own and value is not None else tuple(f"\0{name}" for name in self.prefix.variables)
            reach = Reach(self.body, dict(zip(self.prefix.variables, values, strict=True)))
            if not self._alike:
                reach.read = True
            self._reaches[own] = reach
        return reach

    def hopeless(self, config: Config, value: Value | None) -> bool:
        """Whether a value in this state (None: any that the rule does not name) is lost, whatever follows."""
        return self._reach(value).dead(config)

    def name(self, state: Partition) -> Hashable:
        parts = ((self.body.name(part.config), frozenset(part.values)) for part in state.parts.values())
        return self.body.name(state.other), frozenset(parts)

    def open_values(self, state: Partition) -> tuple[Json, ...]:
        return tuple(value for part in state.parts.values() for row in part.values.values() for value in row)

    def idle(self, state: Partition) -> bool:
        return all(map(self.body.idle, state.configs())) if state.mix is None else state.mix.idle

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.body.automaton.atoms


def _true(config: Config) -> bool:
    node = node_of(config)
    return node.settled and not node.false
