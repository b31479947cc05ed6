"""How the state of a rule moves: by the numbered automaton of the whole rule, by that of its body for each value of its
variables, or, for the few rules that have neither, by applying each event to what is owed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, cast

from agentltl.constraints import judgement as j
from agentltl.constraints.automaton import Letter, Node, numberable
from agentltl.constraints.body import Body, Config, node_of
from agentltl.constraints.letters import alike, literals
from agentltl.constraints.limits import DEFAULT, Limits
from agentltl.constraints.partition import Partition, Value
from agentltl.constraints.prefix import Prefix, RowReading, prefix
from agentltl.constraints.proposition import Atom
from agentltl.constraints.reach import Reach
from agentltl.constraints.residual import FALSE, TRUE
from agentltl.constraints.scope import Rule
from agentltl.constraints.trace import Position
from agentltl.constraints.value import Json, key
from agentltl.constraints.verdict import AT_END, Truth, Verdict
from agentltl.errors import ConstraintError


class Engine(Protocol):
    """How the state of one rule moves. States are never changed."""

    rule: Rule
    first: Any

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The propositions of the rule."""

    def step(self, state: Any, position: Position, forgive: bool = False) -> Any:
        """The state after one more event; with `forgive` after one whose breach is forgiven."""

    def running(self, state: Any) -> bool:
        """Whether the state rests on a call that still runs."""

    def false(self, state: Any) -> bool:
        """Whether the rule is violated already."""

    def dead(self, state: Any) -> bool:
        """Whether the rule is violated, whatever follows. Asked of states that rest on no running call."""

    def final(self, state: Any) -> bool:
        """Whether the rule is satisfied or violated already, so that no event changes the state."""

    def revived(self, state: Any) -> Any:
        """A state that is not dead, with as many of the obligations as can be met together."""

    def verdict(self, state: Any) -> Verdict:
        """What the rule is worth now."""

    def name(self, state: Any) -> Hashable:
        """What of the state still matters: equal names have equal futures, as far as later events alone decide them."""

    def open_values(self, state: Any) -> tuple[Json, ...]:
        """The values of variables that are in another state than all others."""

    def idle(self, state: Any) -> bool:
        """Whether an event that no proposition of the rule names leaves the state as it is."""


@dataclass(slots=True, eq=False)
class Whole:
    """A rule without quantifiers: its state is one configuration."""

    rule: Rule
    body: Body
    first: Config
    reach: Reach

    @classmethod
    def of(cls, rule: Rule, limits: Limits) -> Whole:
        body = Body.of(rule, rule.normal, rule.scope, limits)
        return cls(rule, body, body.first, Reach(body, {}))

    def __reduce__(self) -> tuple[object, ...]:
        return engine, (self.rule, self.body.automaton.limits)

    def step(self, state: Config, position: Position, forgive: bool = False) -> Config:
        body = self.body
        if body.timed:
            body.on_time(state, position)
        return body.step(state, body.reading.letter(position), position, forgive)

    def running(self, state: Config) -> bool:
        return self.body.running(state)

    def false(self, state: Config) -> bool:
        return node_of(state).false

    def final(self, state: Config) -> bool:
        return node_of(state).settled

    def dead(self, state: Config) -> bool:
        return dead(self.reach, state)

    def revived(self, state: Config) -> Config:
        return self.reach.revived(state) if self.dead(state) else state

    def verdict(self, state: Config) -> Verdict:
        if type(state) is not Node:
            return _verdict(self.reach, state)
        known = state.known.get("verdict")
        if known is None:
            known = _verdict(self.reach, state)
            state.known["verdict"] = known
        return cast(Verdict, known)

    def name(self, state: Config) -> Hashable:
        if type(state) is Node and (verdict := self.verdict(state)).final:
            return verdict.truth
        return self.body.name(state)

    def open_values(self, state: Config) -> tuple[Json, ...]:
        return ()

    def idle(self, state: Config) -> bool:
        return self.body.idle(state)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.body.automaton.atoms


def _stays(state: Partition, letter: Letter, rows: Sequence[tuple[Hashable, Value, Letter]]) -> bool:
    """Whether an event is known to leave every state as it is."""
    other: Any = state.other
    if other.ways.get(letter) is not other:
        return False
    for part in state.parts.values():
        config: Any = part.config
        if config.ways.get(letter) is not config:
            return False
    for own, _, here in rows:
        config = state.of(own)
        if config.ways.get(here) is not config:
            return False
    return True


def _true(config: Config) -> bool:
    node = node_of(config)
    return node.settled and not node.false


def dead(reach: Reach, config: Config) -> bool:
    """Whether no continuation satisfies the formula of a configuration; remembered with its state."""
    node = node_of(config)
    if node.settled or node.end == j.T:
        return node.false
    return reach.reaches(config, j.T) is False


def _verdict(reach: Reach, config: Config) -> Verdict:
    node = node_of(config)
    if node.settled:
        return Verdict(Truth.FALSE if node.false else Truth.TRUE, True)
    if reach.body.running(config):
        return Verdict(AT_END[node.end], False)
    holds, fails = reach.reaches(config, j.T), reach.reaches(config, j.F)
    if holds is False or fails is False:
        return Verdict(Truth.FALSE if holds is False else Truth.TRUE, True)
    return Verdict(AT_END[node.end], holds is not None and fails is not None)


@dataclass(slots=True, eq=False)
class ForEach:
    """A rule that begins with quantifiers: its state is a partition of their values by the states of the body."""

    rule: Rule
    prefix: Prefix
    body: Body
    reading: RowReading
    first: Partition
    _literals: frozenset[object]
    _alike: bool
    _reaches: dict[Hashable, Reach] = field(default_factory=dict)

    @classmethod
    def of(cls, rule: Rule, found: Prefix, limits: Limits) -> ForEach:
        body = Body.of(rule, found.body, found.scope, limits)
        atoms = body.automaton.atoms
        same = alike(atoms, len(found.variables))
        return cls(rule, found, body, RowReading(found, body.reading), Partition(body.first), literals(atoms), same)

    def __reduce__(self) -> tuple[object, ...]:
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
        if not body.automaton.gauges and _stays(state, letter, rows):
            return state
        step = body.step
        named = [(own, value, step(state.of(own), here, position, forgive)) for own, value, here in rows]
        after = state.moved(lambda config: step(config, letter, position, forgive), named)
        if after is not state and len(after.homes) > (most := body.automaton.limits.values):
            raise ConstraintError(
                f"more than {most} values are open at once in the rule {self.rule.formula}\n"
                "raise `values` of the limits, or close values by a rule that ends what it begins"
            )
        return after

    def running(self, state: Partition) -> bool:
        return any(map(self.body.running, state.configs()))

    def false(self, state: Partition) -> bool:
        each = (node_of(config).false for config in state.configs())
        return any(each) if self.prefix.kind == "forall" else all(each)

    def final(self, state: Partition) -> bool:
        return False if state.parts else node_of(state.other).settled

    def dead(self, state: Partition) -> bool:
        if self.prefix.kind == "exists":
            return all(dead(reach, config) for reach, config in self._each(state))
        if all(node_of(config).end == j.T for config in state.configs()):
            return False
        return any(dead(reach, config) for reach, config in self._each(state))

    def revived(self, state: Partition) -> Partition:
        if not self.dead(state):
            return state
        return self._mapped(state, lambda reach, config: reach.revived(config) if dead(reach, config) else config)

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
        verdicts = [_verdict(reach, config) for reach, config in self._each(state)]
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
        """Each part once, with the future of its values; values that the rule itself names have one of their own."""
        found = [(self._reach(None), state.other)]
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

    def name(self, state: Partition) -> Hashable:
        parts = ((self.body.name(part.config), frozenset(part.values)) for part in state.parts.values())
        return self.body.name(state.other), frozenset(parts)

    def open_values(self, state: Partition) -> tuple[Json, ...]:
        return tuple(value for part in state.parts.values() for row in part.values.values() for value in row)

    def idle(self, state: Partition) -> bool:
        return all(map(self.body.idle, state.configs()))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.body.automaton.atoms


@lru_cache(maxsize=4096)
def engine(rule: Rule, limits: Limits = DEFAULT) -> Engine:
    """How the state of a rule moves, shared by all its monitors in the process."""
    if numberable(rule.normal, rule.scope):
        return Whole.of(rule, limits)
    found = prefix(rule)
    if found is not None and numberable(found.body, found.scope):
        return ForEach.of(rule, found, limits)
    from agentltl.constraints.applied import Applied

    return Applied(rule)
