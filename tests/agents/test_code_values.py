"""The values of a call that code makes: copies for the tool, plain ones for the guard."""

import collections
import datetime
import enum
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from smolagents.agent_types import AgentText

from agentltl.agents.code_values import exact, owned
from agentltl.constraints.value import Opaque


class Point(NamedTuple):
    x: int
    y: Any


class Color(str, enum.Enum):  # noqa: UP042  its text is not its value
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


def shadow(base: type) -> Any:
    """A class that no module has, like one of the model's code."""
    return type(
        "Point", (base,), {"__module__": __name__, "__str__": lambda self: "x", "__iter__": lambda self: iter([])}
    )


def test_classes_of_modules_are_kept() -> None:
    table = collections.defaultdict(list, a=[1])
    values = [Color.RED, Level.HIGH, Point(1, [2]), collections.OrderedDict(b=1, a=2), table, AgentText("a")]
    copied: Any = owned(values)
    assert copied == values
    assert [type(value) for value in copied] == [type(value) for value in values]
    assert copied[4].default_factory is list
    assert copied is not values
    assert copied[2].y is not values[2].y  # type: ignore[union-attr, attr-defined]
    assert copied[4]["a"] is not table["a"]
    assert table == {"a": [1]}


def test_the_guard_gets_built_in_values() -> None:
    seen: Any = exact([Color.RED, Level.HIGH, Point(1, 2), collections.OrderedDict(b=1), AgentText("a"), True, None])
    assert seen == ["red", 3, (1, 2), {"b": 1}, "a", True, None]
    assert [type(value) for value in seen] == [str, int, tuple, dict, str, bool, type(None)]


@pytest.mark.parametrize("base", [str, int, float, list, tuple, dict])
def test_classes_of_no_module_become_built_in(base: type) -> None:
    value = {str: "12", int: 12, float: 1.5, list: [1], tuple: (1,), dict: {"a": 1}}[base]
    for copied in (owned(shadow(base)(value)), exact(shadow(base)(value))):
        assert type(copied) is base
        assert copied == value


def test_keys_too() -> None:
    (key,) = owned({shadow(str)("a"): 1})  # type: ignore[misc]
    assert type(key) is str
    assert owned({1: 2, (3,): 4}) == {1: 2, (3,): 4}


def test_other_objects() -> None:
    day = datetime.date(2020, 1, 2)
    assert owned(day) is day
    opaque = exact(day)
    assert isinstance(opaque, Opaque)
    assert opaque.value is day
    liar = type("Liar", (), {"__class__": str, "__str__": lambda self: "fine"})()
    assert isinstance(liar, str)
    assert isinstance(exact(liar), Opaque)


def test_mappings_that_code_can_change_become_dicts() -> None:
    inner = {"a": [1]}
    for view in (MappingProxyType(inner), collections.UserDict(inner), collections.ChainMap(inner)):
        copied = owned(view)
        assert type(copied) is dict
        assert copied == inner
        assert copied["a"] is not inner["a"]


def test_a_value_inside_itself() -> None:
    value: list[Any] = [1]
    value.append({"again": value})
    copied: Any = owned(value)
    assert copied[1]["again"] is copied
