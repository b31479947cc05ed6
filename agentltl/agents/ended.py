"""The end of a guarded run that no judged answer brought about: the step limit, or an answer that went around."""

from __future__ import annotations

from typing import Any

from smolagents.memory import ActionStep, FinalAnswerStep, PlanningStep

from agentltl.agents.guarded_messages import GuardedMessages
from agentltl.agents.masked import Masked
from agentltl.agents.stop import ConstraintStopError


class GuardedEnd(Masked, GuardedMessages):
    """A guarded agent that asks at the end of a run what is still owed. A stop there leaves no answer."""

    def _handle_max_steps_reached(self, task: str) -> Any:
        """As smolagents asks for an answer when no step is left, unless what is owed stops the run."""
        self._require_end(self.step_number - 1)
        self._asks_for_answer = True
        try:
            return super()._handle_max_steps_reached(task)
        finally:
            self._asks_for_answer = False

    def _finalize_step(self, memory_step: ActionStep | PlanningStep | FinalAnswerStep) -> None:
        if isinstance(memory_step, FinalAnswerStep):
            self._require_end(self.step_number - 1)  # whoever ran the answer, and whatever came of it
        super()._finalize_step(memory_step)

    def _require_end(self, step: int) -> None:
        """Put on record what is owed now; raises if that stops the run."""
        if self.guard.asks_at_the_end and self.guard.stopped is None:
            decision = self.guard.finish(last=True, step=step)
            if decision.action == "stop":
                raise ConstraintStopError(decision.feedback, decision, self.logger)
