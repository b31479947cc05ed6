"""What a run used up: usage sums the attempts, the metrics sum the steps, and the difference is in `attempts`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smolagents import ToolCallingAgent, tool

from agentltl.agents.agent import Agent
from agentltl.agents.models.scripted import Reply, ScriptedModel
from agentltl.record.result import Result
from agentltl.record.usage import TOKENS


@tool
def ping(n: int) -> int:
    """Give a number back.

    Args:
        n: The number.
    """
    return n


COUNTS = st.integers(0, 1000)
KINDS = st.sampled_from(["call", "calls", "text", "wrong", "answer", "member"])


@st.composite
def scripts(draw: st.DrawFn) -> list[Any]:
    """Replies of every kind, a failing call of the model among them now and then."""
    written: list[Any] = []
    for kind in draw(st.lists(KINDS, min_size=1, max_size=8)):
        said: dict[str, Any] = {
            "call": {"calls": [("ping", {"n": 1})]},
            "calls": {"calls": [("ping", {"n": 1}), ("ping", {"n": 2})]},
            "text": {"text": "I wonder."},
            "wrong": {"calls": [("ping", {"m": 1})]},
            "member": {"calls": [("helper", {"task": "Help."})]},
            "answer": {"calls": [("final_answer", {"answer": "done"})]},
        }[kind]
        known = draw(st.booleans())
        counts: dict[str, Any] = {name: draw(COUNTS) if known else None for name in ("input_tokens", "output_tokens")}
        more: dict[str, Any] = {
            name: draw(st.none() | COUNTS) for name in ("thinking_tokens", "cached_tokens", "cache_creation_tokens")
        }
        written.append(Reply(**said, **counts, **more))
    if draw(st.booleans()):
        written.append(TimeoutError("too slow"))
    return [*written, *[Reply([("final_answer", {"answer": "done"})])] * 12]


def run(script: list[Any], *, streaming: bool, planning: int | None, max_steps: int) -> Result:
    model = ScriptedModel(script, streaming=streaming)
    agent = Agent([ping], model, max_steps=max_steps, retries=0)
    helper = ToolCallingAgent([], agent.smolagent.model, name="helper", description="Helps.", verbosity_level=-1)
    agent.smolagent._setup_managed_agents([helper])  # type: ignore[no-untyped-call]
    agent.smolagent.planning_interval = planning
    if not streaming:
        return agent.run("Ping.")
    (*_, last) = agent.stream("Ping.")
    result: Result = last.data["result"]
    return result


@settings(max_examples=60, deadline=None)
@given(scripts(), st.sampled_from([None, 2]), st.integers(1, 5), st.booleans())
def test_the_sums_agree_to_the_last_digit(
    script: list[Any], planning: int | None, max_steps: int, streaming: bool
) -> None:
    result = run(script, streaming=streaming, planning=planning, max_steps=max_steps)
    assert result.usage.model_calls == result.attempts_count
    for name in TOKENS:
        assert getattr(result.usage, name) == sum(a[name] or 0 for a in result.attempts)
    steps = [a for a in result.attempts if a["kind"] in ("step", "final") and a["status"] == "success"]
    rest = [a for a in result.attempts if a not in steps]
    for name in ("input_tokens", "output_tokens"):
        of_steps = sum(a[name] or 0 for a in steps)
        assert result["metrics"][name] == of_steps
        assert getattr(result.usage, name) - of_steps == sum(a[name] or 0 for a in rest)
    assert {a["kind"] for a in rest if a["status"] == "success"} <= {"planning", "member"}


@settings(max_examples=40, deadline=None)
@given(scripts(), st.sampled_from([None, 2]), st.integers(1, 5))
def test_streaming_and_not_streaming_agree(script: list[Any], planning: int | None, max_steps: int) -> None:
    one, other = (run(script, streaming=s, planning=planning, max_steps=max_steps) for s in (False, True))
    assert one.usage == other.usage
    assert [tuple(a[k] for k in ("kind", "status", *TOKENS)) for a in one.attempts] == [
        tuple(a[k] for k in ("kind", "status", *TOKENS)) for a in other.attempts
    ]
    assert [s["input_tokens"] for s in one["metrics"]["steps"]] == [
        s["input_tokens"] for s in other["metrics"]["steps"]
    ]
    assert (one["answer"], one.ending) == (other["answer"], other.ending)


@pytest.mark.parametrize("streaming", [False, True])
def test_what_a_failed_call_used_up_counts(streaming: bool) -> None:
    result = run([("ping", {"n": 1}), TimeoutError("too slow")], streaming=streaming, planning=None, max_steps=3)
    assert [a["status"] for a in result.attempts] == ["success", "error"]
    assert json.dumps(result.to_dict())
