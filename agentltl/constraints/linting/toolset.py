"""The tools that rules are checked against: smolagents tools, JSON schemas in the usual forms, or bare names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agentltl.constraints.linting.schema import Shape, shapes
from agentltl.constraints.value import Json
from agentltl.errors import ConstraintError

Tools = Iterable[object] | Mapping[str, object]
"""A list of tools (objects with `name` and `inputs`, schemas with a `name`, or names), or a mapping from names to tools
or schemas of arguments."""

_SCHEMAS = ("parameters", "inputSchema", "input_schema")
_WANTED = "give smolagents tools, JSON schemas with a `name`, names, or a mapping from names to schemas"


@dataclass(frozen=True, slots=True)
class ToolShape:
    """A tool and the ways in which its arguments may be; nothing is known of those of a bare name."""

    name: str
    arguments: tuple[Shape, ...]


def toolset(tools: Tools) -> dict[str, ToolShape]:
    """The tools by name. What is none, or has no name, is a `ConstraintError`."""
    if isinstance(tools, str) or not isinstance(tools, Iterable):
        raise ConstraintError(f"tools are expected, not `{tools}`\n{_WANTED}")
    if isinstance(tools, Mapping):
        given = {"tools": [tools]} if _is_one(tools) else None
        if given is None:
            return {str(name): ToolShape(str(name), _arguments(tool)) for name, tool in tools.items()}
        tools = given["tools"]
    found = [ToolShape(_name(tool), _arguments(tool)) for tool in tools]
    return {tool.name: tool for tool in found}


def _is_one(tools: Mapping[str, object]) -> bool:
    """Whether a mapping is one schema with a name, and not a mapping from names."""
    function = tools.get("function")
    inner = function if isinstance(function, Mapping) else tools
    return isinstance(inner.get("name"), str)


def _inner(tool: object) -> object:
    """A schema without the envelope of OpenAI's form."""
    if isinstance(tool, Mapping) and isinstance(tool.get("function"), Mapping):
        return tool["function"]
    return tool


def _name(tool: object) -> str:
    inner = _inner(tool)
    if isinstance(inner, str):
        return inner
    name = inner.get("name") if isinstance(inner, Mapping) else getattr(inner, "name", None)
    if not isinstance(name, str) or not name:
        raise ConstraintError(f"a tool has no name: {str(tool)[:60]}\n{_WANTED}")
    return name


def _arguments(tool: object) -> tuple[Shape, ...]:
    inner = _inner(tool)
    if isinstance(inner, Mapping):
        schema: Json = next((inner[key] for key in _SCHEMAS if isinstance(inner.get(key), Mapping)), inner)
        if schema is inner and isinstance(inner.get("name"), str):
            schema = {}
    elif isinstance(inner, str) or inner is None or inner is True:
        schema = {}
    else:
        schema = _of_object(inner)
    return tuple(shapes(schema if not isinstance(schema, Mapping) or _is_schema(schema) else _object(schema)))


def _of_object(tool: object) -> Json:
    """The schema, or the inputs, of an object with attributes."""
    for name in ("inputs", *_SCHEMAS):
        if isinstance(found := getattr(tool, name, None), Mapping):
            return _object(found) if name == "inputs" else found
    if hasattr(tool, "name"):
        return {}
    raise ConstraintError(f"`{str(tool)[:60]}` is no tool\n{_WANTED}")


def _is_schema(mapping: Mapping[str, Any]) -> bool:
    """Whether this is a JSON schema of an object, and not a mapping from argument names to schemas."""
    if not mapping or isinstance(mapping.get("type"), str | list) or isinstance(mapping.get("$ref"), str):
        return True
    if any(isinstance(mapping.get(name), list) for name in ("anyOf", "oneOf", "allOf")):
        return True
    properties = mapping.get("properties")
    return isinstance(properties, Mapping) and not isinstance(properties.get("type"), str)


def _object(inputs: Mapping[str, Any]) -> Json:
    """The schema of arguments given one by one; one that is not `nullable` is required."""
    given = {name: schema for name, schema in inputs.items() if isinstance(schema, Mapping)}
    needed = [name for name, schema in given.items() if not schema.get("nullable") and "default" not in schema]
    return {"type": "object", "properties": given, "required": needed, "additionalProperties": False}
