"""Tool calls as plain JSON text: what the embedded model is made to write, and how that is read back.

A grammar allows one alternative per tool, `{"name": ..., "arguments": {...}}`, so every finished reply is a
well-formed call of a tool that is offered now; a mask over tools is the same grammar with fewer alternatives.
"""

import ast
import json
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from smolagents.models import ChatMessage, MessageRole, get_tool_json_schema
from smolagents.tools import Tool

Json = dict[str, Any]

_JSON_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
_HEAD = re.compile(r'\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*')
_ANNOUNCED = "Calling tools:\n"


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call as the model wrote it."""

    name: str
    arguments: Json


def call_format(tools: list[Tool]) -> Json:
    """The OpenAI `response_format` that lets a reply be exactly one call of one of these tools."""
    alternatives = [_alternative(tool) for tool in tools]
    schema = alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
    return {"type": "json_schema", "json_schema": {"name": "tool_call", "strict": True, "schema": schema}}


def _alternative(tool: Tool) -> Json:
    function = get_tool_json_schema(tool)["function"]
    parameters = function["parameters"]
    arguments = {
        "type": "object",
        "properties": {name: _property(given) for name, given in parameters["properties"].items()},
        "required": parameters["required"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"name": {"const": function["name"]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _property(given: Json) -> Json:
    """One argument as JSON schema: smolagents' own types (image, audio) travel as text, `nullable` as a type."""
    types = given["type"] if isinstance(given["type"], list) else [given["type"]]
    types = [kind if kind in _JSON_TYPES else "string" for kind in types]
    if given.get("nullable") and "null" not in types:
        types.append("null")
    kept = {key: value for key, value in given.items() if key not in {"type", "nullable", "description", "enum"}}
    if "enum" in given:
        return {"enum": [*given["enum"], None] if given.get("nullable") else list(given["enum"])}
    return {**kept, "type": types if len(types) > 1 else types[0]}


def read_call(text: str) -> WrittenCall | None:
    """The call that a reply consists of; None for any other text, a reply cut in the middle included."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    match value:
        case {"name": str(name), "arguments": dict(arguments), **rest} if not rest:
            return WrittenCall(name, arguments)
    return None


class CallReader:
    """Splits a call that arrives in pieces into its name and the text of its arguments.

    The brace that closes the reply is held back until something follows it, since it is not part of the arguments.
    """

    def __init__(self) -> None:
        self.text = ""
        self.name: str | None = None
        self._sent = 0

    def feed(self, piece: str) -> str:
        """The next piece of the arguments' text; empty while the name is not complete."""
        self.text += piece
        if self.name is None:
            head = _HEAD.match(self.text)
            if head is None:
                return ""
            self.name = json.loads(head[1])
            self._sent = head.end()
        end = len(self.text.rstrip())
        if self.text[:end].endswith("}"):
            end = len(self.text[: end - 1].rstrip())
        piece, self._sent = self.text[self._sent : max(end, self._sent)], max(end, self._sent)
        return piece


def as_written(messages: Sequence[ChatMessage | Json]) -> list[ChatMessage | Json]:
    """The conversation with earlier calls in the form in which this model writes them, without their ids."""
    return [_as_written(message) if isinstance(message, ChatMessage) else message for message in messages]


def _as_written(message: ChatMessage) -> ChatMessage:
    if message.role != MessageRole.TOOL_CALL or not isinstance(message.content, list):
        return message
    changed = copy(message)
    changed.content = [
        {**part, "text": _calls_as_json(part["text"])} if part.get("type") == "text" else part
        for part in message.content
    ]
    return changed


def _calls_as_json(text: str) -> str:
    if not text.startswith(_ANNOUNCED):
        return text
    try:
        calls = ast.literal_eval(text.removeprefix(_ANNOUNCED))
        return "\n".join(
            json.dumps({"name": call["function"]["name"], "arguments": call["function"]["arguments"]}) for call in calls
        )
    except (ValueError, SyntaxError, KeyError, TypeError):
        return text
