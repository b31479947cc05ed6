"""The end of a run: what constraints still owe is asked for before an answer is accepted, and a violation after that.

Only constraints marked `applies_to_final_answer` are asked for. At the end no call is left to refuse but the answer:
to send the model back is how a constraint refuses there, and `final_answer_retries` bounds it. After that `HARD_STOP`
(also one that a soft constraint has become) stops the run without an answer, and with every other severity the answer
is accepted and the violation is on record.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.explain import NOT_YET, OWED, explain, explain_breach
from agentltl.constraints.panel import Panel
from agentltl.constraints.trace import Call, Trace
from agentltl.constraints.value import FrozenDict
from agentltl.constraints.verdict import Truth
from agentltl.guard.answers import FEEDBACK_CAP
from agentltl.guard.approving import Approving
from agentltl.guard.decision import Decision, Violation
from agentltl.guard.feedback import asking, stopping
from agentltl.guard.planning import Plan, to_end
from agentltl.guard.severity import ConstraintSeverity
from agentltl.guard.weighing import recounted

log = logging.getLogger("agentltl")
FINAL_ANSWER = "final_answer"
_OPEN = (Truth.PFALSE, Truth.FALSE)


@dataclass(frozen=True, slots=True)
class End:
    """A run that may end here: with the `answer` (None: without a call) in this `step` of the run. `panel` is where the
    rules stand after it; `last`: no step is left to send the model back to."""

    answer: Call | None
    step: int | None
    panel: Panel
    last: bool


class Ending(Approving):
    """What a guard says of the end of a run."""

    fields: FrozenDict

    @cached_property
    def asks_at_the_end(self) -> bool:
        """Whether some constraint is marked `applies_to_final_answer`."""
        return any(constraint.applies_to_final_answer for constraint in self.constraints)

    def _with_owed(self, decision: Decision) -> Decision:
        """The decision with all that is owed now, behind what it asks for itself."""
        now = (name for name, monitor in self.monitors().items() if monitor.verdict.truth in _OPEN)
        return decision._replace(owed=tuple(dict.fromkeys([*decision.owed, *now])))

    def _due(self, panel: Panel) -> list[Constraint]:
        """The marked constraints that owe something, and of which that is not on record yet."""
        marked = ((i, c) for i, c in enumerate(self.constraints) if c.applies_to_final_answer)
        due = [c for i, c in marked if panel.monitor(i).verdict.truth in _OPEN]
        return [c for c in due if c.name not in self._state.charged]

    def _ended(self, end: End) -> Decision | None:
        """The answer to a run that would end: the model is sent back, or what is owed is on record. None if nothing is
        owed; an answer that is accepted all the same is the caller's to start."""
        due = self._due(end.panel)
        if not due:
            return None
        asked = self._sent_back(end, due)
        return asked if asked is not None else self._charged(end, due)

    def _sent_back(self, end: End, due: Sequence[Constraint]) -> Decision | None:
        """The decision that sends the model back; None if it is not to be sent back (any more)."""
        state = self._state
        if end.last or state.asked >= self.settings.final_answer_retries:
            return None
        open_ = [c for c in due if self._asks(c, end)]
        if not open_:
            return None
        scene = replace(self._scene(), cap=FEEDBACK_CAP)
        plan = to_end(scene, [c.name for c in open_], end.answer)
        if plan.proved and len(open_) > 1:  # what one of them owes may be out of reach, and the rest be in it
            open_ = [c for c in open_ if not to_end(scene, [c.name], end.answer).proved]
            plan = to_end(scene, [c.name for c in open_], end.answer) if open_ else plan
        if not open_ or (plan.proved and len(open_) == 1):
            return None
        state.asked += 1
        for c in open_:
            if end.answer is not None and self.severities[c.name].value.insists:
                state.counts = state.counts.warn(c.name, end.answer, self._message(end.answer), state.proposed)
        return self._asking(end, open_, plan)

    def _asks(self, constraint: Constraint, end: End) -> bool:
        """Whether a constraint sends the model back for what it owes."""
        place = self.constraints.index(constraint)
        if not self.settings.enforce or not constraint.enforce:
            return False
        if end.panel.monitor(place).verdict.truth is Truth.FALSE:  # nothing that follows settles it
            return False
        if end.answer is None or not self.severities[constraint.name].value.insists:
            return True
        return not self._state.counts.insists(
            constraint.name, end.answer, self._message(end.answer), self._state.proposed
        )

    def _asking(self, end: End, due: Sequence[Constraint], plan: Plan) -> Decision:
        trace = self._trace_at(end)
        told = [(c, _told(c, trace, ended=False), self.severities[c.name].value.insists) for c in due]
        repair = " ".join(dict.fromkeys(c.repair for c in due if c.repair))
        text = asking(told, plan, repeat=end.answer is not None)
        names = tuple(c.name for c in due)
        return Decision(False, "retry", (), text, repair, end.answer, None, None, names, plan.calls or ())

    def _charged(self, end: End, due: Sequence[Constraint]) -> Decision | None:
        """What is owed goes on record as violations; a stop is stored."""
        state = self._state
        trace = self._trace_at(end)
        call = end.answer or Call(FINAL_ANSWER, FrozenDict())
        broken = self._weighed(
            [
                Violation(
                    c.name,
                    self.severities[c.name],
                    end.step,
                    FINAL_ANSWER,
                    call.args,
                    _told(c, trace, ended=True),
                    c.repair,
                    c.description,
                )
                for c in due
            ],
            call,
            state.proposed,
        )
        state.charged |= {c.name for c in due}
        stops = [v for v in broken if v.refuses and v.severity is ConstraintSeverity.HARD_STOP]
        state.counts = recounted(state.counts, broken, (), call, None, state.proposed, False)
        self._record(broken, call)
        if stops:
            text, repair = stopping(stops), " ".join(dict.fromkeys(v.repair for v in stops if v.repair))
            # The end has stopped the run, not the call: the stop that is stored has none.
            state.stopped = Decision(False, "stop", (*stops, *(v for v in broken if v not in stops)), text, repair)
            return state.stopped._replace(call=end.answer)
        for violation in broken:
            if violation.refuses:
                log.warning("the run ends though `%s` is owed: %s", violation.constraint_name, violation.detail)
        return Decision(True, "warn", broken, "", " ".join(dict.fromkeys(v.repair for v in broken if v.repair)))

    def _trace_at(self, end: End) -> Trace:
        calls = (*self._state.calls, *(() if end.answer is None else (end.answer,)))
        return Trace(calls, tuple(self._state.messages), fields=self.fields)


def _told(constraint: Constraint, trace: Trace, *, ended: bool) -> str:
    """The sentence that says what is owed."""
    try:
        if ended:
            return explain_breach(constraint.formula, trace, len(trace))
        return explain(constraint.formula, trace, finished=False)
    except Exception:  # the verdict stands without its sentence
        log.exception("no sentence says what `%s` owes", constraint.name)
        return OWED if ended else NOT_YET
