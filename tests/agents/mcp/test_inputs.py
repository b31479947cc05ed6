import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError
from mcp.types import Tool as Offered
from referencing.exceptions import Unresolvable
from smolagents.models import get_tool_json_schema
from smolagents.tools import AUTHORIZED_TYPES, validate_tool_arguments

from agentltl import lint
from agentltl.agents.mcp.inputs import inputs_of
from agentltl.agents.mcp.tool import McpTool


def one(schema: Any, **whole: Any) -> dict[str, Any]:
    """The input that an argument of this schema becomes, when it is required."""
    return inputs_of({"type": "object", "properties": {"x": schema}, "required": ["x"], **whole})["x"]


def test_what_is_not_required_may_be_left_out() -> None:
    inputs = inputs_of({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]})
    assert (inputs["a"].get("nullable"), inputs["b"].get("nullable")) == (True, None)
    assert inputs_of({}) == inputs_of({"type": "object"}) == inputs_of({"properties": None}) == {}


@pytest.mark.parametrize(
    ("schema", "type_", "nullable"),
    [
        ({"type": "integer"}, "integer", None),
        ({"type": ["string", "null"]}, "string", True),
        ({"type": ["string", "number"]}, ["string", "number", "integer"], None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer", True),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, ["integer", "string"], None),
        ({"enum": ["a", 1, None]}, ["string", "integer"], True),
        ({"const": True}, "boolean", None),
        ({"properties": {}}, "object", None),
        ({"items": {}}, "array", None),
        ({"allOf": [{"type": "string"}]}, "string", None),
        ({"type": "file"}, "any", None),
        ({"type": "null"}, "any", True),
        ({"anyOf": [{"type": "null"}, {}]}, "any", True),
        ({}, "any", None),
        (True, "any", None),
    ],
)
def test_the_type_of_an_argument(schema: Any, type_: Any, nullable: bool | None) -> None:
    made = one(schema)
    assert (made["type"], made.get("nullable")) == (type_, nullable)


def test_what_stands_beside_a_null_is_kept() -> None:
    made = one({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "default": None})
    assert made == {
        "type": "array",
        "items": {"type": "string"},
        "default": None,
        "nullable": True,
        "description": "",
    }


def test_branches_with_more_than_a_type_are_kept() -> None:
    branches = [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "string", "maxLength": 3}]
    made = one({"anyOf": branches, "title": "A thing"})
    assert made == {"oneOf": branches, "type": ["object", "string"], "title": "A thing", "description": "A thing"}


def test_references_are_replaced_by_what_they_stand_for() -> None:
    defs = {"a/b": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}, "n": {"type": "integer"}}
    made = one({"$ref": "#/$defs/a~1b", "description": "A pair"}, **{"$defs": defs})
    assert made == {"type": "object", "properties": {"n": {"type": "integer"}}, "description": "A pair"}
    assert one({"$ref": "#/$defs/lost"}) == one({"$ref": "http://elsewhere.invalid"}) == one({})


def test_an_argument_may_be_called_like_a_keyword_of_schemas() -> None:
    properties = {"definitions": {"type": "string"}, "$defs": {"type": "string"}, "type": {"type": "integer"}}
    assert inputs_of({"properties": properties}).keys() == properties.keys()


def test_a_schema_that_contains_itself_ends() -> None:
    tree = {"type": "object", "properties": {"l": {"$ref": "#/$defs/t"}, "r": {"$ref": "#/$defs/t"}}}
    made = one({"$ref": "#/$defs/t"}, **{"$defs": {"t": tree}})
    assert made["properties"] == {"l": {}, "r": {}}
    bomb = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 10} for i in range(12)}
    assert one({"$ref": "#/$defs/d0"}, **{"$defs": bomb})["type"] == "any"


def tool_of(schema: dict[str, Any]) -> McpTool:
    return McpTool("desk", Offered(name="t-1", inputSchema=schema), "t-1", lambda *_: None)  # type: ignore[arg-type, return-value]


schemas = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "null", "array", ["string", "null"], "odd", 3]),
            "enum": st.lists(st.sampled_from(["a", 1, None, 1.5]), max_size=3),
            "title": st.just("T"),
            "default": st.none(),
            "$ref": st.sampled_from(["#", "#/properties/x", "#/nowhere"]),
        },
    ),
    lambda inner: (
        st.fixed_dictionaries(
            {},
            optional={word: st.lists(inner, max_size=3) for word in ("anyOf", "oneOf", "allOf")}
            | {"type": st.sampled_from(["string", ["integer", "object"]])},
        )
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(st.just("x"), inner)})
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["x", "y", "from"]), schemas, max_size=3))
def test_any_schema_makes_a_tool_that_smolagents_and_lint_take(properties: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": properties}
    before = copy.deepcopy(schema)
    made = tool_of(schema)
    assert schema == before
    assert made.inputs.keys() == properties.keys()
    for given_ in made.inputs.values():
        types = [given_["type"]] if isinstance(given_["type"], str) else given_["type"]
        assert types
        assert set(types) <= set(AUTHORIZED_TYPES)  # type: ignore[arg-type]
    assert get_tool_json_schema(made)["function"]["parameters"]["properties"].keys() == properties.keys()
    validate_tool_arguments(made, {})
    with contextlib.suppress(SchemaError):
        Draft202012Validator.check_schema(schema)
        is_fine = Draft202012Validator(schema).is_valid
        for value in ("a", "b", 1, 1.5, None, [], {}, {"x": 1}):
            for name in properties:
                # The root of these schemas may be met again below a reference, where nothing but an object is fine.
                with contextlib.suppress(RecursionError, Unresolvable):
                    if is_fine({name: value}):
                        validate_tool_arguments(made, {name: value})
    lint([{"name": "r", "rule": 'never("t-1"(x = 1))'}], [made])
