"""What `tool` reads from a function, and what it says of one that cannot be a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Optional

import pytest
from PIL.Image import Image
from smolagents import Tool
from smolagents.models import get_tool_json_schema

from agentltl import ConstraintError, tool
from agentltl.agents.tool_types import schema_of


class Order:
    """No value of JSON."""


@tool
def find(
    query: str,
    limit: int = 10,
    kinds: list[str] | None = None,
    order: Literal["up", "down"] = "up",
    page: Annotated[int, "Which page, from 1."] = 1,
    after_day: int | None = 0,
) -> dict[str, int]:
    """Find orders.

    Newest first.

    Args:
        query: What to look for,
            in any language: a text.
        limit (int): At most so many.

    Returns:
        How many there are of each.
    """
    return {query: limit, "page": page}


def test_name_description_inputs_and_output_come_from_the_function() -> None:
    assert isinstance(find, Tool)
    assert find.name == "find"
    assert find.description == "Find orders.\n\nNewest first.\n\nReturns:\n    How many there are of each."
    assert find.inputs == {
        "query": {"type": "string", "description": "What to look for, in any language: a text."},
        "limit": {"type": "integer", "nullable": True, "description": "At most so many."},
        "kinds": {"type": "array", "items": {"type": "string"}, "nullable": True, "description": "kinds"},
        "order": {"type": "string", "enum": ["up", "down"], "nullable": True, "description": "order"},
        "page": {"type": "integer", "nullable": True, "description": "Which page, from 1."},
        "after_day": {"type": "integer", "nullable": True, "description": "after day"},
    }
    assert find.output_type == "object"
    assert get_tool_json_schema(find)["function"]["parameters"]["required"] == ["query"]
    assert find("a", 3) == find(query="a", limit=3) == find({"query": "a", "limit": 3}) == {"a": 3, "page": 1}
    assert find.function("a") == {"a": 10, "page": 1}


def test_a_function_without_arguments_needs_a_docstring_alone() -> None:
    @tool
    def now():  # type: ignore[no-untyped-def]
        """Say what time it is."""
        return 12

    assert (now.inputs, now.output_type, now()) == ({}, "any", 12)


def test_an_argument_without_a_default_that_takes_none_has_to_be_given() -> None:
    @tool
    def close(day: int | None) -> None:
        """Close a day, or all."""

    assert close.inputs["day"]["type"] == ["integer", "null"]
    assert close.output_type == "null"
    assert get_tool_json_schema(close)["function"]["parameters"]["required"] == ["day"]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Any, {"type": "any"}),
        (list, {"type": "array"}),
        (list[Any], {"type": "array", "items": {}}),
        (dict[str, list], {"type": "object", "additionalProperties": {"type": "array"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, str], {"type": "array"}),
        (int | str, {"type": ["integer", "string"]}),
        (Optional[list[int]], {"type": ["array", "null"], "items": {"type": "integer"}}),  # noqa: UP045
        (list[int] | list[str], {"type": "array"}),
        (list[int] | Any, {"type": "any"}),
        (Literal[1, "a"], {"type": ["integer", "string"], "enum": [1, "a"]}),
        (Literal["a"] | None, {"type": ["string", "null"], "enum": ["a", None]}),
        (Image, {"type": "image"}),
    ],
)  # fmt: skip
def test_type_hints_as_schemas(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema


@pytest.mark.parametrize("hint", [Order, set[int], dict[int, str], list[Order], tuple[int, Order], bytes])
def test_what_json_has_no_value_for_is_no_argument(hint: Any) -> None:
    with pytest.raises(TypeError):
        schema_of(hint)


def no_hint(order):  # type: ignore[no-untyped-def]
    """Do it."""


def any_number(*orders: str) -> None:
    """Do it."""


def any_name(**orders: str) -> None:
    """Do it."""


def by_position(order: str, /) -> None:
    """Do it."""


def no_value(order: Order) -> None:
    """Do it."""


def no_docstring(order: str) -> None:
    pass


def arguments_alone(order: str) -> None:
    """
    Args:
        order: Which.
    """


def unknown_name(order: Nothing) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Do it."""


def reserved(self: str) -> None:
    """Do it."""


async def yields(order: str) -> Any:
    """Do it."""
    yield order


@pytest.mark.parametrize(
    ("function", "said", "hint"),
    [
        (no_hint, "no type hint for `order`", "`order: str`"),
        (any_number, "takes `*orders`", "one parameter for each"),
        (any_name, "takes `**orders`", "one parameter for each"),
        (by_position, "takes `order` by position alone", "one parameter for each"),
        (no_value, "type hint for `order` that a model cannot be told: `Order`", "make the object in the function"),
        (no_docstring, "no docstring", "say in one"),
        (arguments_alone, "a docstring about its arguments alone", "above them"),
        (unknown_name, "name 'Nothing' is not defined", "import what they name"),
        (reserved, "a parameter `self`", "something else"),
        (yields, "an async generator", "return it"),
    ],
)
def test_what_cannot_be_described_says_what_where_and_what_to_do(
    function: Callable[..., Any], said: str, hint: str
) -> None:
    with pytest.raises(ConstraintError) as caught:
        tool(function)
    problem, todo = str(caught.value).split("\n")
    assert said in problem
    assert f"`{function.__name__}` ({__name__})" in problem
    assert hint in todo


@pytest.mark.parametrize("thing", [lambda order: order, print, Order, Order()])
def test_only_functions_with_a_name_become_tools(thing: Any) -> None:
    with pytest.raises(ConstraintError, match="def"):
        tool(thing)


@pytest.mark.parametrize("settings", [{"timeout": 0}, {"timeout": True}, {"timeout": "1"}, {"needs_approval": "yes"}])
def test_settings_that_make_no_sense(settings: Any) -> None:
    with pytest.raises(ConstraintError):
        tool(**settings)(any_number)


def test_a_method_becomes_a_tool_too() -> None:
    class Desk:
        def open(self, order: str) -> str:
            """Open it."""
            return f"{order} is open"

    assert tool(Desk().open)(order="W1") == "W1 is open"


def test_a_saved_tool_is_the_same_tool() -> None:
    @tool(timeout=5)
    async def add(a: int, b: Literal[1, 2] = 2) -> int:
        """Add two numbers."""
        import asyncio

        await asyncio.sleep(0)
        return sum(n + 0 for n in (a, b))

    again = Tool.from_dict(add.to_dict())
    assert (again.name, again.description, again.inputs, again.output_type) == (
        add.name, add.description, add.inputs, add.output_type,
    )  # fmt: skip
    assert again(a=1) == 3
    assert again.timeout == 5
    assert add.to_dict()["requirements"] == ["agentltl", "smolagents"]


def test_a_tool_that_uses_its_surroundings_is_not_saved() -> None:
    @tool
    def order() -> str:
        """Make one."""
        return str(Order())

    with pytest.raises(ConstraintError, match="uses `Order`, which is not in it"):
        order.to_dict()
