"""The guard: every call is judged before it runs, and what came of it afterwards.

Its state is the list of calls and one monitor for each constraint.
It fails closed: a rule that cannot be judged refuses the call, unless its severity tolerates violations.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from os import PathLike

from agentltl.constraints.constraint import Constraint, constraints_of
from agentltl.constraints.limits import DEFAULT, Limits
from agentltl.constraints.panel import Moved, Panel
from agentltl.constraints.touch import touches
from agentltl.constraints.trace import Call, Outcome, Position, Trace
from agentltl.constraints.value import FrozenDict, Json, hold
from agentltl.constraints.verdict import Truth, Verdict
from agentltl.errors import ConstraintError
from agentltl.guard.decision import Decision, Violation
from agentltl.guard.feedback import feedback
from agentltl.guard.judging import violations
from agentltl.guard.questions import Questions
from agentltl.guard.severity import ConstraintSeverity, resolve
from agentltl.guard.state import State
from agentltl.guard.status import status

log = logging.getLogger("agentltl")
_new = tuple.__new__


class Guard(Questions):
    """Judges the calls of one conversation against constraints.

    `constraints` are constraints, mappings with the keys of a rule file, or the path of one; `severities` maps names of
    constraints to severities (or their names) and comes before a constraint's own, which comes before
    `default_severity`. `fields` say of what kind the run is, for constraints with a `where`; `limits` are the caps of
    the engine.
    Raises `ConstraintError` for an unknown name or severity, and for a `where` that asks for a field that is not given.
    """

    def __init__(
        self,
        constraints: Sequence[Constraint | Mapping[str, Json]] | str | PathLike[str] = (),
        severities: Mapping[str, ConstraintSeverity | str] | None = None,
        default_severity: ConstraintSeverity | str = ConstraintSeverity.HARD_STOP,
        *,
        fields: Mapping[str, Json] | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        given = constraints_of(constraints)
        self.default_severity = ConstraintSeverity.of(default_severity)
        self.severities = resolve(given, severities or {}, self.default_severity)
        self.fields = FrozenDict(fields or {})
        for constraint in given:
            if missing := sorted(set(constraint.where or {}) - set(self.fields)):
                raise ConstraintError(
                    f"constraint `{constraint.name}` is limited by `where` to a `{missing[0]}`, and this run has none\n"
                    f"say what it is: Guard(..., fields={{{missing[0]!r}: ...}}), or drop the `where`"
                )
        here = Trace(fields=self.fields)
        self.constraints = tuple(c for c in given if c.applies(here))
        self.limits = limits
        self._fresh = Panel.of([c.formula for c in self.constraints], limits)
        self._lock = threading.RLock()
        self._state = State(self._fresh)

    def __deepcopy__(self, memo: dict[int, object]) -> Guard:
        twin = object.__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            kept = {name: value for name, value in self.__dict__.items() if name != "_lock"}
            return {**kept, "_state": self._state.copy()}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    def reset(self) -> None:
        """Forget everything: the next call is the first."""
        with self._lock:
            self._state = self._state.renewed(self._fresh)

    def said(self, text: str) -> None:
        """A message of the user: the task, or a later one. It lifts a stop, and the run's steps start anew."""
        if not isinstance(text, str):
            raise TypeError(f"said takes the text of a message, not {type(text).__name__}")
        with self._lock:
            self._state.said(text)

    def propose(
        self,
        tool: str,
        args: Json = None,
        *,
        id: str | None = None,
        step: int | None = None,
        agent: str | None = None,
        start: float | None = None,
    ) -> Decision:
        """Judge a call before it runs; if the decision allows it, it has started and is part of the trace.

        `args` are the arguments as the tool will get them, `id` the provider's, `step` the number of the model's
        message in this run, `start` a time in seconds (default: now).
        """
        if not isinstance(tool, str):
            raise TypeError(
                f"propose takes the name of a tool and its arguments, and the name is {type(tool).__name__}"
            )
        with self._lock:
            state = self._state
            state.proposed += 1
            if tool != "final_answer":
                state.checks += 1
            call = self._call(tool, args, step, id, agent, start)
            if state.stopped is not None:
                return state.stopped._replace(call=call, index=None, id=None)
            index = len(state.calls)
            broken: tuple[Violation, ...] = ()
            panel = state.panel.quick(call)
            if panel is None:
                position = Position(call, index, state.calls, state.messages)
                moved = state.panel.step(position)
                panel = moved[0]
                broken = self._broken(moved, position, step)
                refusing = tuple([v for v in broken if v.severity.value.refuses]) if broken else ()
                if refusing:
                    return self._answer(refusing, call, None, allowed=False)
            state.calls.append(call)
            state.panel = panel
            state.latest = call.start or 0.0
            if broken:
                return self._answer(broken, call, index, allowed=True)
            return _new(Decision, (True, "allow", (), "", "", call, index, state.id(index), ()))

    def settle(
        self,
        decision: Decision,
        result: object = None,
        error: str | None = None,
        status: str | None = None,
        end: float | None = None,
    ) -> Decision:
        """What came of a call that `propose` allowed: its raw result, or the text of its error.

        The call has run; a rule that its outcome breaks is a violation all the same.
        A second outcome for the same call is ignored, and so is one that comes after a `reset`.
        """
        if not isinstance(decision, Decision):
            raise TypeError("settle takes the decision that `propose` gave, and then what came of the call")
        with self._lock:
            state, index = self._state, decision.index
            if index is None:
                raise ConstraintError("this call never started\nsettle the decision that allowed it, once")
            calls = state.calls
            if index >= len(calls) or (decision.call is not calls[index] and decision.id != state.id(index)):
                return decision._replace(action="allow", violations=(), feedback="", repair="")  # forgotten by a reset
            call = calls[index]
            if call.outcome is not None:
                return Decision(True, "allow", call=call, index=index, id=decision.id)
            if end is None and (end := time.time()) < state.latest:
                end = state.latest
            call = call.settle(Outcome.of(result, error, status, end))
            calls[index] = call
            broken: tuple[Violation, ...] = ()
            if state.panel.waits:
                position = Position(call, index, calls, state.messages)
                moved = state.panel.settle(position)
                state.panel = moved[0]
                step = None if call.step is None else call.step - state.steps_before
                broken = self._broken(moved, position, step)
            if not broken:
                return _new(Decision, (True, "allow", (), "", "", call, index, decision.id, ()))
            stop = any(v.severity is ConstraintSeverity.HARD_STOP for v in broken)
            return self._answer(broken, call, index, allowed=not stop, ran=True)

    def finish(self) -> Decision:
        """Whether the run may end here. `owed` names the constraints that still have an open obligation."""
        with self._lock:
            owed = tuple(n for n, v in self.verdicts().items() if v.truth in (Truth.PFALSE, Truth.FALSE))
            stopped = self._state.stopped
            return stopped._replace(owed=owed) if stopped is not None else Decision(True, "allow", owed=owed)

    def touches(self, tool: str, args: Json = None, *, step: int | None = None) -> bool:
        """Whether a call could change the state of some rule or be judged by it."""
        with self._lock:
            state = self._state
            call = self._call(tool, args, step)
            position = Position(call, len(state.calls), state.calls, state.messages)
            return any(touches(monitor, position) for monitor in self.monitors().values())

    @property
    def stopped(self) -> Decision | None:
        """The decision that stopped the run, if one did."""
        return self._state.stopped

    @property
    def trace(self) -> Trace:
        """The calls that have started, with what came of them, and what the user has said."""
        with self._lock:
            return Trace(tuple(self._state.calls), tuple(self._state.messages), fields=self.fields)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All that was recorded."""
        return self._state.violations

    def verdicts(self) -> dict[str, Verdict]:
        """What each constraint is worth now."""
        return {name: monitor.verdict for name, monitor in self.monitors().items()}

    def status(self) -> dict[str, Json]:
        """The status dict that the reference documents for `get_constraint_status()`."""
        with self._lock:
            return status(self._state)

    def _call(
        self,
        tool: str,
        args: Json,
        step: int | None,
        id: str | None = None,
        agent: str | None = None,
        start: float | None = None,
    ) -> Call:
        """The call as it is judged; `step` is the run's."""
        state = self._state
        if start is None and (start := time.time()) < state.latest:
            start = state.latest
        frozen = hold({} if args is None else args)
        return _new(Call, (tool, frozen, id, None if step is None else state.step(step), agent, start, None, None))

    def _broken(self, moved: Moved, position: Position, step: int | None) -> tuple[Violation, ...]:
        if not moved[1] and not moved[2]:
            return ()
        return violations(self.constraints, self.severities, moved, position, step)

    def _answer(
        self, broken: tuple[Violation, ...], call: Call, index: int | None, *, allowed: bool, ran: bool = False
    ) -> Decision:
        """The decision, put on record."""
        state = self._state
        identity = f"call-{state.proposed}" if index is None else state.id(index)
        if not broken:
            return Decision(allowed, "allow", call=call, index=index, id=identity)
        strongest = broken[0].severity
        same = tuple(v for v in broken if v.severity is strongest)
        repair = " ".join(dict.fromkeys(v.repair for v in same if v.repair))
        told = feedback(same, ran=ran) if strongest.value.refuses else ""
        decision = Decision(allowed, strongest.value.action, broken, told, repair, call, index, identity)
        state.violations += broken
        for violation in broken:
            if not violation.severity.value.refuses:
                log.warning("tolerated: `%s` breaks `%s`: %s", call.tool, violation.constraint_name, violation.detail)
        if strongest is ConstraintSeverity.HARD_STOP and state.stopped is None:  # the first stop is the run's
            state.stopped = decision
        return decision
