"""Run after run, the guarded class does what smolagents' class does: answer, errors, events, memory, prompts, console.

Each script is run by both classes, ours once without a constraint and once under one that every call touches.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import PIL.Image
import pytest
from smolagents import Tool, tool
from smolagents.agent_types import AgentAudio, AgentImage
from smolagents.agents import PlanningStep
from smolagents.memory import ActionStep, FinalAnswerStep


@tool
def ping() -> str:
    """Answers."""
    return "pong"


@tool
def double(number: int) -> int:
    """Doubles a number.

    Args:
        number: The number.
    """
    return 2 * number


@tool
def total(numbers: list) -> int:
    """Adds numbers.

    Args:
        numbers: The numbers.
    """
    return sum(numbers)


@tool
def greet(name: str, greeting: str = None) -> str:  # noqa: RUF013
    """Greets.

    Args:
        name: Whom.
        greeting: How.
    """
    return f"{greeting or 'Hello'} {name}"


def test_no_file_is_written_to_judge_a_picture(twins: Any, monkeypatch: Any) -> None:
    def no_file(self: Any) -> str:
        raise AssertionError("a picture was written to a file")

    monkeypatch.setattr(AgentImage, "to_string", no_file)
    _, ours = twins([("picture", {}), ("look", {"image": "image.png"}), end()], [Picture(), Look()])
    assert ours.answer == "done"


@tool
def draw() -> Any:
    """Draws nothing in red."""
    return PIL.Image.new("RGB", (2, 2), "red")


class Picture(Tool):
    name = "picture"
    description = "Draws."
    inputs: dict[str, Any] = {}  # noqa: RUF012
    output_type = "image"

    def forward(self) -> Any:
        return PIL.Image.new("RGB", (2, 2), "red")


class Look(Tool):
    name = "look"
    description = "Looks at a picture."
    inputs = {"image": {"type": "image", "description": "The picture"}}  # noqa: RUF012
    output_type = "string"

    def forward(self, image: Any) -> str:
        return f"{image.size}"


class Sound(Tool):
    """Its result is a sound, made without the packages that smolagents plays sounds with."""

    name = "sound"
    description = "Makes a sound."
    inputs: dict[str, Any] = {}  # noqa: RUF012
    output_type = "audio"

    def forward(self) -> Any:
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return AgentAudio.__new__(AgentAudio, "")


def end(answer: Any = "done") -> tuple[str, Any]:
    return ("final_answer", {"answer": answer})


LONG = "x " * 3_000

SCRIPTS: dict[str, list[Any]] = {
    "a dict": [("echo", {"text": "a"}), end()],
    "an empty dict": [("ping", {}), end()],
    "no arguments": [("ping", None), end()],
    "a bare text": [("echo", "hello"), end()],
    "a bare answer": [("final_answer", "it is done")],
    "JSON text": [("echo", '{"text": {"a": [1, null]}}'), end()],
    "JSON text of the wrong argument": [("echo", '{"txt": 1}'), end()],
    "broken JSON": [("echo", '{"text": '), end()],
    "a JSON scalar": [("double", "21"), end()],
    "a number": [("double", 21), end()],
    "a list": [("total", [1, 2]), end()],
    "a list for a text": [("greet", ["a"]), end()],
    "an empty text": [("echo", ""), end()],
    "None for an argument": [("greet", {"name": "A", "greeting": None}), end()],
    "None for a text": [("greet", {"name": None}), end()],
    "a text for a tool without arguments": [("ping", "x"), end()],
    "an unknown tool": [("nothing", {"a": 1}), end()],
    "an unknown argument": [("greet", {"name": "A", "tone": "B"}), end()],
    "a missing argument": [("greet", {"greeting": "A"}), end()],
    "a mistyped argument": [("double", {"number": "21"}), end()],
    "an integer for a number": [("double", {"number": 2}), end()],
    "a name that is no name": [("echo ", {"text": "a"}), end()],
    "an empty name": [("", {"text": "a"}), end()],
    "a result None": [("echo", {"text": None}), end()],
    "a long result": [("echo", {"text": LONG}), end()],
    "a padded result": [("echo", {"text": "\n  a b \n\n"}), end()],
    "a bracketed result": [("echo", {"text": "[bold]a[/bold] [1] [/x]"}), end()],
    "an object as result": [("echo", {"text": {"a": [1.0, True, None]}}), end()],
    "a tool that raises": [("echo", {"text": "fail: [x]"}), ("echo", {"text": "b"}), end()],
    "a picture": [("picture", {}), ("look", {"image": "image.png"}), ("final_answer", "image.png")],
    "a picture of any type": [("draw", {}), end("image.png")],
    "a sound": [("sound", {}), ("ping", {}), end()],
    "two calls": [[("echo", {"text": "a"}), ("echo", {"text": "b"})], end()],
    "five calls": [[("echo", {"text": n}) for n in range(5)], end()],
    "ids out of order": [[("echo", {"text": "a"}, "z"), ("double", {"number": 1}, "a")], end()],
    "a repeated id": [[("echo", {"text": "a"}, "i"), ("echo", {"text": "b"}, "i"), ("ping", {}, "j")], end()],
    "one id for all": [[("echo", {"text": "a"}, "i"), ("echo", {"text": "b"}, "i")], end()],
    "no ids": [[("echo", {"text": "a"}, None), ("echo", {"text": "b"}, None)], end()],
    "no id": [("echo", {"text": "a"}, None), ("final_answer", {"answer": 1}, None)],
    "some ids": [[("echo", {"text": "a"}, None), ("echo", {"text": "b"}, "i")], end()],
    "no call": ["I think.", end()],
    "a call in the text": ['{"name": "echo", "arguments": {"text": "a"}}', end()],
    "a broken call in the text": ['{"name": "echo", "arguments": {"text"', end()],
    "a reply of nothing": ["", end()],
    "a failing model": [("echo", {"text": "a"}), RuntimeError("no model today")],
    "a failing first model": [RuntimeError("no model today")],
    "an answer that is a number": [end(42)],
    "an answer that is None": [end(None)],
    "an answer that is an object": [end({"a": [1, 2]})],
    "an answer that is a list": [end([1, {"b": 2.5}])],
    "an answer without an argument": [("final_answer", {}), end()],
    "an answer of the wrong argument": [("final_answer", {"text": "a"}), end()],
    "a bare number as answer": [("final_answer", 42)],
    "steps run out": [("echo", {"text": n}) for n in range(3)] + ["I give up."],
    "steps run out and the model fails": [("echo", {"text": n}) for n in range(3)] + [RuntimeError("no model")],
    "the answer in the last step": [("ping", {}), ("ping", {}), end()],
}


def tools(echo: Callable[..., Any]) -> list[Tool]:
    return [echo(), ping, double, total, greet, draw, Picture(), Look(), Sound()]


@pytest.mark.parametrize("stream", [False, True], ids=["", "streamed"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_it_is_the_base_class(script: str, stream: bool, twins: Any, echo: Any) -> None:
    base, ours = twins(SCRIPTS[script], lambda: tools(echo), stream=stream, max_steps=3)
    assert ours.picture() == base.picture()


RUNS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "stream_outputs": (
        [("echo", {"text": "a b c"}), [("echo", '{"text": 1}'), ("ping", "{}")], end("it is done")],
        {"stream_outputs": True, "stream": True},
    ),
    "stream_outputs without a stream": ([("ping", "{}"), end()], {"stream_outputs": True}),
    "planning": (["a plan", ("ping", {}), "a new plan", end()], {"planning_interval": 1}),
    "planning in a stream": (
        ["a plan", ("ping", {}), "a new plan", end()],
        {"planning_interval": 1, "stream": True, "stream_outputs": True},
    ),
    "state": (
        [("echo", {"text": "doc"}), ("echo", "doc"), [("greet", {"name": "doc"}), ("ping", {})], end("doc")],
        {"runs": [{"additional_args": {"doc": "a long text", "n": 3}}]},
    ),
    "state that names state": (
        [("echo", {"text": "a"}), end("a")],
        {"runs": [{"additional_args": {"a": "b", "b": "c"}}]},
    ),
    "images": ([end()], {"runs": [{"images": [PIL.Image.new("RGB", (2, 2))]}]}),
    "two conversations": ([("ping", {}), end(1), ("echo", {"text": 2}), end(2)], {"runs": [{}, {"task": "More."}]}),
    "one conversation": (
        [("ping", {}), end(1), ("echo", {"text": 2}), end(2)],
        {"runs": [{}, {"task": "More.", "reset": False}]},
    ),
    "max_steps of the run": ([("ping", {}), "over"], {"runs": [{"max_steps": 1}]}),
    "instructions": ([end()], {"instructions": "Be brief."}),
    "one thread": ([[("echo", {"text": n}) for n in range(3)], end()], {"max_tool_threads": 1}),
    "an answer that fails its check": (
        [end("bad"), ("ping", {}), end("good")],
        {"final_answer_checks": [lambda answer, memory, agent=None: answer == "good" and len(memory.steps) > 1]},
    ),
}


@pytest.mark.parametrize("run", RUNS)
def test_a_run_with_options_is_the_base_class(run: str, twins: Any, echo: Any) -> None:
    script, options = RUNS[run]
    base, ours = twins(script, lambda: tools(echo), **options)
    assert ours.picture() == base.picture()
    assert not ours.errors[0]


def full(result: Any) -> dict[str, Any]:
    """A full result without its times."""
    data = result.dict()
    data["timing"] = sorted(data["timing"])
    text = re.sub(r"'timing': \{[^}]*\}", "'timing': {}", str(data))
    return {"text": text, "state": result.state, "tokens": result.token_usage}


@pytest.mark.parametrize(
    ("constructor", "run"),
    [({"return_full_result": True}, {}), ({}, {"return_full_result": True})],
    ids=["flag", "run"],
)
@pytest.mark.parametrize("steps", [5, 1], ids=["answered", "out of steps"])
def test_full_results(constructor: Any, run: Any, steps: int, twins: Any) -> None:
    base, ours = twins([("ping", {}), end()], [ping], runs=[run], max_steps=steps, **constructor)
    assert full(ours.answer) == full(base.answer)
    assert ours.answer.state == ("success" if steps == 5 else "max_steps_error")


def test_run_takes_its_parameters_by_position(twins: Any) -> None:
    def positional(agent: Any) -> None:
        agent.given = agent.run("Task.", False, True, None, {"extra": 1}, 1, True)

    base, ours = twins([("ping", {}), "over", end()], [ping], prepare=positional)
    assert full(ours.agent.given) == full(base.agent.given)
    assert ours.agent.given.state == "max_steps_error"
    assert ours.agent.state["extra"] == 1


@pytest.mark.parametrize("form", ["list", "dict"])
def test_callbacks_are_called_alike(form: str, twins: Any) -> None:
    heard: dict[str, list[Any]] = {}

    def remember(step: Any, agent: Any) -> None:
        heard.setdefault(type(agent).__name__, []).append((type(step).__name__, getattr(step, "observations", None)))

    kinds = {ActionStep: [remember], PlanningStep: remember, FinalAnswerStep: remember}
    callbacks = [remember] if form == "list" else kinds
    twins(["plan", ("ping", {}), end()], [ping], planning_interval=5, step_callbacks=callbacks)
    assert len(heard) == 2
    first, second = heard.values()
    assert first == second
    assert [kind for kind, _ in first if kind != "FinalAnswerStep"] == (
        ["ActionStep"] * 2 if form == "list" else ["PlanningStep", "ActionStep", "ActionStep"]
    )


def test_an_interrupt_ends_the_run_before_the_next_step(twins: Any) -> None:
    def interrupt(step: Any, agent: Any) -> None:
        agent.interrupt()

    base, ours = twins([("ping", {}), end()], [ping], step_callbacks=[interrupt])
    assert ours.picture() == base.picture()
    assert "interrupted" in str(ours.error)
    assert len(ours.steps) == 1


def test_a_streamed_run_is_lazy(twins: Any) -> None:
    seen: list[Any] = []

    def take_two(agent: Any) -> None:
        events = agent.run("Task.", stream=True)
        before = len(agent.model.requests)
        kinds = [type(next(events)).__name__ for _ in range(2)]
        seen.append((before, kinds, len(agent.model.requests)))
        list(events)

    twins([("ping", {}), end(), end()], [ping], prepare=take_two)
    assert seen == [(0, ["ToolCall", "ToolOutput"], 1)] * 2


def test_a_tool_added_later_can_be_called(twins: Any, echo: Any) -> None:
    def add(agent: Any) -> None:
        agent.tools["late"] = echo("late")

    base, ours = twins([("late", {"text": 1}), end()], [], prepare=add)
    assert ours.picture() == base.picture()
    assert ours.agent.tools["late"].got == [1]


def test_step_and_process_tool_calls_work_on_their_own(twins: Any, echo: Any) -> None:
    made: dict[str, Any] = {}

    def use(agent: Any) -> None:
        from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction
        from smolagents.monitoring import Timing

        step = ActionStep(step_number=7, timing=Timing(0.0))
        last = agent.step(step)
        other = ActionStep(step_number=10, timing=Timing(0.0), observations="before")
        function = ChatMessageToolCallFunction(name="echo", arguments={"text": "b"})
        message = ChatMessage("assistant", "", [ChatMessageToolCall(function, "c", "function")])
        outputs = list(agent.process_tool_calls(message, other))
        empty = ActionStep(step_number=11, timing=Timing(0.0))
        nothing = list(agent.process_tool_calls(ChatMessage("assistant", "", []), empty))
        made[type(agent).__name__] = [step, last, other, outputs, empty, nothing]

    twins([("echo", {"text": "a"}), end()], lambda: [echo()], prepare=use)
    base, ours = made.values()
    assert ours == base
    assert ours[2].observations == "beforeb"
    assert ours[4].tool_calls == []


def test_replay_and_the_tree_look_alike(twins: Any, echo: Any) -> None:
    base, ours = twins([("echo", {"text": "a"}), end()], lambda: [echo()])
    for seen in (base, ours):
        seen.agent.replay()
        seen.agent.visualize()
    assert ours.log.replace("ToolCallingAgentWithConstraints", "ToolCallingAgent") == base.log
    assert "Replaying" in ours.log
    assert "echo" in ours.log.rpartition("ToolCallingAgent")[2]


@dataclass
class Bubble:
    """Stands for `gradio.ChatMessage`."""

    role: str
    content: Any
    metadata: Any = None


def test_the_page_of_gradio_looks_alike(twins: Any, echo: Any, monkeypatch: Any) -> None:
    gradio = ModuleType("gradio")
    gradio.__spec__ = ModuleSpec("gradio", None)
    gradio.ChatMessage = Bubble  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gradio", gradio)
    from smolagents.gradio_ui import stream_to_gradio

    pages: list[list[str]] = []

    def show(agent: Any) -> None:
        shown = [str(bubble) for bubble in stream_to_gradio(agent, "Do it.")]
        pages.append([re.sub(r"Duration: \S+s", "", text) for text in shown])

    script = [("echo", {"text": "a"}), [("echo", {"text": 1}), ("echo", {"text": 2})], ("nothing", {}), end()]
    twins([*script, end()], lambda: [echo()], prepare=show)
    assert pages[0] == pages[1]
    assert any("Used tool echo" in text for text in pages[0])
    assert any("Final answer" in text for text in pages[0])


def test_nothing_is_printed_or_logged_besides(twins: Any, capfd: Any, caplog: Any) -> None:
    caplog.set_level(0)
    twins([("ping", {}), end()], [ping])
    assert capfd.readouterr() == ("", "")
    assert not [record for record in caplog.records if record.name.startswith("agentltl")]
