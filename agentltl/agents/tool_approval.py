"""Tools that need approval: the constraint that asks about their calls, and such tools as a guarded agent has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from smolagents.tools import Tool

from agentltl.agents.function_tool import FunctionTool
from agentltl.constraints.constraint import Constraint
from agentltl.errors import ConstraintError


def approval_rules(tools: Iterable[object], known: Iterable[Constraint]) -> list[Constraint]:
    """The constraints of tools that need approval, without those that are known, as those of a saved agent are.

    `ConstraintError` if a known one has the name and is another.
    """
    named = {constraint.name: constraint for constraint in known}
    rules = []
    for tool in _needy(tools):
        rule = _rule(tool)
        found = named.get(rule.name)
        if found is None:
            rules.append(rule)
        elif not _asks(found, rule):
            raise ConstraintError(
                f"the constraint `{rule.name}` is not the one by which the tool `{tool.name}` needs approval\n"
                "call it something else"
            )
    return rules


def require_asked(tools: Iterable[object], known: Iterable[Constraint]) -> None:
    """`ConstraintError` unless these constraints ask about each tool that needs approval."""
    if missing := approval_rules(tools, known):
        raise ConstraintError(
            f"these rules lack `{missing[0].name}`, by which a tool needs approval\n"
            "restore the conversation into an agent with the tools that it was saved with"
        )


def require_none(tools: Iterable[object]) -> None:
    """`ConstraintError` if one of the tools needs approval, for an agent that asks nobody."""
    for tool in _needy(tools):
        raise ConstraintError(
            f"the tool `{tool.name}` needs approval, and this agent asks nobody\n"
            "make an `AgentWithConstraints`, with `approve=`"
        )


def approvable(tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """The tools of an agent that asks about those that need approval."""
    needy = {id(tool) for tool in _needy(tools.values())}
    return {name: tool.approvable() if id(tool) in needy else tool for name, tool in tools.items()}  # type: ignore[attr-defined]


def _needy(tools: Iterable[object]) -> list[FunctionTool]:
    return [tool for tool in tools if isinstance(tool, FunctionTool) and tool.needs_approval]


def _rule(tool: FunctionTool) -> Constraint:
    return Constraint(
        f"{tool.name}-needs-approval",
        f'never("{tool.name}")',
        severity="ASK",
        description=f"A person sees each call of {tool.name}",
    )


def _asks(found: Constraint, rule: Constraint) -> bool:
    return (found.formula, found.severity, found.enforce, found.where) == (rule.formula, "ASK", True, rule.where)
