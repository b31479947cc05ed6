import json
from enum import IntEnum
from types import MappingProxyType

from agentltl.constraints.value import freeze
from agentltl.record.plain import plain


class Name(str):
    __slots__ = ()


class Size(IntEnum):
    BIG = 3


def test_json_stays_and_what_is_none_becomes_text() -> None:
    value = {
        "a": [1, 2.5, True, None, "x"],
        "b": (1, {2}),
        3: MappingProxyType({"c": b"x"}),
        "name": Name("n"),
        "size": Size.BIG,
    }
    found = plain(value)
    assert found == {
        "a": [1, 2.5, True, None, "x"],
        "b": [1, [2]],
        "3": {"c": "b'x'"},
        "name": "n",
        "size": 3,
    }
    assert json.loads(json.dumps(found)) == found
    assert [type(found["name"]), type(found["size"]), type(found["a"][2])] == [str, int, bool]


def test_frozen_values_can_be_changed_again() -> None:
    found = plain(freeze({"a": [1]}))
    found["a"].append(2)
    assert found == {"a": [1, 2]}


def test_what_cannot_be_read_is_its_class() -> None:
    class Broken:
        def __str__(self) -> str:
            raise ValueError("no text")

    assert plain([Broken()]) == ["<Broken>"]


def test_what_cannot_be_written_is_named_by_its_type() -> None:
    deep: object = 0
    for _ in range(5_000):
        deep = [deep]
    found = plain({"deep": deep, "digits": [10**5_000, 10**2_000]})
    assert found == "<dict>"
    found = plain({"digits": [10**5_000, 10**2_000], Unnamed(): 1})
    assert found == {"digits": ["<int>", 10**2_000], "<Unnamed>": 1}
    assert json.loads(json.dumps(found)) == found


def test_whatever_is_taken_apart_can_be_written() -> None:
    nested: object = 0
    for _ in range(600):
        json.dumps(plain(nested))
        nested = {"in": [nested]}


class Unnamed:
    def __str__(self) -> str:
        raise ValueError("no text")
