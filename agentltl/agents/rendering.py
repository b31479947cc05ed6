"""The system prompt of a tool-calling agent, whose template is compiled once.

smolagents compiles it for each run, which takes longer than a short run's steps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from jinja2 import StrictUndefined, Template
from smolagents.agents import ToolCallingAgent

if TYPE_CHECKING:
    Base = ToolCallingAgent
else:
    Base = object


class Rendering(Base):
    """It stands before smolagents' own class."""

    def initialize_system_prompt(self) -> str:
        """The prompt of smolagents, rendered with the same variables; where that fails, smolagents does it, or says
        why it cannot."""
        try:
            return _compiled(self.prompt_templates["system_prompt"]).render(
                tools=self.tools, managed_agents=self.managed_agents, custom_instructions=self.instructions
            )
        except Exception:
            return str(super().initialize_system_prompt())


@lru_cache(maxsize=64)
def _compiled(template: str) -> Template:
    compiled: Template = Template(template, undefined=StrictUndefined)
    return compiled
