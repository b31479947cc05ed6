"""`AgentWithAdditionalTools`: an agent that also has the tools of MCP servers, and ends the connections to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from smolagents.models import Model
from smolagents.tools import Tool

from agentltl.agents.agent import Agent
from agentltl.agents.mcp.servers import McpServers
from agentltl.errors import ConstraintError
from agentltl.record.events import Sink
from agentltl.record.result import Result


class AgentWithAdditionalTools(Agent):
    """An agent that has the tools of MCP servers beside its own. Use it in a `with` block, which ends the connections.

    `mcp_servers` is what `McpServers` takes: a mapping from names to `{"command", "args", "env", "cwd"}` or
    `{"url", "headers"}`. It needs the extra `mcp`. Tools keep their names; where two are the same, those of servers are
    called `server__tool`. The attribute `mcp_servers` holds the connections.
    The connections end also with `close()`, when the agent is not used any more, and when the interpreter ends.
    """

    mcp_servers: McpServers

    def __init__(
        self,
        tools: Sequence[Tool] | None = None,
        model: str | Model | None = None,
        *,
        mcp_servers: Mapping[str, Mapping[str, Any]] | None = None,
        name: str | None = None,
        instructions: str | None = None,
        max_steps: int = 10,
        model_seed: int | None = None,
        api_key: str | None = None,
        api_base: str | None = None,
        temperature: float | None = None,
        model_instance: Model | None = None,
        sinks: Iterable[Sink] = (),
    ) -> None:
        self.mcp_servers = McpServers({})
        self._wanted: Mapping[str, Mapping[str, Any]] = mcp_servers if mcp_servers is not None else {}
        try:
            super().__init__(
                tools,
                model,
                name=name,
                instructions=instructions,
                max_steps=max_steps,
                model_seed=model_seed,
                api_key=api_key,
                api_base=api_base,
                temperature=temperature,
                model_instance=model_instance,
                sinks=sinks,
            )
        except BaseException:
            self.close()
            raise
        finally:
            del self._wanted  # it may hold secrets

    def run(self, task: str, *, reset: bool = True) -> Result:
        """Do the task, as `Agent.run`. After `close()` it raises `ConstraintError`."""
        if self.mcp_servers.tools and self.mcp_servers.closed:
            raise ConstraintError("the connections to the MCP servers have been closed\nmake a new agent")
        return super().run(task, reset=reset)

    def close(self) -> None:
        """End the connections to the servers. A second time does nothing."""
        self.mcp_servers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _all_tools(self, given: list[Tool]) -> list[Tool]:
        self.mcp_servers = McpServers(self._wanted, [tool.name for tool in given])
        return [*given, *self.mcp_servers.tools]
