"""Type hints as the JSON schemas that smolagents' tools have."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

_PLAIN: dict[object, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", list: "array", tuple: "array", dict: "object",
    Sequence: "array", Mapping: "object", None: "null", type(None): "null", Any: "any", object: "any",
}  # fmt: skip
Schema = dict[str, Any]


def schema_of(hint: object) -> Schema:
    """The schema of a hint; `TypeError` for one that JSON has no value for."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return schema_of(args[0])
    if origin is Literal:
        return _literal(args)
    if origin is Union or origin is types.UnionType:
        return _union([schema_of(arg) for arg in args])
    kind = _PLAIN.get(hint if origin is None else origin) if _hashable(hint) else None
    if kind is None and _is_image(hint):
        kind = "image"
    if kind is None:
        raise TypeError(f"`{hint if origin else getattr(hint, '__name__', hint)}` is no type of JSON")
    schema: Schema = {"type": kind}
    inner = args[1:] if kind == "object" else args
    if kind == "object" and args and args[0] is not str:
        raise TypeError(f"`{hint}` has keys that are no text")
    if inner and all(arg in (inner[0], ...) for arg in inner):
        schema["additionalProperties" if kind == "object" else "items"] = _inner(schema_of(inner[0]))
    else:
        for arg in inner:
            schema_of(arg)  # each of them must have a schema
    return schema


def without_none(schema: Schema) -> Schema:
    """The schema of its other values."""
    kinds = schema["type"]
    if not isinstance(kinds, list) or "null" not in kinds:
        return schema
    rest = [kind for kind in kinds if kind != "null"]
    kept = {**schema, "type": rest[0] if len(rest) == 1 else rest}
    return kept | ({"enum": [value for value in schema["enum"] if value is not None]} if "enum" in schema else {})


def said_of(hint: object) -> str | None:
    """The text in `Annotated[type, "text"]`."""
    if get_origin(hint) is not Annotated:
        return None
    return next((text for text in get_args(hint)[1:] if isinstance(text, str)), None)


def _literal(values: tuple[object, ...]) -> Schema:
    schema = _union([schema_of(type(value)) for value in values])
    return {**schema, "enum": list(dict.fromkeys(values))}


def _union(parts: list[Schema]) -> Schema:
    """One type or a list of types. What only some of them have, the type of items, is left out."""
    kinds = {kind for part in parts for kind in (part["type"] if isinstance(part["type"], list) else [part["type"]])}
    if "any" in kinds:
        return {"type": "any"}
    real = [part for part in parts if part["type"] != "null"]
    schema = dict(real[0]) if len(real) == 1 else {}
    if len(kinds) == 1:
        return {**schema, "type": kinds.pop()}
    if "null" in kinds and "enum" in schema:
        schema["enum"] = [*schema["enum"], None]
    return {**schema, "type": [*sorted(kinds - {"null"}), *(["null"] if "null" in kinds else [])]}


def _inner(schema: Schema) -> Schema:
    """A schema inside another one, where `any` is no word of JSON Schema."""
    return {name: value for name, value in schema.items() if (name, value) != ("type", "any")}


def _hashable(hint: object) -> bool:
    try:
        hash(hint)
    except TypeError:
        return False
    return True


def _is_image(hint: object) -> bool:
    return getattr(hint, "__module__", "") == "PIL.Image" and getattr(hint, "__name__", "") == "Image"
