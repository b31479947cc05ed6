"""The partition of a variable's values, against a plain dictionary from each value to its state."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentltl.constraints import Call, Monitor, Outcome, Trace, parse
from agentltl.constraints.partition import Partition

MOVES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 3), min_size=4, max_size=4),  # where each of four states goes
        st.dictionaries(st.integers(0, 6), st.integers(0, 3), max_size=3),  # values that are named, and their new state
    ),
    max_size=12,
)


@given(MOVES)
def test_every_value_is_in_the_state_that_its_events_gave_it(moves: list[tuple[list[int], dict[int, int]]]) -> None:
    partition: Any = Partition(0)  # type: ignore[arg-type]  # states are numbers here
    plain, other = dict.fromkeys(range(7), 0), 0
    for table, named in moves:
        before = partition
        kept = [before.of(value) for value in range(7)]
        partition = partition.moved(table.__getitem__, [(own, (own,), state) for own, state in named.items()])
        plain = {value: named.get(value, table[state]) for value, state in plain.items()}
        other = table[other]
        assert {value: partition.of(value) for value in range(7)} == plain
        assert partition.other == other
        assert len(partition.homes) == sum(state != other for state in plain.values())
        assert sorted(part.config for part in partition.parts.values()) == sorted(set(plain.values()) - {other})
        assert [before.of(value) for value in range(7)] == kept, "a partition is never changed"


def test_many_open_values_are_few_parts_and_close_one_by_one() -> None:
    monitor = Monitor.of(parse("G (open(id = ?x) -> F close(id = ?x))"))
    order = list(range(500))
    random.Random("order").shuffle(order)
    calls = [("open", i) for i in range(500)] + [("look", 0)] * 3 + [("close", i) for i in order]
    sizes = []
    for position in Trace(tuple(Call(t, {"id": i}, outcome=Outcome.of("{}")) for t, i in calls)).positions():
        monitor = monitor.step(position)
        sizes.append((len(monitor.state.homes), len(monitor.state.parts)))
    assert max(parts for _, parts in sizes) == 1
    assert sizes[502] == (500, 1)
    assert sizes[-1] == (0, 0)
    assert monitor.open_values == ()
