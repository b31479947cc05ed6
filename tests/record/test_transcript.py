import json

from agentltl.record.transcript import transcript_of
from tests.record.run_events import call, end, start, step_end, step_start


def test_a_run_is_system_user_assistant_and_tool_messages() -> None:
    calls = call("a", 1, "get", arguments={"id": 1}, tool_result="A")
    assert transcript_of([start(), step_start(1), *calls, step_end(1, reasoning="First."), end()]) == [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": "First.",
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "get", "arguments": json.dumps({"id": 1})}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "A"},
    ]


def test_every_call_is_answered() -> None:
    events = [
        start(),
        *call("a", 1, "a", "failed", error="no disk", call_id=None),
        *call("b", 1, "b", "blocked", tool_result="Call get first."),
        *call("c", 1, "c", "cancelled"),
        *call("d", 1, "d", tool_result=""),
        step_end(1, error="no disk"),
        step_start(2),
    ]
    asked, *answers = transcript_of(events)[2:]
    assert [c["id"] for c in asked["tool_calls"]] == ["a", "call_b", "call_c", "call_d"]
    assert [m["tool_call_id"] for m in answers] == ["a", "call_b", "call_c", "call_d"]
    assert [m["content"] for m in answers] == ["no disk", "Call get first.", "This call did not run.", ""]
    assert [m.get("is_error") for m in answers] == [True, None, None, None]
    assert [m.get("status") for m in answers] == [None, "blocked", "cancelled", None]


def test_an_error_without_a_call_is_told_when_the_run_goes_on() -> None:
    events = [start(), step_end(1, reasoning="Hm.", error="no call"), step_start(2), step_end(2, error="model is down")]
    assert transcript_of(events)[2:] == [
        {"role": "assistant", "content": "Hm."},
        {"role": "user", "content": "no call", "is_error": True},
    ]


def test_a_conversation_goes_on_after_its_earlier_messages() -> None:
    first = transcript_of([start(), step_end(1, reasoning="Hello.")])
    second = transcript_of([start(task="More.", messages=first)])
    assert second == [*first, {"role": "user", "content": "More."}]
