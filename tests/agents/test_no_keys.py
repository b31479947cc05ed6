"""No key is found in anything that a failing run leaves behind, whoever has sent it back."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
import smolagents
from smolagents.models import ChatMessage, Model

from agentltl.agents.agent import Agent
from agentltl.agents.code import CodeAgentWithConstraints
from agentltl.agents.models.build import build
from agentltl.agents.models.fallback import Fallback
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.redaction import secrets_of
from agentltl.agents.models.retry import Retry
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.record.events import Event
from tests.agents.misbehaving import Fault, Provider, Says, serving

load_litellm()

FIRST, SECOND, THIRD = "sk-planted-in-the-agent", "sk-planted-in-a-fallback", "sk-planted-in-the-environment"
KEYS = (FIRST, SECOND, THIRD)


def echo(status: int, keys: tuple[str, ...] = KEYS) -> Fault:
    """The provider sends back every key that it can think of, in the error's text, its parts and a header."""
    said = " and ".join(keys)
    error = {"message": f"wrong key: {said}", "type": "auth", "param": {"keys": [*keys]}, "code": said}
    return Fault(status, {"error": error}, {"x-echo": said, "retry-after": "0"})


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("SOME_API_KEY", THIRD)
    with serving() as server:
        yield server


def leaks(*texts: object) -> list[str]:
    """The keys in these texts, with what is around them."""
    found = []
    for text in map(str, texts):
        found += [text[max(0, text.index(key) - 80) :][:200] for key in KEYS if key in text]
    return found


def said_by(error: BaseException | None) -> Iterator[str]:
    """All that an error says, and what led to it."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield from (str(one), repr(one), str(one.args), repr(vars(one)), "".join(traceback.format_exception(one)))
        response = getattr(one, "response", None)
        if response is not None:
            yield from (str(dict(response.headers)), response.text, str(dict(response.request.headers)))
        waiting += [one.__cause__, one.__context__]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_failing_run(
    provider: Provider,
    status: int,
    stream: bool,
    waits: list[float],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    provider.will = [Says((("nothing", {}),)), *[echo(status)] * 9]
    events: list[Event] = []
    other = build("openai/gpt-4o-mini", api_base=provider.url, api_key=SECOND)
    agent = Agent(
        [], "openai/gpt-4o", api_key=FIRST, api_base=provider.url, fallback_models=[other], retries=1,
        sinks=[events.append],
    )  # fmt: skip
    loggers = ["agentltl", "LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore", "smolagents"]
    for name in loggers:
        caplog.set_level(logging.DEBUG, name)
    if stream:
        for _ in agent.stream("Go."):
            pass
    else:
        agent.run("Go.")
    result = agent.last_result
    assert result is not None
    assert not result.success
    assert [event.kind for event in events].count("model_fallback") == 1
    sent = {headers["authorization"] for headers in provider.headers}
    assert sent == {f"Bearer {FIRST}", f"Bearer {SECOND}"}  # the keys were there to be found
    assert "[hidden]" in str(result["error"])

    wrapped: Any = agent.smolagent.model
    assert not leaks(repr(result), str(result), json.dumps(result.to_dict()), result._repr_html_())
    assert not leaks(*(repr(event) for event in events))
    assert not leaks(*(repr(step) for step in agent.smolagent.memory.steps))
    assert not leaks(repr(agent), repr(agent.model), repr(wrapped.model), repr(other))
    assert not leaks(json.dumps(wrapped.model.to_dict()), json.dumps(agent.model.to_dict()))
    assert wrapped.error is not None
    assert not leaks(*said_by(wrapped.error))
    for step in agent.smolagent.memory.steps:
        assert not leaks(*said_by(getattr(step, "error", None)))
    assert not leaks(*capfd.readouterr())
    records = [record for record in caplog.records if record.name.split(".")[0] in {*loggers}]
    assert {"agentltl", "LiteLLM"} <= {record.name for record in records}
    assert not leaks(*(logging.Formatter("%(message)s").format(record) for record in records))


class Foreign(Model):
    """A model that is not ours, with a key in its settings and an error that says it."""

    def __init__(self) -> None:
        super().__init__(model_id="foreign", extra_headers={"x-token": SECOND})
        self.client_kwargs = {"api_key": FIRST, "default_headers": {"x-other": THIRD}}
        self.short = {"api_key": "short"}

    def generate(self, *_: Any, **__: Any) -> ChatMessage:
        try:
            raise ValueError(f"{FIRST} is wrong")
        except ValueError as error:
            raise RuntimeError(f"{SECOND}, {THIRD}") from error


def test_the_keys_of_a_model_that_is_not_ours() -> None:
    assert sorted(secrets_of(Foreign())) == sorted(KEYS)
    agent = Agent([], Foreign())
    result = agent.run("Go.")
    assert result.attempts[0]["error"] == "[hidden], [hidden]"
    assert not leaks(json.dumps(result.to_dict()), *said_by(agent._model.error))


@pytest.mark.parametrize("make", [smolagents.OpenAIModel, smolagents.LiteLLMModel])
def test_the_keys_of_smolagents_models(make: Any, provider: Provider) -> None:
    load_litellm()
    provider.will = [echo(401, (FIRST, THIRD))]
    model = make("openai/gpt-4o", api_base=provider.url, api_key=FIRST)
    agent = Agent([], model_instance=Retry(model))
    result = agent.run("Go.")
    assert result.attempts_count == 1
    assert provider.headers[0]["authorization"] == f"Bearer {FIRST}"
    assert not leaks(json.dumps(result.to_dict()), *said_by(agent._model.error))


def test_a_fallback_of_another_provider_does_not_get_the_key(provider: Provider, waits: list[float]) -> None:
    provider.will = [Fault(503, {"error": {"message": "busy"}})]
    agent = Agent(
        [], "openai/gpt-4o", api_key=FIRST, api_base=provider.url,
        fallback_models=["openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5"],
    )  # fmt: skip
    first, same, foreign = (chain.model.model for chain in agent._asked.models)  # type: ignore[attr-defined]
    assert (first._api_key, same._api_key, foreign._api_key) == (FIRST, FIRST, None)
    assert (same.api_base, foreign.api_base) == (provider.url, None)


@pytest.mark.parametrize("make", [ToolCallingAgentWithConstraints, CodeAgentWithConstraints])
def test_what_is_saved_of_a_model(make: Any) -> None:
    def model() -> Any:
        headers = {"extra_headers": {"Authorization": f"Bearer {SECOND}"}, "default_headers": {"x-key": THIRD}}
        nested = {"client_kwargs": {"api_key": FIRST, "region": "here"}, "options": [{"token": FIRST}]}
        return smolagents.LiteLLMModel("openai/m", api_key=FIRST, temperature=0.5, **headers, **nested)

    member = smolagents.ToolCallingAgent([], model(), name="member", description="Helps.")
    guarded = make([], model(), constraints=[], managed_agents=[member])
    saved = guarded.to_dict()
    assert not leaks(saved)
    assert saved["model"]["data"]["client_kwargs"] == {"region": "here"}
    assert saved["managed_agents"][0]["model"]["data"]["temperature"] == 0.5
    for wrapped in (Retry(model()), Fallback([model(), model()])):
        assert not leaks(wrapped.to_dict(), Agent([], wrapped).smolagent.to_dict())
    assert not leaks(Agent([], model()).smolagent.to_dict())
