"""Mixes of states: what stays, what is clean and what is idle, as each state says for itself."""

from __future__ import annotations

from typing import cast

import pytest

from agentltl.constraints.automaton import Node
from agentltl.constraints.engine import engine
from agentltl.constraints.for_each import ForEach
from agentltl.constraints.mixes import Mixes
from agentltl.constraints.scope import rule
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Call, Outcome, Position


def of(text: str) -> tuple[ForEach, Mixes]:
    found = cast(ForEach, engine(rule(parse(text))))
    assert found.mixes is not None
    return found, found.mixes


def states(engine: ForEach, *calls: Call) -> set[Node]:
    state = engine.first
    for index, call in enumerate(calls):
        state = engine.step(state, Position(call, index, calls, ()))
    return {cast(Node, config) for config in state.configs()}


OPEN, CLOSE = (Call(tool, {"id": "a"}, outcome=Outcome.of("ok")) for tool in ("open", "close"))


def test_one_mix_for_the_same_states_in_any_order() -> None:
    own, mixes = of("G (open(id = ?x) -> F close(id = ?x))")
    nodes = list(states(own, OPEN))
    assert len(nodes) == 2
    assert mixes.of(nodes) is mixes.of(reversed(nodes)) is mixes.of(set(nodes))


@pytest.mark.parametrize("tool", ["open", "close", "look"])
def test_a_letter_that_stays_moves_none_of_the_states(tool: str) -> None:
    own, mixes = of("G (open(id = ?x) -> (!stop U close(id = ?x)))")
    nodes = states(own, OPEN)
    mix, automaton = mixes.of(nodes), own.body.automaton
    letter, _ = own.reading.read(Position(Call(tool, {"id": "b"}, outcome=Outcome.of("ok")), 1, (), ()))
    stays = all(automaton.after(node, letter) is node for node in nodes)
    assert mix.stays(letter) is mix.stays(letter) is stays
    assert (letter in mix.quiet) is stays


@pytest.mark.parametrize(
    ("text", "calls", "clean"),
    [
        ("G (open(id = ?x) -> F close(id = ?x))", (), True),
        ("G (open(id = ?x) -> F close(id = ?x))", (OPEN,), True),  # owed, and not lost
        ("G (close(id = ?x) -> O open(id = ?x)[ok])", (Call("open", {"id": "a"}),), False),  # rests on a running call
        ("G (open(id = ?x) -> G !close(id = ?x))", (OPEN, CLOSE), False),
        ("G (open(id = ?x) -> F close(id = ?x)) & G !close", (OPEN,), False),  # what is owed is forbidden
    ],
)
def test_a_mix_is_clean_if_no_value_can_be_lost_in_it(text: str, calls: tuple[Call, ...], clean: bool) -> None:
    own, mixes = of(text)
    assert mixes.of(states(own, *calls)).clean is clean


def test_a_literal_of_the_rule_that_is_lost_makes_a_mix_unclean() -> None:
    own, mixes = of('G (open(id = ?x) -> F close(id = ?x) & G !close(id = "a"))')
    assert not mixes.of(states(own, OPEN)).clean
    b = OPEN._replace(args=Call("", {"id": "b"}).args)
    state = own.step(own.first, Position(b, 0, (b,), ()))
    assert own.clean(state)  # it is no value that is lost here


def test_what_is_idle_is_what_each_state_says() -> None:
    own, mixes = of("G (open(id = ?x) -> X !open(id = ?x))")
    assert mixes.of(states(own)).idle
    assert not mixes.of(states(own, OPEN)).idle
