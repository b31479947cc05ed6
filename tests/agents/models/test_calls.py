"""The grammar that the embedded model's replies obey, and reading them back whole and in pieces."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from smolagents import Tool, tool
from smolagents.memory import ActionStep, ToolCall
from smolagents.models import ChatMessage, MessageRole
from smolagents.monitoring import Timing

from agentltl.agents.models.calls import CallReader, WrittenCall, as_written, call_format, read_call


@tool
def send(to: str, amount: float, note: str | None = None) -> str:
    """Send money.

    Args:
        to: Who gets it
        amount: How much
        note: A note
    """
    return to


class Look(Tool):
    name = "look"
    description = "Look at something."
    inputs = {  # noqa: RUF012 - as smolagents has it
        "picture": {"type": "image", "description": "A picture"},
        "how": {"type": "string", "description": "How", "enum": ["close", "far"], "nullable": True},
    }
    output_type = "string"

    def forward(self, picture: object, how: str | None = None) -> str:
        return "seen"


def accepts(tools: list[Tool], value: object) -> bool:
    schema = call_format(tools)["json_schema"]["schema"]
    return jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("name", "arguments", "fits"),
    [
        ("send", {"to": "a", "amount": 1}, True),
        ("send", {"to": "a", "amount": 1.5, "note": None}, True),
        ("send", {"to": "a"}, False),
        ("send", {"to": "a", "amount": "1"}, False),
        ("send", {"to": "a", "amount": 1, "more": 1}, False),
        ("look", {"picture": "image.png", "how": "far"}, True),
        ("look", {"picture": "image.png", "how": None}, True),
        ("look", {"picture": "image.png", "how": "sideways"}, False),
        ("look", {"to": "a", "amount": 1}, False),
        ("other", {}, False),
    ],
)
def test_the_grammar_allows_exactly_calls_of_the_offered_tools(name: str, arguments: object, fits: bool) -> None:
    assert accepts([send, Look()], {"name": name, "arguments": arguments}) is fits
    if name == "send":
        assert accepts([send], {"name": name, "arguments": arguments}) is fits
        assert not accepts([Look()], {"name": name, "arguments": arguments})


def test_the_tool_itself_is_not_changed() -> None:
    before = json.dumps(Look.inputs)
    call_format([Look()])
    assert json.dumps(Look.inputs) == before


@pytest.mark.parametrize(
    "text", ["", "hello", '{"name": "send", "arguments": {"to"', "[1]", '{"name": 1, "arguments": {}}', '{"name": "x"}']
)
def test_what_is_no_call_is_none(text: str) -> None:
    assert read_call(text) is None


def test_a_call_is_read() -> None:
    assert read_call('\n{"name": "send", "arguments": {"to": "a"}}\n') == WrittenCall("send", {"to": "a"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(
    name=st.text(min_size=1),
    arguments=st.dictionaries(st.text(), JSON, max_size=3),
    indent=st.sampled_from([None, 2]),
    cuts=st.lists(st.integers(0, 400)),
)
def test_a_call_in_pieces_is_the_call(
    name: str, arguments: dict[str, object], indent: int | None, cuts: list[int]
) -> None:
    text = json.dumps({"name": name, "arguments": arguments}, indent=indent)
    ends = sorted({min(cut, len(text)) for cut in cuts} | {len(text)})
    reader, pieces, start = CallReader(), [], 0
    for end in ends:
        pieces.append(reader.feed(text[start:end]))
        start = end
    assert reader.name == name
    assert json.loads("".join(pieces)) == arguments


def test_a_text_in_pieces_has_no_name() -> None:
    reader = CallReader()
    assert [reader.feed(piece) for piece in ("I think ", '{"name"')] == ["", ""]
    assert reader.name is None
    assert reader.text == 'I think {"name"'


def test_earlier_calls_are_shown_as_the_model_writes_them() -> None:
    step = ActionStep(1, Timing(0.0), tool_calls=[ToolCall("send", {"to": "it's", "amount": 1.5}, "some-random-id")])
    step.observations = "done"
    shown = as_written(step.to_messages())
    texts = [message.content[0]["text"] for message in shown if isinstance(message, ChatMessage) and message.content]
    assert texts[0] == '{"name": "send", "arguments": {"to": "it\'s", "amount": 1.5}}'
    assert texts[1] == "Observation:\ndone"
    assert "some-random-id" in str(step.to_messages()[0].content)


@pytest.mark.parametrize("text", ["Calling tools:\n[<object>]", "Calling tools:\n[{}]", "Something else"])
def test_what_cannot_be_read_is_shown_as_it_is(text: str) -> None:
    message = ChatMessage(MessageRole.TOOL_CALL, [{"type": "text", "text": text}])
    (shown,) = as_written([message])
    assert isinstance(shown, ChatMessage)
    assert shown.content == [{"type": "text", "text": text}]
