"""Prompts whose messages are made once are those that smolagents makes."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import PIL.Image
import pytest
from smolagents import ToolCallingAgent, tool
from smolagents.memory import ActionStep, PlanningStep, TaskStep, ToolCall
from smolagents.models import ChatMessage, MessageRole
from smolagents.monitoring import Timing
from smolagents.utils import AgentError

from agentltl.agents.agent import Agent
from agentltl.agents.code import CodeAgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.remembering import number_of
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints


class Foreign(ScriptedModel):
    """A model of somebody else, which may change what it is given."""


Foreign.__module__ = "somebody.models"


@tool
def add(a: int, b: int) -> int:
    """Add.

    Args:
        a: One.
        b: The other.
    """
    return a + b


def step(number: int = 1, **fields: Any) -> ActionStep:
    return ActionStep(step_number=number, timing=Timing(0.0, 0.0), **fields)


def said(agent: Any) -> list[tuple[Any, Any]]:
    return [(message.role, copy.deepcopy(message.content)) for message in agent.write_memory_to_messages()]


def expected(agent: Any) -> list[tuple[Any, Any]]:
    return [(m.role, m.content) for m in ToolCallingAgent.write_memory_to_messages(agent)]


MODELS = [ScriptedModel, Foreign]
MAKES: list[Callable[[Any], Any]] = [
    lambda model: Agent([add], model).smolagent,
    lambda model: ToolCallingAgentWithConstraints([add], model),
    lambda model: CodeAgentWithConstraints([add], model),
]


KINDS = ["wrapper", "tools", "code"]
PAIRS = [(make, model) for make in MAKES for model in MODELS]


@pytest.fixture(params=PAIRS, ids=[f"{kind}-{model.__name__}" for kind in KINDS for model in MODELS])
def agent(request: pytest.FixtureRequest) -> Any:
    make, model = request.param
    made = make(model([]))
    made.memory.steps = [
        TaskStep("Add."),
        PlanningStep([], ChatMessage(MessageRole.ASSISTANT, "I add."), "I add.", Timing(0.0, 0.0)),
        step(1, model_output=" Hm. ", tool_calls=[ToolCall("add", {"a": 1, "b": [2]}, "c1")], observations="3"),
        step(2, observations="image", observations_images=[PIL.Image.new("RGB", (2, 2))]),
    ]
    return made


CHANGES: list[Callable[[Any], object]] = [
    lambda steps: setattr(steps[2], "observations", "4"),
    lambda steps: setattr(steps[2], "observations", None),
    lambda steps: setattr(steps[2], "model_output", "Ha."),
    lambda steps: setattr(steps[2], "error", AgentError("it broke", Agent([], ScriptedModel([])).smolagent.logger)),
    lambda steps: setattr(steps[2], "observations_images", [PIL.Image.new("RGB", (1, 1))]),
    lambda steps: setattr(steps[3], "observations_images", None),
    lambda steps: setattr(steps[2], "tool_calls", None),
    lambda steps: setattr(steps[2].tool_calls[0], "arguments", {"a": 5}),
    lambda steps: setattr(steps[2].tool_calls[0], "id", "c2"),
    lambda steps: steps[2].tool_calls[0].arguments.update(a="[trimmed]"),
    lambda steps: steps[2].tool_calls[0].arguments["b"].append(3),
    lambda steps: steps[2].tool_calls.append(ToolCall("add", {}, "c9")),
    lambda steps: steps.append(step(3, observations="more")),
    lambda steps: steps.pop(2),
    lambda steps: steps.insert(1, TaskStep("And more.")),
    lambda steps: steps.reverse(),
    lambda steps: steps.clear(),
    lambda steps: setattr(steps[0], "task", "Subtract."),
    lambda steps: setattr(steps[1], "plan", "I subtract."),
]


def test_the_messages_are_those_of_smolagents(agent: Any) -> None:
    for _ in range(3):
        assert said(agent) == expected(agent)
    assert [m.content for m in agent.write_memory_to_messages(True)] == [
        m.content for m in ToolCallingAgent.write_memory_to_messages(agent, True)
    ]


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_memory_gives_other_messages(agent: Any, change: Callable[[Any], object]) -> None:
    said(agent)
    change(agent.memory.steps)
    assert said(agent) == expected(agent)
    agent.memory.system_prompt.system_prompt = "Be bad."
    assert said(agent) == expected(agent)


@pytest.mark.parametrize(
    "change",
    [
        lambda message: message.content[0].update(cache_control={"type": "ephemeral"}),
        lambda message: message.content[0].update(text="changed"),
        lambda message: message.content[0].pop("text", None),
        lambda message: message.content.append({"type": "text", "text": "more"}),
        lambda message: message.content.clear(),
        lambda message: setattr(message, "content", "changed"),
        lambda message: setattr(message, "role", MessageRole.SYSTEM),
    ],
)
def test_who_changes_a_message_changes_no_later_prompt(agent: Any, change: Callable[[Any], object]) -> None:
    for message in agent.write_memory_to_messages():
        change(message)
    assert said(agent) == expected(agent)


def test_a_step_of_another_class_is_asked_each_time(agent: Any) -> None:
    class Counting(TaskStep):
        def to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
            self.task += "!"
            return super().to_messages(summary_mode)

    agent.memory.steps = [Counting("Go")]
    assert [str(agent.write_memory_to_messages()[-1].content)[-6:] for _ in range(2)] == ["Go!'}]", "o!!'}]"]


def test_messages_with_one_number_say_the_same(agent: Any) -> None:
    first, second = (agent.write_memory_to_messages() for _ in range(2))
    numbers = [number_of(message) for message in first]
    assert numbers == [number_of(message) for message in second]
    known = [number for number in numbers if number is not None]
    assert len(set(known)) == len(known) >= 5


def test_a_model_of_somebody_else_gets_messages_of_its_own() -> None:
    for model, shares in ((ScriptedModel([]), True), (Foreign([]), False)):
        one = Agent([add], model).smolagent
        one.memory.steps = [TaskStep("Add.")]
        first, second = (one.write_memory_to_messages() for _ in range(2))
        assert (first[-1] is second[-1]) is shares


def test_copies_have_memories_of_their_own() -> None:
    agent = ToolCallingAgentWithConstraints([add], ScriptedModel([]))
    agent.memory.steps = [TaskStep("Add.")]
    said(agent)
    twin = copy.deepcopy(agent)
    twin.memory.steps[0].task = "Subtract."
    assert said(twin) == expected(twin) != said(agent) == expected(agent)
    state: Any = agent.__getstate__()
    assert "_known" not in state
    assert "memory" in state
    assert pickle.loads(pickle.dumps(agent.memory.steps[0])).task == "Add."


@pytest.mark.parametrize("model", MODELS)
def test_a_run_sends_what_the_base_sends(model: Any) -> None:
    def run(make: Callable[[Any], Any]) -> list[Any]:
        scripted = model([("add", {"a": n, "b": 2}) for n in range(6)] + [("final_answer", {"answer": "x"})])
        make(scripted).run("Add.")
        return [[(m.role, m.content) for m in request.messages] for request in scripted.requests]

    base = run(lambda scripted: ToolCallingAgent([add], scripted, verbosity_level=-1))
    assert run(lambda scripted: Agent([add], scripted)) == base
    rules = [{"name": "few", "rule": "at_most(add, 9)"}]
    assert (
        run(lambda scripted: ToolCallingAgentWithConstraints([add], scripted, constraints=rules, verbosity_level=-1))
        == base
    )
