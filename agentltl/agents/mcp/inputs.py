"""The schema of a tool's arguments as the `inputs` of a smolagents tool: one schema for each argument.

smolagents wants to see a type in each, cannot follow references, and calls what may be left out `nullable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TYPES = ("string", "boolean", "integer", "number", "array", "object", "null")
_PYTHON = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
_PYTHON |= {type(None): "null"}
Schema = Mapping[str, Any]


def inputs_of(schema: Schema) -> dict[str, dict[str, Any]]:
    """The arguments by name. Where no type can be told it is `any`; one that is not required is `nullable`."""
    seen = {key: inner for key, inner in schema.items() if key not in ("$defs", "definitions")}
    whole = _References(schema).resolved(seen)
    properties = whole.get("properties")
    required = whole.get("required")
    needed = required if isinstance(required, list) else []
    given = properties.items() if isinstance(properties, dict) else ()
    return {str(name): _input(inner if isinstance(inner, dict) else {}, name in needed) for name, inner in given}


def _input(schema: dict[str, Any], required: bool) -> dict[str, Any]:
    made = _flat(schema)
    types = types_of(made)
    nullable = made.pop("nullable", False) is True or "null" in types
    types = [kind for kind in types if kind != "null"]
    if "number" in types and len(types) > 1:
        types.append("integer")  # smolagents takes an integer for a number only where it is the one type
    made["type"] = types[0] if len(types) == 1 else list(dict.fromkeys(types)) or "any"
    made["description"] = str(made.get("description") or made.get("title") or "")
    if nullable or not required:
        made["nullable"] = True
    return made


def _flat(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the choices that smolagents would lose: null, a single branch, and branches that only name a
    type. Other branches stand under `oneOf`, because it reduces `anyOf` to types."""
    made = dict(schema)
    for word in ("allOf", "anyOf", "oneOf"):
        listed = made.get(word)
        branches = [branch for branch in listed if isinstance(branch, dict)] if isinstance(listed, list) else []
        if not branches:
            made.pop(word, None)
            continue
        rest = [branch for branch in branches if word == "allOf" or branch.get("type") != "null"]
        if len(rest) < len(branches):
            made["nullable"] = True
        if len(rest) == 1:
            del made[word]
            made = _flat({**rest[0], **made})
        elif word != "allOf" and all({"type"} <= branch.keys() <= {"type", "title"} for branch in rest):
            del made[word]
            each = [types_of(branch) for branch in rest]
            said = list(dict.fromkeys(kind for kinds in each for kind in kinds)) if all(each) else []
            made.setdefault("type", said)
        elif word == "anyOf":
            del made[word]
            made["oneOf"] = branches
    return made


def types_of(schema: Schema) -> list[str]:
    """The types that a value may have, as far as the schema says; empty when it does not."""
    said = schema.get("type")
    if isinstance(said, str | list):
        listed = [said] if isinstance(said, str) else said
        return [kind for kind in listed if kind in _TYPES] if all(kind in _TYPES for kind in listed) else []
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list):
        return list(dict.fromkeys(_PYTHON.get(type(value), "object") for value in values))
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if isinstance(branches, list) and branches:
            each = [types_of(branch) if isinstance(branch, dict) else [] for branch in branches]
            return list(dict.fromkeys(kind for kinds in each for kind in kinds)) if all(each) else []
    for word, kind in (("properties", "object"), ("items", "array")):
        if word in schema:
            return [kind]
    return []


@dataclass(slots=True)
class _References:
    """Replaces references by what they stand for; `left` bounds how many, as few can unfold to very many."""

    whole: Schema
    left: int = 1000

    def resolved(self, value: Any, inside: frozenset[str] = frozenset()) -> Any:
        """A part of the schema. A reference that leads into itself, or to nothing, allows anything."""
        if isinstance(value, Mapping):
            reference = value.get("$ref")
            if not isinstance(reference, str):
                return {key: self.resolved(inner, inside) for key, inner in value.items()}
            beside = {key: inner for key, inner in value.items() if key != "$ref"}
            target = None if reference in inside or self.left <= 0 else self._found(reference)
            self.left -= 1
            return self.resolved({**(target or {}), **beside}, inside | {reference})
        if isinstance(value, list):
            return [self.resolved(inner, inside) for inner in value]
        return value

    def _found(self, reference: str) -> Schema | None:
        """What a reference into the same schema names."""
        at: Any = self.whole
        if not reference.startswith("#"):
            return None
        for step in filter(None, reference[1:].split("/")):
            at = at.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(at, Mapping) else None
        return at if isinstance(at, Mapping) else None
