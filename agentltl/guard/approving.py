"""Asking people: which refused calls a person could allow, and what an answer does.

An approval is an event of the trace, and lets the identical call pass once for the constraints that asked. The call is
proposed again and judged again, so whatever else refuses it still does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentltl.constraints.trace import Call, Position
from agentltl.guard.answers import Answers, repairs
from agentltl.guard.approvals import APPROVED, check_answer, event_of, naming, proposal_of, refused_call
from agentltl.guard.decision import Decision
from agentltl.guard.feedback import denied, feedback
from agentltl.guard.saving import Known, decoded
from agentltl.guard.severity import ConstraintSeverity

if TYPE_CHECKING:
    from agentltl.constraints.value import Json


class Approving(Answers):
    """The part of a guard that people answer to."""

    @property
    def pending(self) -> tuple[Decision, ...]:
        """The refusals that a person's approval would lift and nobody has answered, oldest first; of identical calls
        the latest."""
        return self._state.approvals.asked

    def approvable(self, decision: Decision) -> bool:
        """Whether the refused call would run now if a person approved it: nobody need be asked about any other.

        It would if all that refuses it asks (`ASK`), or is a rule that the event `approved(...)` satisfies. A call that
        stops the run is not approved, nor one that the model itself may insist on.
        """
        with self._lock:
            return self._approvable(decision)

    def giving_way(self, *, asks: bool) -> set[str]:
        """The constraints that refuse a call until the model insists on it or, with `asks`, a person allows it."""
        named = naming(APPROVED, self.constraints)
        return {
            name
            for name, severity in self._effective.items()
            if severity.value.insists
            or (asks and (severity is ConstraintSeverity.ASK or (name in named and severity.value.action != "stop")))
        }

    def approve(
        self, decision: Decision, *, until: float | None = None, by: str | None = None, start: float | None = None
    ) -> Decision:
        """A person allows the call that a decision refused: propose it again, and it runs.

        The event `approved(tool = ..., ...)` is put into the trace. The identical call (the tool, and the arguments as
        JSON values) passes the constraints that asked, once, up to `until` (default: `approval_seconds` from now).
        `by` says who has allowed it. `start` is the time of the answer; times are seconds of the clock that gives calls
        theirs.
        The decision is that on the event: a rule may refuse it (`at_most(approved, 3)`), and then nothing is approved.
        Raises `ConstraintError` for a decision that asks nobody or has been answered, and for an answer that is none.
        """
        check_answer(by, until=until, start=start)
        with self._lock:
            call = refused_call(decision, self._state.approvals, self._state.proposed_before)
            if start is None:
                start = max(time.time(), self._state.latest)
            if until is None:
                until = start + self.settings.approval_seconds
            asked = frozenset(
                v.constraint_name for v in decision.violations if v.refuses and v.severity is ConstraintSeverity.ASK
            )
            return self._approve(call, str(decision.id), asked, start, until, by)

    def deny(self, decision: Decision, reason: str = "", *, by: str | None = None) -> Decision:
        """A person does not allow the call: the decision, with the feedback for the model.

        Raises `ConstraintError` for a decision that asks nobody or has been answered, and for a reason that is no text.
        """
        check_answer(by, reason)
        with self._lock:
            call = refused_call(decision, self._state.approvals, self._state.proposed_before)
            self._deny(call, str(decision.id), reason, by)
            return decision._replace(feedback=denied(decision, reason), plan=())

    def _approvable(self, decision: Decision) -> bool:
        call, state = decision.call, self._state
        if decision.allowed or decision.action == "stop" or call is None or state.stopped is not None:
            return False
        refusing = [v for v in decision.violations if v.refuses]
        if any(v.severity.value.insists for v in refusing):
            return False
        asks = {v.constraint_name for v in refusing if v.severity is ConstraintSeverity.ASK}
        named = naming(APPROVED, self.constraints)
        if any(v.constraint_name not in asks | named for v in refusing):
            return False
        if not named:
            return True
        # Who would answer is not known, so nothing is known of what came of the event.
        event = event_of(call, None, self._step(call), max(time.time(), state.latest)).settle(None)
        first = state.panel.step(Position(event, len(state.calls), state.calls, state.messages))
        if self._refusing(first[1], first[2]):
            return False
        calls = [*state.calls, event]
        call = call._replace(start=event.start)
        second = first[0].step(Position(call, len(calls), calls, state.messages))
        left = self._refusing(second[1], second[2]) - asks
        return all(self._passes(name, call, proposal_of(decision)) for name in left)

    def _passes(self, name: str, call: Call, proposal: int) -> bool:
        """Whether a constraint that a call breaks lets it pass: the model insists, or a person has allowed it."""
        state = self._state
        insists = self._effective[name].value.insists and state.counts.insists(
            name, call, self._message(call), proposal
        )
        return insists or state.approvals.covers(call, name)

    def _refusing(self, broken: tuple[int, ...], failed: Mapping[int, Exception]) -> set[str]:
        """The constraints that refuse, of those that an event has broken or that could not judge it."""
        names = {self.constraints[place].name for place in (*broken, *failed)}
        return {name for name in names if self._effective[name].value.refuses}

    def _step(self, call: Call) -> int | None:
        """The step of an approval: that of the call, or of a later one that has started since."""
        if call.step is None:
            return None
        latest = self._state.calls[-1].step if self._state.calls else None
        return max(call.step, latest or 0)

    def _approve(
        self, call: Call, id: str, asked: frozenset[str], start: float, until: float, by: str | None
    ) -> Decision:
        """Judge the event, and let the call pass unless the event is refused."""
        state = self._state
        if state.stopped is not None:
            return state.stopped._replace(call=call, index=None, own=None)
        answer: dict[str, Json] = {
            "id": id, "constraints": sorted(asked), "start": start, "until": until, "by": by,
        }  # fmt: skip
        state.events.append(("approve", call, answer))
        state.approvals = state.approvals.answer(call, id)
        index, step = len(state.calls), self._step(call)
        event = event_of(call, by, step, start)
        position = Position(event, index, state.calls, state.messages)
        moved = state.panel.step(position)
        broken = self._broken(moved, position, state.step_of_run(step))
        broken = self._weighed(broken, event, state.proposed)
        self._record(broken, event)
        for violation in broken:
            state.counts = state.counts.violated(violation.constraint_name)
        if broken and broken[0].refuses:
            strongest = broken[0].severity
            same = tuple(v for v in broken if v.refuses and v.severity is strongest)
            refused = Decision(
                False, strongest.value.action, broken, feedback(same, ran=False, insisting=""), repairs(same), event
            )  # fmt: skip
            if strongest is ConstraintSeverity.HARD_STOP:
                state.stopped = refused
            return refused
        state.calls.append(event)
        state.panel, state.latest = moved[0], start
        state.approvals = state.approvals.grant(call, asked, start, until)
        return Decision(True, "warn" if broken else "allow", broken, "", "", event, index, state.own(index))

    def _deny(self, call: Call, id: str, reason: str, by: str | None) -> None:
        self._state.events.append(("deny", call, {"id": id, "reason": reason, "by": by}))
        self._state.approvals = self._state.approvals.answer(call, id)

    def _answered(self, event: Mapping[str, Json], known: Known) -> None:
        """Let an answer happen again that is in the state of a guard. Its `step` is the conversation's."""
        answer, kind = decoded(event["answer"], known), "approve" if "approve" in event else "deny"
        args = decoded(event["args"], known)
        call = Call(event[kind], args, event.get("id"), event["step"], event.get("agent"), event.get("start"))
        if kind == "approve":
            asked = frozenset(answer["constraints"])
            self._approve(call, answer["id"], asked, answer["start"], answer["until"], answer.get("by"))
        else:
            self._deny(call, answer["id"], answer["reason"], answer.get("by"))
