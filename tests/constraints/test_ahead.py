"""What may follow: planned calls after a trace, as positions of the whole."""

from __future__ import annotations

from agentltl.constraints import Call, Outcome
from agentltl.constraints.ahead import Ahead
from agentltl.constraints.trace import Message

OK = Outcome.of("done")
PAST = (Call("a", step=4, start=10.0, outcome=OK), Call("b", step=4, start=11.0, outcome=OK))


def test_a_planned_call_is_the_next_one_of_a_later_message_and_takes_no_time() -> None:
    ahead = Ahead(PAST, (Message("hello"),), now=12.5, step=4)
    first = ahead.stamped(Call("c", {"k": 1}, outcome=OK))
    assert (first.step, first.start, first.args) == (5, 12.5, {"k": 1})
    assert first.outcome is not None
    assert first.outcome.end == 12.5
    then = ahead.then(first)
    second = then.stamped(Call("d"))
    assert (second.step, second.start, second.outcome) == (6, 12.5, None)
    position = then.position(second)
    assert (position.index, position.call, position.messages) == (3, second, (Message("hello"),))
    assert position.previous is first
    assert [call.tool for call in position.earlier()] == ["c", "b", "a"]
    assert ahead.planned == ()


def test_the_calls_of_a_position_are_a_sequence_like_any_other() -> None:
    ahead = Ahead(PAST)
    last = ahead.stamped(Call("c"))
    calls = ahead.position(last).calls
    assert len(calls) == 3
    assert list(calls) == [*PAST, last]
    assert (calls[0], calls[2], calls[-1], calls[-3]) == (PAST[0], last, last, PAST[0])
    assert (calls[:2], calls[1:]) == (PAST, (PAST[1], last))
