"""A real MCP server for the tests, made with the official SDK.

`desk_server.py [--port N] [--only TOOL ...]`: streamable HTTP on a port of this machine, else standard input and
output.
"""

import argparse
import base64
import os
import sys
import time
from typing import Any, Literal

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import CallToolResult, ImageContent, ResourceLink, TextContent

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int)
parser.add_argument("--only", nargs="*")
options = parser.parse_args()
server = FastMCP("desk", host="127.0.0.1", port=options.port or 8000, log_level="ERROR")
cancelled: set[str] = set()


@server.tool()
def get_order(order_id: str) -> dict[str, Any]:
    """Read an order."""
    return {"order_id": order_id, "status": "cancelled" if order_id in cancelled else "pending", "server": os.getpid()}


@server.tool()
def cancel_order(order_id: str, reason: Literal["late", "wrong"] = "late", tags: list[str] | None = None) -> str:
    """Cancel an order."""
    cancelled.add(order_id)
    return f"{order_id} is cancelled ({reason}, {tags})"


@server.tool()
def total(amounts: list[int]) -> int:
    """Add amounts."""
    return sum(amounts)


@server.tool(name="pay-now")
def pay_now(amount: float) -> str:
    """Pay."""
    return f"paid {amount}"


@server.tool(structured_output=False)
def note(text: str) -> Any:
    """Several parts of text."""
    return [text, ResourceLink(type="resource_link", name="page", uri="https://shop.invalid/page"), text]


@server.tool(structured_output=False)
def photo(caption: str = "") -> Any:
    """A picture, with a caption."""
    picture = ImageContent(type="image", data=PIXEL, mimeType="image/png")
    return [TextContent(type="text", text=caption), picture] if caption else picture


@server.tool(structured_output=False)
def broken_photo() -> Any:
    """A picture that is none."""
    return ImageContent(type="image", data=base64.b64encode(b"none").decode(), mimeType="image/png")


@server.tool()
def nothing() -> None:
    """Nothing."""


@server.tool()
def refuse(text: str) -> CallToolResult:
    """Answer with an error."""
    return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)


@server.tool()
def setting(name: str) -> str:
    """A setting of the environment."""
    return os.environ.get(name, "")


@server.tool()
def header(name: str, context: Context) -> str:  # type: ignore[type-arg]
    """A header of the request."""
    request = context.request_context.request
    return "" if request is None else str(request.headers.get(name, ""))


@server.tool()
def leak(name: str) -> str:
    """Fail with a secret in the text."""
    raise ValueError(f"{os.environ.get(name)} is not accepted")


@server.tool()
def die(text: str = "") -> str:
    """End the server in the middle of the call."""
    print(text, file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
def sleep(seconds: float) -> str:
    """Take time."""
    time.sleep(seconds)
    return "awake"


for tool in list(server._tool_manager.list_tools()):
    if options.only is not None and tool.name not in options.only:
        server.remove_tool(tool.name)
server.run(transport="streamable-http" if options.port else "stdio")
