"""A dry run says what would be called, and calls nothing."""

import json
from typing import Any

from pydantic import BaseModel

from agentltl.agents.agent import Agent
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel
from tests.agents.test_earlier import RULES, change, read


class City(BaseModel):
    name: str


def test_it_has_the_documented_keys() -> None:
    seen: list[Any] = []
    model = ScriptedModel([])
    agent = AgentWithConstraints(
        [read, change], model, constraints=RULES, name="desk", instructions="Be brief, Hortensia.", sinks=[seen.append]
    )
    made = agent.run("Change W1.", dry_run=True)
    assert type(made) is dict
    assert list(made) == [
        "dry_run", "agent", "model", "temperature", "system_prompt", "user_prompt", "schema", "tools", "constraints",
    ]  # fmt: skip
    assert (made["dry_run"], made["agent"], made["model"], made["temperature"]) == (True, "desk", "scripted", None)
    assert (made["user_prompt"], made["schema"]) == ("Change W1.", None)
    assert "Be brief, Hortensia." in made["system_prompt"]
    assert [tool["name"] for tool in made["tools"]] == ["read", "change", "final_answer"]
    assert made["tools"][0]["parameters"]["required"] == ["order"]
    (rule,) = made["constraints"]
    assert (rule["name"], rule["severity"]) == ("read-first", "SOFT_BLOCK")
    assert json.loads(json.dumps(made)) == made
    assert (model.requests, seen, agent.last_result) == ([], [], None)


def test_it_has_the_schema_of_the_output() -> None:
    made = Agent([], ScriptedModel([]), output_type=City).run("Go.", dry_run=True)
    assert (made["schema"]["type"], made["schema"]["required"]) == ("object", ["name"])
    assert (made["agent"], made["constraints"]) == ("Agent", [])


def test_what_it_says_is_what_a_run_sends() -> None:
    model = ScriptedModel([("final_answer", {"answer": "x"})])
    agent = Agent([read], model)
    made = agent.run("Go.", dry_run=True)
    agent.run("Go.")
    request = model.requests[0]
    assert str(request.messages[0].content[0]["text"]) == made["system_prompt"]  # type: ignore[index]
    assert request.tool_names == [tool["name"] for tool in made["tools"]]
