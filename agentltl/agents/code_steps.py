"""The steps of a guarded code agent: how code is run, what its step remembers of it, and how it ends the run.

A step of the memory has the calls in the order in which they were made, as `judged_calls`: a list of `CodeCall`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from smolagents.local_python_executor import CodeOutput, LocalPythonExecutor, PrintContainer, PythonExecutor
from smolagents.memory import ActionStep, FinalAnswerStep, PlanningStep

from agentltl.agents.code_call import CodeCall, CodePending, CodeStop
from agentltl.agents.code_execution import CodeExecution
from agentltl.agents.code_executor import GuardedExecutor, remote, require_local
from agentltl.agents.code_values import exact
from agentltl.agents.stop import RefusedCallError
from agentltl.agents.ticket import as_value, same
from agentltl.constraints.value import hold
from agentltl.guard.approvals import naming
from agentltl.guard.ending import FINAL_ANSWER
from agentltl.guard.planned import PlannedCall

MOST_TOLD = 10
"""How many calls a step names of those that ran before the one that waits."""


class GuardedCode(CodeExecution):
    """A code agent that asks `guard` about each call that the code makes."""

    _stopped_logs: str | None = None
    """What the code had printed when a stop left it."""

    @property
    def python_executor(self) -> PythonExecutor:
        """The executor of the code. Only a local one can be set."""
        try:
            executor: GuardedExecutor = self.__dict__["_executor"]
        except KeyError:
            raise AttributeError("python_executor") from None
        return executor

    @python_executor.setter
    def python_executor(self, executor: PythonExecutor) -> None:
        inner = executor._inner if isinstance(executor, GuardedExecutor) else require_local(executor)
        self.__dict__["_executor"] = GuardedExecutor(self, inner)

    def create_python_executor(self) -> PythonExecutor:
        """The local executor; a remote one is a `ConstraintError`, before anything is started."""
        if self.executor_type != "local":
            raise remote(self.executor_type)
        made: PythonExecutor = super().create_python_executor()
        return made

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the agent. A stop in the code leaves under its own name."""
        self._calls, self._logged, self._stopped_logs = [], set(), None
        if not self._within:
            self._waits = None
        try:
            ended: Any = super().run(*args, **kwargs)
        except CodeStop as stop:
            raise stop.error(self.logger) from None
        return self._streamed(ended) if kwargs.get("stream") else ended

    def step(self, memory_step: ActionStep) -> Any:
        """Make one step. A stop in the code leaves under its own name."""
        try:
            return super().step(memory_step)
        except CodeStop as stop:
            raise stop.error(self.logger) from None
        finally:
            self._write_calls(memory_step)

    def _streamed(self, events: Generator[Any]) -> Generator[Any]:
        try:
            yield from events
        except CodeStop as stop:
            raise stop.error(self.logger) from None

    def _finalize_step(self, memory_step: ActionStep | PlanningStep | FinalAnswerStep) -> None:
        if isinstance(memory_step, ActionStep):
            self._write_calls(memory_step)
        super()._finalize_step(memory_step)

    def _write_calls(self, step: ActionStep) -> None:
        """Write into a finished step what its code called, and what it had printed when it was stopped."""
        calls, self._calls = self._calls, []
        step.judged_calls = calls  # type: ignore[attr-defined]
        if self._stopped_logs is not None:
            step.observations, self._stopped_logs = self._stopped_logs, None

    def _run_code(self, executor: LocalPythonExecutor, code: str) -> CodeOutput:
        """Run code. What the model would not hear of its calls otherwise is put behind what the code has printed."""
        calls, before = self._calls, len(self._calls)
        around, self._answers = self._answers, []
        output: CodeOutput | None = None
        error: Exception | None = None
        left: CodeStop | None = None
        try:
            output = executor(code) if self._approver() is None else self._patience.run(executor, code)
            if output.is_final_answer and self.guard.constraints:
                output = CodeOutput(self._accepted(output.output), output.logs, True)
        except CodeStop as stop:
            left = stop
        except Exception as raised:
            error = raised
        finally:
            self._answers = around
        printed = executor.state.get("_print_outputs", "")
        heard = f"{printed}{'' if error is None else error}"
        untold = [text for text in dict.fromkeys(c.feedback for c in calls[before:]) if text and text not in heard]
        left = self._left(left)
        if isinstance(left, CodePending):
            untold = [*dict.fromkeys([*untold, left.decision.feedback]), _ended_at(calls[before:])]
        told = "".join(f"{text}\n" for text in untold)
        if told and isinstance(printed, PrintContainer):
            printed.append(told)  # type: ignore[no-untyped-call]
        if left is not None:
            self._stopped_logs = f"Execution logs:\n{printed}"
            raise left
        if error is not None:
            raise error
        assert output is not None
        return CodeOutput(output.output, output.logs + told, output.is_final_answer) if told else output

    def _left(self, stop: CodeStop | None) -> CodeStop | None:
        """What the run ends with, whatever has come out of the code: a stop, or a call that waits for a person."""
        stopped = self._member_stop or self._stopped()
        return CodeStop(stopped) if stopped is not None else self._waits or stop

    def _accepted(self, answer: object) -> object:
        """The code is over, and this would be the answer: what is. It raises where none is accepted.

        Code that gets hold of what carries the answer out of it can change it, and can make calls behind it
        (`finally`). Then the answer is judged as it comes out; and what such calls owe is asked for.
        """
        if self._waits is not None or self.guard.stopped is not None:
            return answer
        if naming(FINAL_ANSWER, self.guard.constraints):
            now, latest = hold(exact(answer)), len(self.guard.trace.calls) - 1
            if not any(answer is a.value and same(now, a.was) and a.index == latest for a in self._answers):
                tool = self.tools[FINAL_ANSWER]
                name = next(iter(tool.inputs), "answer")
                call = self._judged(FINAL_ANSWER, tool, {name: answer})
                answer = answer if call.changed is None else call.changed.get(name)
                self._settle(call, answer, result=as_value(answer))
                self._require_no_stop(call)
        if self.guard.asks_at_the_end:
            decision = self.guard.finish(step=self.step_number)
            if not decision.allowed:
                raise CodeStop(decision) if decision.action == "stop" else RefusedCallError(decision.feedback)
        return answer


def _ended_at(calls: Sequence[CodeCall]) -> str:
    """What a model that takes up the run has to know of the code: it cannot be taken up in its middle."""
    made = [c.decision.call for c in calls if c.decision.allowed]
    ran = [f"`{PlannedCall(call.tool, call.args)}`" for call in made if call is not None]
    more = [f"{len(ran) - MOST_TOLD} more"] if len(ran) > MOST_TOLD else []
    said = f"These calls of it have run: {', '.join([*more, *ran[-MOST_TOLD:]])}." if ran else "No call of it has run."
    return f"The code has ended at this call, and what comes after it has not run. {said}"
