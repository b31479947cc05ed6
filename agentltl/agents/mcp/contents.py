"""What the answer to a call holds, as the result that a tool of smolagents would give."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentltl.agents.mcp.errors import McpToolError

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock


def result_of(answer: CallToolResult, output_schema: Mapping[str, Any] | None = None) -> Any:
    """The result of a call.

    Structured content comes before texts, which only repeat it. Several texts are joined by line breaks; a picture is
    a `PIL.Image`; texts and pictures together are a list, the texts first. None when there is nothing.
    Raises `McpToolError` for a picture that cannot be read.
    """
    from mcp.types import ImageContent

    texts = [_text(part) for part in answer.content if not isinstance(part, ImageContent)]
    pictures = [_picture(part) for part in answer.content if isinstance(part, ImageContent)]
    if answer.structuredContent is not None:
        value = _unwrapped(answer.structuredContent, output_schema or {})
        return [value, *pictures] if pictures else value
    parts: Sequence[Any] = [*(["\n".join(texts)] if texts else []), *pictures]
    if len(parts) > 1:
        return list(parts)
    return parts[0] if parts else None


def failure_of(answer: CallToolResult) -> str | None:
    """What the server says about a call that has failed; None for one that has not."""
    if not answer.isError:
        return None
    return "\n".join(filter(None, map(_text, answer.content))) or "the tool has failed and does not say why"


def _unwrapped(content: dict[str, Any], schema: Mapping[str, Any]) -> Any:
    """The value itself, where FastMCP has put one that is no object into an object, under `result`."""
    wrapped = schema.get("x-fastmcp-wrap-result") is True or str(schema.get("title", "")).endswith("Output")
    if wrapped and content.keys() == {"result"} and schema.get("properties", {}).keys() == {"result"}:
        return content["result"]
    return content


def _picture(content: Any) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(io.BytesIO(base64.b64decode(content.data, validate=True)))
        picture.load()
    except (ValueError, OSError, UnidentifiedImageError, Image.DecompressionBombError):
        raise McpToolError(f"the tool has given a picture ({content.mimeType}) that cannot be read") from None
    return picture


def _text(content: ContentBlock) -> str:
    """The text of a part that is no picture; of what has no text it says what it is and where."""
    from mcp.types import BlobResourceContents, EmbeddedResource, ResourceLink, TextContent, TextResourceContents

    match content:
        case TextContent():
            return content.text
        case EmbeddedResource(resource=TextResourceContents() as resource):
            return resource.text
        case EmbeddedResource(resource=BlobResourceContents() as resource):
            return f"[{resource.mimeType or 'data'}, which is no text: {resource.uri}]"
        case ResourceLink():
            return f"[{content.title or content.name}: {content.uri}]"
        case _:
            return f"[{getattr(content, 'mimeType', content.type)}, which is no text]"
