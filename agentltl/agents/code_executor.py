"""smolagents' local executor with nothing in the reach of the code that calls a tool past the guard.

The interpreter is no sandbox. What is closed here are the ways that it leaves open with the imports it allows by
itself: tools among the variables, and the frames of generators, where the tools lie about.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from smolagents.agents import MultiStepAgent
from smolagents.local_python_executor import (
    BASE_PYTHON_TOOLS,
    CodeOutput,
    InterpreterError,
    LocalPythonExecutor,
    PrintContainer,
)
from smolagents.tools import BaseTool

from agentltl.errors import ConstraintError

if TYPE_CHECKING:
    from agentltl.agents.code_steps import GuardedCode

_FRAMES = frozenset(
    {"gi_frame", "cr_frame", "ag_frame", "tb_frame", "f_back", "f_locals", "f_globals", "f_builtins", "cell_contents"}
)
_getattr: Callable[..., object] = BASE_PYTHON_TOOLS["getattr"]  # type: ignore[assignment]


def require_local(executor: object) -> LocalPythonExecutor:
    """The executor, if code runs in this process; any other is a `ConstraintError`."""
    if isinstance(executor, LocalPythonExecutor):
        return executor
    raise remote(type(executor).__name__)


def remote(what: str) -> ConstraintError:
    """The error for an executor that runs code elsewhere."""
    return ConstraintError(
        f"the executor `{what}` runs code where no guard sees its calls\n"
        'use executor_type="local", or a ToolCallingAgentWithConstraints'
    )


class GuardedExecutor(LocalPythonExecutor):
    """An executor whose tools and managed agents ask `agent` first. Its state is that of `inner`, which runs code."""

    __slots__ = ("_agent", "_inner", "_sent")

    def __init__(self, agent: GuardedCode, inner: LocalPythonExecutor) -> None:
        self.__dict__ = inner.__dict__  # one state, whoever looks at it
        self._agent, self._inner = agent, inner
        self._sent: dict[str, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in GuardedExecutor.__slots__:
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> GuardedExecutor:
        state: dict[str, Any] = self.state
        memo.update((id(value), value) for value in state.values() if isinstance(value, ModuleType))
        twin = GuardedExecutor(copy.deepcopy(self._agent, memo), copy.deepcopy(self._inner, memo))
        if self._sent is not None:
            twin.send_tools(copy.deepcopy(self._sent, memo))
        return twin

    def send_tools(self, tools: dict[str, Any]) -> None:
        """Make tools and managed agents known to the code, each behind the guard."""
        self._sent = dict(tools)
        guarded: dict[str, Any] = {name: self._agent._guarded(name, tool) for name, tool in tools.items()}
        self._inner.send_tools(guarded)

    def send_variables(self, variables: dict[str, Any]) -> None:
        """Make variables known to the code; tools among them stand behind the guard."""
        self._inner.send_variables({name: self._behind_guard(value) for name, value in variables.items()})

    def __call__(self, code_action: str) -> CodeOutput:
        """Run code. What the guard has to say of its calls is among the logs; a stop leaves as a `CodeStop`."""
        self._close_ways(code_action)
        return self._agent._run_code(self._inner, code_action)

    def _close_ways(self, code: str) -> None:
        places: list[dict[str, Any] | None] = [self.static_tools, self.custom_tools, self.state]
        for known in filter(None, places):
            for name, value in list(known.items()):
                if _tool_of(value) is not None:
                    known[name] = self._behind_guard(value)
        if self.static_tools is not None and self.static_tools.get("getattr") is _getattr:
            self.static_tools["getattr"] = _getattr_without_frames
        try:
            nodes = list(ast.walk(ast.parse(code)))
        except (SyntaxError, ValueError, RecursionError):
            return  # the interpreter says what is wrong
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in _FRAMES:
                vars(self)["state"]["_print_outputs"] = PrintContainer()  # type: ignore[no-untyped-call]
                raise _forbidden(node.attr)

    def _clean(self, error: BaseException) -> None:
        """Put the tools that an error carries behind the guard, since the code can catch it. The object of an attribute
        error may be the tool itself, or hold it."""
        if isinstance(error, AttributeError):
            error.obj = None
        if _holds_tool(error.args):
            error.args = self._behind_guard(error.args)
        for name, value in vars(error).items():
            if _holds_tool(value):
                vars(error)[name] = self._behind_guard(value)
        for inner in getattr(error, "exceptions", ()):
            self._clean(inner)

    def _behind_guard(self, value: Any) -> Any:
        """The value with each tool in it, however deep in lists, sets and mappings, behind the guard."""
        if (tool := _tool_of(value)) is not None:
            known = {**self._agent.tools, **self._agent.managed_agents}
            names = [name for name, mine in known.items() if mine is tool]
            return self._agent._guarded(names[0] if names else str(tool.name), tool)
        if not _holds_tool(value):
            return value
        if isinstance(value, dict):
            return {self._behind_guard(key): self._behind_guard(member) for key, member in value.items()}
        return type(value)(self._behind_guard(member) for member in value)


def _tool_of(value: object) -> Any:
    """The tool or managed agent that is called when this is called; None for all else."""
    if isinstance(value, MethodType) and value.__name__ in ("forward", "__call__"):
        value = value.__self__
    return value if isinstance(value, BaseTool | MultiStepAgent) else None


def _holds_tool(value: object) -> bool:
    """Whether there is a tool in lists, tuples, sets and dicts, at any depth."""
    seen: set[int] = set()
    left = [value]
    while left:
        part = left.pop()
        if _tool_of(part) is not None:
            return True
        if type(part) in (list, tuple, dict, set, frozenset) and id(part) not in seen:
            seen.add(id(part))
            left.extend([*part, *part.values()] if isinstance(part, dict) else part)  # type: ignore[arg-type]
    return False


def _forbidden(name: str) -> InterpreterError:
    return InterpreterError(f"Forbidden access to attribute: {name}")


def _getattr_without_frames(obj: object, name: str, *default: object) -> object:
    """`getattr` for the code. The name is taken as the text that it is, whatever its class says of it."""
    if isinstance(name, str):
        name = str.__str__(name)
    if name in _FRAMES:
        raise _forbidden(name)
    return _getattr(obj, name, *default)
