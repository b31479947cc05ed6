"""The end of a guarded run that no judged answer brought about: the step limit, or an answer that went around.

When no step is left smolagents asks the model for a text, and that is the answer. It is judged as the call
`final_answer`, by rules that name it. Nobody can be sent back any more, so a text that is refused is no answer: the run
ends with None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smolagents.memory import ActionStep, FinalAnswerStep, PlanningStep

from agentltl.agents.asks import Asks
from agentltl.agents.stop import ConstraintStopError, PendingStopError
from agentltl.constraints.value import Json, hold
from agentltl.guard.approvals import naming
from agentltl.guard.decision import Decision
from agentltl.guard.ending import FINAL_ANSWER
from agentltl.record.text import text_of

if TYPE_CHECKING:
    from smolagents.agents import MultiStepAgent as Base
else:
    Base = object


class GuardedEnd(Asks, Base):
    """A guarded agent that asks at the end of a run what is still owed, and judges an answer that is no call. A stop
    there leaves no answer."""

    _asks_for_answer = False
    """Whether the model is being asked for the answer of a run that has no step left."""
    _ends_with: Any = None
    """The answer of such a run, once it is judged."""
    _ends_by: ConstraintStopError | PendingStopError | None = None
    """What ends such a run instead of an answer."""

    def _handle_max_steps_reached(self, task: str) -> Any:
        """As smolagents asks for an answer when no step is left, unless what is owed stops the run."""
        naming_it = naming(FINAL_ANSWER, self.guard.constraints)
        if not any(c.name in naming_it and c.applies_to_final_answer for c in self.guard.constraints):
            self._require_end(self.step_number - 1)  # nothing that the answer could settle
        self._asks_for_answer, self._ends_by = True, None
        try:
            answer = super()._handle_max_steps_reached(task)
        finally:
            self._asks_for_answer = False
        if self._ends_by is not None:
            raise self._ends_by
        if naming_it:
            answer, self._ends_with = self._ends_with, None
            self._require_end(self.step_number - 1)
        return answer

    def _finalize_step(self, memory_step: ActionStep | PlanningStep | FinalAnswerStep) -> None:
        if isinstance(memory_step, FinalAnswerStep):
            self._require_end(self.step_number - 1)  # whoever ran the answer, and whatever came of it
        elif self._asks_for_answer and isinstance(memory_step, ActionStep):
            self._judge_text(memory_step)
        super()._finalize_step(memory_step)

    def _require_end(self, step: int) -> None:
        """Put on record what is owed now; raises if that stops the run."""
        if self.guard.asks_at_the_end and self.guard.stopped is None:
            decision = self.guard.finish(last=True, step=step)
            if decision.action == "stop":
                raise ConstraintStopError(decision.feedback, decision, self.logger)

    def _judge_text(self, step: ActionStep) -> None:
        """Judge the text of the last step, before anyone gets to see it as the answer."""
        if not naming(FINAL_ANSWER, self.guard.constraints):
            return
        number = step.step_number
        name = next(iter(self.tools[FINAL_ANSWER].inputs), "answer") if FINAL_ANSWER in self.tools else "answer"

        def propose(args: Json) -> Decision:
            if self.guard.asks_at_the_end:
                return self.guard.finish(args, last=True, step=number)
            return self.guard.propose(FINAL_ANSWER, args, step=number)

        asked = self._asked(propose(hold({name: text_of(step.action_output)})), propose, step=number)
        decision, answer = asked.decision, step.action_output
        if asked.changed is not None:
            answer = asked.changed.get(name)
        if decision.allowed:
            outcome = self.guard.settle(decision, result=answer if isinstance(answer, str) else text_of(answer))
            decision = outcome if outcome.action == "stop" else decision
        if not decision.allowed:
            answer, step.observations = None, decision.feedback
        step.action_output = self._ends_with = answer
        if decision.action == "stop":
            self._ends_by = ConstraintStopError(decision.feedback, decision, self.logger)
        elif asked.pending is not None:
            self._ends_by = PendingStopError(decision.feedback, decision, asked.pending, self.logger)
