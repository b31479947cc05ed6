"""Each call of a tool that the model's code makes goes through the guard: judged before it runs, settled after it.

A refusal is an ordinary exception at the place of the call, so the next line does not run on a sentence. A stop is no
`Exception`, so the code cannot go on; where it does all the same (`finally: return`, a thread), the stopped guard
refuses every call, and the run ends with the code. So it is with a call that waits for a person.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.panel import Panel
from rich.text import Text
from smolagents.agents import CodeAgent, MultiStepAgent
from smolagents.local_python_executor import safer_func

from agentltl.agents.code_call import CodeAnswer, CodeCall, CodePending, CodeStop
from agentltl.agents.code_names import named
from agentltl.agents.code_values import exact, owned
from agentltl.agents.joint_call import JointCall
from agentltl.agents.managing import Manages
from agentltl.agents.member_end import End, end_of
from agentltl.agents.members import guarding, outers_of, place_of
from agentltl.agents.models.hidden_error import error_text
from agentltl.agents.nested import inside
from agentltl.agents.patience import Patience
from agentltl.agents.remembering import Remembering
from agentltl.agents.stop import PendingStopError, RefusedCallError
from agentltl.agents.ticket import as_value
from agentltl.agents.verdict import Verdict
from agentltl.constraints.value import Json, hold, thaw
from agentltl.guard.decision import Decision
from agentltl.guard.ending import FINAL_ANSWER

if TYPE_CHECKING:
    from agentltl.agents.code_executor import GuardedExecutor

_SHOWN = frozenset({str, int, float, bool, type(None)})


class CodeExecution(Manages, Remembering, CodeAgent):
    """A code agent that asks `guard` about each call that the code makes, and its approver where that refuses."""

    _executor: GuardedExecutor
    _within: bool
    _waits: CodePending | None = None
    """The call of the code that waits for a person: nothing that comes after it runs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._calls: list[CodeCall] = []
        self._answers: list[CodeAnswer] = []
        """Those of the code that runs."""
        self._logged: set[str] = set()
        self._patience = Patience()
        super().__init__(*args, **kwargs)

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
        if self._member_stop is not None:
            raise CodeStop(self._member_stop)
        if self._waits is not None:
            raise CodePending(self._waits.decision, self._waits.request)
        if self._is_judged:
            args, kwargs = owned(args), owned(kwargs)  # type: ignore[assignment]
        given = named(tool, args, kwargs)
        if given is None:
            return tool(*args, **kwargs)  # raises what Python says of such a call
        call = self._judged(name, tool, given)
        if call.changed is not None:
            args, kwargs = (), call.changed
        try:
            if isinstance(tool, MultiStepAgent):
                with guarding(self, name, tool, self._below(), self._approver()):
                    result = tool(*args, **kwargs)
            else:
                result = tool(*args, **kwargs)
        except BaseException as error:
            end = end_of(error) if isinstance(tool, MultiStepAgent) else None
            self._settle(call, error, error=error, status="pending" if isinstance(end, PendingStopError) else None)
            self._leave_with_member(end, call)
            self._require_no_stop(call)
            self._executor._clean(error)
            raise
        self._settle(call, result, result=as_value(owned(result)))
        self._require_no_stop(call)
        result = self._executor._behind_guard(result)  # a tool that a tool hands out is called like any other
        if name == FINAL_ANSWER and self.guard.constraints:
            self._answers.append(CodeAnswer(result, hold(exact(result)), call.decision.index))
        return result

    def _judged(self, name: str, tool: Any, given: dict[str, object]) -> CodeCall:
        """Judge a call, and put it to a person where one can allow it. It is on record; refused, it raises."""
        step = self.step_number
        outers = () if name == FINAL_ANSWER else outers_of(self)  # its answer is the result of its manager's call
        joint = None
        if outers:
            place = place_of(self)
            joint = JointCall(self.guard, outers, name, place=place, approver=self._approver(), step=step)

        def decided(values: dict[str, object]) -> Decision | Verdict:
            args = hold(exact({argument: as_value(value) for argument, value in values.items()}))
            if joint is not None:
                return joint.judge(args)
            if name == FINAL_ANSWER and self.guard.asks_at_the_end:
                return self.guard.finish(args, step=step)
            return self.guard.propose(name, args, step=step)

        def propose(args: Json) -> Decision | Verdict | None:
            values: dict[str, Any] = dict(thaw(args))
            fitting = None if "*" in values else named(tool, (), values)
            return None if fitting is None else decided(fitting)

        verdict = self._verdict(decided(given))
        call = CodeCall(step, name, verdict.decision, verdict.decision, joint=joint)
        self._calls.append(call)
        self._tell_proposed(call)
        if verdict.asks:
            self._ask(call, verdict, propose)
        self._tell(call)
        if call.decision.allowed:
            return call
        if joint is not None:
            joint.refused(call.feedback)
        self._log_refusal(call)
        if call.decision.action == "stop":
            raise CodeStop(call.decision)
        if call.pending is not None:
            raise CodePending(call.decision, call.pending)
        raise RefusedCallError(call.feedback)

    def _ask(self, call: CodeCall, verdict: Verdict, propose: Callable[[Json], Decision | Verdict | None]) -> None:
        """Ask a person about a refused call; a call of another thread waits for its turn, and is left if the run ends
        meanwhile."""
        with self._patience.question():
            if self._waits is not None:
                raise CodePending(self._waits.decision, self._waits.request)
            asked = self._asked(verdict, propose, step=call.step, id=call.key, joint=call.joint)
            call.decision, call.changed, call.pending = asked.decision, asked.changed, asked.pending
            if asked.pending is not None:
                self._waits = CodePending(asked.decision, asked.pending)

    def _settle(
        self,
        call: CodeCall,
        came: object,
        result: object = None,
        error: BaseException | None = None,
        status: str | None = None,
    ) -> None:
        text = None if error is None else error_text(error)
        call.outcome = self.guard.settle(call.decision, result=result, error=text, status=status)
        if call.joint is not None:
            call.above = call.joint.settle(result, error, status)
        self._tell(call, came)

    def _require_no_stop(self, call: CodeCall) -> None:
        if call.stop is not None:
            raise CodeStop(call.stop) from None

    def _leave_with_member(self, end: End | None, call: CodeCall) -> None:
        """A managed agent whose run has stopped, or waits for a person, ends the run of its manager."""
        if end is None or end.decision is None:
            return
        if isinstance(end, PendingStopError):
            self._require_no_stop(call)
            self._waits = CodePending(end.decision, end.request)
            raise CodePending(end.decision, end.request) from None
        self._stopped_by(end.decision)
        raise CodeStop(end.decision) from None

    def _log_refusal(self, call: CodeCall) -> None:
        """Log a refused call; one that is refused again and again, once in a run."""
        text = call.feedback
        if text not in self._logged:
            self._logged.add(text)
            self.logger.log(Panel(Text(f"Refused tool call: '{call.tool}' with arguments: {call.arguments}")))
            self.logger.log(Text(text))

    def _tell_proposed(self, call: CodeCall) -> None:
        """The code makes a call, and the guard has given its first answer."""

    def _tell(self, call: CodeCall, came: object = None) -> None:
        """A call has been judged; and once more if it was allowed: it has settled, with this result or error."""
