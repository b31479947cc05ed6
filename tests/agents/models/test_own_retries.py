"""Under a wrapper one call is one request: what models and clients would retry by themselves is off."""

from typing import Any

import pytest
import smolagents
from smolagents.models import ChatMessage

from agentltl.agents.models.fallback import Fallback
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.litellm_model import LiteLLMModelWithReport
from agentltl.agents.models.own_retries import one_request
from agentltl.agents.models.retry import Retry
from agentltl.agents.models.scripted import ScriptedModel
from tests.agents.misbehaving import Provider, failing, serving
from tests.agents.models.calling import Heard


def openai(provider: Provider) -> Any:
    return smolagents.OpenAIModel("gpt-4o", api_base=provider.url, api_key="no-key")


def litellm(provider: Provider) -> Any:
    load_litellm()
    return smolagents.LiteLLMModel("openai/gpt-4o", api_base=provider.url, api_key="no-key")


@pytest.mark.parametrize("make", [openai, litellm])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [429, 500])
def test_one_call_of_smolagents_models_is_one_request(make: Any, stream: bool, status: int, waits: list[float]) -> None:
    with serving() as provider:
        provider.will = [failing(status)] * 9
        for wrapped in (Retry(make(provider), 1), Fallback([make(provider), make(provider)])):
            provider.requests.clear()
            heard = Heard(wrapped)
            with pytest.raises(Exception, match="come back later"):
                heard.stream() if stream else heard.ask()
            assert len(provider.requests) == 2
            assert len([told for told in heard.told() if "->" not in told]) == 2


def test_the_model_itself_is_left_as_it_was() -> None:
    with serving() as provider:
        model = openai(provider)
        retryer, client = getattr(model, "retryer", None), model.client
        once: Any = one_request(model)
        assert once is not model
        assert (getattr(model, "retryer", None), model.client) == (retryer, client)
        assert once.client.max_retries == 0


def test_models_that_make_one_request_are_not_copied() -> None:
    for model in (ScriptedModel([]), LiteLLMModelWithReport("openai/m"), Retry(ScriptedModel([]))):
        assert one_request(model) is model


def test_a_model_with_a_client_of_another_kind() -> None:
    class Client:
        pass

    class Foreign(smolagents.models.ApiModel):
        def create_client(self) -> Client:
            return Client()

        def generate(self, *_: Any, **__: Any) -> ChatMessage:
            raise NotImplementedError

    model = Foreign("foreign")
    once: Any = one_request(model)
    assert once.client is model.client
    assert once.retryer(lambda number: number + 1, 1) == 2
