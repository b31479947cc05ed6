import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentltl import Constraint, ConstraintError
from agentltl.agents.mcp.names import names_for, require_meant
from agentltl.agents.mcp.servers import RESERVED


def test_names_are_kept_where_there_is_one() -> None:
    offers = [("a", "pay"), ("a", "total"), ("b", "total"), ("b", "read"), ("b", "final_answer")]
    assert list(names_for(offers, {"read", "final_answer"}).values()) == [
        "pay",
        "a__total",
        "b__total",
        "b__read",
        "b__final_answer",
    ]


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y", "a__x", "b__y", "x__x"])), unique=True),
    st.sets(st.sampled_from(["x", "a__x", "b__x"])),
)
def test_names_differ_or_there_is_an_error(offers: list[tuple[str, str]], taken: set[str]) -> None:
    with contextlib.suppress(ConstraintError):
        names = names_for(offers, taken)
        are_apart(names, offers, taken)


def are_apart(names: dict[tuple[str, str], str], offers: list[tuple[str, str]], taken: set[str]) -> None:
    assert list(names) == offers
    assert len({*names.values(), *taken}) == len(offers) + len(taken)
    assert all(name in (own, f"{server}__{own}") for (server, own), name in names.items())


def test_what_still_collides_is_an_error() -> None:
    with pytest.raises(ConstraintError, match="`a__x` is the name of two tools"):
        names_for([("a", "x"), ("b", "x"), ("c", "a__x")], set())


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("never(total)", True),
        ("never(tot*)", True),
        ("never(*total)", False),
        ("never(a__total)", False),
        ("never(a__pay)", True),
        ("never(a__*)", False),  # some tool is meant by it
        ("never(b__p?y)", False),  # no tool of that server
        ("never(pay)", False),
        ("never(elsewhere)", False),
        ("G (pay -> seen(.x, total))", True),
        ("never(*)", False),
    ],
)
def test_a_rule_speaks_of_tools_by_the_names_that_they_have(rule: str, wrong: bool) -> None:
    names = {("a", "total"): "a__total", ("b", "total"): "b__total", ("a", "pay"): "pay"}
    constraints = [Constraint("r", rule)]
    if wrong:
        with pytest.raises(ConstraintError, match="the rule `r` names"):
            require_meant(constraints, names, names.values())
    else:
        require_meant(constraints, names, names.values())


def test_no_tool_passes_for_an_answer_or_an_approval() -> None:
    offers = [("desk", "final_answer"), ("desk", "approved")]
    assert list(names_for(offers, RESERVED).values()) == ["desk__final_answer", "desk__approved"]
