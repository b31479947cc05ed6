"""The agent card: what others are told of the agent before they speak to it. Everybody can read it."""

from __future__ import annotations

from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)

from agentltl.agents.agent import Agent
from agentltl.guard.ending import FINAL_ANSWER
from agentltl.server.settings import Settings
from agentltl.server.values import clean

VERSIONS = ("1.0", "0.3")
"""The versions of the protocol that are spoken, the preferred one first."""
_MODES = ["text/plain", "application/json"]


def card_of(agent: Agent, url: str, settings: Settings) -> AgentCard:
    """The card of an agent that is reached at `url`.

    Nothing of its prompt is told. Its skills are the agent itself and, where calls of tools are shared, its tools.
    """
    name = clean(agent.name or type(agent).__name__)
    description = clean(settings.description or f"The agent {name}.")
    skills = [AgentSkill(id="agent", name=name, description=description, tags=["agent"])]
    if settings.share_tool_calls:
        skills += [
            AgentSkill(id=clean(tool.name), name=clean(tool.name), description=clean(tool.description), tags=["tool"])
            for tool in agent.smolagent.tools.values()
            if tool.name != FINAL_ANSWER
        ]
    card = AgentCard(
        name=name,
        description=description,
        version=clean(settings.version),
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version) for version in VERSIONS
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False),
        default_input_modes=_MODES,
        default_output_modes=_MODES,
        skills=skills,
    )
    if settings.token is not None:
        scheme = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="bearer"))
        card.security_schemes["bearer"].CopyFrom(scheme)
        card.security_requirements.append(SecurityRequirement(schemes={"bearer": StringList()}))
    return card
