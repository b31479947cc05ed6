"""An agent that was saved with a model of ours loads in a process that has imported nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from smolagents import Tool

from agentltl import ToolCallingAgentWithConstraints
from agentltl.agents.models.build import build


class Look(Tool):
    name = "look"
    description = "Look at something."
    inputs = {"x": {"type": "string", "description": "what"}}  # noqa: RUF012  as smolagents wants it
    output_type = "string"

    def forward(self, x: str) -> str:
        return x


LOAD = """
import sys
from agentltl import ToolCallingAgentWithConstraints
agent = ToolCallingAgentWithConstraints.from_folder(sys.argv[1])
print(type(agent.model).__name__, [str(c.formula) for c in agent.guard.constraints])
"""


def test_a_saved_agent_loads_in_a_fresh_process(tmp_path: Path) -> None:
    rule = {"name": "r", "rule": "never(look)"}
    agent = ToolCallingAgentWithConstraints([Look()], build("openai/gpt-4o", api_key="secret-key"), constraints=[rule])
    agent.save(tmp_path)
    assert "secret-key" not in "".join(f.read_text() for f in tmp_path.rglob("*") if f.is_file())
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path)], capture_output=True, text=True, check=True, timeout=120
    )
    assert loaded.stdout == "LiteLLMModelWithReport ['never(look)']\n"
