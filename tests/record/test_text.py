import time

import pytest

from agentltl.record.text import is_blocks, text_of, thinking_of


@pytest.mark.parametrize(
    ("content", "text", "thinking"),
    [
        (None, None, None),
        ("", "", None),
        ("Hi.", "Hi.", None),
        ("<think>a</think>Hi.", "<think>a</think>Hi.", "a"),
        ("<think>a</think>Hi.<think>b</think>", "<think>a</think>Hi.<think>b</think>", "a\nb"),
        ("<think>\n\n</think>Hi.", "<think>\n\n</think>Hi.", None),
        ("a</think>Hi.", "a</think>Hi.", "a"),
        ("<think>a", "<think>a", "a"),
        ("</think>Hi.", "</think>Hi.", None),
        ([], None, None),
        ([{"type": "text", "text": "Hi."}, {"type": "text", "text": "Ho."}], "Hi.\nHo.", None),
        ([{"type": "thinking", "thinking": "a"}], None, "a"),
        ([{"type": "reasoning", "text": "a"}, {"type": "text", "text": "<think>b</think>Hi."}],
         "<think>b</think>Hi.", "a\nb"),
        ([{"type": "reasoning", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
         None, "a\nb"),
        ([{"type": "output_text", "text": "Hi."}, "Ho."], "Hi.\nHo.", None),
        ([{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Hi."}], "Hi.", None),
        ([{"type": "thinking", "thinking": None}, {"type": "image", "image": 1}, 7, {"type": "text"}], None, None),
    ],
)  # fmt: skip
def test_text_and_thinking(content: object, text: str | None, thinking: str | None) -> None:
    assert (text_of(content), thinking_of(content)) == (text, thinking)


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        ([{"type": "text", "text": "a"}], True),
        ([{"type": "thinking"}, {"type": "text"}], True),
        ([{"type": "text"}, 1], False),
        ([{"kind": "text"}], False),
        ([], False),
        ("text", False),
        ({"type": "text"}, False),
    ],
)
def test_blocks(value: object, blocks: bool) -> None:
    assert is_blocks(value) is blocks


@pytest.mark.parametrize("text", ["<think>" * 50_000, "x" * 500_000 + "think>", "<think>" + "</think" * 50_000])
def test_a_long_text_takes_no_long_time(text: str) -> None:
    begun = time.perf_counter()
    thinking_of(text)
    assert time.perf_counter() - begun < 2
