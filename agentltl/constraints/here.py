"""One event applied to what is owed: every law is run over residuals.

`rest` is what is owed from the next event on (future) or what the register remembers of the event before (past).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints import windows
from agentltl.constraints.formula import Apply, Const, Formula, Limit, Place, Proposition, Quantified, Window
from agentltl.constraints.operators import NOT, weakened
from agentltl.constraints.path import OTHER, Env
from agentltl.constraints.registers import Partition, Register, Registers, Values, fresh
from agentltl.constraints.residual import (  # fmt: skip
    FALSE,
    RUNNING,
    TRUE,
    UNNAMED,
    Obligation,
    Owed,
    Part,
    Parts,
    Residual,
    Unnamed,
    constant,
    owed,
    quantified,
)
from agentltl.constraints.scope import Scope, compared
from agentltl.constraints.trace import Position
from agentltl.constraints.value import Json, key


@dataclass(slots=True)
class Seen:
    """What was met while one event was applied: something that rests on a call that still runs."""

    running: bool = False


class Here:
    """An event in one scope, under values for the variables around it. `index` counts the rule's events from 0.

    `named` are the values to be looked at for a quantifier whose scope is late: all that events have named so far.
    `unnamed` are the variables of an `exists` that stand for all other values here. What these are worth in a
    comparison is not known; for `forall` that is the same as no, since some of them are never named.
    """

    def __init__(
        self,
        position: Position,
        index: int,
        scope: Scope,
        registers: Registers,
        env: Env,
        seen: Seen,
        named: Mapping[Quantified, Values],
    ) -> None:
        self.position, self.index, self.scope, self.registers = position, index, scope, registers
        self.env, self.seen, self.named = env, seen, named
        self.unnamed: frozenset[str] = frozenset()
        self._values: dict[Formula, Residual] = {}
        self._progressed: dict[Residual, Residual] = {}
        self._inside: dict[tuple[Quantified, Hashable], Here] = {}
        self._touched: dict[Quantified, dict[Hashable, Json]] = {}

    def value(self, formula: Formula) -> Residual:
        """What a formula, asked here, is worth: decided, or owed from the next event on."""
        found = self._values.get(formula)
        if found is None:
            found = self._values[formula] = self._value(formula)
        return found

    def _value(self, formula: Formula) -> Residual:
        match formula:
            case Const(value):
                return TRUE if value else FALSE
            case Proposition():
                return self.literal(formula, 0)
            case Quantified():
                rest = TRUE if formula.kind == "forall" else FALSE
                if formula.domain is None:
                    rest = self.inside(formula, OTHER, OTHER).value(formula.body)
                parts = self.parts(formula, rest, lambda room: room.value(formula.body))
                return quantified(formula, parts, rest)
            case Apply(op, args, window, detail):
                if op is NOT:
                    return self.literal(cast(Proposition, args[0]), 1)
                if op.shape == "place":
                    return self.placed(formula, cast(Place, detail))
                if op.shape == "tally" or (window is not None and op.direction == "past"):
                    return self.gauge(formula)
                if op.shape == "connective":
                    assert op.law is not None
                    return cast(Residual, op.law(*map(self.value, args)))
                return self.fold(formula)
        raise TypeError(f"not a formula: {formula!r}")

    def literal(self, proposition: Proposition, side: int) -> Residual:
        judged = proposition.atom.judge(self.position, self.env)
        return self.judged(j.opposite(judged) if side else judged, proposition)

    def judged(self, judged: j.Judgement, formula: Formula) -> Residual:
        """What the judgement of a proposition, a `count` or a `sum` is worth."""
        if judged[0] == j.U:
            self.seen.running = True
        if judged[0] == j.F and judged[1] != j.T and self.unnamed and not self.unnamed.isdisjoint(compared(formula)):
            return UNNAMED
        return constant(judged[0])

    def gauge(self, node: Apply) -> Residual:
        """What is counted, or looks back over a window."""
        if node.op.shape == "tally":
            return self.judged(windows.tally(self, node).judge(cast(Limit, node.detail)), node)
        return windows.near(self, node)

    def fold(self, node: Apply) -> Residual:
        op, rest = node.op, self.rest(node)
        assert op.law is not None
        operands = () if op.shape == "shift" else tuple(map(self.value, node.args))
        return cast(Residual, op.law(*operands, rest))

    def rest(self, node: Apply, weak: bool = False) -> Residual:
        """The same formula at the neighbouring position."""
        op = node.op
        if op.direction == "past":
            return self.progress(cast(Residual, self.registers.slots[node]))
        if op.shape == "shift":
            return owed(node.args[0], bool(op.edge))
        if node.window is not None:
            if node.window.events == 0:
                return TRUE if op.edge else FALSE
            node = Apply(op, node.args, Window.of_events(node.window.events - 1))
        if weak:
            node = Apply(weakened(op), node.args, node.window)
        return owed(node, bool(node.op.edge))

    def placed(self, node: Apply, place: Place) -> Residual:
        if self.index < place.index:
            return owed(node, place.edge)
        if self.index == place.index:
            return self.value(node.args[0])
        return self.progress(cast(Residual, self.registers.slots[node]))

    def progress(self, residual: Residual) -> Residual:
        """What was owed before this event, after it."""
        if residual is TRUE or residual is FALSE or residual is RUNNING:
            self.seen.running |= residual is RUNNING
            return residual
        known = self._progressed.get(residual)
        if known is None:
            known = TRUE
            for clause in residual.clauses:
                met = FALSE
                for obligation in clause:
                    met = met | self.discharge(obligation)
                    if met is TRUE:
                        break
                known = known & met
            self._progressed[residual] = known
        return known

    def discharge(self, obligation: Obligation) -> Residual:
        match obligation:
            case Owed(formula, _):
                return self.value(formula)
            case Parts(node, known, other):
                rest = self.inside(node, OTHER, OTHER).progress(other)
                return quantified(node, self.advanced(node, known, other, rest, Here.progress), rest)
            case Unnamed():
                return UNNAMED
        self.seen.running = True
        return RUNNING

    def advanced(
        self,
        node: Quantified,
        known: Mapping[Hashable, Part],
        other: Residual,
        rest: Residual,
        after: Callable[[Here, Residual], Residual],
    ) -> dict[Hashable, Part]:
        """The parts of a quantifier under way after this event, but for those that are as all others, `rest`."""
        parts = {k: Part(p.value, after(self.inside(node, k, p.value), p.residual)) for k, p in known.items()}
        return parts | self.parts(node, rest, lambda room: after(room, other), known)

    def parts(
        self,
        node: Quantified,
        rest: Residual,
        worth: Callable[[Here], Residual],
        known: Mapping[Hashable, Part] | None = None,
    ) -> dict[Hashable, Part]:
        """A part for each value, but those known, that is worth something else than all others are."""
        parts: dict[Hashable, Part] = {}
        for values, room in self.classes(node):
            new = {k: v for k, v in values.items() if k not in known} if known else values
            if new and (residual := worth(room)) != rest:
                parts.update((k, Part(v, residual)) for k, v in new.items())
        return parts

    def touched(self, node: Quantified) -> dict[Hashable, Json]:
        """The values of a quantifier's variable that this event names, or that are looked at as if it did."""
        touched = self._touched.get(node)
        if touched is None:
            if node.domain is not None:
                from agentltl.constraints.predicates import domain_values

                found = domain_values(node.domain, prefix(self.position))
                touched = {k: v for v in found if (k := key(v)) is not None}
            elif self.scope.quantifiers[node].late:
                touched = dict(self.named.get(node, {}))
            else:
                touched = named(node, self.scope.quantifiers[node], self.position)
            self._touched[node] = touched
        return touched

    def classes(self, node: Quantified) -> Iterator[tuple[Values, Here]]:
        """The values that may differ from all others, alike ones together, each with the room for them."""
        touched = self.touched(node)
        for k, v in touched.items():
            yield {k: v}, self.inside(node, k, v)
        if node.domain is not None:
            return
        plain = self.scope.quantifiers[node].plain
        for values in self.registers.partitions[node].groups.values():
            left = without(values, touched)
            for alike in [left] if plain and left else ({k: v} for k, v in left.items()):
                yield alike, self.inside(node, *next(iter(alike.items())))

    def inside(self, node: Quantified, k: Hashable, value: Json) -> Here:
        """The same event in the scope of a quantifier, with a value for its variable.

        Values that the event does not name and whose registers are equal are alike: one room serves them all.
        """
        scope = self.scope.quantifiers[node]
        registers = self.registers.partitions[node].of(k)
        if scope.plain and k not in self.touched(node):
            k, value = registers, OTHER
        here = self._inside.get((node, k))
        if here is None:
            env = {**self.env, node.variable: value}
            if node.domain is not None and value is not OTHER and scope.remembers:
                registers = self.remembered(scope, env)
            here = self._inside[node, k] = self.room(scope, registers, env)
            here.unnamed = self.unnamed - {node.variable}
            if value is OTHER and node.kind == "exists":
                here.unnamed |= {node.variable}
        return here

    def room(self, scope: Scope, registers: Registers, env: Env) -> Here:
        """This event in an inner scope."""
        return Here(self.position, self.index, scope, registers, env, self.seen, self.named)

    def remembered(self, scope: Scope, env: Env) -> Registers:
        """The registers of a scope for a value that a registered domain has just brought: from the whole past."""
        registers = fresh(scope)
        for index, position in enumerate(prefix(self.position)[:-1]):
            registers = Here(position, index, scope, registers, env, self.seen, self.named).after
        return registers

    @cached_property
    def after(self) -> Registers:
        """What must be remembered of this event."""
        if not self.scope.remembers:
            return self.registers
        partitions = dict(self.registers.partitions)
        for node, scope in self.scope.quantifiers.items():
            if scope.remembers and node.domain is None:
                other = self.inside(node, OTHER, OTHER).after
                groups: dict[Registers, Values] = {}
                for values, room in self.classes(node):
                    if room.after != other or scope.brought:
                        there = groups.get(room.after)
                        groups[room.after] = values if there is None else {**there, **values}
                partitions[node] = Partition(groups, other)
        return Registers({node: self.register(node) for node in self.scope.past}, partitions)

    def register(self, node: Apply) -> Register:
        if node.op.shape == "tally":
            return (
                windows.tally(self, node)
                if node.window is None
                else windows.counted_slots(self, node, *windows.counted(self, node))
            )
        if node.op.shape == "place":
            return self.value(node) if self.index >= cast(Place, node.detail).index else None
        if node.window is not None:
            return windows.slots(self, node)
        return self.value(node.args[0] if node.op.shape == "shift" else node)


def without(values: Values, touched: Values) -> Values:
    """The values that are not touched: the same mapping if that is all of them."""
    gone = [k for k in touched if k in values]
    if not gone:
        return values
    left = dict(values)
    for k in gone:
        del left[k]
    return left


def named(node: Quantified, scope: Scope, position: Position) -> dict[Hashable, Json]:
    """The values that an event names to a quantifier's variable."""
    found = (pair for atom in scope.atoms for pair in atom.values(position))
    return {k: v for name, v in found if name == node.variable and (k := key(v)) is not None}


def prefix(position: Position) -> tuple[Position, ...]:
    """The positions up to and with this one."""
    calls = (*position.calls[: position.index], position.call)
    return tuple(
        Position(call, index, calls, position.messages, position.hidden)
        for index, call in enumerate(calls)
        if call.tool not in position.hidden
    )
