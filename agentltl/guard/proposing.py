"""How a guard judges a proposed call, and the answer that a run would end with."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from agentltl.constraints.panel import Panel
from agentltl.constraints.trace import ABSENT, NO_ARGUMENTS, Call, Position
from agentltl.constraints.value import Json, hold
from agentltl.guard.approvals import APPROVED, check_name
from agentltl.guard.decision import Decision, Violation
from agentltl.guard.ending import FINAL_ANSWER, End, Ending
from agentltl.guard.planning import Plan
from agentltl.guard.state import Turn
from agentltl.guard.weighing import recounted

_new = tuple.__new__


class Proposing(Ending):
    """What a guard says of proposals."""

    def propose(
        self,
        tool: str,
        args: Json = None,
        *,
        id: str | None = None,
        step: int | None = None,
        agent: str | None = None,
        start: float | None = None,
        turn: Turn | None = None,
    ) -> Decision:
        """Judge a call before it runs; if the decision allows it, it has started and is part of the trace.

        `args` are the arguments as the tool will get them, `id` the provider's, `step` the number of the model's
        message in this run, `start` a time in seconds (default: now).
        Of a call that a managed agent makes, `agent` is its name, `step` is the manager's, and `turn` says which run of
        the agent it is (a number that no other run has) and the step in that run.
        """
        if not isinstance(tool, str):
            raise TypeError(
                f"propose takes the name of a tool and its arguments, and the name is {type(tool).__name__}"
            )
        if tool == APPROVED:
            check_name(self.constraints)
        self._lock.acquire()  # what `with` costs twice as much for, and every call passes here
        try:
            state = self._state
            call = self._call(tool, args, step, id, agent, start, turn)
            # The most frequent call by far: the rules that move together say all there is to know of it, and nothing
            # that was stopped, refused or approved bears on it.
            if state.stopped is None and state.counts.last is None and not state.approvals.grants:
                panel = state.panel.quick(call)
                if panel is not None and (self._lookahead is None or panel is state.panel):
                    calls = state.calls
                    index = len(calls)
                    state.proposed += 1
                    state.checks += tool != FINAL_ANSWER
                    state.events.append(call if call.step is step else ("propose", call, step))
                    calls.append(call)
                    state.panel = panel
                    state.latest = call.start or 0.0
                    own = state.forgotten + index
                    return _new(Decision, (True, "allow", (), "", "", call, index, own, (), ()))
            return self._judged(call, step)
        finally:
            self._lock.release()

    def finish(
        self,
        answer: Json = ABSENT,
        *,
        last: bool = False,
        id: str | None = None,
        step: int | None = None,
        agent: str | None = None,
        start: float | None = None,
    ) -> Decision:
        """Whether the run may end here. `owed` names all constraints that still have an open obligation; what rests on
        a call that still runs is not owed yet.

        Ask it with the `answer` that the run would end with, before that is accepted. It is the call `final_answer`,
        judged like any call; an object stands for its arguments, anything else for its argument `answer`. Allowed, the
        call has started: settle it. Without an answer nothing is called.
        What constraints marked `applies_to_final_answer` owe after it is asked for: the decision is not allowed, its
        action is "retry" and its `feedback` says what to do; nothing is on record. That happens up to
        `final_answer_retries` times after the user has spoken, and not when no step is left (`last`), nor for what no
        calls can settle. What is owed then is a violation, once for each constraint: `HARD_STOP` stops the run and
        there is no answer, with any other severity the run ends and the violation is recorded.
        """
        with self._lock:
            state = self._state
            if answer is not ABSENT:
                args = answer if isinstance(answer, Mapping) else {"answer": answer}
                call = self._call(FINAL_ANSWER, args, step, id, agent, start)
                return self._with_owed(self._judged(call, step, ends=True, last=last))
            if state.stopped is not None:
                return self._with_owed(state.stopped)
            decision = None
            if self._due(state.panel):
                state.events.append(("finish", None, step, last))
                decision = self._ended(End(None, step, state.panel, last))
            return self._with_owed(Decision(True, "allow") if decision is None else decision)

    def refuses(
        self,
        tool: str,
        args: Json = None,
        *,
        step: int | None = None,
        agent: str | None = None,
        start: float | None = None,
        turn: Turn | None = None,
    ) -> bool:
        """Whether `propose` would refuse this call now; nothing is recorded. To act on the answer hold `lock`, and give
        both the same `start`."""
        with self._lock, self._unnumbered(turn):
            state = self._state
            if state.stopped is not None:
                return True
            call = self._call(tool, args, step, None, agent, start, turn)
            _, broken = self._moved(call, step)
            if not broken:
                return False
            return self._weighed(broken, call, state.proposed + 1)[0].refuses

    def plan(self, tool: str, args: Json = None) -> Plan:
        """`repair`, and where there is no plan, whether that is proved. For a call that `lookahead="joint"` refuses
        now none is known."""
        plan = super().plan(tool, args)
        if self._lookahead is None or plan.calls != ():
            return plan
        with self._lock:
            _, broken = self._moved(self._call(tool, args, None), None)
        return Plan(None) if any(v.severity.value.refuses and self._enforces(v) for v in broken) else plan

    @contextmanager
    def _unnumbered(self, turn: Turn | None = None) -> Iterator[None]:
        """What is only looked at in here, and not proposed, leaves no number of a step behind: a guard that is made
        again from what has happened knows nothing of it."""
        state = self._state
        top, bases = state.top, len(state.bases)
        try:
            yield
        finally:
            state.top = top
            if turn is not None and len(state.bases) > bases:
                state.turns.pop(state.bases.pop(turn[0]) + turn[1], None)

    def _judged(self, call: Call, step: int | None, ends: bool = False, last: bool = False) -> Decision:
        """Judge a call in a step of the run; `ends`: the run would end with it."""
        state = self._state
        state.proposed += 1
        if call.tool != FINAL_ANSWER and not (state.approvals.grants and state.approvals.again(call)):
            state.checks += 1
        ends = ends and self.asks_at_the_end
        state.events.append(("finish", call, step, last) if ends else ("propose", call, step))
        if state.stopped is not None:
            return state.stopped._replace(call=call, index=None, own=None)
        index = len(state.calls)
        panel, broken = self._moved(call, step)
        if broken:
            broken = self._weighed(broken, call, state.proposed)
            if broken[0].refuses:
                return self._refused(tuple(v for v in broken if v.refuses), call)
        ended = self._ended(End(call, step, panel, last)) if ends else None
        if ended is not None and not ended.allowed:
            return ended
        state.calls.append(call)
        state.panel = panel
        state.latest = call.start or 0.0
        if state.approvals.grants:
            state.approvals = state.approvals.used(call)
        if broken or state.counts.changed:
            state.counts = recounted(state.counts, broken, (), call, None, state.proposed, False)
        if broken:
            decision = self._allowed(broken, call, index)
            return decision if ended is None else decision._replace(violations=(*ended.violations, *broken))
        if ended is not None:
            return ended._replace(call=call, index=index, own=state.own(index))
        return _new(Decision, (True, "allow", (), "", "", call, index, state.own(index), (), ()))

    def _moved(self, call: Call, step: int | None) -> tuple[Panel, tuple[Violation, ...]]:
        """Where the rules stand once a call has started, and what it breaks."""
        state = self._state
        broken: tuple[Violation, ...] = ()
        panel = state.panel.quick(call)
        if panel is None:
            position = Position(call, len(state.calls), state.calls, state.messages)
            moved = state.panel.step(position)
            panel = moved[0]
            broken = self._broken(moved, position, step)
        if self._lookahead is not None and panel is not state.panel:
            broken += self._contradictions(panel, call, broken, step)
        return panel, broken

    def _call(
        self,
        tool: str,
        args: Json,
        step: int | None,
        id: str | None = None,
        agent: str | None = None,
        start: float | None = None,
        turn: Turn | None = None,
    ) -> Call:
        """The call as it is judged; `step` is the run's, `turn` the message of a managed agent in it."""
        state = self._state
        if start is None and (start := time.time()) < state.latest:
            start = state.latest
        frozen = NO_ARGUMENTS if args is None else hold(args)
        if step is not None or turn is not None:
            step = state.step(step, turn)
        return _new(Call, (tool, frozen, id, step, agent, start, None, None))
