"""The page of results has the keys that a run really gives, and no others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from smolagents import tool

from agentltl import AgentWithConstraints, AgentWithSubAgents, verify_trace
from agentltl.agents.models.scripted import ScriptedModel

PAGE = (Path(__file__).parent.parent.parent / "docs" / "reference" / "results.md").read_text(encoding="utf-8")
RULES = [{"name": "once", "rule": "at_most_once(ping)"}, {"name": "never", "rule": "never(pong)"}]


@tool
def ping(n: int) -> int:
    """Give a number back.

    Args:
        n: The number.
    """
    return n


@pytest.fixture(scope="module")
def run() -> tuple[dict[str, Any], dict[str, Any]]:
    """The result of a run with several calls in one message that a constraint stops, and the agent's status."""
    model = ScriptedModel([("ping", {"n": 1}), [("ping", {"n": 2}), ("ping", {"n": 3})]])
    agent = AgentWithConstraints([ping], model, constraints=RULES)
    return agent.run("Ping twice."), agent.smolagent.get_constraint_status()


def documented(title: str) -> set[str]:
    """The keys of the table below a heading."""
    section = PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


def test_the_attributes_of_a_result_and_its_plain_form(run: tuple[Any, dict[str, Any]]) -> None:
    result, _ = run
    assert documented("`to_dict`") == result.to_dict().keys()
    assert documented("An entry of `attempts`") == result.attempts[0].keys()
    assert documented("`Usage`") == result.usage.to_dict().keys()
    assert all(hasattr(result, name) for name in documented("`to_dict`") - result.keys())


def test_the_keys_are_those_of_a_run(run: tuple[dict[str, Any], dict[str, Any]]) -> None:
    result, status = run
    metrics, report = result["metrics"], verify_trace(result["metrics"], RULES)
    assert metrics["run_status"] == "stopped"
    assert documented("`Agent.run`") == result.keys()
    assert documented("`metrics`") | documented("`metrics` under constraints") == metrics.keys()
    assert documented("An entry of `tool_calls`") == metrics["tool_calls"][0].keys()
    assert documented("An entry of `steps`") == metrics["steps"][0].keys() | metrics["steps"][1].keys()
    assert documented("`model_input_parsed`") == metrics["steps"][0]["model_input_parsed"].keys()
    assert documented("A violation") == metrics["constraint_violations"][0].keys()
    assert documented("An entry of `completed_trace`") == metrics["completed_trace"][0].keys()
    assert documented("`get_constraint_status`") == status.keys()
    assert documented("`blocked_tool_call`") == status["blocked_tool_call"].keys()
    assert documented("`verify_trace`") == report.keys()
    assert documented("A record of `verify_trace`") == report["constraints"][0].keys()


def test_the_keys_of_a_fan_out() -> None:
    model = ScriptedModel([("ping", {"n": 1}), ("final_answer", {"answer": "done"})])
    agent = AgentWithSubAgents([ping], model, constraints=RULES)
    result = agent.run_per_requirement(["Ping."], [["once"]], "{tasks}")
    metrics = result["metrics"]
    assert documented("`AgentWithSubAgents.run_per_requirement`") == result.keys()
    assert documented("An entry of `sub_results`") == result["sub_results"][0].keys()
    assert documented("`metrics` of all sub-agents") == metrics.keys()
    assert documented("An entry of `per_requirement_metrics`") == metrics["per_requirement_metrics"][0].keys()
    assert documented("An entry of `all_tool_calls`") == metrics["all_tool_calls"][0].keys()
