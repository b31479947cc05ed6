"""Agents whose every tool call is judged against temporal-logic constraints before it runs.

Every public name is found here and loaded when it is first asked for, so that the import stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from agentltl import constraints

if TYPE_CHECKING:
    from agentltl.agents.agent import Agent as Agent
    from agentltl.agents.agent_with_additional_tools import AgentWithAdditionalTools as AgentWithAdditionalTools
    from agentltl.agents.agent_with_constraints import AgentWithConstraints as AgentWithConstraints
    from agentltl.agents.agent_with_sub_agents import AgentWithSubAgents as AgentWithSubAgents
    from agentltl.agents.approval import Allow as Allow
    from agentltl.agents.approval import ApprovalRequest as ApprovalRequest
    from agentltl.agents.approval import Change as Change
    from agentltl.agents.approval import Deny as Deny
    from agentltl.agents.approval import Pending as Pending
    from agentltl.agents.code import CodeAgentWithConstraints as CodeAgentWithConstraints
    from agentltl.agents.function_tool import tool as tool
    from agentltl.agents.mcp.errors import McpServerError as McpServerError
    from agentltl.agents.mcp.servers import McpServers as McpServers
    from agentltl.agents.models.breaker import Breaker as Breaker
    from agentltl.agents.models.errors import CircuitOpenError as CircuitOpenError
    from agentltl.agents.models.errors import EmptyReplyError as EmptyReplyError
    from agentltl.agents.models.errors import ModelCallError as ModelCallError
    from agentltl.agents.models.errors import ModelError as ModelError
    from agentltl.agents.models.errors import ModelTimeoutError as ModelTimeoutError
    from agentltl.agents.models.fallback import Fallback as Fallback
    from agentltl.agents.models.retry import Retry as Retry
    from agentltl.agents.models.timeout import Timeout as Timeout
    from agentltl.agents.terminal import in_terminal as in_terminal
    from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints as ToolCallingAgentWithConstraints
    from agentltl.constraints import *  # noqa: F403
    from agentltl.errors import *  # noqa: F403
    from agentltl.guard.decision import Decision as Decision
    from agentltl.guard.decision import Violation as Violation
    from agentltl.guard.guard import Guard as Guard
    from agentltl.guard.severity import ConstraintSeverity as ConstraintSeverity
    from agentltl.record.deployment import ResultDeploy as ResultDeploy
    from agentltl.record.events import Event as Event
    from agentltl.record.events import EventKind as EventKind
    from agentltl.record.result import Result as Result
    from agentltl.record.sub_results import SubAgentsResult as SubAgentsResult
    from agentltl.record.sub_results import SubResult as SubResult
    from agentltl.record.usage import Usage as Usage

__version__ = "0.1.0.dev0"

_HOMES = {
    "agentltl.agents.agent": ("Agent",),
    "agentltl.agents.agent_with_additional_tools": ("AgentWithAdditionalTools",),
    "agentltl.agents.agent_with_constraints": ("AgentWithConstraints",),
    "agentltl.agents.agent_with_sub_agents": ("AgentWithSubAgents",),
    "agentltl.agents.code": ("CodeAgentWithConstraints",),
    "agentltl.agents.function_tool": ("tool",),
    "agentltl.agents.mcp.errors": ("McpServerError",),
    "agentltl.agents.mcp.servers": ("McpServers",),
    "agentltl.agents.approval": ("Allow", "ApprovalRequest", "Change", "Deny", "Pending"),
    "agentltl.agents.terminal": ("in_terminal",),
    "agentltl.agents.tool_calling": ("ToolCallingAgentWithConstraints",),
    "agentltl.agents.models.breaker": ("Breaker",),
    "agentltl.agents.models.errors": (
        "CircuitOpenError", "EmptyReplyError", "ModelCallError", "ModelError", "ModelTimeoutError",
    ),
    "agentltl.agents.models.fallback": ("Fallback",),
    "agentltl.agents.models.retry": ("Retry",),
    "agentltl.agents.models.timeout": ("Timeout",),
    "agentltl.errors": (
        "AgentLTLError", "ApprovalPendingError", "ConstraintError", "ConstraintViolationError", "DeployError",
        "FormulaError", "MissingExtraError", "PredicateError", "RuleFileError", "RunLimitError", "TraceError",
    ),
    "agentltl.guard.decision": ("Decision", "Violation"),
    "agentltl.guard.guard": ("Guard",),
    "agentltl.guard.severity": ("ConstraintSeverity",),
    "agentltl.record.deployment": ("ResultDeploy",),
    "agentltl.record.events": ("Event", "EventKind"),
    "agentltl.record.result": ("Result",),
    "agentltl.record.sub_results": ("SubAgentsResult", "SubResult"),
    "agentltl.record.usage": ("Usage",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted({*_HOME_OF, *constraints.__all__})


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        return getattr(importlib.import_module(_HOME_OF[name]), name)
    if name in constraints.__all__:
        return getattr(constraints, name)
    raise AttributeError(f"module `agentltl` has no `{name}`")


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
