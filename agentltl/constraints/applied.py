"""A rule monitored by applying each event to what is owed: for rules whose states have no numbers.

Those are rules with quantifiers inside, or that compare a variable in other ways than by `=`; it serves the tests as a
second judge of all others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from agentltl.constraints.automaton import NOWHERE
from agentltl.constraints.automaton import atoms as propositions
from agentltl.constraints.forgive import forgiven
from agentltl.constraints.formula import Apply, Proposition
from agentltl.constraints.future import future
from agentltl.constraints.here import Here, Seen
from agentltl.constraints.late import knowing
from agentltl.constraints.limits import DEFAULT, Limits, too_many
from agentltl.constraints.operators import AT
from agentltl.constraints.path import Env
from agentltl.constraints.proposition import Atom, Called
from agentltl.constraints.registers import Partition, Registers
from agentltl.constraints.residual import FALSE, TRUE, Parts, Residual
from agentltl.constraints.scope import Rule, Scope
from agentltl.constraints.state import State
from agentltl.constraints.tally import clock
from agentltl.constraints.trace import Call, Position
from agentltl.constraints.value import Json
from agentltl.constraints.verdict import AT_END, Truth, Verdict
from agentltl.errors import TraceError


class Applied:
    """An engine whose state is what is owed and what is remembered."""

    def __init__(self, rule: Rule, limits: Limits = DEFAULT) -> None:
        self.rule, self.limits = rule, limits
        self.first = State.first(rule)

    def __reduce__(self) -> tuple[object, ...]:
        return Applied, (self.rule, self.limits)

    def step(self, state: State, position: Position, forgive: bool = False) -> State:
        now = _on_time(self.rule, state, position)
        seen = Seen()
        if self.rule.late:
            state = knowing(self.rule, state, position, seen)
        if forgive:
            state = replace(state, forgiven=state.forgiven | {state.index})
        here = state.here(self.rule, position, seen)
        residual = forgiven(here, state.residual) if forgive else here.progress(state.residual)
        done = residual is TRUE or residual is FALSE
        registers = state.registers if done else here.after
        if (values := sum(map(_held, registers.partitions.values()))) > self.limits.values:
            raise too_many(values, self.rule.formula)
        return replace(
            state,
            residual=residual,
            registers=registers,
            index=state.index + 1,
            clock=now,
            running=(state.running or seen.running) and not done,
        )

    def stays(self, state: State, call: Call) -> bool:
        return False

    def clean(self, state: State) -> bool:
        return not (state.running or self.false(state) or self.dead(state))

    def running(self, state: State) -> bool:
        return state.running

    def false(self, state: State) -> bool:
        return state.residual is FALSE

    def final(self, state: State) -> bool:
        return state.residual is FALSE or state.residual is TRUE

    def dead(self, state: State) -> bool:
        return state.residual is FALSE

    def revived(self, state: State) -> State:
        return state

    def verdict(self, state: State) -> Verdict:
        if state.residual is FALSE:
            return Verdict(Truth.FALSE, True)
        if state.residual is TRUE:
            return Verdict(Truth.TRUE, True)
        return Verdict(AT_END[state.residual.at_end()], False)

    def name(self, state: State) -> Hashable:
        return future(self.rule, state)

    def open_values(self, state: State) -> tuple[Json, ...]:
        return tuple(_open(state.residual))

    def idle(self, state: State) -> bool:
        """Every outcome lies between what is unknown being all true and all false, since negation stands before
        propositions only."""
        rule = self.rule
        if any(isinstance(f, Apply) and (f.op is AT or _moves(f)) for f in rule.normal.walk()):
            return False
        for assumed in (TRUE, FALSE):
            here = _Unnamed(NOWHERE, state.index, rule.scope, state.registers, {}, Seen(), state.named)
            here.assumed = assumed
            if here.progress(state.residual) != state.residual or here.after != state.registers:
                return False
        return True

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        return propositions(self.rule.normal, self.rule.scope)


def _held(partition: Partition) -> int:
    """How many values have registers of their own."""
    return sum(map(len, partition.groups.values()))


def _open(residual: Residual) -> Iterator[Json]:
    for clause in residual.clauses:
        for obligation in clause:
            if isinstance(obligation, Parts):
                for part in obligation.known.values():
                    yield part.value
                    yield from _open(part.residual)
                yield from _open(obligation.other)


def _moves(formula: Apply) -> bool:
    """A window into the past moves on with every event."""
    return formula.op.direction == "past" and formula.window is not None


class _Unnamed(Here):
    """An event that no call pattern names; facts are taken as assumed."""

    assumed = TRUE

    def room(self, scope: Scope, registers: Registers, env: Env) -> Here:
        room = _Unnamed(self.position, self.index, scope, registers, env, self.seen, self.named)
        room.assumed = self.assumed
        return room

    def literal(self, proposition: Proposition, side: int) -> Residual:
        if isinstance(proposition.atom, Called):
            return TRUE if side else FALSE
        return self.assumed


def _on_time(rule: Rule, state: State, position: Position) -> Fraction | None:
    """The time of this event; for a rule that looks at times, one that lies before the last is an error."""
    if not rule.windowed:
        return None
    now = clock(position)
    if state.clock is not None and now < state.clock:
        raise TraceError(
            f"the times go back: the call of `{position.call.tool}` starts before the call that precedes it\n"
            "list the calls in the order in which they started"
        )
    return now
