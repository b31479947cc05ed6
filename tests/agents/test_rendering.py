"""System prompts are those that smolagents renders."""

from typing import Any

import pytest
from smolagents import ToolCallingAgent

from agentltl.agents.agent import Agent
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from tests.agents.test_earlier import change, read


def member() -> Any:
    return ToolCallingAgent([read], ScriptedModel([]), name="reader", description="Reads.", verbosity_level=-1)


def agents(**settings: Any) -> list[Any]:
    constrained = ToolCallingAgentWithConstraints([change], ScriptedModel([]), **settings)
    return [constrained, Agent([change], ScriptedModel([]), instructions=settings.get("instructions")).smolagent]


@pytest.mark.parametrize("instructions", [None, "Be brief, Hortensia."])
def test_the_prompt_is_that_of_smolagents(instructions: str | None) -> None:
    for agent in agents(instructions=instructions):
        for _ in range(2):
            assert agent.system_prompt == ToolCallingAgent.initialize_system_prompt(agent)
        agent.tools["read"] = read
        agent.instructions = "Be long."
        assert agent.system_prompt == ToolCallingAgent.initialize_system_prompt(agent)
        assert "Read an order." in agent.system_prompt
    (constrained, _) = agents(managed_agents=[member()])
    assert constrained.system_prompt == ToolCallingAgent.initialize_system_prompt(constrained)
    assert "Reads." in constrained.system_prompt


def test_a_template_that_is_changed_is_rendered_anew() -> None:
    for agent in agents():
        agent.prompt_templates = {**agent.prompt_templates, "system_prompt": "{{ tools | length }} tools"}
        assert agent.system_prompt == "2 tools"


@pytest.mark.parametrize("template", ["{{ nothing }}", "{{ tools.read.nothing }}", "{% if %}"])
def test_an_error_is_that_of_smolagents(template: str) -> None:
    for agent in agents():
        agent.prompt_templates = {**agent.prompt_templates, "system_prompt": template}
        with pytest.raises(Exception) as ours:
            agent.initialize_system_prompt()
        with pytest.raises(Exception) as theirs:
            ToolCallingAgent.initialize_system_prompt(agent)
        assert (type(ours.value), str(ours.value)) == (type(theirs.value), str(theirs.value))
