"""Values named late: what earlier events mean for a value is found by applying them again, once it is named."""

from __future__ import annotations

from dataclasses import replace

from agentltl.constraints.forgive import forgiven
from agentltl.constraints.formula import Quantified
from agentltl.constraints.here import Seen, named, prefix
from agentltl.constraints.registers import Partition, Registers, Values
from agentltl.constraints.residual import FALSE, Part, quantified, whole
from agentltl.constraints.scope import Rule
from agentltl.constraints.state import State
from agentltl.constraints.trace import Position


def knowing(rule: Rule, state: State, position: Position, seen: Seen) -> State:
    """The state before an event that may name new values to a late scope: with them, earlier events are applied again.

    A scope is late when it compares its variable, other than by `=`, at events that need not name the value.
    """
    new: dict[Quantified, Values] = {}
    for node, scope in rule.late.items():
        known = state.named.get(node, {})
        if values := {k: v for k, v in named(node, scope, position).items() if k not in known}:
            new[node] = values
    if not new:
        return state
    every = {**state.named, **{node: {**state.named.get(node, {}), **values} for node, values in new.items()}}
    top = rule.normal
    if isinstance(top, Quantified) and new.keys() == {top}:
        again = _again(rule, replace(state, named={**state.named, **new}), position, seen, alone=top.kind == "exists")
        state = _joined(state, again, top, new[top])
    else:
        state = _again(rule, replace(state, named=every), position, seen)
    return replace(state, named=every)


def _again(rule: Rule, state: State, position: Position, seen: Seen, alone: bool = False) -> State:
    """The state again, from the first event on and with the values named by now.

    What breaks after something was forgiven is forgiven with it. Where values of an `exists` are looked at `alone`, one
    that is lost is lost: the rule may live on by others.
    """
    first = min(state.forgiven, default=None)
    again = replace(State.first(rule), named=state.named)
    for earlier in prefix(position)[:-1]:
        here, residual = again.here(rule, earlier, seen), again.residual
        if alone:
            lenient = again.index in state.forgiven and residual is not FALSE
        else:
            lenient = first is not None and again.index >= first
        residual = forgiven(here, residual) if lenient else here.progress(residual)
        again = replace(again, residual=residual, registers=here.after, index=again.index + 1)
    return replace(again, forgiven=state.forgiven, clock=state.clock)


def _joined(state: State, again: State, top: Quantified, values: Values) -> State:
    """A state and, for these values of the outermost quantifier, what the same events have made of them."""
    known, other = whole(top, state.residual)
    found, rest = whole(top, again.residual)
    parts = {**known, **{k: found.get(k, Part(v, rest)) for k, v in values.items()}}
    before = state.registers.partitions[top]
    groups = dict(before.groups)
    for k, v in values.items():
        registers = again.registers.partitions[top].of(k)
        if registers != before.other:
            groups[registers] = {**groups.get(registers, {}), k: v}
    partitions = {**state.registers.partitions, top: Partition(groups, before.other)}
    return replace(
        state, residual=quantified(top, parts, other), registers=Registers(state.registers.slots, partitions)
    )
