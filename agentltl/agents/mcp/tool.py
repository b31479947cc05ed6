"""A tool of an MCP server as a tool of smolagents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from smolagents.tools import Tool

from agentltl.agents.mcp.contents import result_of
from agentltl.agents.mcp.inputs import inputs_of
from agentltl.errors import ConstraintError

if TYPE_CHECKING:
    from mcp.types import CallToolResult
    from mcp.types import Tool as Offered


class Caller(Protocol):
    """Calls a tool of a server."""

    def __call__(self, server: str, tool: str, arguments: dict[str, Any], /) -> CallToolResult: ...


class McpTool(Tool):  # type: ignore[no-untyped-call]
    """A tool of the server `server`, which calls it `own_name`; `name` is what the agent calls it.

    A call that fails raises: `McpToolError` with what the server says, `McpServerError` when the server is not there.
    """

    skip_forward_signature_validation = True

    def __init__(self, server: str, offered: Offered, name: str, call: Caller) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.server, self.own_name, self.name = server, offered.name, name
        self.description = offered.description or offered.title or offered.name
        self.inputs = inputs_of(offered.inputSchema)
        schema = offered.outputSchema
        self.output_schema: dict[str, Any] | None = dict(schema) if isinstance(schema, Mapping) else None
        self.output_type = "any"
        self._call = call

    def validate_arguments(self) -> None:
        """Nothing is checked: smolagents wants identifiers for names, and the server's names are kept as they are."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the tool; arguments without a name have the names of the inputs, in their order."""
        if len(args) > len(self.inputs):
            raise TypeError(f"`{self.name}` takes {len(self.inputs)} arguments, not {len(args)}")
        placed = dict(zip(self.inputs, args, strict=False))
        if twice := placed.keys() & kwargs.keys():
            raise TypeError(f"`{self.name}` got `{min(twice)}` twice")
        return result_of(self._call(self.server, self.own_name, placed | kwargs), self.output_schema)

    def to_dict(self) -> dict[str, Any]:
        """It cannot be saved: raises `ConstraintError`."""
        raise ConstraintError(
            f"`{self.name}` belongs to the MCP server `{self.server}` and cannot be saved\n"
            "save an agent without it, and give `mcp_servers` again when you load it"
        )

    def save(self, output_dir: Any, *args: Any, **kwargs: Any) -> None:
        """It cannot be saved: raises `ConstraintError`."""
        self.to_dict()

    def __deepcopy__(self, memo: dict[int, Any]) -> McpTool:
        return self  # a connection cannot be copied
