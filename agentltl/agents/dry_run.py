"""What a run would call its model with, without calling anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smolagents.models import get_tool_json_schema

from agentltl.constraints.value import Json
from agentltl.record.plain import plain

if TYPE_CHECKING:
    from agentltl.agents.agent import Agent


def dry(agent: Agent, task: str) -> dict[str, Json]:
    """The documented dict: what it is made of is plain JSON.

    `tools` has for each tool its name, description and the JSON schema of its parameters; `schema` is that of the
    answer (None: any will do); `constraints` are mappings with the keys of a rule file.
    """
    smolagent, output = agent.smolagent, agent._output
    made: dict[str, Json] = plain(
        {
            "dry_run": True,
            "agent": agent.name or type(agent).__name__,
            "model": getattr(agent.model, "model_id", None),
            "temperature": agent.temperature,
            "system_prompt": smolagent.system_prompt,
            "user_prompt": task,
            "schema": None if output is None or agent._output_type is None else output.schema,
            "tools": [get_tool_json_schema(tool)["function"] for tool in smolagent.tools_and_managed_agents],
            "constraints": agent._rules(),
        }
    )
    return made
