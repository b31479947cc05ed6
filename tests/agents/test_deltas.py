"""The pieces of a streamed reply as events."""

from typing import Any

import pytest
from smolagents.models import (
    ChatMessageStreamDelta,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
)

from agentltl.agents.deltas import Deltas
from agentltl.agents.models.stream import ThinkingDelta
from agentltl.record.events import Stream


def call(arguments: Any, name: str = "", index: int | None = 0) -> ChatMessageStreamDelta:
    function = ChatMessageToolCallFunction(name=name, arguments=arguments)
    return ChatMessageStreamDelta(tool_calls=[ChatMessageToolCallStreamDelta(index=index, function=function)])


class Told:
    def __init__(self, argument: str = "answer", *, holds: bool = False) -> None:
        self.stream = Stream()
        self.deltas = Deltas(self.stream, argument, holds=holds)

    def calls(self, *pieces: ChatMessageStreamDelta, kind: Any = "step", step: int = 1) -> None:
        self.deltas.begin()
        for piece in pieces:
            self.deltas.came(piece, kind, step)

    @property
    def pieces(self) -> list[tuple[str, bool]]:
        return [(e.data["text"], e.data["restart"]) for e in self.stream.events if e.kind == "text_delta"]

    @property
    def kinds(self) -> list[tuple[str, str]]:
        return [(e.kind, e.data["text"]) for e in self.stream.events]


def test_the_answer_comes_as_it_is_written() -> None:
    told = Told()
    told.calls(call("", "final_answer"), call('{"ans'), call('wer": "It '), call("is\\"), call('n 12."'), call("}"))
    told.deltas.answered("It is\n 12.", 1)
    assert told.pieces == [("It ", False), ("is", False), ("\n 12.", False)]


def test_a_name_may_come_in_pieces_and_calls_side_by_side() -> None:
    told = Told()
    told.calls(
        call('{"n"', "ping"), call("", "final_", 1), call("", "answer", 1), call(": 1}"), call('{"answer": "x"}', "", 1)
    )
    assert told.pieces == [("x", False)]


@pytest.mark.parametrize("written", ['{"answer": 12}', '{"answer": {"a": 1}}', '["x"]', '"x"', "{]", '{"other": "x"}'])
def test_what_is_no_text_comes_at_the_end(written: str) -> None:
    told = Told()
    told.calls(*(call(piece, "final_answer" if not i else "") for i, piece in enumerate(written)))
    assert told.pieces == []
    told.deltas.answered("12", 1)
    assert told.pieces == [("12", False)]


def test_an_answer_that_was_none_is_taken_back() -> None:
    told = Told()
    told.calls(call('{"answer": "Wait', "final_answer"))
    told.calls(call('{"answer": "Done', "final_answer"), step=2)
    told.deltas.answered("Done.", 2)
    assert told.pieces == [("Wait", False), ("Done", True), (".", False)]


def test_the_same_answer_once_more_begins_anew() -> None:
    told = Told()
    told.calls(call('{"answer": "Done', "final_answer"))
    told.calls(call('{"answer": "Done"}', "final_answer"), step=2)
    told.deltas.answered("Done", 2)
    assert told.pieces == [("Done", False), ("Done", True)]


def test_an_answer_that_is_another_one_is_told_anew() -> None:
    told = Told()
    told.calls(call('{"answer": "image.png"}', "final_answer"))
    told.deltas.answered("a picture", 1)
    assert told.pieces == [("image.png", False), ("a picture", True)]


def test_an_answer_that_is_judged_comes_when_it_has_been() -> None:
    told = Told(holds=True)
    told.calls(call('{"answer": "Done"}', "final_answer"))
    told.calls(ChatMessageStreamDelta(content="Done"), kind="final")
    assert told.pieces == []
    told.deltas.answered("Done", 1)
    assert told.pieces == [("Done", False)]


def test_thinking_reasoning_and_the_text_of_the_last_resort() -> None:
    told = Told()
    told.calls(ThinkingDelta("Hm. "), ThinkingDelta("Yes."), ChatMessageStreamDelta(content="I look."))
    told.calls(ChatMessageStreamDelta(content="a plan"), kind="planning")
    told.calls(ChatMessageStreamDelta(content="a member"), call('{"answer": "x"}', "final_answer"), kind="member")
    told.calls(ChatMessageStreamDelta(content="All "), ChatMessageStreamDelta(content="done."), kind="final", step=2)
    assert told.kinds == [
        ("thinking_delta", "Hm. "),
        ("thinking_delta", "Yes."),
        ("reasoning_delta", "I look."),
        ("text_delta", "All "),
        ("text_delta", "done."),
    ]


def test_the_argument_has_the_name_that_the_tool_gives_it() -> None:
    told = Told("text")
    told.calls(call('{"answer": "no", "text": "yes"}', "final_answer"))
    assert told.pieces == [("yes", False)]
