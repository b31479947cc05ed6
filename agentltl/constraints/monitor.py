"""A monitor: what a rule still demands after the events so far, as one value that is never changed.

`step` applies an event, `settle` what came of one, `forgive` drops what is already violated; each gives a new monitor,
so looking ahead is to step and forget.
Events from the first one on that rests on a running call are kept, and are applied again when it settles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from agentltl.constraints import judgement as j
from agentltl.constraints.forgive import forgiven
from agentltl.constraints.formula import Formula
from agentltl.constraints.here import Seen
from agentltl.constraints.late import knowing
from agentltl.constraints.outlook import dead, outlook, revived
from agentltl.constraints.residual import FALSE, TRUE
from agentltl.constraints.scope import Rule, rule
from agentltl.constraints.state import State
from agentltl.constraints.tally import clock
from agentltl.constraints.trace import Call, Position
from agentltl.constraints.verdict import Truth, Verdict
from agentltl.errors import TraceError

_AT_END = {j.F: Truth.PFALSE, j.U: Truth.PENDING, j.T: Truth.PTRUE}


@dataclass(frozen=True, slots=True)
class Event:
    """An applied event: the state before it, and whether it rests on a running call or its breach was forgiven."""

    before: State
    position: Position
    running: bool = False
    forgiven: bool = False


@dataclass(frozen=True, slots=True)
class Monitor:
    """The state of one rule.

    `open` are the events that may have to be applied again; `broken` is the place of the breach among them, and those
    after it wait until it is forgiven.
    """

    rule: Rule
    state: State
    open: tuple[Event, ...] = ()
    broken: int | None = None

    @classmethod
    def of(cls, formula: Formula) -> Monitor:
        """The monitor of a rule before the first event."""
        ready = rule(formula)
        return cls(ready, State.first(ready))

    def __deepcopy__(self, memo: object) -> Monitor:
        return self

    @property
    def verdict(self) -> Verdict:
        state = self.state
        if self.broken is not None or state.residual is FALSE:
            return Verdict(Truth.FALSE, True)
        if state.residual is TRUE:
            return Verdict(Truth.TRUE, True)
        if self.open:
            return Verdict(_AT_END[state.residual.at_end()], False)
        future = outlook(self.rule)
        holds, fails = future.reaches(state, j.T), future.reaches(state, j.F)
        if holds is False or fails is False:
            return Verdict(Truth.FALSE if holds is False else Truth.TRUE, True)
        return Verdict(_AT_END[state.residual.at_end()], holds is not None and fails is not None)

    def step(self, position: Position) -> Monitor:
        """With one more event. One that is none for this rule (`final_answer`, unless it is named) changes nothing."""
        if position.call.tool in self.rule.hidden or self.verdict.final:
            return self
        event = Event(self.state, replace(position, hidden=self.rule.hidden))
        return self._apply(len(self.open), (*self.open, event))

    def settle(self, position: Position) -> Monitor:
        """With the outcome of an event that ran: `position` is that event again, its call settled."""
        for place, event in enumerate(self.open):
            if event.position.index >= position.index:
                events = (*self.open[:place], *(_learnt(e, position) for e in self.open[place:]))
                if self.broken is not None and place > self.broken:
                    return replace(self, open=events)
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
        state, done = events[place].before, list(events)
        for i in range(place, len(events)):
            seen = Seen()
            after = _after(self.rule, state, events[i], seen)
            done[i] = replace(events[i], before=state, running=seen.running)
            state = after
            if state.residual is FALSE or (not any(e.running for e in done[: i + 1]) and dead(self.rule, state)):
                if events[i].forgiven:  # what is owed from now on contradicts itself
                    state = revived(self.rule, state)
                    continue
                needed = next((k for k, e in enumerate(done) if e.running or k == i))
                return Monitor(self.rule, state, tuple(done[needed:]), i - needed)
        needed = next((k for k, e in enumerate(done) if e.running), len(done))
        return Monitor(self.rule, state, tuple(done[needed:]))


def _after(rule: Rule, state: State, event: Event, seen: Seen) -> State:
    now = _on_time(rule, state, event.position)
    if rule.late:
        state = knowing(rule, state, event.position, seen)
    if event.forgiven:
        state = replace(state, forgiven=state.forgiven | {state.index})
    here = state.here(rule, event.position, seen)
    residual = forgiven(here, state.residual) if event.forgiven else here.progress(state.residual)
    registers = state.registers if residual is TRUE or residual is FALSE else here.after
    return replace(state, residual=residual, registers=registers, index=state.index + 1, clock=now)


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


def _learnt(event: Event, settled: Position) -> Event:
    """The event again, with what is now known of a call: its own, or one before it."""
    position, calls = event.position, event.position.calls
    if settled.index < len(calls) and calls[settled.index] is not settled.call:
        changed: list[Call] = list(calls)
        changed[settled.index] = settled.call
        calls = changed
    call = settled.call if position.index == settled.index else position.call
    return replace(event, position=replace(position, call=call, calls=calls))
