"""Managed agents while a guarded manager calls them: each of their calls goes through the guards above first.

A member of ours asks those guards itself. Of any other member the tools and managed agents are replaced by guarded ones
for as long as it is called, those of a code agent where they are sent to its executor.
"""

from __future__ import annotations

import copy
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from smolagents.agents import CodeAgent, MultiStepAgent
from smolagents.local_python_executor import LocalPythonExecutor

from agentltl.agents.above import RUNS, Outer, judged, stopped
from agentltl.agents.member_arguments import named
from agentltl.agents.stop import ConstraintStopError, RefusedCallError
from agentltl.agents.ticket import as_value
from agentltl.constraints.value import hold
from agentltl.errors import ConstraintError
from agentltl.guard.decision import Decision
from agentltl.guard.ending import FINAL_ANSWER


class MemberStop(BaseException):
    """A constraint of a manager has stopped the run inside a managed agent. No `except Exception` holds it up."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.feedback)
        self.decision = decision


@dataclass(eq=False)
class Guarding:
    """A managed agent that is being called: `calls` are the guards above it, for each call that runs now."""

    member: MultiStepAgent
    calls: list[tuple[Outer, ...]] = field(default_factory=list)
    messages: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    undo: Callable[[], None] = lambda: None

    @property
    def outers(self) -> tuple[Outer, ...]:
        """The guards above, each once."""
        return tuple({id(outer.guard): outer for call in self.calls for outer in call}.values())

    def step(self) -> int:
        """The number of the message that a call of the agent belongs to; each call of a code agent has one of its
        own."""
        return next(self.messages) if isinstance(self.member, CodeAgent) else self.member.step_number

    def call(self, name: str, tool: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The agent calls one of its tools or managed agents."""
        outers = self.outers
        if not outers or name == FINAL_ANSWER:  # a member's answer is the result of its manager's call
            return tool(*args, **kwargs)
        given = hold({argument: as_value(value) for argument, value in named(tool, args, kwargs).items()})
        decision, above = judged(None, outers, name, given, own_step=self.step())
        if not decision.allowed:
            raise MemberStop(decision) if decision.action == "stop" else RefusedCallError(decision.feedback, decision)
        try:
            with guarding(tool, outers):
                result = tool(*args, **kwargs)
        except BaseException as error:
            outcomes = above.settle(error=error)
            _stop(outers, outcomes)
            raise
        outcomes = above.settle(result=as_value(result))
        _stop(outers, outcomes)
        told = [outcome.feedback for outcome in outcomes if outcome.feedback]
        if told and isinstance(result, str) and not isinstance(self.member, CodeAgent):
            return "\n".join([result, *told])  # what the member's model observes
        return result


def _stop(outers: tuple[Outer, ...], outcomes: list[Decision]) -> None:
    if any(outcome.action == "stop" for outcome in outcomes) or stopped(outers) is not None:
        decision = next((outcome for outcome in outcomes if outcome.action == "stop"), None) or stopped(outers)
        assert decision is not None
        raise MemberStop(decision)


_running: WeakKeyDictionary[MultiStepAgent, Guarding] = WeakKeyDictionary()
_lock = threading.RLock()


def outers_of(member: MultiStepAgent) -> tuple[Outer, ...]:
    """The guards above an agent that is being called by its manager now; none for any other."""
    known = _running.get(member)
    return () if known is None else known.outers


@contextmanager
def guarding(member: object, outers: tuple[Outer, ...]) -> Iterator[None]:
    """While it lasts, the calls of a managed agent are judged by these guards; does nothing for what is no agent."""
    if not outers or not isinstance(member, MultiStepAgent):
        yield
        return
    require_guardable(member)
    name, run = str(member.name), next(RUNS)
    call = tuple(outer._replace(agent=name, run=run) for outer in outers)
    with _lock:
        known = _running.get(member)
        if known is None:
            known = Guarding(member)
            known.undo = _wrapped(known)
            _running[member] = known
        known.calls.append(call)
    try:
        yield
    finally:
        with _lock:
            known.calls.remove(call)
            if not known.calls:
                del _running[member]
                known.undo()


def tools_of(member: object) -> set[str]:
    """The names of all that a managed agent may call, and the agents that it manages; its answer is none of these."""
    names: set[str] = set()
    for one in _with_members(member):
        names |= {*getattr(one, "tools", {}), *getattr(one, "managed_agents", {})}
    return names - {FINAL_ANSWER}


def _with_members(member: object) -> list[object]:
    """An agent and all that it manages, at any depth, each once: agents may manage one another in a circle."""
    found, met = [member], {id(member)}
    for one in found:
        for inner in getattr(one, "managed_agents", {}).values():
            if id(inner) not in met:
                met.add(id(inner))
                found.append(inner)
    return found


def require_guardable(member: object) -> None:
    """Raises `ConstraintError` for a code agent whose code runs elsewhere, where no guard sees its calls."""
    for one in _with_members(member):
        if isinstance(one, CodeAgent) and not isinstance(one.python_executor, LocalPythonExecutor):
            what = type(one.python_executor).__name__
            raise ConstraintError(
                f"the managed agent `{one.name}` runs its code with `{what}`, where no guard sees its calls\n"
                'give it executor_type="local", or make it a ToolCallingAgent'
            )


def _wrapped(known: Guarding) -> Callable[[], None]:
    """Put guarded tools into a member; gives what takes them out again."""
    member = known.member
    if getattr(member, "asks_guards_above", False):
        return lambda: None
    if isinstance(member, CodeAgent) and not hasattr(member, "guard"):
        return _sent(known, member.python_executor)
    replaced: list[tuple[dict[str, Any], str, object, object]] = []
    for place in (member.tools, member.managed_agents):
        for name, tool in list(place.items()):
            place[name] = guarded = Guarded(known, name, tool)
            replaced.append((place, name, guarded, tool))

    def undo() -> None:
        for place, name, guarded, tool in replaced:
            if place.get(name) is guarded:
                place[name] = tool

    return undo


def _sent(known: Guarding, executor: Any) -> Callable[[], None]:
    """Let an executor get functions in the place of tools: code can look into an object, and not into a function."""
    send = executor.send_tools

    def send_tools(tools: dict[str, Any]) -> None:
        send({name: _function(known, name, tool) for name, tool in tools.items()})

    executor.send_tools = send_tools
    return lambda: executor.__dict__.pop("send_tools", None)


def _function(known: Guarding, name: str, tool: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return known.call(name, tool, args, kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = getattr(tool, "description", None)
    return call


class Guarded:
    """A tool or an agent of a member, whose calls are judged first. In everything else it is the one behind it."""

    __slots__ = ("_behind", "_known", "_name")

    def __init__(self, known: Guarding, name: str, behind: Any) -> None:
        for slot, value in zip(Guarded.__slots__, (behind, known, name), strict=True):
            object.__setattr__(self, slot, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._known.call(self._name, self._behind, args, kwargs)

    forward = __call__

    def __getattr__(self, name: str) -> Any:
        if name in Guarded.__slots__:
            raise AttributeError(name)
        return getattr(self._behind, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._behind, name, value)

    def __repr__(self) -> str:
        return repr(self._behind)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self._behind, memo)  # nobody calls the copy of a member

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._behind)


def decision_of(error: BaseException) -> Decision | None:
    """The decision with which a managed agent's call was stopped, if it was."""
    if isinstance(error, MemberStop):
        return error.decision
    cause = error.__cause__
    return cause.decision if isinstance(cause, ConstraintStopError) else None
