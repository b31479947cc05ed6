"""The model calls of managed agents are recorded, whatever model they have."""

from typing import Any

import pytest
from smolagents import CodeAgent, ToolCallingAgent
from smolagents.models import Model

from agentltl.agents.agent import Agent
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.models.retry import Retry
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.agents.watched_model import WatchedModel
from tests.agents.test_limits import ANSWER, PING, ping

RULES = [{"name": "few", "rule": "at_most(ping, 9)"}]


def model(name: str, *replies: Any) -> ScriptedModel:
    return ScriptedModel(replies, model_id=name)


def manages(agent: Any, *members: Any) -> None:
    """Make these the agents that it manages, as smolagents does it."""
    agent.managed_agents = {member.name: member for member in members}
    for member in members:
        member.inputs = {
            "task": {"type": "string", "description": "The task."},
            "additional_args": {"type": "object", "description": "More.", "nullable": True},
        }
        member.output_type = "string"


def member(name: str, its_model: Model, kind: Any = ToolCallingAgent, **settings: Any) -> Any:
    return kind([ping], its_model, name=name, description="Helps.", verbosity_level=0, **settings)


def told(result: Any) -> list[tuple[str, int, str]]:
    return [(attempt["kind"], attempt["step"], attempt["model"]) for attempt in result.attempts]


@pytest.mark.parametrize("agent_class", [Agent, AgentWithConstraints])
@pytest.mark.parametrize("kind", [ToolCallingAgent, ToolCallingAgentWithConstraints])
def test_a_member_with_a_model_of_its_own(agent_class: Any, kind: Any) -> None:
    helper = member("helper", model("small", PING, ANSWER), kind)
    own = helper.model
    agent = agent_class(
        [],
        model("large", ("helper", {"task": "Ping."}), ANSWER),
        **({"constraints": RULES} if agent_class is not Agent else {}),
    )
    manages(agent.smolagent, helper)
    result = agent.run("Go.")
    assert result.success
    assert told(result) == [("step", 1, "large"), ("member", 1, "small"), ("member", 1, "small"), ("step", 2, "large")]
    assert (result.usage.model_calls, result.usage.total_tokens) == (4, 60)
    assert (result["metrics"]["total_tokens"], result.used_fallback) == (30, False)
    assert helper.model is own


def test_members_of_members_and_code_agents() -> None:
    code = "```python\nfinal_answer(ping(n=1))\n```"
    bottom = member(
        "bottom",
        model("bottom", f"Thought: so.\n{code.replace('```python', '<code>').replace('```', '</code>')}"),
        CodeAgent,
    )
    middle = member("middle", model("middle", ("bottom", {"task": "Ping."}), ANSWER))
    manages(middle, bottom)
    agent = Agent([], model("top", ("middle", {"task": "Go."}), ANSWER))
    manages(agent.smolagent, middle)
    result = agent.run("Go.")
    assert [name for _, _, name in told(result)] == ["top", "middle", "bottom", "middle", "top"]
    assert [kind for kind, _, _ in told(result)] == ["step", "member", "member", "member", "step"]


def test_a_member_with_the_agents_model_is_told_once() -> None:
    agent = Agent([], model("one", ("helper", {"task": "Ping."}), PING, ANSWER, ANSWER))
    manages(agent.smolagent, member("helper", agent.smolagent.model))
    assert [kind for kind, _, _ in told(agent.run("Go."))] == ["step", "member", "member", "step"]


def test_retries_and_failures_of_a_member(waits: list[float]) -> None:
    helper = member("helper", Retry(model("small", TimeoutError(), PING, ValueError("broken"))))
    agent = Agent([], model("large", ("helper", {"task": "Ping."}), ANSWER))
    manages(agent.smolagent, helper)
    result = agent.run("Go.")
    assert [(a["model"], a["error_class"]) for a in result.attempts] == [
        ("large", None),
        ("small", "TimeoutError"),
        ("small", None),
        ("small", "ValueError"),
        ("large", None),
    ]
    assert result.success


def test_after_the_run_the_members_have_their_models() -> None:
    broken, watched = member("broken", model("small")), member("watched", model("small", ANSWER))
    watched.model = inner = WatchedModel(watched.model)
    agent = Agent([], model("large", ("broken", {"task": "Ping."}), ("watched", {"task": "Ping."}), ANSWER))
    manages(agent.smolagent, broken, watched)
    own = broken.model
    result = agent.run("Go.")
    assert [kind for kind, _, _ in told(result)] == ["step", "member", "step", "member", "step"]
    assert broken.model is own
    assert (watched.model, inner.told, inner.spending) == (inner, None, None)


def test_a_model_that_a_member_gets_in_the_middle_stays() -> None:
    helper = member("helper", model("small", ANSWER))
    other = model("other", ANSWER)

    def change(*_: Any) -> Any:
        helper.model = other
        return ("helper", {"task": "Ping."})

    agent = Agent([], model("large", change, ANSWER))
    manages(agent.smolagent, helper)
    assert agent.run("Go.").success
    assert helper.model is other
