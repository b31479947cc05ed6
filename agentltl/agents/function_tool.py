"""`tool`: a smolagents tool from a function, sync or async."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Self, cast, overload

from smolagents.tools import Tool

from agentltl.agents.awaited import awaited
from agentltl.agents.time_limit import in_time, waited_for
from agentltl.agents.tool_signature import read
from agentltl.agents.tool_source import code_of
from agentltl.errors import ConstraintError


class FunctionTool(Tool):  # type: ignore[no-untyped-call]
    """A tool that `tool` has made; `function` is the function as it was written."""

    skip_forward_signature_validation = True  # the inputs are made from the signature, with more types than it knows
    function: ClassVar[Callable[..., Any]]
    timeout: ClassVar[float | None] = None
    needs_approval: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        made = _unapproved(self) if self.needs_approval else _forward(self)
        self.forward = made  # type: ignore[method-assign]

    def approvable(self) -> Self:
        """The same tool for an agent whose guard asks a person about each call: there the calls run."""
        twin = copy.copy(self)
        twin.forward = _forward(self)  # type: ignore[method-assign]
        return twin

    def to_dict(self) -> dict[str, Any]:
        """The tool as smolagents saves tools; `ConstraintError` if the function needs more than its own text."""
        settings = {"timeout": self.timeout, "needs_approval": self.needs_approval or None}
        code, requirements = code_of(self.function, type(self).__name__, settings)
        return {"name": self.name, "code": code, "requirements": requirements}


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(*, needs_approval: bool = False, timeout: float | None = None) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None, /, *, needs_approval: bool = False, timeout: float | None = None
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a smolagents tool of a function, sync or async: `@tool`, or `@tool(timeout=10)`.

    Name, description and arguments are those of the function: every parameter has a type hint, the docstring says what
    it does, and an `Args:` section about the arguments is read where there is one.
    A call that takes more than `timeout` seconds fails with a `TimeoutError`: an async function is cancelled, a sync
    one goes on in its thread, since Python cannot end it, and its result is dropped.
    With `needs_approval` an agent under constraints asks its `approve` about each call, by a constraint of its own with
    the severity `ASK`; any other agent gets an error for each call.
    Raises `ConstraintError` for a function that a model cannot be told how to call.
    """
    if function is None:
        return functools.partial(_made, needs_approval=needs_approval, timeout=timeout)
    return _made(function, needs_approval=needs_approval, timeout=timeout)


def _made(function: Callable[..., Any], *, needs_approval: bool, timeout: float | None) -> Tool:
    if not inspect.isfunction(function) and not inspect.ismethod(function):
        raise ConstraintError(f"`{function!r}` is no function\ngive a function that is defined with `def`")
    if not isinstance(cast(object, needs_approval), bool):
        raise ConstraintError(f"`needs_approval` is `{needs_approval!r}`\ngive True or False")
    if timeout is not None and not (
        isinstance(cast(object, timeout), int | float) and 0 < timeout < float("inf") and timeout is not True
    ):
        raise ConstraintError(f"`timeout` is `{timeout!r}`\ngive a number of seconds above 0, or None for no limit")
    found = read(function)
    attributes = {
        "__doc__": found.description,
        "__module__": function.__module__,
        "name": found.name,
        "description": found.description,
        "inputs": found.inputs,
        "output_type": found.output_type,
        "function": staticmethod(function),
        "timeout": timeout,
        "needs_approval": needs_approval,
    }
    kind = type("".join(part.capitalize() for part in found.name.split("_")) + "Tool", (FunctionTool,), attributes)
    return cast(Tool, kind())


def _forward(tool: FunctionTool) -> Callable[..., Any]:
    """What a call of the tool does."""
    function, limit, name = tool.function, tool.timeout, tool.name
    is_async = inspect.iscoroutinefunction(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = function(*args, **kwargs)
        return awaited(in_time(given, limit, name)) if inspect.isawaitable(given) else given

    def forward(*args: Any, **kwargs: Any) -> Any:
        if limit is None or is_async:
            return call(*args, **kwargs)
        return waited_for(functools.partial(call, *args, **kwargs), limit, name)

    return _as(forward, function)


def _unapproved(tool: FunctionTool) -> Callable[..., Any]:
    """What a call of a tool does that needs approval, where nobody is asked."""
    name = tool.name

    def forward(*args: Any, **kwargs: Any) -> Any:
        raise ConstraintError(
            f"`{name}` needs approval, and this agent asks nobody: the call did not run\n"
            "give the tool to an agent under constraints when you make it, with `approve=`"
        )

    return _as(forward, tool.function)


def _as(forward: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """The signature is that of the function, for whoever names arguments and looks for defaults."""
    forward.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    forward.__doc__ = function.__doc__
    return forward
