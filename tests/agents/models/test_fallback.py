"""`Fallback`: which model is asked next, when, and what is told of it."""

import copy
import pickle
from typing import Any

import pytest
from smolagents import ToolCallingAgent

from agentltl.agents.models.breaker import Breaker
from agentltl.agents.models.errors import CircuitOpenError
from agentltl.agents.models.fallback import Fallback
from agentltl.agents.models.litellm_model import LiteLLMModelWithReport
from agentltl.agents.models.retry import Retry
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.models.timeout import Timeout
from agentltl.errors import ConstraintError, RunLimitError
from agentltl.record.attempt import ModelFallback
from tests.agents.models.calling import ASK, Broken, Heard, StatusError


def model(name: str, *replies: Any, streaming: bool = False) -> ScriptedModel:
    """A model of this name, whose replies do not say who gave them."""
    return ScriptedModel(replies, model_id=name, streaming=streaming)


@pytest.mark.parametrize("error", [StatusError(503), StatusError(401), StatusError(400), ValueError("any")], ids=str)
def test_the_next_model_is_asked_after_any_error(error: Exception) -> None:
    heard = Heard(Fallback([model("a", error), model("b", "hi")]))
    assert heard.ask() == "hi"
    assert heard.told() == [f"a {type(error).__name__}", "a -> b", "b ok"]
    told = heard[1]
    assert isinstance(told, ModelFallback)
    assert (told.error, told.error_class) == (str(error), type(error).__name__)


def test_each_call_begins_with_the_first() -> None:
    heard = Heard(Fallback([model("a", StatusError(503), "two"), model("b", "one")]))
    assert [heard.ask(), heard.ask()] == ["one", "two"]


def test_the_error_of_the_last_one_is_raised() -> None:
    heard = Heard(Fallback([model("a", StatusError(503)), model("b", StatusError(502))]))
    with pytest.raises(StatusError, match="502"):
        heard.ask()
    assert heard.told() == ["a StatusError", "a -> b", "b StatusError"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RunLimitError("used up", "max_cost_usd")])
def test_some_errors_are_no_reason_to_ask_another_model(error: BaseException) -> None:
    other = model("b", "hi")
    with pytest.raises(type(error)):
        Heard(Fallback([model("a", error), other])).ask()
    assert not other.requests


def test_around_retries_and_inside_of_them(waits: list[float]) -> None:
    down = StatusError(503)
    inside = Heard(Fallback([Retry(model("a", down, down), 1), Retry(model("b", down, "hi"), 1)]))
    assert inside.ask() == "hi"
    assert inside.told() == ["a StatusError", "a StatusError", "a -> b", "b StatusError", "b ok"]
    around = Heard(Retry(Fallback([model("a", down, "hi"), model("b", down)]), 1))
    assert around.ask() == "hi"
    assert around.told() == ["a StatusError", "a -> b", "b StatusError", "a ok"]


def test_a_stream_that_has_not_begun_falls_back() -> None:
    heard = Heard(Fallback([Broken(StatusError(503), pieces=0), model("b", "hello you", streaming=True)]))
    assert heard.stream() == "hello you"
    assert heard.told() == ["broken StatusError", "broken -> b", "b ok"]


def test_a_stream_that_has_begun_does_not() -> None:
    other = model("b", "hello", streaming=True)
    heard = Heard(Fallback([Broken(StatusError(503)), other]))
    with pytest.raises(StatusError):
        heard.stream()
    assert (heard.told(), other.requests) == (["broken StatusError"], [])


def test_a_stream_of_one_model_that_works_asks_no_other() -> None:
    other = model("b", streaming=True)
    assert Heard(Fallback([model("a", "hello you", streaming=True), other])).stream() == "hello you"
    assert not other.requests


def test_a_stream_that_is_left_early_is_told_once() -> None:
    fallback: Any = Fallback([model("a", "hello you", streaming=True), model("b", streaming=True)])
    heard = Heard(fallback)
    with heard._listening():
        stream = fallback.generate_stream(ASK)
        next(stream)
        stream.close()
    assert heard.told() == ["a GeneratorExit"]


def test_it_streams_when_all_models_do() -> None:
    a, b, c = model("a", streaming=True), model("b", streaming=True), model("c")
    assert hasattr(Fallback([a, Retry(b)]), "generate_stream")
    assert not hasattr(Fallback([a, b, c]), "generate_stream")


def test_an_open_circuit_is_gone_around() -> None:
    first = Breaker(model("a", StatusError(503)), failures=1)
    heard = Heard(Fallback([first, model("b", "one", "two")]))
    assert [heard.ask(), heard.ask()] == ["one", "two"]
    assert heard.told() == ["a StatusError", "a -> b", "b ok", "a -> b", "b ok"]
    assert heard[3].error_class == CircuitOpenError.__name__


def test_it_is_the_first_model_in_everything_else() -> None:
    first = model("a")
    fallback = Fallback([first, model("b")])
    assert (fallback.model_id, fallback.model, fallback.requests) == ("a", first, first.requests)
    with pytest.raises(ConstraintError, match="no model"):
        Fallback([])


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_it_can_be_copied(copied: Any) -> None:
    fallback = Fallback([Breaker(Retry(model("a", ValueError()))), Timeout(model("b", "hi"), 5)])
    assert copied(fallback).generate(ASK).content == "hi"


def test_an_agent_with_it_is_saved_and_built_again_without_keys() -> None:
    inner = [LiteLLMModelWithReport(f"openai/{name}", api_key="sk-not-to-be-seen", max_tokens=7) for name in "ab"]
    made = Fallback([Breaker(Retry(inner[0], 2), 5, 10.0), Timeout(inner[1], 3.0)])
    data = ToolCallingAgent([], made, verbosity_level=0).to_dict()
    assert "sk-not" not in str(data)
    again = ToolCallingAgent.from_dict(data, verbosity_level=0).model
    assert again.to_dict() == made.to_dict()
    assert repr(again) == repr(made)
    assert again.models[0].model.retries == 2  # type: ignore[attr-defined]
