from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from agentltl.agents.call_log import CallLog, arguments_of, observation_of
from agentltl.record.events import Stream


class Lookup:
    inputs = {"id": {}, "deep": {}}  # noqa: RUF012


def asked(name: str, id: str | None, arguments: object = None) -> ChatMessageToolCall:
    return ChatMessageToolCall(ChatMessageToolCallFunction(arguments, name), id, "function")  # type: ignore[arg-type]


def told(stream: Stream) -> list[tuple[str, str, str | None]]:
    return [(e.kind.removeprefix("tool_call_"), e.data["tool_name"], e.data.get("status")) for e in stream.events]


def test_a_call_that_comes_back_after_the_run_has_its_one_end_already() -> None:
    stream = Stream()
    log = CallLog(stream, {})
    log.called(1, [asked("slow", "a"), asked("waiting", "b")])
    slow = log.entered(1, "a", "slow", {})
    log.close()
    assert told(stream)[2:] == [("end", "slow", "cancelled"), ("end", "waiting", "cancelled")]
    assert [e.data["ran"] for e in stream.events[2:]] == [True, False]
    log.returned(slow, "late")
    waiting = log.entered(1, "b", "waiting", {})
    log.raised(waiting, ValueError("late"), entered=True)
    log.close()
    assert len(stream.events) == 4


def test_a_call_of_an_earlier_step_is_not_taken_for_one_of_the_same_id_now() -> None:
    stream = Stream()
    log = CallLog(stream, {})
    log.called(1, [asked("get", "same", {"id": 1})])
    log.called(2, [asked("get", "same", {"id": 2})])
    log.returned(log.entered(1, "same", "get", {"id": 1}), "one")
    log.returned(log.entered(2, "same", "get", {"id": 2}), "two")
    ends = [e.data for e in stream.events if e.kind == "tool_call_end"]
    assert [(e["step"], e["arguments"], e["tool_result"]) for e in ends] == [
        (1, {"id": 1}, "one"),
        (2, {"id": 2}, "two"),
    ]


def test_a_call_that_no_message_announced_starts_when_it_is_entered() -> None:
    stream = Stream()
    log = CallLog(stream, {"get": Lookup()})
    log.returned(log.entered(3, None, "get", "x"), " found ")
    start, end = (e.data for e in stream.events)
    assert (start["step"], start["call_id"], start["arguments"]) == (3, None, {"id": "x"})
    assert (end["id"], end["tool_result"], end["action_output"]) == (start["id"], "found", " found ")


def test_a_second_run_of_one_call_is_a_call_of_its_own() -> None:
    stream = Stream()
    log = CallLog(stream, {})
    log.called(1, [asked("get", "a")])
    for result in ("one", "two"):
        log.returned(log.entered(1, "a", "get", {}), result)
    assert len({e.data["id"] for e in stream.events}) == 2
    assert [e.data["tool_result"] for e in stream.events if e.kind == "tool_call_end"] == ["one", "two"]


def test_arguments_are_an_object() -> None:
    assert arguments_of(Lookup(), {"id": (1,)}) == {"id": [1]}
    assert arguments_of(Lookup(), "x") == {"id": "x"}
    assert arguments_of(None, "x") == {"input": "x"}
    assert arguments_of(Lookup(), None) == {}


def test_observations_are_those_of_smolagents() -> None:
    assert observation_of("  a\n") == "a"
    assert observation_of(None) == "None"
    assert observation_of({"a": 1}) == "{'a': 1}"
