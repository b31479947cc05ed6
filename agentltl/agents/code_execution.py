"""Each call of a tool that the model's code makes goes through the guard: judged before it runs, settled after it.

A refusal is an ordinary exception at the place of the call, so the next line does not run on a sentence. A stop is no
`Exception`, so the code cannot go on; where it does all the same (`finally: return`, a thread), the stopped guard
refuses every call, and the run ends with the code.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from rich.panel import Panel
from rich.text import Text
from smolagents.agents import CodeAgent
from smolagents.local_python_executor import (
    CodeOutput,
    LocalPythonExecutor,
    PrintContainer,
    PythonExecutor,
    safer_func,
)
from smolagents.memory import ActionStep, FinalAnswerStep, PlanningStep

from agentltl.agents.code_call import CodeCall, CodeStop
from agentltl.agents.code_executor import GuardedExecutor, remote, require_local
from agentltl.agents.code_names import named
from agentltl.agents.code_values import exact, owned
from agentltl.agents.nested import inside
from agentltl.agents.stop import ConstraintStopError, RefusedCallError
from agentltl.agents.ticket import as_value
from agentltl.constraints.value import as_text, hold
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard

_SHOWN = frozenset({str, int, float, bool, type(None)})


class GuardedCode(CodeAgent):
    """A code agent that asks `guard` about each call that the code makes.

    A step of its memory has the calls in the order in which they were made, as `judged_calls`: a list of `CodeCall`.
    """

    guard: Guard
    _member_stop: Decision | None = None
    _stopped_logs: str | None = None
    """What the code had printed when a stop left it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._calls: list[CodeCall] = []
        self._logged: set[str] = set()
        super().__init__(*args, **kwargs)

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
        try:
            ended: Any = super().run(*args, **kwargs)
        except CodeStop as stop:
            raise self._stop(stop) from None
        return self._streamed(ended) if kwargs.get("stream") else ended

    def step(self, memory_step: ActionStep) -> Any:
        """Make one step. A stop in the code leaves under its own name."""
        try:
            return super().step(memory_step)
        except CodeStop as stop:
            raise self._stop(stop) from None
        finally:
            self._write_calls(memory_step)

    def _streamed(self, events: Generator[Any]) -> Generator[Any]:
        try:
            yield from events
        except CodeStop as stop:
            raise self._stop(stop) from None

    def _stop(self, stop: CodeStop) -> ConstraintStopError:
        return ConstraintStopError(stop.decision.feedback, stop.decision, self.logger)

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

    def _guarded(self, name: str, tool: Any) -> Callable[..., Any]:
        """What the code gets in the place of a tool. It is a function, since code cannot look into one."""

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._called(name, tool, args, kwargs)

        looks = safer_func(tool)  # what smolagents shows of a tool, in messages too
        call.__name__, call.__qualname__, call.__doc__ = looks.__name__, looks.__qualname__, looks.__doc__
        # What smolagents shows the code of a tool are the attributes of the object; of them those that do nothing.
        shown = {n: v for n, v in getattr(tool, "__dict__", {}).items() if type(v) in _SHOWN and not n.startswith("_")}
        call.__dict__.update(shown)
        return call

    @inside
    def _called(self, name: str, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The code calls a tool or a managed agent."""
        if self.guard.constraints:
            args, kwargs = owned(args), owned(kwargs)  # type: ignore[assignment]
        given = named(tool, args, kwargs)
        if given is None:
            return tool(*args, **kwargs)  # raises what Python says of such a call
        given = {argument: as_value(value) for argument, value in given.items()}
        decision = self.guard.propose(name, hold(exact(given)), step=self.step_number)
        call = CodeCall(self.step_number, name, decision)
        self._calls.append(call)
        self._tell(call)
        if not decision.allowed:
            self._log_refusal(call)
            raise CodeStop(decision) if decision.action == "stop" else RefusedCallError(decision.feedback)
        executor: GuardedExecutor = self.__dict__["_executor"]
        try:
            result = tool(*args, **kwargs)
        except BaseException as error:
            call.outcome = self.guard.settle(decision, error=as_text(error) or type(error).__name__)
            self._tell(call, error)
            if isinstance(error, ConstraintStopError) and error.decision and self.managed_agents.get(name) is tool:
                self._member_stop = error.decision
                raise CodeStop(error.decision) from None
            if call.outcome.action == "stop":
                raise CodeStop(call.outcome) from None
            executor._clean(error)
            raise
        call.outcome = self.guard.settle(decision, result=as_value(owned(result)))
        self._tell(call, result)
        if call.outcome.action == "stop":
            raise CodeStop(call.outcome)
        return executor._behind_guard(result)  # a tool that a tool hands out is called like any other

    def _run_code(self, executor: LocalPythonExecutor, code: str) -> CodeOutput:
        """Run code. What the model would not hear of its calls otherwise is put behind what the code has printed."""
        calls, before = self._calls, len(self._calls)
        output: CodeOutput | None = None
        error: Exception | None = None
        left: Decision | None = None
        try:
            output = executor(code)
        except CodeStop as stop:
            left = stop.decision
        except Exception as raised:
            error = raised
        printed = executor.state.get("_print_outputs", "")
        heard = f"{printed}{'' if error is None else error}"
        untold = [text for text in dict.fromkeys(c.feedback for c in calls[before:]) if text and text not in heard]
        told = "".join(f"{text}\n" for text in untold)
        if told and isinstance(printed, PrintContainer):
            printed.append(told)  # type: ignore[no-untyped-call]
        decision = self._member_stop or self.guard.stopped or left
        if decision is not None:
            self._stopped_logs = f"Execution logs:\n{printed}"
            raise CodeStop(decision)
        if error is not None:
            raise error
        assert output is not None
        return CodeOutput(output.output, output.logs + told, output.is_final_answer) if told else output

    def _log_refusal(self, call: CodeCall) -> None:
        """Log a refused call; one that is refused again and again, once in a run."""
        text = call.decision.feedback
        if text not in self._logged:
            self._logged.add(text)
            self.logger.log(Panel(Text(f"Refused tool call: '{call.tool}' with arguments: {call.arguments}")))
            self.logger.log(Text(text))

    def _tell(self, call: CodeCall, came: object = None) -> None:
        """A call has been judged; and once more if it was allowed: it has settled, with this result or error."""
