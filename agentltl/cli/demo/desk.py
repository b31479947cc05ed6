"""The demo's agent: the same model, tools and instructions with the rules and without them."""

from pathlib import Path

from smolagents import Model, MultiStepAgent, ToolCallingAgent
from smolagents.monitoring import LogLevel

from agentltl.cli.demo.tasks import INSTRUCTIONS, MAX_STEPS
from agentltl.cli.demo.tools import desk_tools

RULES = Path(__file__).with_name("rules.yaml")


def desk_agent(model: Model, database: Path, *, guarded: bool) -> MultiStepAgent:
    """An agent for one run on one database file; without rules it is smolagents' own."""
    tools = desk_tools(database)
    if not guarded:
        return ToolCallingAgent(
            tools, model, instructions=INSTRUCTIONS, max_steps=MAX_STEPS, verbosity_level=LogLevel.OFF
        )
    from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints

    return ToolCallingAgentWithConstraints(
        tools,
        model,
        constraints=RULES,
        instructions=INSTRUCTIONS,
        max_steps=MAX_STEPS,
        verbosity_level=LogLevel.OFF,
    )
