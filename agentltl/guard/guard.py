"""The guard: every call is judged before it runs, and what came of it afterwards.

Its state is the list of calls and one monitor for each constraint.
It fails closed: a rule that cannot be judged refuses the call, unless its severity tolerates violations.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from os import PathLike
from typing import Literal, Self

from agentltl.constraints.constraint import Constraint, constraints_of
from agentltl.constraints.limits import DEFAULT, Limits
from agentltl.constraints.panel import Panel
from agentltl.constraints.touch import may_touch, touches
from agentltl.constraints.trace import ABSENT, Call, Outcome, Position, Trace
from agentltl.constraints.value import FrozenDict, Json
from agentltl.constraints.verdict import Verdict
from agentltl.errors import ConstraintError
from agentltl.guard import saving
from agentltl.guard.decision import Decision, Violation
from agentltl.guard.lookahead import Lookahead
from agentltl.guard.settings import Settings
from agentltl.guard.severity import ConstraintSeverity, resolve
from agentltl.guard.state import State
from agentltl.guard.status import Status, status
from agentltl.guard.witnessing import Witnessing

_new = tuple.__new__


class Guard(Witnessing):
    """Judges the calls of one conversation against constraints.

    `constraints` are constraints, mappings with the keys of a rule file, or the path of one; `severities` maps names of
    constraints to severities (or their names) and comes before a constraint's own, which comes before
    `default_severity`. `fields` say of what kind the run is, for constraints with a `where`; `limits` are the caps of
    the engine. The others are `settings` of how it answers: see `agentltl.guard.settings.Settings`.
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
        enforce: bool = True,
        lookahead: Literal["rule", "joint"] = "rule",
        max_soft_attempts: int = 3,
        soft_block_mode: Literal["cumulative", "consecutive", "hybrid"] = "cumulative",
        max_consecutive_soft_attempts: int | None = None,
        escalate_to: ConstraintSeverity | str = ConstraintSeverity.HARD_STOP,
        max_identical_refusals: int | None = None,
        approval_seconds: float = 600.0,
        final_answer_retries: int = 1,
    ) -> None:
        given = constraints_of(constraints)
        self.default_severity = ConstraintSeverity.of(default_severity)
        self.severities = resolve(given, severities or {}, self.default_severity)
        self.settings = Settings(
            enforce,
            lookahead,
            max_soft_attempts,
            soft_block_mode,
            max_consecutive_soft_attempts,
            ConstraintSeverity.of(escalate_to),
            max_identical_refusals,
            approval_seconds,
            final_answer_retries,
        )
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
        self._effective = {
            c.name: self.severities[c.name] if enforce and c.enforce else ConstraintSeverity.TOLERATE
            for c in self.constraints
        }
        self._named = {constraint.name: constraint for constraint in self.constraints}
        self._lookahead = Lookahead(limits.joint) if lookahead == "joint" else None

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

    def to_state(self) -> dict[str, Json]:
        """The guard as JSON: its rules and settings, and what has happened. See `from_state`."""
        with self._lock:
            state, known = self._state, saving.Known()
            return {
                "kind": "agentltl guard",
                "version": saving.VERSION,
                "constraints": [constraint.to_mapping() for constraint in self.constraints],
                "severities": {c.name: self.severities[c.name].name for c in self.constraints},
                "settings": self.settings.to_data(),
                "limits": asdict(self.limits),
                "fields": saving.encoded(self.fields, known),
                "before": [state.forgotten, state.proposed_before],
                "events": [saving.event_data(event, state.calls, state.turns, known) for event in state.events],
            }

    @classmethod
    def from_state(cls, state: Mapping[str, Json]) -> Self:
        """The guard that gave this state with `to_state`, also in another process.

        Predicates and domains that its rules name must be registered. Raises `ConstraintError` for data that is no
        state of a guard.
        """
        data, known = saving.checked(state), saving.Known()
        with saving.reading("the rules and settings"):
            guard = cls(
                data["constraints"],
                data["severities"],
                fields=saving.decoded(data["fields"], known),
                limits=Limits(**data["limits"]),
                **data["settings"],
            )
        guard._state.forgotten, guard._state.proposed = data["before"]
        guard._state.proposed_before = guard._state.proposed
        started: dict[int, Decision] = {}
        with ExitStack() as watching:
            for number, event in enumerate(data["events"], 1):
                with saving.reading(f"event {number}"):
                    if "watching" in event:
                        watching.pop_all().close()
                        if event["watching"]:
                            watching.enter_context(guard._watching())
                    else:
                        guard._happened(event, started, known)
        return guard

    def _happened(self, event: Mapping[str, Json], started: dict[int, Decision], known: saving.Known) -> None:
        """Let an event happen again that is in the state of a guard; `started` are the calls that have not settled."""
        if "said" in event:
            self.said(event["said"])
        elif "handed_over" in event:
            self.handed_over()
        elif "settled" in event:
            place = event["settled"]
            decision = started.pop(place)
            self._settled(decision, place, self._state.calls[place].settle(saving.outcome_of(event, known)))
        elif "approve" in event or "deny" in event:
            self._answered(event, known)
        else:
            more = {"id": event.get("id"), "step": event["step"], "agent": event.get("agent")}
            if "finish" in event:
                answer = saving.decoded(event["args"], known) if "args" in event else ABSENT
                decision = self.finish(answer, last=event["finish"], start=event.get("start"), **more)
            else:
                turn = tuple(event["turn"]) if "turn" in event else None
                args = saving.decoded(event["args"], known)
                decision = self.propose(event["propose"], args, start=event["start"], turn=turn, **more)
            if decision.index is not None:
                started[decision.index] = decision

    def reset(self) -> None:
        """Forget everything: the next call is the first."""
        with self._lock:
            self._state = self._state.renewed(self._fresh)

    def now(self) -> float:
        """The time of a call that starts now, in seconds: not before that of the call before it."""
        return max(time.time(), self._state.latest)

    @property
    def lock(self) -> threading.RLock:
        """Held by every question and answer of this guard."""
        return self._lock

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
        self._lock.acquire()  # as in `propose`
        try:
            _, _, _, _, _, judged, index, own, _, _ = decision
            if index is None:
                raise ConstraintError("this call never started\nsettle the decision that allowed it, once")
            state = self._state
            calls = state.calls
            if index >= len(calls) or (judged is not calls[index] and own != state.own(index)):
                return decision._replace(action="allow", violations=(), feedback="", repair="")  # forgotten by a reset
            tool, args, id, step, agent, start, outcome, approves = call = calls[index]
            if outcome is not None:
                return Decision(True, "allow", call=call, index=index, own=own)
            if end is None and (end := time.time()) < state.latest:
                end = state.latest
            outcome = Outcome.of(result, error, status, end)
            settled = _new(Call, (tool, args, id, step, agent, start, outcome, approves))
            panel = state.panel
            if panel.open or panel.restless or panel.joint is None:
                return self._settled(decision, index, settled)
            state.events.append(index)
            calls[index] = settled
            return _new(Decision, (True, "allow", (), "", "", settled, index, own, (), ()))
        finally:
            self._lock.release()

    def touches(self, tool: str, args: Json = None, *, step: int | None = None, agent: str | None = None) -> bool:
        """Whether a call, of a managed agent of that name, could change the state of some rule or be judged by it."""
        with self._lock, self._unnumbered():
            state = self._state
            call = self._call(tool, args, step, agent=agent)
            position = Position(call, len(state.calls), state.calls, state.messages)
            return any(touches(monitor, position) for monitor in self.monitors().values())

    def may_touch(self, tool: str) -> bool:
        """Whether a call of a tool, with whatever arguments, could change the state of some rule or be judged by it."""
        with self._lock:
            return any(may_touch(monitor, tool) for monitor in self.monitors().values())

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
        return tuple(self._state.violations)

    def verdicts(self) -> dict[str, Verdict]:
        """What each constraint is worth now."""
        return {name: monitor.verdict for name, monitor in self.monitors().items()}

    def status(self) -> Status:
        """The status dict that the reference documents for `get_constraint_status()`; its attribute `counts` has what
        was counted by constraint: violations, overrides, soft refusals and those of them in a row."""
        with self._lock:
            return status(self._state)
