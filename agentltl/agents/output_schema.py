"""The JSON schema of an output type, in the form in which tools have the schemas of their arguments."""

from __future__ import annotations

from typing import Any, cast

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from agentltl.errors import ConstraintError

Schema = dict[str, Any]

_EVERY = ["string", "number", "integer", "boolean", "object", "array", "null"]


def adapter_of(output_type: object) -> TypeAdapter[Any]:
    """What checks values of the type. `ConstraintError` for what pydantic does not take as a type."""
    try:
        return TypeAdapter(cast(Any, output_type))
    except (PydanticUserError, TypeError, NameError, AttributeError, SyntaxError) as error:
        reason = str(error).splitlines()[0]
        raise ConstraintError(
            f"`output_type` is `{output_type!r}`, which is no type that can be checked: {reason}\n"
            "give a pydantic model, a dataclass, or a type like `list[int]`"
        ) from error


def argument_schema(adapter: TypeAdapter[Any], argument: str) -> Schema:
    """The schema of a tool's argument that takes values of the type. `ConstraintError` if JSON cannot write them.

    It always has a `type`, and no `anyOf` at the top, which smolagents would flatten. Definitions stand where they are
    used; those that refer to themselves stay apart, and are named by where they are in the tool's parameters.
    """
    try:
        made = adapter.json_schema(ref_template=f"#/properties/{argument}/$defs/{{model}}")
    except PydanticUserError as error:
        reason = str(error).splitlines()[0]
        raise ConstraintError(
            f"`output_type` has no JSON schema that a model could be told: {reason}\n"
            "give a type whose values JSON can write"
        ) from error
    definitions: dict[str, Schema] = made.pop("$defs", {})
    schema: Schema = _inlined(made, definitions, ())
    if (name := _name(schema)) in definitions:  # it is one that refers to itself: here it stands, too
        schema = {
            **_inlined(definitions[name], definitions, (name,)),
            **{k: v for k, v in schema.items() if k != "$ref"},
        }
    left = _referred(schema, definitions)
    if left:
        schema["$defs"] = {name: _inlined(definitions[name], definitions, tuple(left)) for name in sorted(left)}
    if "anyOf" in schema:
        schema["oneOf"] = schema.pop("anyOf")
    if "type" not in schema:
        schema["type"] = _types(schema)
    return schema


def _inlined(schema: Any, definitions: dict[str, Schema], inside: tuple[str, ...]) -> Any:
    """The schema with each definition in the place of its name, but for those that it is inside of."""
    if isinstance(schema, list):
        return [_inlined(part, definitions, inside) for part in schema]
    if not isinstance(schema, dict):
        return schema
    name = _name(schema)
    if name in definitions and name not in inside and not _recursive(name, definitions):
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_inlined(definitions[name], definitions, (*inside, name)), **rest}
    return {key: _inlined(part, definitions, inside) for key, part in schema.items()}


def _name(schema: Schema) -> str:
    reference = schema.get("$ref")
    return reference.rpartition("/")[2] if isinstance(reference, str) else ""


def _recursive(name: str, definitions: dict[str, Schema]) -> bool:
    return name in _referred(definitions[name], definitions)


def _referred(schema: Any, definitions: dict[str, Schema]) -> set[str]:
    """The definitions that a schema names, and those that these name."""
    found: set[str] = set()
    rest = [schema]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            name = _name(part)
            if name in definitions and name not in found:
                found.add(name)
                rest.append(definitions[name])
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)
    return found


def _types(schema: Schema) -> str | list[str]:
    """The JSON types of what a schema allows that says none itself."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    names = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "NoneType": "null"}
    found = {names.get(type(value).__name__, "object") for value in values}
    for part in schema.get("oneOf", ()):
        kinds = part.get("type") or _types(part)
        found.update([kinds] if isinstance(kinds, str) else kinds)
    every = sorted(found, key=_EVERY.index) if found else list(_EVERY)
    return every[0] if len(every) == 1 else every
