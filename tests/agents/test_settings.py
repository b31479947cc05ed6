"""The settings that constructors pass on are those that `Agent` takes, and are shown."""

import inspect
from typing import get_type_hints

import pytest

from agentltl.agents.agent import Agent
from agentltl.agents.agent_with_additional_tools import AgentWithAdditionalTools
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.agent_with_sub_agents import AgentWithSubAgents
from agentltl.agents.settings import AgentSettings, ConstrainedSettings


def keywords(thing: type) -> dict[str, inspect.Parameter]:
    return {p.name: p for p in inspect.signature(thing).parameters.values() if p.kind is p.KEYWORD_ONLY}


def test_they_are_the_keywords_of_an_agent() -> None:
    theirs = get_type_hints(Agent.__init__)
    assert get_type_hints(AgentSettings) == {name: theirs[name] for name in keywords(Agent)}


def test_and_those_of_an_agent_with_constraints() -> None:
    theirs = {**get_type_hints(Agent.__init__), **get_type_hints(AgentWithConstraints.__init__)}
    assert get_type_hints(ConstrainedSettings) == {name: theirs[name] for name in keywords(AgentWithConstraints)}


@pytest.mark.parametrize("agent", [AgentWithAdditionalTools, AgentWithConstraints, AgentWithSubAgents])
def test_they_are_shown_with_their_defaults(agent: type) -> None:
    own, base = keywords(agent), keywords(Agent)
    assert {name: own[name].default for name in base} == {name: base[name].default for name in base}
    assert not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(agent).parameters.values())
    assert "mcp_servers" in own


@pytest.mark.parametrize("agent", [Agent, AgentWithAdditionalTools, AgentWithConstraints, AgentWithSubAgents])
def test_a_misspelt_one_is_an_error(agent: type) -> None:
    with pytest.raises(TypeError, match="max_step"):
        agent(max_step=3)
