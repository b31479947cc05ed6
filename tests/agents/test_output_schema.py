"""The JSON schemas of output types, as a tool's argument has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, TypeAdapter
from smolagents.models import get_tool_json_schema

from agentltl.agents.output_schema import adapter_of, argument_schema
from agentltl.agents.output_tool import OutputTool
from agentltl.errors import ConstraintError


class City(BaseModel):
    name: str
    country: str = "Japan"


class Tour(BaseModel):
    cities: list[City]
    start: date


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


@dataclass
class Point:
    x: int
    y: int


class Color(Enum):
    RED = "red"
    BLUE = "blue"


CASES: list[tuple[Any, list[Any], list[Any]]] = [
    (str, ["x", ""], [1, None, {}]),
    (int, [1], ["x", 1.5]),
    (bool, [True], ["x"]),
    (float, [1, 1.5], ["x", None]),
    (list[int], [[], [1, 2]], [["x"], 1, {}]),
    (dict[str, int], [{}, {"a": 1}], [{"a": "x"}, []]),
    (City, [{"name": "Kyoto"}, {"name": "Rome", "country": "Italy"}], [{}, {"name": 1}, "Kyoto"]),
    (Tour, [{"cities": [{"name": "Kyoto"}], "start": "2026-01-01"}], [{"cities": ["Kyoto"], "start": "2026-01-01"}]),
    (Tree, [{"value": 1, "children": [{"value": 2}]}], [{"value": 1, "children": [{}]}, {"value": 1, "children": [1]}]),
    (list[Tree], [[{"value": 1, "children": [{"value": 2}]}]], [[{"value": 1, "children": [{"value": "x"}]}]]),
    (Point, [{"x": 1, "y": 2}], [{"x": 1}, [1, 2]]),
    (Color, ["red"], ["green", 1]),
    (Literal["yes", "no", 3], ["yes", 3], ["maybe", 4]),
    (City | Point, [{"name": "Kyoto"}, {"x": 1, "y": 2}], [{"x": 1}, 3]),
    (City | None, [{"name": "Kyoto"}, None], [{}, 3]),
    (int | str, [1, "x"], [1.5, None, {}]),
    (set[int], [[1, 2]], ["x", {}]),
    (tuple[int, str], [[1, "x"]], [[1], ["x", 1]]),
    (date, ["2026-01-01"], [{}]),
    (Any, [1, "x", None, {}, []], []),
]


@pytest.mark.parametrize(("type_", "good", "bad"), CASES, ids=[str(case[0]) for case in CASES])
def test_a_tool_tells_a_model_just_the_values_of_the_type(type_: Any, good: list[Any], bad: list[Any]) -> None:
    told = get_tool_json_schema(OutputTool(type_, [], 1))["function"]["parameters"]
    jsonschema.Draft202012Validator.check_schema(told)
    check = jsonschema.Draft202012Validator(told)
    adapter = TypeAdapter(type_)
    for value in good:
        assert check.is_valid({"answer": value}), value
        adapter.validate_python(value)
    for value in bad:
        assert not check.is_valid({"answer": value}), value
    assert not check.is_valid({})


def test_definitions_stand_where_they_are_used() -> None:
    assert "$ref" not in str(argument_schema(adapter_of(Tour), "answer"))
    assert "#/properties/answer/$defs/Tree" in str(argument_schema(adapter_of(Tree), "answer"))


@pytest.mark.parametrize("type_", ["no such type", 7, object()])
def test_what_is_no_type_is_an_error(type_: object) -> None:
    with pytest.raises(ConstraintError, match="no type that can be checked"):
        adapter_of(type_)


def test_a_type_that_json_cannot_write_is_an_error() -> None:
    with pytest.raises(ConstraintError, match="no JSON schema that a model could be told"):
        argument_schema(adapter_of(Callable[[int], int]), "answer")
