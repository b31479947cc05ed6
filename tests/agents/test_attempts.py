"""Every model call of a run is told, whatever it was for and whatever came of it."""

import json
from typing import Any

import pytest
from smolagents import ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageStreamDelta, MessageRole, Model
from smolagents.monitoring import TokenUsage

from agentltl.agents.agent import Agent
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.models.scripted import Reply, ScriptedModel
from agentltl.agents.watched_model import WatchedModel
from agentltl.record.events import Event
from agentltl.record.result import Result
from agentltl.record.usage import Usage


@tool
def ping(n: int) -> int:
    """Give a number back.

    Args:
        n: The number.
    """
    return n


ANSWER = ("final_answer", {"answer": "done"})


def run(*replies: Any, streaming: bool = False, max_steps: int = 10, retries: int = 0, **smolagent: Any) -> Result:
    events: list[Event] = []
    model = ScriptedModel(replies, streaming=streaming)
    agent = Agent([ping], model, max_steps=max_steps, retries=retries, sinks=[events.append])
    for name, value in smolagent.items():
        setattr(agent.smolagent, name, value)
    result = agent.run("Ping.")
    assert [dict(e.data) for e in events if e.kind == "model_attempt"] == result.attempts
    assert result.attempts_count == len(model.requests)
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()
    return result


def told(result: Result, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(attempt[name] for name in names) for attempt in result.attempts]


def test_each_step_is_an_attempt() -> None:
    result = run(Reply([("ping", {"n": 1})], cached_tokens=4, cache_creation_tokens=2, thinking_tokens=3), ANSWER)
    assert told(result, "kind", "step", "model", "status") == [
        ("step", 1, "scripted", "success"),
        ("step", 2, "scripted", "success"),
    ]
    assert (
        told(result, "finish_reason", "streaming", "time_to_first_token_ms", "error")
        == [("tool_calls", False, None, None)] * 2
    )
    assert all(attempt["duration_ms"] >= 0 for attempt in result.attempts)
    assert result.usage == Usage(20, 10, cached_tokens=4, cache_creation_tokens=2, thinking_tokens=3, model_calls=2)
    assert (result.model_id, result.chosen_model_id, result.used_fallback) == ("scripted", "scripted", False)
    assert (result.finish_reason, result.truncated, result.total_cost) == ("tool_calls", False, None)
    assert result.compliance is None


def test_a_failed_call_is_an_attempt_with_its_error() -> None:
    result = run(("ping", {"n": 1}), TimeoutError("too slow"))
    assert told(result, "status", "error", "error_class", "input_tokens") == [
        ("success", None, None, 10),
        ("error", "too slow", "TimeoutError", None),
    ]
    assert result.usage == Usage(10, 5, model_calls=2, failed_calls=1)
    assert (result.finish_reason, result.chosen_model_id) == (None, "scripted")


def test_an_interrupted_call_is_an_attempt_too() -> None:
    agent = Agent([ping], ScriptedModel([KeyboardInterrupt()]))
    with pytest.raises(KeyboardInterrupt):
        agent.run("Ping.")
    assert agent.last_result is not None
    assert told(agent.last_result, "status", "error") == [("error", "KeyboardInterrupt")]


def test_the_call_for_an_answer_when_no_step_is_left() -> None:
    result = run(("ping", {"n": 1}), Reply(text="One.", finish_reason="length"), max_steps=1)
    assert told(result, "kind", "step") == [("step", 1), ("final", 2)]
    assert (result.finish_reason, result.truncated) == ("length", True)


@pytest.mark.parametrize("streaming", [False, True])
def test_plans_are_in_the_usage_and_not_in_the_metrics(streaming: bool) -> None:
    replies = [Reply(text="I plan.", input_tokens=7, output_tokens=3), ("ping", {"n": 1}), "I plan again.", ANSWER]
    result = run(*replies, streaming=streaming, planning_interval=1, stream_outputs=streaming)
    assert [kind for (kind,) in told(result, "kind")] == ["planning", "step", "planning", "step"]
    assert told(result, "streaming") == [(streaming,)] * 4
    assert (result.input_tokens, result["metrics"]["input_tokens"]) == (37, 20)


def test_a_managed_agent_with_the_same_model() -> None:
    events: list[Event] = []
    model = ScriptedModel([("helper", {"task": "Ping."}), ("ping", {"n": 1}), ANSWER, ANSWER])
    agent = Agent([], model, sinks=[events.append])
    helper = ToolCallingAgent([ping], agent.smolagent.model, name="helper", description="Helps.", verbosity_level=0)
    agent.smolagent.managed_agents = {"helper": helper}
    helper.inputs = {"task": {"type": "string", "description": "The task."}}
    helper.output_type = "string"
    result = agent.run("Go.")
    assert told(result, "kind", "step") == [("step", 1), ("member", 1), ("member", 1), ("step", 2)]
    assert result.usage.model_calls == 4
    assert result.success


def test_a_streamed_run_reports_what_a_whole_one_does() -> None:
    replies = [Reply([("ping", {"n": 1})], thinking="One.", thinking_signature="sig", thinking_tokens=2), ANSWER]
    whole, streamed = run(*replies), run(*replies, streaming=True, stream_outputs=True)
    assert (whole.streaming, streamed.streaming) == (False, True)
    assert whole.time_to_first_token_ms is None
    assert streamed.time_to_first_token_ms is not None
    assert streamed.time_to_first_token_ms <= streamed.attempts[0]["duration_ms"]
    assert streamed.usage == whole.usage
    for name in ("thinking_text", "thinking_signature", "thinking_tokens", "has_thinking", "finish_reason"):
        assert getattr(streamed, name) == getattr(whole, name)
    assert (whole.thinking_text, whole.thinking_signature, whole.thinking_tokens) == ("One.", "sig", 2)


class Foreign(Model):
    """A model that is not ours: no report, token counts on deltas, and a stream that can break."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__(model_id=7)
        self.error = error

    def generate(self, messages: Any, **_: Any) -> ChatMessage:
        return ChatMessage(MessageRole.ASSISTANT, "<think>Hm.</think>One.", token_usage=TokenUsage(3, 4))

    def generate_stream(self, messages: Any, **_: Any) -> Any:
        yield ChatMessageStreamDelta(content="<think>Hm.</think>", token_usage=TokenUsage(3, 0))
        if self.error is not None:
            raise self.error
        yield ChatMessageStreamDelta(content="One.", token_usage=TokenUsage(0, 4))


def test_a_foreign_model_tells_what_it_shows() -> None:
    model, attempts = WatchedModel(Foreign()), []  # type: ignore[var-annotated]
    model.told = attempts.append
    model.generate([])
    list(model.generate_stream([]))
    for attempt in attempts:
        assert (attempt.model, attempt.input_tokens, attempt.output_tokens) == (None, 3, 4)
        assert (attempt.thinking, attempt.finish_reason, attempt.status) == ("Hm.", None, "success")


def test_a_stream_that_breaks_is_an_error_with_what_it_has_told() -> None:
    model, attempts = WatchedModel(Foreign(ConnectionError("gone"))), []  # type: ignore[var-annotated]
    model.told = attempts.append
    with pytest.raises(ConnectionError):
        list(model.generate_stream([]))
    (attempt,) = attempts
    assert (attempt.status, attempt.error, attempt.input_tokens, attempt.thinking) == ("error", "gone", 3, "Hm.")
    assert model.error is not None


def test_a_stream_that_nobody_reads_to_its_end_is_told_once() -> None:
    model, attempts = WatchedModel(Foreign()), []  # type: ignore[var-annotated]
    model.told = attempts.append
    stream = model.generate_stream([])
    next(stream)
    stream.close()
    assert [(attempt.status, attempt.error_class) for attempt in attempts] == [("error", "GeneratorExit")]
    assert model.error is None


def test_after_a_run_nobody_is_told() -> None:
    agent = Agent([ping], ScriptedModel([ANSWER, "later"]))
    result = agent.run("Go.")
    agent.smolagent.model.generate([])
    assert result.attempts_count == 1
    assert agent.smolagent.model.told is None


ONCE = {"name": "once", "rule": "at_most_once(ping)"}
CALLS = [("ping", {"n": 1}), ("ping", {"n": 2}), ANSWER]


@pytest.mark.parametrize(
    ("constraints", "settings", "score"),
    [
        ([ONCE], {"default_severity": "SOFT_BLOCK"}, 1.0),
        ([ONCE], {}, 1.0),
        ([ONCE], {"enforce": False}, 0.0),
        ([ONCE, {"name": "never", "rule": "never(pong)"}], {"enforce": False}, 0.5),
        ([], {}, None),
    ],
)
def test_the_compliance_is_that_of_the_calls_that_ran(constraints: Any, settings: Any, score: Any) -> None:
    result = AgentWithConstraints([ping], ScriptedModel(CALLS), constraints=constraints, **settings).run("Ping.")
    assert result.compliance == score
    assert result.to_dict()["compliance"] == score
