"""The memory of smolagents: real agents over a scripted model, as objects and as dicts, and steps written by hand."""

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from smolagents import CodeAgent, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from smolagents.monitoring import LogLevel

from agentltl.constraints.trace import Call, Message, Trace
from agentltl.errors import TraceError


class Look(Tool):  # type: ignore[misc]
    name = "look"
    description = "Looks an order up."
    inputs = {"order": {"type": "string", "description": "its number"}}  # noqa: RUF012
    output_type = "string"

    def forward(self, order: str) -> str:
        if order == "none":
            raise KeyError("no such order")
        return f"order {order}" if order != "long" else "two\nlines"


class Scripted(Model):  # type: ignore[misc]
    """A model that says what it was given: a text, or calls as (id, name, arguments)."""

    def __init__(self, *script: Any) -> None:
        super().__init__(model_id="scripted")
        self.script = list(script)

    def generate(self, messages: Any, **_: Any) -> ChatMessage:
        said = self.script.pop(0)
        if isinstance(said, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=said)
        calls = [
            ChatMessageToolCall(id=i, type="function", function=ChatMessageToolCallFunction(name=n, arguments=a))
            for i, n, a in said
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)


def agent(*script: Any, **settings: Any) -> ToolCallingAgent:
    return ToolCallingAgent(tools=[Look()], model=Scripted(*script), verbosity_level=LogLevel.OFF, **settings)


END = [("end", "final_answer", {"answer": "done"})]

FORMS: list[Callable[[Any], Any]] = [
    lambda agent: agent,
    lambda agent: agent.memory,
    lambda agent: agent.memory.steps,
    lambda agent: agent.memory.get_full_steps(),
    lambda agent: agent.memory.get_succinct_steps(),
]
every_form = pytest.mark.parametrize("form", FORMS, ids=["agent", "memory", "steps", "full", "succinct"])


def came(calls: tuple[Call, ...]) -> list[tuple[str, str]]:
    """The name of each call and what came of it."""
    words = []
    for call in calls:
        assert call.outcome is not None
        word = "failed" if call.outcome.failed else "ok" if call.outcome.ok else "never"
        words.append((call.tool, word))
    return words


@every_form
def test_a_run(form: Callable[[Any], Any]) -> None:
    ran = agent([("c1", "look", {"order": "7"})], END)
    ran.run("look order 7 up")
    trace = Trace.from_smolagents(form(ran))
    first, last = trace.calls
    assert (first.tool, first.args, first.id, first.step) == ("look", {"order": "7"}, "c1", 1)
    assert (last.tool, last.args, last.id, last.step) == ("final_answer", {"answer": "done"}, "end", 2)
    assert [c.outcome and c.outcome.text for c in trace.calls] == ["order 7", "done"]
    assert first.start is not None
    assert first.outcome is not None
    assert first.outcome.end is not None
    assert last.start is not None
    assert first.start <= first.outcome.end <= last.start
    assert trace.messages == (Message("look order 7 up", 0),)


@every_form
def test_several_calls_of_one_message(form: Callable[[Any], Any]) -> None:
    ran = agent([("z", "look", {"order": "1"}), ("a", "look", {"order": "2"})], END)
    ran.run("both")
    first, second, _ = Trace.from_smolagents(form(ran)).calls
    # smolagents keeps them by id; the model wrote them in this order.
    assert [(c.id, c.args["order"], c.step) for c in (first, second)] == [("z", "1", 1), ("a", "2", 1)]
    assert [c.outcome and c.outcome.text for c in (first, second)] == ["order 1", "order 2"]


@every_form
def test_results_that_cannot_be_told_apart_are_unknown(form: Callable[[Any], Any]) -> None:
    ran = agent([("a", "look", {"order": "long"}), ("b", "look", {"order": "2"})], END)
    ran.run("both")
    first, second, _ = Trace.from_smolagents(form(ran)).calls
    for call in (first, second):
        assert call.outcome is not None
        assert call.outcome.ok
        assert call.outcome.text is None


@every_form
def test_a_tool_that_raises(form: Callable[[Any], Any]) -> None:
    ran = agent([("c1", "look", {"order": "none"})], END)
    ran.run("look")
    trace = Trace.from_smolagents(form(ran))
    assert came(trace.calls) == [("look", "failed"), ("final_answer", "ok")]
    first = trace.calls[0]
    assert (first.args, first.id) == ({"order": "none"}, "c1")
    assert first.outcome is not None
    assert first.outcome.error is not None
    assert "no such order" in first.outcome.error


@every_form
def test_one_of_several_raises(form: Callable[[Any], Any]) -> None:
    ran = agent([("a", "look", {"order": "1"}), ("b", "look", {"order": "none"})], END)
    ran.run("both")
    trace = Trace.from_smolagents(form(ran))
    assert came(trace.calls) == [("look", "never"), ("look", "failed"), ("final_answer", "ok")]


@every_form
def test_calls_that_never_ran_are_no_events(form: Callable[[Any], Any]) -> None:
    ran = agent([("a", "lok", {"order": "1"})], [("b", "look", {"number": "1"})], "no call at all", END)
    ran.run("look")
    trace = Trace.from_smolagents(form(ran))
    assert came(trace.calls) == [("final_answer", "ok")]
    assert trace.calls[0].step == 4


@every_form
def test_an_unknown_tool_beside_a_known_one(form: Callable[[Any], Any]) -> None:
    ran = agent([("a", "lok", {}), ("b", "look", {"order": "1"})], END)
    ran.run("look")
    assert came(Trace.from_smolagents(form(ran)).calls) == [("look", "never"), ("final_answer", "ok")]


@every_form
def test_an_answer_beside_another_call(form: Callable[[Any], Any]) -> None:
    ran = agent([("a", "look", {"order": "1"}), ("b", "final_answer", {"answer": "x"})], END)
    ran.run("look")
    assert came(Trace.from_smolagents(form(ran)).calls)[:2] == [("look", "never"), ("final_answer", "never")]


@every_form
def test_ids_that_repeat_or_are_missing_run_the_last(form: Callable[[Any], Any]) -> None:
    for identifier in ("x", None):
        ran = agent([(identifier, "look", {"order": "1"}), (identifier, "look", {"order": "2"})], END)
        ran.run("look")
        assert [c.args for c in Trace.from_smolagents(form(ran)).calls[:1]] == [{"order": "2"}]
        assert len(Trace.from_smolagents(form(ran))) == 2


@every_form
def test_two_runs_of_one_conversation(form: Callable[[Any], Any]) -> None:
    ran = agent([("c1", "look", {"order": "1"})], END, [("c2", "look", {"order": "2"})], END)
    ran.run("first")
    ran.run("second", reset=False)
    trace = Trace.from_smolagents(form(ran))
    assert [c.step for c in trace.calls] == [1, 2, 3, 4]
    assert trace.messages == (Message("first", 0), Message("second", 2))


@every_form
def test_a_run_to_the_last_step(form: Callable[[Any], Any]) -> None:
    ran = agent([("c1", "look", {"order": "1"})], "the answer", max_steps=1)
    ran.run("look")
    assert came(Trace.from_smolagents(form(ran)).calls) == [("look", "ok")]


@every_form
def test_an_answer_that_a_check_refuses(form: Callable[[Any], Any]) -> None:
    ran = agent(END, END, final_answer_checks=[lambda answer, memory, agent: len(memory.steps) > 1])
    ran.run("look")
    assert came(Trace.from_smolagents(form(ran)).calls) == [("final_answer", "ok"), ("final_answer", "ok")]


@every_form
def test_planning_steps_are_passed_over(form: Callable[[Any], Any]) -> None:
    ran = agent("the plan", END, planning_interval=3)
    ran.run("look")
    assert came(Trace.from_smolagents(form(ran)).calls) == [("final_answer", "ok")]


@every_form
def test_a_code_agent(form: Callable[[Any], Any]) -> None:
    script = ["<code>\nx = 1 + 1\n</code>", "<code>\nundefined\n</code>", "<code>\nfinal_answer(x)\n</code>"]
    ran = CodeAgent(tools=[], model=Scripted(*script), verbosity_level=LogLevel.OFF)
    ran.run("add")
    trace = Trace.from_smolagents(form(ran))
    assert came(trace.calls) == [("python_interpreter", word) for word in ("ok", "failed", "ok")]
    assert trace.calls[0].args == {"input": "x = 1 + 1"}


def test_a_bare_argument_stands_under_the_first_input_of_a_known_tool() -> None:
    ran = agent([("c1", "look", "seven")], END)
    ran.run("look")
    looked = Trace.from_smolagents(ran).calls[0]
    assert looked.args == {"order": "seven"}
    assert looked.outcome is not None
    assert looked.outcome.text == "order seven"
    step = {"step_number": 1, "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "seven"}}]}
    known = SimpleNamespace(memory=SimpleNamespace(steps=[step]), tools=ran.tools, managed_agents={})
    assert Trace.from_smolagents(known).calls[0].args == {"order": "seven"}
    assert Trace.from_smolagents([step]).calls[0].args == {"input": "seven"}
    member = SimpleNamespace(memory=known.memory, managed_agents={"look": SimpleNamespace(inputs={"task": {}})})
    assert Trace.from_smolagents(member).calls[0].args == {"task": "seven"}


def test_the_trace_of_a_guard_is_exact() -> None:
    held = Trace((Call("a"),))
    assert Trace.from_smolagents(SimpleNamespace(guard=SimpleNamespace(trace=held), memory=None)) is held


def step(**more: Any) -> dict[str, Any]:
    return {"step_number": 1, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "t"}}], **more}


@pytest.mark.parametrize(
    ("more", "word", "text"),
    [
        ({"observations": "seen"}, "ok", "seen"),
        ({"observations": ""}, "ok", ""),
        ({"observations": None}, "never", None),
        ({}, "never", None),
        ({"observations": None, "action_output": {"a": 1}}, "ok", "{'a': 1}"),
        ({"observations": None, "error": {"type": "AgentExecutionError", "message": "boom"}}, "failed", None),
        ({"observations": "seen", "error": {"type": "AgentError", "message": "a check failed"}}, "ok", "seen"),
        (
            {"observations": "logs", "code_action": "x", "error": {"type": "AgentExecutionError", "message": "b"}},
            "failed",
            None,
        ),
    ],
)
def test_what_came_of_a_call(more: dict[str, Any], word: str, text: str | None) -> None:
    (call,) = Trace.from_smolagents([step(**more)]).calls
    assert came((call,)) == [("t", word)]
    assert call.outcome is not None
    assert call.outcome.text == text


def test_calls_that_a_later_wave_lost_are_found_in_the_message() -> None:
    message = {"tool_calls": [{"id": i, "function": {"name": n, "arguments": {}}} for i, n in [("b", "t"), ("a", "u")]]}
    error = {"type": "AgentToolExecutionError", "message": "Error executing tool 't' with arguments {}: KeyError: 1"}
    recorded = {"step_number": 1, "tool_calls": [{"id": "a", "function": {"name": "u", "arguments": {}}}]}
    steps = [{**recorded, "observations": "fine", "error": error, "model_output_message": message}]
    assert came(Trace.from_smolagents(steps).calls) == [("t", "failed"), ("u", "ok")]


def test_without_a_task_nothing_is_known_of_the_user() -> None:
    assert Trace.from_smolagents([step()]).messages is None
    assert Trace.from_smolagents([]) == Trace()


def test_the_result_of_a_run_has_steps() -> None:
    ran = agent([("c1", "look", {"order": "7"})], END)
    outcome = ran.run("look", return_full_result=True)
    assert came(Trace.from_smolagents(outcome).calls) == [("look", "ok"), ("final_answer", "ok")]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (None, "`None` has no steps\n"),
        ("steps", "`'steps'` has no steps\n"),
        (5, "`5` has no steps\n"),
        ({"a": 1}, "`{'a': 1}` has no steps\n"),
        ([{"role": "user"}], "`steps[0]`: `{'role': 'user'}` is no step of a memory\n"),
        ([{"task": None}], "`steps[0]`: the task `None` is no text\n"),
        ([{"step_number": 1, "tool_calls": "x"}], "`steps[0]`: the tool calls `'x'` are no list\n"),
        ([{"step_number": 1, "tool_calls": [{"id": "a"}]}], "`steps[0]`: `tool_calls[0]`: the call has no name\n"),
        ([{"step_number": 1, "timing": {"start_time": "x"}}], "`steps[0]`: `'x'` is no time\n"),
    ],
)
def test_input_that_is_no_memory(source: Any, problem: str) -> None:
    with pytest.raises(TraceError) as caught:
        Trace.from_smolagents(source)
    assert problem in str(caught.value)


def test_nothing_of_smolagents_is_imported() -> None:
    code = (
        "import sys; from agentltl.constraints.trace import Trace; Trace.from_smolagents([{'step_number': 1}]);"
        "sys.exit(any(m.split('.')[0] in ('smolagents', 'litellm', 'pydantic') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
