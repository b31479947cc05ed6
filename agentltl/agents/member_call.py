"""One call of a managed agent that is not ours: judged by the guards above, asked about, run and settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from smolagents.agent_types import AgentAudio, AgentImage
from smolagents.agents import CodeAgent, MultiStepAgent
from smolagents.local_python_executor import PrintContainer
from smolagents.tools import validate_tool_arguments

from agentltl.agents.above import Outer, Place, stopped
from agentltl.agents.asking import Asking
from agentltl.agents.code_names import OPTION, named
from agentltl.agents.code_values import exact, owned
from agentltl.agents.joint_call import JointCall
from agentltl.agents.member_end import MemberEnd, end_of
from agentltl.agents.patience import Patience
from agentltl.agents.stop import ConstraintStopError, PendingStopError, RefusedCallError
from agentltl.agents.ticket import as_value, changed_to
from agentltl.agents.verdict import Verdict
from agentltl.constraints.value import Json, hold, thaw
from agentltl.guard.decision import Decision

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


class MemberCall:
    """A call of `tool` by a managed agent, under the name that it has there. Without guards above it is just run."""

    def __init__(self, member: MultiStepAgent, name: str, tool: Any, outers: tuple[Outer, ...]) -> None:
        self._member, self._name, self._tool, self._outers = member, name, tool, outers
        self._joint: JointCall | None = None
        self._told: list[str] = []
        """What the agent's model is to hear besides the result."""

    def judge(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], place: Callable[[], Place], patience: Patience
    ) -> Arguments:
        """The arguments that run. They are copies that nobody else holds: what is judged is what runs.

        A refused call raises; one that waits for a person, or stops the run, a `MemberEnd`.
        """
        if not self._outers:
            return args, kwargs
        try:
            args, kwargs = owned(args), owned(dict(kwargs))  # type: ignore[assignment]
        except RecursionError:
            raise RefusedCallError(
                f"the arguments of `{self._name}` are nested too deeply to be judged\ncall it with simpler ones"
            ) from None
        held = self._held(args, kwargs)
        if held is None:  # the tool says what Python says of such a call
            return args, kwargs
        joint = JointCall(None, self._outers, self._name, place=place())
        verdict = joint.judge(held)
        decision, changed = verdict.decision, None
        if not decision.allowed:
            member = self._member
            asking = Asking(joint.tell, member.task, member.step_number, member.name)

            def propose(args: Json) -> Verdict | None:
                given = thaw(args)
                try:
                    validate_tool_arguments(self._tool, given)
                except Exception:
                    return None
                again = self._held((), given)
                return None if again is None else joint.judge(again)

            with patience.question() if verdict.asks else nullcontext():
                asked = asking.ask(verdict, propose)
            decision, changed = asked.decision, asked.changed
            told = decision.feedback
            if changed is not None:
                self._told.append(changed_to(hold(changed)))
                told = "\n".join([told, *self._told])
            if not decision.allowed:
                joint.refused(told)
                decision = decision._replace(feedback=told)
                if asked.pending is not None:
                    raise MemberEnd(PendingStopError(told, decision, asked.pending))
                if decision.action == "stop":
                    raise MemberEnd(ConstraintStopError(told, decision))
                raise RefusedCallError(told, decision)
        self._joint = joint
        if changed is None:
            return args, kwargs
        return (), {**changed, **{name: value for name, value in kwargs.items() if name == OPTION}}

    def run(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], within: AbstractContextManager[None]) -> Any:
        """Run it within this context, and settle it for the guards above."""
        try:
            with within:
                result = self._tool(*args, **kwargs)
        except BaseException as error:
            end = end_of(error) if isinstance(self._tool, MultiStepAgent) else None
            waits = isinstance(end, PendingStopError)
            self._settled(error=error, status="pending" if waits else None)
            if end is not None:
                raise MemberEnd(end) from error
            if self._told and not self._tell_code() and isinstance(error, Exception):
                error.args = ("\n".join([str(error), *self._told]),)  # what the member's model observes
            raise
        self._settled(result=as_value(result))
        return self._with_words(result)

    def _held(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Json | None:
        """The arguments as the guards see them; None where Python rejects the call."""
        found = named(self._tool, args, kwargs)
        if found is None:
            return None
        given = {argument: as_value(value) for argument, value in found.items()}
        return hold(exact(given) if isinstance(self._member, CodeAgent) else given)

    def _settled(self, result: object = None, error: BaseException | None = None, status: str | None = None) -> None:
        """What came of it; raises if that stops a run above, or something else has."""
        outcomes = [] if self._joint is None else self._joint.settle(result, error, status)
        self._told += [outcome.feedback for outcome in outcomes if outcome.feedback]
        stop: Decision | None = next((one for one in outcomes if one.action == "stop"), None) or stopped(self._outers)
        if stop is not None:
            raise MemberEnd(ConstraintStopError(stop.feedback, stop)) from error

    def _with_words(self, result: Any) -> Any:
        """The result as the member's model observes it."""
        if not self._told or self._tell_code() or isinstance(result, AgentImage | AgentAudio):
            return result
        return "\n".join([str(result), *self._told])

    def _tell_code(self) -> bool:
        """Put what its model is to hear behind what the code of a code agent has printed."""
        if not isinstance(self._member, CodeAgent):
            return False
        printed = getattr(self._member.python_executor, "state", {}).get("_print_outputs")
        if isinstance(printed, PrintContainer):
            for told in self._told:
                printed.append(f"{told}\n")  # type: ignore[no-untyped-call]
        return True
