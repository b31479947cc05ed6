"""Guarded tools in the place of a managed agent's own, while a guarded manager calls it.

Those of a tool-calling agent are replaced in its `tools` and `managed_agents` (and calls of one message that a rule
relates wait for one another: see `one_by_one.py`), those of a code agent by an executor that lets nothing into the
reach of the code that calls a tool past the guard.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from smolagents.agents import CodeAgent, MultiStepAgent, ToolCallingAgent
from smolagents.local_python_executor import CodeOutput, LocalPythonExecutor

from agentltl.agents.code_executor import GuardedExecutor
from agentltl.agents.one_by_one import OneByOne
from agentltl.agents.stand_in import StandIn, put

if TYPE_CHECKING:
    from agentltl.agents.members import Guarding


def wrap(known: Guarding) -> Callable[[], None]:
    """Put guarded tools into a managed agent; gives what takes them out again. One that asks the guards above by itself
    keeps its own."""
    member = known.member
    if getattr(member, "asks_guards_above", False):
        return lambda: None
    if isinstance(member, CodeAgent) and not hasattr(member, "guard"):
        return _in_code(known, member)
    return _in_places(known, member)


def _in_places(known: Guarding, member: MultiStepAgent) -> Callable[[], None]:
    """Guard what stands in the agent's dicts, and before each call what has come to stand there since."""
    places: dict[int, dict[str, Any]] = {}

    def renew() -> None:
        for place in (member.tools, member.managed_agents):
            places[id(place)] = place
            for name, tool in list(place.items()):
                if type(tool) is not Guarded:
                    place[name] = Guarded(known, name, tool)

    renew()
    taking_out: list[Callable[[], None]] = []
    if hasattr(member, "execute_tool_call"):
        taking_out.append(put(member, "execute_tool_call", Renewing(renew, member.execute_tool_call)))
    if isinstance(member, ToolCallingAgent):
        taking_out.append(put(member, "process_tool_calls", OneByOne(known, member.process_tool_calls)))

    def undo() -> None:
        for take_out in taking_out:
            take_out()
        for place in [*places.values(), member.tools, member.managed_agents]:
            for name, tool in list(place.items()):
                if type(tool) is Guarded:
                    place[name] = tool._behind

    return undo


class Renewing(StandIn):
    """A method of an agent before which its tools are looked at anew."""

    def __init__(self, renew: Callable[[], None], method: Callable[..., Any]) -> None:
        super().__init__(method)
        self._renew = renew

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._renew()
        return self._method(*args, **kwargs)


def _in_code(known: Guarding, member: CodeAgent) -> Callable[[], None]:
    inner = member.python_executor
    if not isinstance(inner, LocalPythonExecutor):  # no guard is above: see `require_guardable`
        return lambda: None
    vars(member)["python_executor"] = CodeOf(known, inner).executor

    def undo() -> None:
        vars(member)["python_executor"] = inner

    return undo


class MemberExecutor(GuardedExecutor):
    """The guarded executor of an agent that is not ours. Its copy is that of the executor behind it."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self._inner, memo)


class CodeOf:
    """What a guarded `executor` asks of an agent, for one that is not ours."""

    def __init__(self, known: Guarding, inner: LocalPythonExecutor) -> None:
        self._known = known
        self.executor = MemberExecutor(self, inner)  # type: ignore[arg-type]

    @property
    def tools(self) -> Mapping[str, Any]:
        """The agent's tools."""
        tools: Mapping[str, Any] = self._known.member.tools
        return tools

    @property
    def managed_agents(self) -> Mapping[str, Any]:
        """The agents that it manages."""
        agents: Mapping[str, Any] = self._known.member.managed_agents
        return agents

    def _guarded(self, name: str, tool: Any) -> Callable[..., Any]:
        """What the code gets in the place of a tool: a function, since code cannot look into one."""

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                result = self._known.call(name, tool, args, kwargs)
            except Exception as error:
                self.executor._clean(error)
                raise
            return self.executor._behind_guard(result)  # a tool that a tool hands out is called like any other

        call.__name__ = call.__qualname__ = name
        call.__doc__ = getattr(tool, "description", None)
        return call

    def _run_code(self, executor: LocalPythonExecutor, code: str) -> CodeOutput:
        return executor(code) if self._known.approver is None else self._known.patience.run(executor, code)


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
