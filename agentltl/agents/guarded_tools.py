"""Guarded tools in the place of a managed agent's own, while a guarded manager calls it.

Of a code agent they are replaced where they are sent to its executor.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smolagents.agents import CodeAgent

if TYPE_CHECKING:
    from agentltl.agents.members import Guarding


def wrap(known: Guarding) -> Callable[[], None]:
    """Put guarded tools into a managed agent; gives what takes them out again. One that asks the guards above by itself
    keeps its own."""
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
