"""Names that carry a ticket, and when two argument values are the same."""

from typing import Any

import pytest

from agentltl.agents.ticket import CallName, Ticket, same
from agentltl.constraints.value import freeze

PICTURE = object()


@pytest.mark.parametrize(
    "value", [None, True, 1, 1.5, "a", float("nan"), [1, [float("nan")]], {"a": {"b": PICTURE}}, PICTURE, [], {}]
)
def test_a_value_is_the_same_as_itself(value: Any) -> None:
    assert same(freeze(value), freeze(value))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *[(1, True), (1, 1.0), (0, None), ("1", 1), (float("nan"), 1.0)],
        *[([1], [True]), ([1], [1, 2]), ({"a": 1}, {"a": 1, "b": 1}), ({"a": 1}, {"b": 1}), ({}, [])],
        *[(object(), object()), (PICTURE, None)],
    ],
)
def test_values_that_are_not_the_same(one: Any, other: Any) -> None:
    assert not same(freeze(one), freeze(other))


def test_a_name_with_a_ticket_is_a_name() -> None:
    ticket = Ticket("i", 1)
    name = CallName.of("read", ticket)
    assert isinstance(name, CallName)
    assert name.ticket is ticket
    assert name == "read"
    assert f"{name}" == "read"
    assert {"read": 1}[name] == 1
    assert repr(name) == "'read'"


def test_a_second_run_of_a_call_is_a_call_of_its_own() -> None:
    first = Ticket("i", 1, taken=True)
    second = first.again()
    assert (second.id, second.step, second.decision, second.taken) == ("i", 1, None, False)
    assert second.outcomes is first.outcomes


LIST = [1]


@pytest.mark.parametrize(
    ("judged", "arguments", "holds"),
    [
        *[({}, {}, True), ({"a": 1, "b": "x"}, {"b": "x", "a": 1}, True), ({"a": None}, {"a": None}, True)],
        *[({"a": 1}, {"a": True}, False), ({"a": 1}, {"a": 1.0}, False), ({"a": 1}, {"a": 1, "b": 1}, False)],
        *[({"a": None}, {"b": None}, False), ({"a": 1}, {"b": 1}, False), ({"a": 1}, {}, False)],
        *[({"a": LIST}, {"a": LIST}, False), ({"a": PICTURE}, {"a": PICTURE}, False)],
        *[({"a": 1}, "a", False), ({"a": 1}, None, False), (None, {}, False)],
    ],
)
def test_a_ticket_holds_the_very_values_that_were_judged(judged: Any, arguments: Any, holds: bool) -> None:
    """A list could have changed, so it is never known by being the same object."""
    assert Ticket(args=freeze(judged)).holds(arguments) is holds
