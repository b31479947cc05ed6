"""Chats in the forms of OpenAI and Anthropic: their calls, the results that belong to them, who said what when."""

from dataclasses import dataclass
from typing import Any

import pytest

from agentltl.constraints.trace import ABSENT, Message, Trace
from agentltl.errors import TraceError


def asked(*calls: tuple[str | None, str, Any], content: Any = None) -> dict[str, Any]:
    """An assistant message of OpenAI's form: (id, name, arguments) for each call."""
    listed = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"role": "assistant", "content": content, "tool_calls": listed}


def told(identifier: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identifier, "content": content, **more}


def use(identifier: str, tool: str, given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": tool, "input": given}


def result(identifier: str, content: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identifier, "content": content, **more}


def texts(trace: Trace) -> list[str | None]:
    """The result of each call; `never` for one without."""
    return [c.outcome.text if c.outcome and c.outcome.settled else "never" for c in trace.calls]


def test_a_chat_in_the_form_of_openai() -> None:
    trace = Trace.from_messages(
        [
            {"role": "system", "content": "be good"},
            {"role": "developer", "content": "be better"},
            {"role": "user", "content": "ship order 7"},
            asked(("c1", "get_order", '{"order_id": 7}'), ("c2", "get_user", '{"id": "u"}')),
            told("c2", '{"name": "Ann"}'),
            told("c1", [{"type": "text", "text": '{"status":'}, {"type": "text", "text": '"open"}'}]),
            {"role": "user", "content": [{"type": "text", "text": "and"}, {"type": "text", "text": "notify"}]},
            {"role": "assistant", "content": "let me see"},
            asked(("c3", "ship", ""), content="now"),
            told("c3", "shipped"),
            {"role": "assistant", "content": "done", "tool_calls": None, "function_call": None},
            {"role": "user", "content": "thanks"},
        ]
    )
    assert [(c.tool, c.args, c.id, c.step) for c in trace.calls] == [
        ("get_order", {"order_id": 7}, "c1", 1),
        ("get_user", {"id": "u"}, "c2", 1),
        ("ship", {}, "c3", 3),
    ]
    assert trace.messages == (Message("ship order 7", 0), Message("and\nnotify", 2), Message("thanks", 3))
    outcomes = [c.outcome for c in trace.calls]
    assert [o and o.ok for o in outcomes] == [True] * 3
    assert [o and o.value for o in outcomes] == [{"status": "open"}, {"name": "Ann"}, ABSENT]


def test_a_chat_in_the_form_of_anthropic() -> None:
    request = {
        "id": "chat-1",
        "model": "m",
        "system": "be good",
        "messages": [
            {"role": "user", "content": "ship order 7"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look it up."},
                    use("t1", "get_order", {"order_id": 7}),
                    use("t2", "ship", {"order_id": 7}),
                ],
            },
            {
                "role": "user",
                "content": [
                    result("t2", "not paid", is_error=True),
                    result("t1", [{"type": "text", "text": '{"status": "open"}'}], is_error=False),
                    {"type": "text", "text": "please go on"},
                ],
            },
            {"role": "assistant", "content": [use("t3", "ship", {})]},
            {"role": "user", "content": [result("t3", is_error=True)]},
            {"role": "assistant", "content": [use("t4", "ping", {})]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t4"}]},
        ],
    }
    trace = Trace.from_messages(request)
    assert [(c.tool, c.args, c.id, c.step) for c in trace.calls] == [
        ("get_order", {"order_id": 7}, "t1", 1),
        ("ship", {"order_id": 7}, "t2", 1),
        ("ship", {}, "t3", 2),
        ("ping", {}, "t4", 3),
    ]
    assert [(c.outcome.ok, c.outcome.error) for c in trace.calls if c.outcome] == [
        (True, None),
        (False, "not paid"),
        (False, "error"),
        (True, None),
    ]
    assert trace.calls[0].outcome is not None
    assert trace.calls[0].outcome.value == {"status": "open"}
    assert trace.messages == (Message("ship order 7", 0), Message("please go on", 2))
    assert trace.id == "chat-1"
    assert trace.fields == {"model": "m", "system": "be good"}


def test_both_forms_in_one_chat() -> None:
    trace = Trace.from_messages(
        [
            {"role": "user", "content": "go"},
            asked(("a", "first", "{}")),
            told("a", "1"),
            {"role": "assistant", "content": [use("b", "second", {})]},
            {"role": "user", "content": [result("b", "2")]},
            {"role": "assistant", "content": [use("c", "third", {})]},
            told("c", "3"),
        ]
    )
    assert trace.events == ["first", "second", "third"]
    assert texts(trace) == ["1", "2", "3"]
    assert trace.messages == (Message("go", 0),)


def test_a_call_that_stands_in_both_places_is_one_call() -> None:
    message = asked(("a", "first", '{"x": 1}')) | {"content": [use("a", "first", {"x": 1}), use("b", "second", {})]}
    trace = Trace.from_messages([message, told("a", "1"), told("b", "2")])
    assert trace.events == ["first", "second"]
    assert texts(trace) == ["1", "2"]


def test_the_legacy_form_with_one_function_call() -> None:
    trace = Trace.from_messages(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": '{"a": 1}'}},
            {"role": "function", "name": "add", "content": "2"},
            {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": '{"a": 2}'}},
            {"role": "function", "name": "add", "content": "3"},
        ]
    )
    assert [(c.tool, c.args, c.id, c.step) for c in trace.calls] == [
        ("add", {"a": 1}, None, 1),
        ("add", {"a": 2}, None, 2),
    ]
    assert texts(trace) == ["2", "3"]


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "a", "name": "t", "arguments": {"x": 1}},
        {"id": "a", "name": "t", "args": {"x": 1}},
        {"id": "a", "type": "custom", "custom": {"name": "t", "input": '{"x": 1}'}},
        {"id": "a", "function": {"name": "t", "arguments": "{'x': 1}"}},
    ],
)
def test_other_ways_to_write_a_call(entry: dict[str, Any]) -> None:
    (call,) = Trace.from_messages([{"role": "assistant", "tool_calls": [entry]}]).calls
    assert (call.tool, call.args, call.id) == ("t", {"x": 1}, "a")


def test_arguments_that_are_no_object() -> None:
    trace = Trace.from_messages([asked(("a", "t", '{"x": '), ("b", "t", None), ("c", "t", "[1]"))])
    assert [c.args for c in trace.calls] == [{"input": '{"x": '}, {}, {"input": [1]}]


def test_a_call_without_a_result_never_settled() -> None:
    trace = Trace.from_messages([asked(("a", "t", "{}"), ("b", "t", "{}")), told("b", "2")])
    assert texts(trace) == ["never", "2"]
    assert [c.outcome and (c.outcome.ok, c.outcome.failed) for c in trace.calls] == [(False, False), (True, False)]


@pytest.mark.parametrize("identifier", [None, ""])
def test_results_without_ids_come_in_order(identifier: str | None) -> None:
    calls = asked((identifier, "t", {"n": 1}), (identifier, "t", {"n": 2}))
    answers = [told(identifier, "1"), told(identifier, "2")]
    assert texts(Trace.from_messages([calls, *answers, calls, *answers])) == ["1", "2", "1", "2"]


def test_a_result_names_its_tool_where_there_is_no_id() -> None:
    calls = asked((None, "a", {}), (None, "b", {}))
    trace = Trace.from_messages([calls, told(None, "of b", name="b"), told(None, "of a", name="a")])
    assert texts(trace) == ["of a", "of b"]


def test_ids_on_one_side_only() -> None:
    assert texts(Trace.from_messages([asked(("x", "a", {}), ("y", "b", {})), told(None, "1"), told(None, "2")])) == [
        "1",
        "2",
    ]
    assert texts(Trace.from_messages([asked((None, "a", {})), told("x", "1")])) == ["1"]


def test_calls_of_consecutive_assistant_messages_are_answered_in_order() -> None:
    trace = Trace.from_messages([asked((None, "a", {})), asked((None, "b", {})), told(None, "1"), told(None, "2")])
    assert texts(trace) == ["1", "2"]
    assert [c.step for c in trace.calls] == [1, 2]


def test_repeated_ids_in_one_message_are_answered_in_order() -> None:
    trace = Trace.from_messages([asked(("x", "a", {}), ("x", "b", {})), told("x", "1"), told("x", "2")])
    assert texts(trace) == ["1", "2"]


def test_an_id_that_comes_again_is_the_latest_call_of_it() -> None:
    trace = Trace.from_messages(
        [asked(("x", "a", {})), asked(("z", "c", {})), told("z", "0"), asked(("x", "b", {})), told("x", "1")]
    )
    assert texts(trace) == ["never", "0", "1"]


def test_an_unanswered_call_does_not_take_a_later_result() -> None:
    chat = [asked((None, "a", {})), {"role": "user", "content": "wait"}, asked((None, "b", {})), told(None, "of b")]
    assert texts(Trace.from_messages(chat)) == ["never", "of b"]
    with pytest.raises(TraceError, match="belongs to no call"):
        Trace.from_messages([*chat, told(None, "of whom")])


def test_a_late_result_finds_its_call_by_id() -> None:
    trace = Trace.from_messages(
        [asked(("x", "a", {})), {"role": "user", "content": "?"}, asked(("y", "b", {})), told("x", "1"), told("y", "2")]
    )
    assert texts(trace) == ["1", "2"]


def test_errors_that_are_marked() -> None:
    calls = asked(("a", "t", {}), ("b", "t", {}), ("c", "t", {}), ("d", "t", {}))
    trace = Trace.from_messages(
        [
            calls,
            told("a", "no", is_error=True),
            told("b", "x", error="denied"),
            told("c", "Error: no"),
            told("d", "x", error=None),
        ]
    )
    assert [c.outcome and c.outcome.error for c in trace.calls] == ["no", "denied", None, None]


def test_tools_that_the_provider_runs() -> None:
    content = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
        {"type": "server_tool_use", "id": "s2", "name": "web_search", "input": {"query": "r"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s2",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        },
    ]
    first, second = Trace.from_messages([{"role": "assistant", "content": content}]).calls
    assert first.outcome is not None
    assert second.outcome is not None
    assert first.outcome.value == [{"type": "web_search_result", "url": "u"}]
    assert second.outcome.error == "max_uses_exceeded"


@pytest.mark.parametrize(
    ("content", "text", "value"),
    [
        ("", "", ABSENT),
        (None, None, ABSENT),
        ("x" * 100_000, "x" * 100_000, ABSENT),
        ({"a": 1}, "{'a': 1}", {"a": 1}),
        ([1, 2], "[1, 2]", [1, 2]),
        ([], "[]", []),
        # What has no type is no block but the tool's own JSON.
        ([{"text": "x", "id": 1}], "[{'text': 'x', 'id': 1}]", [{"text": "x", "id": 1}]),
        (["x"], "['x']", ["x"]),
        ([{"type": "image", "source": "s"}, {"type": "text", "text": "seen"}], "seen", ABSENT),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_contents_of_results(content: Any, text: str | None, value: Any) -> None:
    (call,) = Trace.from_messages([asked(("a", "t", {})), told("a", content)]).calls
    assert call.outcome is not None
    assert call.outcome.ok
    assert call.outcome.text == text
    assert call.outcome.value is value if value is ABSENT else call.outcome.value == value


def test_a_message_of_pictures_is_the_latest_message() -> None:
    trace = Trace.from_messages([{"role": "user", "content": "yes"}, {"role": "user", "content": [{"type": "image"}]}])
    assert trace.messages == (Message("yes", 0), Message("", 0))


def test_a_message_of_results_alone_is_none_of_the_user() -> None:
    chat = [{"role": "assistant", "content": [use("a", "t", {})]}, {"role": "user", "content": [result("a", "x")]}]
    assert Trace.from_messages(chat).messages == ()


@dataclass
class Dumped:
    """What the clients return: an object that dumps itself."""

    held: dict[str, Any]

    def model_dump(self) -> dict[str, Any]:
        return self.held


def test_messages_as_the_clients_return_them() -> None:
    chat = [
        Dumped(asked(("a", "t", '{"x": 1}'))),
        told("a", "1"),
        {"role": "assistant", "content": [Dumped(use("b", "u", {}))]},
        {"role": "user", "content": [result("b", [Dumped({"type": "text", "text": "2"})])]},
    ]
    trace = Trace.from_messages(chat)  # type: ignore[arg-type]
    assert trace.events == ["t", "u"]
    assert texts(trace) == ["1", "2"]


def test_the_empty_chat() -> None:
    assert Trace.from_messages([]) == Trace(messages=())
    assert Trace.from_messages({"messages": []}) == Trace(messages=())


def test_ten_thousand_calls() -> None:
    chat = [m for i in range(10_000) for m in (asked((f"c{i}", "t", {"i": i})), told(f"c{i}", str(i)))]
    trace = Trace.from_messages(iter(chat))
    assert [(c.args["i"], c.step) for c in trace.calls] == [(i, i + 1) for i in range(10_000)]
    assert texts(trace) == [str(i) for i in range(10_000)]


@pytest.mark.parametrize(
    ("chat", "problem"),
    [
        ("hello", "`'hello'` is no list of messages"),
        (None, "`None` is no list of messages"),
        ({}, "there is no list `messages`"),
        ({"messages": "x"}, "`'x'` is no list of messages"),
        (["hello"], "`messages[0]`: `'hello'` is no message"),
        ([{"content": "x"}], "`messages[0]`: there is no role\n"),
        ([{"role": "tool-call", "content": "x"}], "`messages[0]`: `'tool-call'` is no role of a chat\n"),
        ([{"role": "assistant", "tool_calls": "x"}], "`messages[0]`: `tool_calls` is `'x'` and no list"),
        ([{"role": "assistant", "tool_calls": ["x"]}], "`messages[0]`: `tool_calls[0]`: `'x'` is no tool call"),
        ([asked(("a", "", {}))], "`messages[0]`: `tool_calls[0]`: the call has no name"),
        ([asked(("a", 3, {}))], "the name `3` is no text"),  # type: ignore[arg-type]
        (
            [{"role": "assistant", "function_call": {"arguments": "{}"}}],
            "`messages[0]`: `function_call`: the call has no",
        ),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}], "`content[0]`: the call has no name"),
        ([{"role": "assistant", "content": 5}], "`messages[0]`: the content `5` is neither text nor a list of blocks"),
        ([{"role": "user", "content": [{"text": "x"}]}], "`messages[0]`: `content[0]`: the block has no type"),
        ([asked(("a", "t", {})), told("b", "x")], "`messages[1]`: the result for `'b'` belongs to no call before it\n"),
        ([told("a", "x"), asked(("a", "t", {}))], "`messages[0]`: the result for `'a'` belongs to no call"),
        ([asked(("a", "t", {})), told("a", "x"), told("a", "x")], "`messages[2]`: the result for `'a'` belongs to no"),
        (
            [{"role": "user", "content": [result("a", "x")]}],
            "`messages[0]`: `content[0]`: the result for `'a'` belongs",
        ),
    ],
)
def test_input_that_is_no_chat(chat: Any, problem: str) -> None:
    with pytest.raises(TraceError) as caught:
        Trace.from_messages(chat)
    assert problem in str(caught.value)
    assert "\n" in str(caught.value)


def test_a_call_that_did_not_run_is_not_in_the_trace() -> None:
    def made(*names: str) -> dict[str, Any]:
        calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in names]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def result(name: str, **more: Any) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": name, "content": "x", **more}

    trace = Trace.from_messages(
        [
            {"role": "user", "content": "go"},
            made("a", "b"),
            result("a", status="blocked"),
            result("b", is_error=True),
            {"role": "user", "content": "go on"},
            made("c", "d"),
            result("c", status="cancelled"),
            result("d"),
        ]
    )
    assert [(call.tool, call.step) for call in trace.calls] == [("b", 1), ("d", 2)]
    assert [call.outcome and call.outcome.error for call in trace.calls] == ["x", None]
    assert [message.before for message in trace.messages or ()] == [0, 1]
