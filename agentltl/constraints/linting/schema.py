"""JSON schemas read as what a value can be: which keys it has, of which kinds it is, which comparisons it can pass.

Only what is certain is denied: keywords that are not read here take nothing away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentltl.constraints import judgement as j
from agentltl.constraints.comparison import KINDS, TESTS
from agentltl.constraints.value import Json, as_number, freeze, kind

_KIND_OF = {"string": "text", "number": "number", "integer": "number", "boolean": "bool", "null": "null"}
_KIND_OF |= {"array": "list", "object": "object"}
_BRANCHES = ("anyOf", "oneOf", "allOf", "then", "else")
_SAYS = frozenset({"type", "enum", "const", "properties", "items", "prefixItems"})
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Shape:
    """One way in which a value may be: a schema without references and branches, and the whole it stands in."""

    own: Mapping[str, Json]
    whole: Mapping[str, Json]

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of value; all of them where the schema does not say."""
        if (values := self.listed) is not None:
            return frozenset(map(kind, values))
        said = self.own.get("type")
        types = [said] if isinstance(said, str) else said if isinstance(said, list) else []
        if not types or any(not isinstance(t, str) or t not in _KIND_OF for t in types):
            return frozenset(KINDS)
        return frozenset(_KIND_OF[t] for t in types) | ({"null"} if self.own.get("nullable") is True else set())

    @property
    def listed(self) -> list[Json] | None:
        """The only values, where the schema lists them."""
        if "const" in self.own:
            return [freeze(self.own["const"])]
        values = self.own.get("enum")
        if not isinstance(values, list):
            return None
        return [freeze(v) for v in values] + ([None] if self.own.get("nullable") is True else [])

    @property
    def whole_numbers(self) -> bool:
        said = self.own.get("type")
        return said == "integer" or (isinstance(said, list) and "integer" in said and "number" not in said)

    @property
    def keys(self) -> Mapping[str, Json] | None:
        """The keys of an object, each with its schema; None where others are possible."""
        properties = self.own.get("properties")
        if not isinstance(properties, Mapping) or self.own.get("patternProperties"):
            return None
        return None if self.own.get("additionalProperties") else properties

    def at_key(self, name: str) -> list[Shape]:
        """What stands under a key of an object; empty where nothing can."""
        if "object" not in self.kinds:
            return []
        properties, others = self.own.get("properties"), self.own.get("additionalProperties")
        if isinstance(properties, Mapping) and name in properties:
            return shapes(properties[name], self.whole)
        if self.keys is not None:
            return []
        return shapes(
            others if isinstance(others, Mapping) and not self.own.get("patternProperties") else {}, self.whole
        )

    def elements(self) -> list[Shape]:
        """What the elements of a list can be."""
        if "list" not in self.kinds:
            return []
        items = self.own.get("items")
        plain = isinstance(items, Mapping) and "prefixItems" not in self.own
        return shapes(items if plain else {}, self.whole)

    def passes(self, op: str, right: Json) -> bool:
        """Whether some value of this shape can stand on the left of a comparison that is true."""
        if (values := self.listed) is not None:
            return any(TESTS[op](value, right) == j.YES for value in values)
        return any(self._passes(own, op, right) for own in self.kinds)

    def _passes(self, own: str, op: str, right: Json) -> bool:
        match op:
            case "=":
                return own == kind(right) and self._can_be(right)
            case "in":
                return any(self._passes(own, "=", item) for item in right)
            case "!=":
                return own != "null" or right is not None
            case "<" | "<=" | ">" | ">=":
                if own == "text":
                    return isinstance(right, str) or as_number(right) is not None
                return own == "number" and self._in_range(op, as_number(right))
            case "~" | "!~" | "=~" | "!=~":
                return own == "text" and isinstance(right, str)
            case "has":
                if own == "list":
                    return any(element.passes("=", right) for element in self.elements())
                return (own == "text" and isinstance(right, str)) or (own == "object" and self._has_key(right))
            case "not has":
                return own in ("list", "text", "object")
            case "is":
                return bool(own == right)
            case "is not":
                return bool(own != right)
        return True

    def _can_be(self, value: Json) -> bool:
        """Whether a value of a kind that fits is one of this shape, as far as the schema is read here."""
        match value:
            case bool() | None:
                return True
            case int() | float():
                if self.whole_numbers and value != value // 1:
                    return False
                return self._in_range("<=", value) and self._in_range(">=", value)
            case dict():
                needed = self.own.get("required")
                present = all(name in value for name in needed) if isinstance(needed, list) else True
                return present and all(can_be(self.at_key(name), inner) for name, inner in value.items())
            case list():
                return all(can_be(self.elements(), inner) for inner in value)
        return True

    def _has_key(self, name: Json) -> bool:
        return isinstance(name, str) and bool(self.at_key(name))

    def _in_range(self, op: str, number: float | None) -> bool:
        """Whether `value op number` is possible between the smallest and the largest number of the schema."""
        if number is None:
            return False
        low, above = as_number(self.own.get("minimum")), as_number(self.own.get("exclusiveMinimum"))
        high, below = as_number(self.own.get("maximum")), as_number(self.own.get("exclusiveMaximum"))
        if op in (">", ">="):
            strict = op == ">"
            return (high is None or high > number or (high == number and not strict)) and (
                below is None or below > number
            )
        strict = op == "<"
        return (low is None or low < number or (low == number and not strict)) and (above is None or above < number)


def can_be(shapes: list[Shape], value: Json) -> bool:
    """Whether a value is one of these shapes, as far as the schemas are read here."""
    return any(shape.passes("=", value) for shape in shapes)


def shapes(schema: Json, whole: Mapping[str, Json] | None = None) -> list[Shape]:
    """The ways in which a value of a schema may be. `whole` is the schema in which `#/...` references are looked up."""
    whole = schema if whole is None and isinstance(schema, Mapping) else whole or {}
    return list(_shapes(schema, whole, 0))


def _shapes(schema: Json, whole: Mapping[str, Json], depth: int) -> Iterator[Shape]:
    if schema is False:
        return
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        yield Shape({}, whole)
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield from _shapes(_referred(reference, whole), whole, depth + 1)
        return
    branches: list[Json] = []
    for name in _BRANCHES:
        inner = schema.get(name)
        branches += inner if isinstance(inner, list) else [inner] if isinstance(inner, Mapping) else []
    says = bool(_SAYS & schema.keys())
    if not branches or says:
        yield Shape(schema, whole)
    for branch in branches:
        if says and isinstance(branch, Mapping) and not (_SAYS | {"$ref", *_BRANCHES}) & branch.keys():
            continue  # it only narrows what stands around it
        yield from _shapes(branch, whole, depth + 1)


def _referred(reference: str, whole: Mapping[str, Json]) -> Json:
    """What a reference leads to inside the whole; anything (`True`) where it leads elsewhere."""
    if not reference.startswith("#"):
        return True
    found: Json = whole
    for step in filter(None, reference[1:].split("/")):
        name = re.sub("~1", "/", step).replace("~0", "~")
        if not isinstance(found, Mapping) or name not in found:
            return True
        found = found[name]
    return found
