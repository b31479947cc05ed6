"""A monitor: what a rule still demands after the events so far, as one value that is never changed.

`step` applies an event, `settle` what came of one, `forgive` drops what is already violated; each gives a new monitor,
so looking ahead is to step and forget.
Events from the first one on that rests on a running call are kept, and are applied again when it settles.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agentltl.constraints.engine import Engine, engine
from agentltl.constraints.formula import Formula
from agentltl.constraints.future import looks_back
from agentltl.constraints.limits import DEFAULT, Limits
from agentltl.constraints.scope import Rule, rule
from agentltl.constraints.trace import Call, Position
from agentltl.constraints.value import Json
from agentltl.constraints.verdict import Truth, Verdict

_new = tuple.__new__


@dataclass(frozen=True, slots=True)
class Event:
    """An applied event: the state before it, and whether its breach was forgiven."""

    before: Any
    position: Position
    forgiven: bool = False


class Monitor(NamedTuple):
    """The state of one rule.

    `open` are the events that may have to be applied again; `broken` is the place of the breach among them, and those
    after it wait until it is forgiven. `engine` is how the state moves, the same for all monitors of the rule.
    """

    engine: Engine
    state: Any
    open: tuple[Event, ...] = ()
    broken: int | None = None
    never: bool = False

    @classmethod
    def of(cls, formula: Formula, limits: Limits = DEFAULT) -> Monitor:
        """The monitor of a rule before the first event."""
        return cls.on(engine(rule(formula), limits))

    @classmethod
    def on(cls, engine: Engine) -> Monitor:
        """The monitor before the first event, with its engine. `never`: no trace satisfies the rule."""
        first = engine.first
        return cls(engine, first, never=engine.false(first) or engine.dead(first))

    def __deepcopy__(self, memo: object) -> Monitor:
        return self

    @property
    def rule(self) -> Rule:
        return self.engine.rule

    @property
    def verdict(self) -> Verdict:
        """What the rule is worth now."""
        if self.broken is not None or self.never:
            return Verdict(Truth.FALSE, True)
        if self.open and (before := self.engine.verdict(self.open[0].before)).truth is Truth.TRUE:
            return before
        return self.engine.verdict(self.state)

    @property
    def future(self) -> Hashable | None:
        """Equal for two monitors of a rule that are worth the same whatever follows; None while a call still runs, and
        for a rule that looks back at the calls themselves (`seen`, predicates, domains, values named late)."""
        if self.never or self.broken is not None:
            return Truth.FALSE
        return None if self.open or looks_back(self.rule) else self.engine.name(self.state)

    @property
    def open_values(self) -> tuple[Json, ...]:
        """The values of variables for which something else is owed or remembered than for all others."""
        return self.engine.open_values(self.state)

    @property
    def idle(self) -> bool:
        """Whether a call that the rule does not mention leaves it as it is."""
        return self.never or not (self.open or not self.engine.idle(self.state))

    def step(self, position: Position) -> Monitor:
        """With one more event. One that is none for this rule (`final_answer`, unless it is named) changes nothing."""
        engine, state = self.engine, self.state
        if position.call.tool in engine.rule.hidden or self.never or self.broken is not None:
            return self
        if position.hidden is not engine.rule.hidden and position.hidden != engine.rule.hidden:
            position = position._replace(hidden=engine.rule.hidden)
        if self.open:
            return self._apply(len(self.open), (*self.open, Event(state, position)))
        if engine.final(state):
            return self
        after = engine.step(state, position)
        if after is state:
            return self
        if engine.clean(after):
            return _new(Monitor, (engine, after, (), None, False))
        if engine.running(after):
            return Monitor(engine, after, (Event(state, position),), 0 if engine.false(after) else None)
        return Monitor(engine, after, (Event(state, position),), 0)

    def settle(self, position: Position) -> Monitor:
        """With the outcome of an event that ran: `position` is that event again, its call settled."""
        for place, event in enumerate(self.open):
            if event.position.index >= position.index:
                events = (*self.open[:place], *(_learnt(e, position) for e in self.open[place:]))
                if self.broken is not None and place > self.broken:
                    return self._replace(open=events)
                return self._apply(place, events)
        return self

    def forgive(self) -> Monitor:
        """After a breach: without what is already violated, so that the next breach is a new one."""
        if self.broken is None:
            return self
        events = list(self.open)
        events[self.broken] = replace(events[self.broken], forgiven=True)
        return self._apply(self.broken, tuple(events))

    def _apply(self, place: int, events: tuple[Event, ...]) -> Monitor:
        """Apply the events from a place on, the first of them from its own state; stop at a breach not forgiven."""
        engine, state, done = self.engine, events[place].before, list(events)
        needed = 0
        for i in range(place, len(events)):
            if not engine.running(state):
                needed = i
            event = events[i]
            done[i] = event if event.before is state else Event(state, event.position, event.forgiven)
            if not engine.final(state):
                state = engine.step(state, event.position, event.forgiven)
            if engine.false(state) or (not engine.running(state) and engine.dead(state)):
                if event.forgiven:  # what is owed from now on contradicts itself
                    state = engine.revived(state)
                    continue
                return Monitor(engine, state, tuple(done[needed:]), i - needed)
        return Monitor(engine, state, tuple(done[needed:]) if engine.running(state) else ())


def _learnt(event: Event, settled: Position) -> Event:
    """The event again, with what is now known of a call: its own, or one before it."""
    position, calls = event.position, event.position.calls
    if settled.index < len(calls) and calls[settled.index] is not settled.call:
        changed: list[Call] = list(calls)
        changed[settled.index] = settled.call
        calls = changed
    call = settled.call if position.index == settled.index else position.call
    return replace(event, position=position._replace(call=call, calls=calls))
