import copy
import json
import pickle
import threading
from collections import Counter
from typing import Any

import pytest
from smolagents import tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model

from agentltl.agents.agent import Agent
from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.scripted import Reply, ScriptedModel
from agentltl.errors import ConstraintError
from agentltl.record.events import Event
from agentltl.record.result import Result
from tests.agents.documented import check, faults, result_rule


@tool
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: one
        b: the other
    """
    return a + b


@tool
def shout(text: str) -> str:
    """Say it loudly.

    Args:
        text: what to say
    """
    return f"  {text.upper()}!\n"


@tool
def fail(why: str) -> str:
    """Fail.

    Args:
        why: the reason
    """
    raise ValueError(why)


@tool
def now() -> str:
    """Say when it is."""
    return "noon"


TOOLS = [add, shout, fail, now]
ANSWER = ("final_answer", {"answer": "done"})


class Spoken(Model):
    """Gives messages as they are: a provider in its own form."""

    def __init__(self, *messages: ChatMessage) -> None:
        super().__init__(model_id="spoken")
        self.messages = list(messages)

    def generate(self, messages: list[ChatMessage], **_: Any) -> ChatMessage:
        return self.messages.pop(0)


def message(content: Any, name: str, arguments: Any, id: Any = "call_1") -> ChatMessage:
    call = ChatMessageToolCall(ChatMessageToolCallFunction(arguments, name), id, "function")
    return ChatMessage(MessageRole.ASSISTANT, content, [call])


def run(*replies: Any, task: str = "Do it.", **settings: Any) -> tuple[Result, list[Event]]:
    events: list[Event] = []
    agent = Agent(TOOLS, ScriptedModel(replies), sinks=[events.append], **settings)
    result = agent.run(task)
    assert agent.last_result is result
    return result, events


def ends(events: list[Event]) -> list[tuple[str, str, bool]]:
    return [(e.data["tool_name"], e.data["status"], e.data["ran"]) for e in events if e.kind == "tool_call_end"]


def test_a_plain_run_is_the_documented_dict() -> None:
    result, _ = run(Reply([("add", {"a": 1, "b": 2})], text="I will add."), ("shout", {"text": "three"}), ANSWER)
    check(result)
    assert isinstance(result, dict)
    assert result.keys() == {"answer", "metrics", "error"}
    assert (result["answer"], result["error"], str(result)) == ("done", None, "done")
    assert result["metrics"]["tool_calls"] == [
        {
            "step": 1,
            "tool_name": "add",
            "arguments": {"a": 1, "b": 2},
            "id": "call_1",
            "tool_result": "3",
            "action_output": "3",
        },
        {
            "step": 2,
            "tool_name": "shout",
            "arguments": {"text": "three"},
            "id": "call_2",
            "tool_result": "THREE!",
            "action_output": "  THREE!\n",
        },
        {
            "step": 3,
            "tool_name": "final_answer",
            "arguments": {"answer": "done"},
            "id": "call_3",
            "tool_result": "done",
            "action_output": "done",
        },
    ]
    first = result["metrics"]["steps"][0]
    assert (first["type"], first["reasoning"], first["thinking"]) == ("tool_call", "I will add.", None)
    assert (first["tool_name"], first["tool_args"], first["tool_id"]) == ("add", {"a": 1, "b": 2}, "call_1")
    assert (first["tool_result"], first["action_output"]) == ("3", "3")
    assert "step_tool_calls" not in first
    assert (result["metrics"]["input_tokens"], result["metrics"]["output_tokens"]) == (30, 15)


def test_what_the_model_was_sent_is_parsed() -> None:
    result, _ = run(Reply([("add", {"a": 1, "b": 2})], text="I will add."), ANSWER, task="New task:\nAdd 1 and 2.")
    check(result)
    sent = result["metrics"]["steps"][1]
    assert [m["role"] for m in sent["model_input_raw"]] == ["system", "user", "assistant", "tool-call", "tool-response"]
    parsed = sent["model_input_parsed"]
    assert parsed["task"] == "New task:\nAdd 1 and 2."
    assert parsed["system_prompts"] == [sent["model_input_raw"][0]["content"][0]["text"]]
    calls = [{"id": "call_1", "name": "add", "arguments": {"a": 1, "b": 2}}]
    assert [(h["role"], h["type"], h["tool_calls"]) for h in parsed["history"]] == [
        ("assistant", "reasoning", None),
        ("tool-call", "tool_call", calls),
        ("tool-response", "tool_result", None),
    ]
    assert parsed["history"][0]["text"] == "I will add."
    text = sum(len(m["content"][0]["text"]) for m in sent["model_input_raw"])
    assert parsed["approx_chars"] == text


def test_a_message_is_written_down_once_and_shared() -> None:
    result, _ = run(("add", {"a": 1, "b": 2}), ("now", {}), ANSWER)
    second, third = result["metrics"]["steps"][1:]
    assert all(old is new for old, new in zip(second["model_input_raw"], third["model_input_raw"], strict=False))
    history = third["model_input_parsed"]["history"]
    assert all(a is b for a, b in zip(second["model_input_parsed"]["history"], history, strict=False))


def test_each_parallel_call_has_its_own_result_in_the_order_of_the_message() -> None:
    second_is_done = threading.Event()

    @tool
    def slow() -> str:
        """Wait for the other one."""
        return "slow" if second_is_done.wait(20) else "the other one never came"

    @tool
    def fast() -> str:
        """Be first."""
        second_is_done.set()
        return "fast"

    events: list[Event] = []
    # The ids sort the other way round, as smolagents orders the observations.
    model = ScriptedModel([[("slow", {}, "z"), ("fast", {}, "a")], ANSWER])
    result = Agent([slow, fast], model, sinks=[events.append]).run("Go.")
    check(result)
    calls = result["metrics"]["tool_calls"][:2]
    assert [(c["tool_name"], c["id"], c["tool_result"]) for c in calls] == [
        ("slow", "z", "slow"),
        ("fast", "a", "fast"),
    ]
    step = result["metrics"]["steps"][0]
    assert step["tool_result"] == "fast\nslow"
    assert step["action_output"] == "slow\nfast"
    assert (step["tool_name"], step["tool_id"]) == ("slow", "z")
    assert step["step_tool_calls"] == [{"tool_name": "slow", "tool_args": {}}, {"tool_name": "fast", "tool_args": {}}]
    assert ends(events)[:2] == [("fast", "ok", True), ("slow", "ok", True)]


def test_a_tool_that_raises_has_no_result_and_its_step_the_error() -> None:
    result, events = run(("fail", {"why": "no disk"}), ANSWER)
    check(result)
    call, step = result["metrics"]["tool_calls"][0], result["metrics"]["steps"][0]
    assert (call["tool_name"], call["tool_result"], call["action_output"]) == ("fail", None, None)
    assert (step["type"], step["tool_name"], step["tool_result"]) == ("error", "fail", None)
    assert "no disk" in step["error"]
    assert ends(events)[0] == ("fail", "failed", True)
    assert (result["answer"], result["error"], result.success) == ("done", None, True)


def test_a_call_beside_one_that_raises_keeps_its_result() -> None:
    result, _ = run([("fail", {"why": "no disk"}), ("add", {"a": 1, "b": 2})], ANSWER)
    check(result)
    assert [(c["tool_name"], c["tool_result"]) for c in result["metrics"]["tool_calls"][:2]] == [
        ("fail", None),
        ("add", "3"),
    ]
    assert result["metrics"]["steps"][0]["type"] == "error"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (("no_such_tool", {"x": 1}), "Unknown tool no_such_tool"),
        (("add", {"a": 1}), "Argument b is required"),
        (("add", {"a": 1, "b": 2, "c": 3}), "Argument c is not in"),
        (("add", {"a": "one", "b": 2}), "has type 'string'"),
    ],
)
def test_a_call_that_could_not_be_made_is_no_tool_call_but_its_step_says_so(call: Any, error: str) -> None:
    result, events = run(call, ANSWER)
    check(result)
    assert [c["tool_name"] for c in result["metrics"]["tool_calls"]] == ["final_answer"]
    step = result["metrics"]["steps"][0]
    assert (step["type"], step["tool_name"], step["tool_args"]) == ("error", *call)
    assert error in step["error"]
    assert ends(events)[0] == (call[0], "failed", False)


def test_a_model_error_in_mid_run_ends_the_run_with_its_error() -> None:
    result, events = run(("add", {"a": 1, "b": 2}), TimeoutError("too slow"), retries=0)
    check(result)
    assert (result["answer"], result.output, str(result)) == (None, None, "")
    assert result["error"] == "Error while generating output:\ntoo slow"
    assert (result.error_class, result.error_message) == ("TimeoutError", result["error"])
    assert (result.success, result.is_error, result.ending) == (False, True, "error")
    step = result["metrics"]["steps"][1]
    assert (step["type"], step["error"], step["tool_name"]) == ("error", result["error"], None)
    assert len(step["model_input_raw"]) == 4
    assert (step["input_tokens"], step["output_tokens"], step["reasoning"]) == (0, 0, None)
    assert [c["tool_result"] for c in result["metrics"]["tool_calls"]] == ["3"]
    assert [e.kind for e in events].count("agent_end") == 1
    assert events[-1].data["result"] is result


def test_a_reply_without_a_call_is_an_error_step_and_the_run_goes_on() -> None:
    result, _ = run("I have nothing to call.", ANSWER)
    check(result)
    step = result["metrics"]["steps"][0]
    assert (step["type"], step["reasoning"], step["tool_name"]) == ("error", "I have nothing to call.", None)
    assert result.success


def test_a_call_written_in_the_text_is_a_call() -> None:
    result, _ = run('Action:\n{"name": "add", "arguments": {"a": 1, "b": 2}}', ANSWER)
    check(result)
    assert result["metrics"]["tool_calls"][0]["tool_result"] == "3"


def test_a_run_out_of_steps_has_the_answer_of_the_last_call_and_no_success() -> None:
    events: list[Event] = []
    model = ScriptedModel([("now", {}), ("now", {}), Reply(text="It is noon.", input_tokens=7, output_tokens=3)])
    result = Agent(TOOLS, model, max_steps=2, sinks=[events.append]).run("When is it?")
    check(result)
    assert (result["answer"], result["error"]) == ("It is noon.", None)
    assert (result.success, result.is_error, result.ending) == (False, False, "max_steps")
    last = result["metrics"]["steps"][2]
    assert (last["type"], last["error"], last["tool_name"]) == ("error", "Reached max steps.", None)
    assert (last["reasoning"], last["action_output"]) == ("It is noon.", "It is noon.")
    assert (last["input_tokens"], last["output_tokens"]) == (7, 3)
    asked = model.requests[-1].messages
    assert [m["content"][0]["text"] for m in last["model_input_raw"]] == [m.content[0]["text"] for m in asked]
    assert last["model_input_parsed"]["task"] == "When is it?"
    assert [e.data["step"] for e in events if e.kind == "step_start"] == [1, 2, 3]
    assert [e.data["step"] for e in events if e.kind == "step_end"] == [1, 2, 3]


def test_an_error_in_the_last_call_is_the_error_of_the_run() -> None:
    result, _ = run(("now", {}), ConnectionError("line is dead"), max_steps=1, retries=0)
    check(result)
    assert (result["answer"], result.output) == (None, None)
    assert "line is dead" in result["error"]
    assert (result.error_class, result.success, result.ending) == ("ConnectionError", False, "error")
    last = result["metrics"]["steps"][1]
    assert (last["reasoning"], last["action_output"], last["input_tokens"]) == (None, None, 0)
    assert last["model_input_raw"]


def test_an_answer_that_only_looks_like_a_swallowed_error_is_an_answer() -> None:
    content = [{"type": "text", "text": "Error in generating final LLM output: so it began"}]
    last = ChatMessage(MessageRole.ASSISTANT, content)
    result = Agent(TOOLS, Spoken(message("", "now", {}), last), max_steps=1).run("When?")
    assert (result["answer"], result["error"]) == (content[0]["text"], None)


THINKING = [
    [{"type": "thinking", "thinking": "First I add.", "signature": "s"}, {"type": "text", "text": "Adding."}],
    [{"type": "reasoning", "text": "First I add."}, {"type": "text", "text": "Adding."}],
    [{"type": "reasoning", "reasoning": "First I add."}, {"type": "text", "text": "Adding."}],
    [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "First I add."}]},
        {"type": "text", "text": "Adding."},
    ],
]


@pytest.mark.parametrize("content", THINKING)
def test_thinking_blocks_are_the_thinking_and_the_run_goes_on(content: Any) -> None:
    model = Spoken(message(content, "add", {"a": 1, "b": 2}), message("", "now", {}), message(None, *ANSWER))
    result = Agent(TOOLS, model).run("Add.")
    check(result)
    first, second, third = result["metrics"]["steps"]
    assert (first["reasoning"], first["thinking"]) == ("Adding.", "First I add.")
    assert second["model_input_parsed"]["history"][0]["text"] == "Adding."
    assert (second["reasoning"], second["thinking"]) == ("", None)
    assert (third["reasoning"], third["thinking"]) == (None, None)
    assert result["answer"] == "done"


@pytest.mark.parametrize(
    ("text", "thinking"),
    [
        ("<think>\nFirst I add.\n</think>\nAdding.", "First I add."),
        ("First I add.</think>Adding.", "First I add."),
        ("<think>First I add.", "First I add."),
        ("<think>First I</think>...<think>add.</think>", "First I\nadd."),
        ("<think></think>Adding.", None),
        ("I think> so", None),
    ],
)
def test_think_tags_are_the_thinking_and_stay_in_the_text(text: str, thinking: str | None) -> None:
    result, _ = run(Reply([("add", {"a": 1, "b": 2})], text=text), ANSWER)
    check(result)
    step = result["metrics"]["steps"][0]
    assert (step["reasoning"], step["thinking"]) == (text, thinking)


def test_thinking_beside_the_content_is_found() -> None:
    result, _ = run(Reply([("now", {})], text="Asking.", thinking="What time is it?"), ANSWER)
    check(result)
    assert result["metrics"]["steps"][0]["thinking"] == "What time is it?"


def test_a_provider_without_token_counts_and_ids() -> None:
    bare = Reply([("now", {}, None)], input_tokens=None, output_tokens=None)
    last = Reply([(*ANSWER, None)], input_tokens=None, output_tokens=None)
    result, events = run(bare, last)
    check(result)
    assert [c["id"] for c in result["metrics"]["tool_calls"]] == [None, None]
    assert [s["tool_id"] for s in result["metrics"]["steps"]] == [None, None]
    assert result["metrics"]["total_tokens"] == 0
    ids = [e.data["id"] for e in events if e.kind == "tool_call_start"]
    assert len(set(ids)) == 2
    assert None not in ids


def test_of_calls_with_one_id_the_last_runs_and_the_others_are_cancelled() -> None:
    result, events = run([("add", {"a": 1, "b": 2}, "same"), ("add", {"a": 3, "b": 4}, "same")], ANSWER)
    check(result)
    assert [c["arguments"] for c in result["metrics"]["tool_calls"][:-1]] == [{"a": 3, "b": 4}]
    assert ends(events)[:2] == [("add", "cancelled", False), ("add", "ok", True)]
    assert len(result["metrics"]["steps"][0]["step_tool_calls"]) == 2


@pytest.mark.parametrize(
    ("arguments", "recorded"),
    [
        ('{"text": "hi"}', {"text": "hi"}),
        ("hi", {"text": "hi"}),
        ({}, {}),
        (None, {}),
        ("", {}),
        ([1, 2], {"text": [1, 2]}),
        (7, {"text": 7}),
        ('{"text": ', {"text": '{"text": '}),
    ],
)
def test_arguments_of_any_form_are_recorded_as_an_object(arguments: Any, recorded: Any) -> None:
    result, _ = run(("shout", arguments), ANSWER)
    check(result)
    assert result["metrics"]["steps"][0]["tool_args"] == recorded


@pytest.mark.parametrize("answer", [42, 2.5, True, ["a", "b"], {"city": "Tokyo"}, "text", ""])
def test_the_output_keeps_its_type_and_the_answer_is_its_text(answer: Any) -> None:
    result, _ = run(("final_answer", {"answer": answer}))
    check(result)
    assert result.output == answer
    assert type(result.output) is type(answer)
    assert result["answer"] == str(result) == str(answer)
    assert result.success


def test_an_answer_of_none_is_none() -> None:
    result, _ = run(("final_answer", {"answer": None}))
    check(result)
    assert (result["answer"], str(result), result.success) == (None, "", True)


def test_an_answer_beside_another_call_is_an_error_and_the_run_goes_on() -> None:
    result, events = run([("final_answer", {"answer": "early"}), ("add", {"a": 1, "b": 2})], ANSWER)
    check(result)
    assert result["answer"] == "done"
    assert result["metrics"]["steps"][0]["type"] == "error"
    starts, over = (Counter(e.data["id"] for e in events if e.kind == f"tool_call_{k}") for k in ("start", "end"))
    assert starts == over
    assert set(starts.values()) == {1}


def test_a_conversation_goes_on_with_its_steps_numbered_from_one() -> None:
    model = ScriptedModel([("add", {"a": 1, "b": 2}), ANSWER, ("now", {}), ANSWER, ANSWER])
    agent = Agent(TOOLS, model)
    first = agent.run("Add.")
    second = agent.run("And now?", reset=False)
    check(first)
    check(second)
    assert [c["tool_name"] for c in second["metrics"]["tool_calls"]] == ["now", "final_answer"]
    parsed = second["metrics"]["steps"][1]["model_input_parsed"]
    assert parsed["task"] == "Add."
    assert [h["type"] for h in parsed["history"]].count("message") == 1
    assert [h["tool_calls"][0]["name"] for h in parsed["history"] if h["tool_calls"]] == ["add", "final_answer", "now"]
    assert [m["role"] for m in second.messages].count("user") == 2
    assert second.messages[: len(first.messages)] == first.messages
    third = agent.run("Afresh.")
    assert third["metrics"]["steps"][0]["model_input_parsed"]["task"] == "Afresh."
    assert [m["role"] for m in third.messages] == ["system", "user", "assistant", "tool"]


def test_the_transcript_has_calls_results_and_errors() -> None:
    result, _ = run(
        Reply([("add", {"a": 1, "b": 2}), ("fail", {"why": "no disk"})], text="Both."), "No call.", ANSWER, task="Go."
    )
    system, user, both, added, failed, text, error, answer, done = result.messages
    assert (system["role"], user) == ("system", {"role": "user", "content": "Go."})
    assert (both["content"], [c["id"] for c in both["tool_calls"]]) == ("Both.", ["call_1", "call_2"])
    assert json.loads(both["tool_calls"][0]["function"]["arguments"]) == {"a": 1, "b": 2}
    assert added == {"role": "tool", "tool_call_id": "call_1", "content": "3"}
    assert "no disk" in failed["content"]
    assert text == {"role": "assistant", "content": "No call."}
    assert error["role"] == "user"
    assert answer["tool_calls"][0]["function"]["name"] == "final_answer"
    assert done == {"role": "tool", "tool_call_id": "call_3", "content": "done"}


def test_the_stream_tells_the_run_and_the_result_is_its_fold() -> None:
    result, events = run(("add", {"a": 1, "b": 2}), ANSWER)
    assert [e.kind for e in events] == [
        "agent_start",
        "step_start",
        "model_attempt",
        "tool_call_start",
        "tool_call_end",
        "step_end",
        "step_start",
        "model_attempt",
        "tool_call_start",
        "tool_call_end",
        "step_end",
        "text_delta",
        "agent_end",
    ]
    again = Result.of(events)
    assert again == result
    assert vars(again) == vars(result)


def test_a_sink_that_raises_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    events: list[Event] = []

    def broken(event: Event) -> None:
        raise RuntimeError("sink")

    result = Agent(TOOLS, ScriptedModel([("now", {}), ANSWER]), sinks=[broken, events.append]).run("Go.")
    assert result["answer"] == "done"
    assert events[-1].kind == "agent_end"
    assert {record.name for record in caplog.records} == {"agentltl"}


def test_an_interrupt_ends_the_stream_and_is_raised() -> None:
    events: list[Event] = []
    agent = Agent(TOOLS, ScriptedModel([("now", {}), KeyboardInterrupt()]), sinks=[events.append])
    with pytest.raises(KeyboardInterrupt):
        agent.run("Go.")
    assert [e.kind for e in events].count("agent_end") == 1
    assert agent.last_result is not None
    assert (agent.last_result.error_class, agent.last_result.interrupted) == ("KeyboardInterrupt", True)
    assert [c["tool_name"] for c in agent.last_result["metrics"]["tool_calls"]] == ["now"]


def test_the_agents_memory_is_that_of_smolagents() -> None:
    agent = Agent(TOOLS, ScriptedModel([("now", {}), [("now", {}), ("add", {"a": 1, "b": 2})], ANSWER]))
    agent.run("Go.")
    names = [call.name for step in agent.smolagent.memory.steps for call in getattr(step, "tool_calls", None) or ()]
    assert names == ["now", "now", "add", "final_answer"]
    assert {type(name) for name in names} == {str}


def test_messages_that_are_made_within_a_step_begin_no_step() -> None:
    @tool
    def remember() -> int:
        """Count what was said."""
        return len(agent.smolagent.write_memory_to_messages())

    events: list[Event] = []
    agent = Agent([remember], ScriptedModel([("remember", {}), ANSWER]), sinks=[events.append])
    agent.run("Go.")
    assert [e.data["step"] for e in events if e.kind == "step_start"] == [1, 2]


def test_a_run_that_was_told_to_stop_is_interrupted() -> None:
    @tool
    def halt() -> str:
        """Stop the agent."""
        agent.smolagent.interrupt()
        return "halted"

    agent = Agent([halt], ScriptedModel([("halt", {}), ANSWER]))
    result = agent.run("Go.")
    check(result)
    assert (result.ending, result.interrupted, result.success, result["answer"]) == ("interrupt", True, False, None)
    assert [c["tool_result"] for c in result["metrics"]["tool_calls"]] == ["halted"]


def test_ids_that_smolagents_cannot_order_end_the_run_with_an_error() -> None:
    result, _ = run([("now", {}, "a"), ("now", {}, None)], ANSWER)
    check(result)
    assert (result["answer"], result.error_class) == (None, "TypeError")
    assert [c["tool_result"] for c in result["metrics"]["tool_calls"]] == ["noon", "noon"]
    assert result["metrics"]["steps"][0]["type"] == "error"


def test_a_run_inside_an_exception_handler_is_not_blamed_for_it() -> None:
    try:
        raise LookupError("outer")
    except LookupError:
        result, _ = run(("now", {}), ANSWER)
    check(result)
    assert all(step["error"] is None for step in result["metrics"]["steps"])


def test_results_pickle_and_copy() -> None:
    result, _ = run(("add", {"a": 1, "b": 2}), ANSWER)
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert other == result
        assert type(other) is Result
        assert (other.output, other.messages, other.duration_ms) == (result.output, result.messages, result.duration_ms)


def test_settings_reach_the_agent() -> None:
    model = ScriptedModel([ANSWER])
    agent = Agent(TOOLS, model_instance=model, name="desk", instructions="Be brief, Hortensia.", max_steps=3)
    result = agent.run("Go.")
    assert "Be brief, Hortensia." in model.requests[0].text
    assert agent.smolagent.max_steps == 3
    assert (agent.model, result.model_id) == (model, "scripted")


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"max_steps": 0}, ConstraintError),
        ({"model": ScriptedModel([]), "model_instance": ScriptedModel([])}, ConstraintError),
        ({"tools": [len], "model": ScriptedModel([])}, ConstraintError),
        ({"tools": add, "model": ScriptedModel([])}, ConstraintError),
        ({"tools": "add", "model": ScriptedModel([])}, ConstraintError),
        ({"model": ScriptedModel([]), "temperature": 0.5}, ModelError),
        ({"model": 7}, ModelError),
        ({"mdoel": "local"}, TypeError),
    ],
)
def test_settings_that_make_no_sense_are_errors(settings: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Agent(**settings)


def test_a_prompt_that_cannot_be_rendered_is_the_error_of_the_run() -> None:
    events: list[Event] = []
    agent = Agent(TOOLS, ScriptedModel([ANSWER]), sinks=[events.append])
    agent.smolagent.prompt_templates["system_prompt"] = "{{ nothing.of_this }}"
    result = agent.run("Go.")
    assert "nothing" in str(result["error"])
    assert [event.kind for event in events] == ["agent_start", "agent_end"]
    assert (result.ending, result.attempts) == ("error", [])


def test_a_run_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run(("fail", {"why": "no disk"}), ANSWER)
    assert capsys.readouterr() == ("", "")


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every dict within a value that the reference describes key by key."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    free = {"arguments", "tool_args", "content", "token_usage"}
    found = [place for key, part in inside if key not in free for place in places(part, (*at, key))]
    return [at, *found] if isinstance(value, dict) else found


def test_the_check_finds_a_missing_key_a_key_besides_and_a_wrong_type_everywhere() -> None:
    result, _ = run([("add", {"a": 1, "b": 2}), ("now", {})], ANSWER)
    optional = {"step_tool_calls", "tool_calls", "token_usage"}
    for place in places(dict(result)):
        keys = list(at(result, place))
        for key in keys:
            for change in ("missing", "besides", "wrong"):
                broken = copy.deepcopy(dict(result))
                if change == "missing":
                    if key in optional and place:
                        continue
                    del at(broken, place)[key]
                else:
                    at(broken, place)[key if change == "wrong" else "unheard_of"] = object()
                assert faults(broken, result_rule(guarded=False)), (place, key, change)


def at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def test_runs_at_the_same_time_do_not_open_circuits_for_each_other() -> None:
    model = ScriptedModel([*[TimeoutError("no answer")] * 4, ("final_answer", {"answer": "here"})])
    agent = Agent([], model, retries=0)
    with agent._free(True, None):  # a run is under way
        classes = [agent.run("Do it.").error_class for _ in range(4)]
        assert agent.run("Do it.")["answer"] == "here"
    assert classes == ["TimeoutError"] * 4
