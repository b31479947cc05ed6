"""All that an agent manages, at any depth."""

from __future__ import annotations

from smolagents.agents import CodeAgent
from smolagents.local_python_executor import LocalPythonExecutor

from agentltl.errors import ConstraintError
from agentltl.guard.ending import FINAL_ANSWER


def with_members(member: object) -> list[object]:
    """An agent and all that it manages, at any depth, each once: agents may manage one another in a circle."""
    found, met = [member], {id(member)}
    for one in found:
        for inner in getattr(one, "managed_agents", {}).values():
            if id(inner) not in met:
                met.add(id(inner))
                found.append(inner)
    return found


def tools_of(member: object) -> set[str]:
    """The names of all that a managed agent may call, and the agents that it manages; its answer is none of these."""
    names: set[str] = set()
    for one in with_members(member):
        names |= {*getattr(one, "tools", {}), *getattr(one, "managed_agents", {})}
    return names - {FINAL_ANSWER}


def has_guarded_members(member: object) -> bool:
    """Whether an agent that it manages, at any depth, has a guard of its own."""
    return any(hasattr(one, "guard") for one in with_members(member)[1:])


def require_guardable(member: object) -> None:
    """Raises `ConstraintError` for a code agent whose code runs elsewhere, where no guard sees its calls."""
    for one in with_members(member):
        if isinstance(one, CodeAgent) and not isinstance(one.python_executor, LocalPythonExecutor):
            what = type(one.python_executor).__name__
            raise ConstraintError(
                f"the managed agent `{one.name}` runs its code with `{what}`, where no guard sees its calls\n"
                'give it executor_type="local", or make it a ToolCallingAgent'
            )
