"""`Timeout`: each call of a model has its time, a litellm model's request and any other model in a thread."""

import copy
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest
import smolagents
from smolagents.models import ChatMessage, ChatMessageStreamDelta, MessageRole, Model

from agentltl.agents.limits import Limits, Spending
from agentltl.agents.models.errors import ModelTimeoutError
from agentltl.agents.models.fallback import Fallback
from agentltl.agents.models.leaf import takes_timeout
from agentltl.agents.models.litellm_model import LiteLLMModelWithReport
from agentltl.agents.models.retry import Retry
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.models.timeout import Timeout
from agentltl.agents.models.watch import SHORTEST, within
from agentltl.errors import ConstraintError
from tests.agents.misbehaving import DRIP, serving
from tests.agents.models.calling import ASK, Heard, StatusError

LONG = 20.0
SHORT = 0.05
variable: ContextVar[str] = ContextVar("variable", default="none")


class Hanging(Model):
    """Does not answer, or not go on with a stream, before it may."""

    def __init__(self) -> None:
        super().__init__(model_id="hanging")
        self.may, self.over = threading.Event(), threading.Event()
        self.given: list[dict[str, Any]] = []

    def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
        self.given.append(kwargs)
        self.may.wait(LONG)
        self.over.set()
        return ChatMessage(MessageRole.ASSISTANT, variable.get())

    def generate_stream(self, messages: Any, **kwargs: Any) -> Any:
        try:
            yield ChatMessageStreamDelta(content="one ")
            self.may.wait(LONG)
            yield ChatMessageStreamDelta(content="two ")
            yield ChatMessageStreamDelta(content="three")
        finally:
            self.over.set()


class Around(Model):
    """A model of somebody else's that asks another one."""

    def __init__(self, inner: Model) -> None:
        super().__init__(model_id="around")
        self.inner = inner

    def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
        return self.inner.generate(messages)


def test_a_model_that_hangs_is_left() -> None:
    model = Hanging()
    heard = Heard(Timeout(model, SHORT))
    with pytest.raises(ModelTimeoutError, match=r"`hanging` has not answered within 0\.05 s\nset another `timeout`"):
        heard.ask()
    assert heard.told() == ["hanging ModelTimeoutError"]
    model.may.set()
    assert model.over.wait(LONG)
    assert len(heard) == 1


def test_what_a_model_would_ask_too_late_is_not_asked() -> None:
    inner = ScriptedModel(["late"])
    refused, said = threading.Event(), list[str]()

    class Slow(Hanging):
        def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
            super().generate(messages)
            try:
                return Retry(Around(Retry(inner))).generate(messages)
            except ModelTimeoutError as error:
                said.append(str(error))
                refused.set()
                raise

    model = Slow()
    heard = Heard(Timeout(model, SHORT))
    with pytest.raises(ModelTimeoutError):
        heard.ask()
    model.may.set()
    assert refused.wait(LONG)
    assert "nobody waits for this call" in said[0]
    assert (heard.told(), inner.requests) == (["hanging ModelTimeoutError"], [])


def test_what_a_model_has_asked_in_time_is_told_and_not_the_model() -> None:
    inner = ScriptedModel(["hi"])
    heard = Heard(Timeout(Around(Retry(inner)), LONG))
    assert heard.ask() == "hi"
    assert heard.told() == ["scripted ok"]


def test_in_time_it_is_the_models_reply_in_the_callers_context() -> None:
    model = Hanging()
    model.may.set()
    variable.set("mine")
    assert Heard(Timeout(model, LONG)).ask() == "mine"
    assert Heard(Timeout(model, LONG)).stream() == "one two three"
    assert model.given == [{}]


def test_an_error_is_the_models_own() -> None:
    error = StatusError(401)
    with pytest.raises(StatusError) as raised:
        Heard(Timeout(ScriptedModel([error]), LONG)).ask()
    assert raised.value is error
    with pytest.raises(KeyboardInterrupt):
        Heard(Timeout(ScriptedModel([KeyboardInterrupt()]), LONG)).ask()


def test_a_stream_that_hangs_is_left_and_ends_when_it_goes_on() -> None:
    model = Hanging()
    stream = Timeout(model, SHORT).generate_stream(ASK)
    assert next(stream).content == "one "
    with pytest.raises(ModelTimeoutError):
        next(stream)
    model.may.set()
    assert model.over.wait(LONG)


def test_each_retry_and_each_fallback_has_the_time_for_itself(waits: list[float]) -> None:
    heard = Heard(Timeout(Fallback([Retry(Hanging(), 1), ScriptedModel(["hi"])]), SHORT))
    assert heard.ask() == "hi"
    timed_out = "hanging ModelTimeoutError"
    assert heard.told() == [timed_out, timed_out, "hanging -> scripted", "scripted ok"]


class Steady(Model):
    """Streams a piece now and then, for longer than anybody waits."""

    def __init__(self) -> None:
        super().__init__(model_id="steady")
        self.may = threading.Event()

    def generate_stream(self, messages: Any, **kwargs: Any) -> Any:
        for _ in range(2):
            yield ChatMessageStreamDelta(content="piece ")
        self.may.wait(LONG)


def test_between_pieces_a_stream_waits_no_longer_than_the_run_may_last() -> None:
    class Late(Spending):
        left = LONG

        def seconds_left(self) -> float:
            return self.left

    spending, model = Late(Limits()), Steady()
    stream = within(lambda: Heard(model, spending=spending)._listening(), Timeout(model, LONG).generate_stream(ASK))
    assert next(stream).content == "piece "
    spending.left = SHORT
    assert next(stream).content == "piece "
    with pytest.raises(ModelTimeoutError, match=r"within 0\.05 s"):
        next(stream)
    model.may.set()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("make", [LiteLLMModelWithReport, smolagents.LiteLLMModel])
def test_a_reply_that_drips_has_no_longer_than_one_that_does_not_come(make: Any, stream: bool) -> None:
    with serving() as provider:
        provider.will = [DRIP]
        model = make("openai/gpt-4o", api_base=provider.url, api_key="sk-of-nobody")
        heard = Heard(Timeout(model, 0.3))
        begun = time.monotonic()
        with pytest.raises(ModelTimeoutError):
            heard.stream() if stream else heard.ask()
        assert time.monotonic() - begun < LONG / 2
        assert heard.told() == ["openai/gpt-4o ModelTimeoutError"]


class Given(LiteLLMModelWithReport):
    """A litellm model whose request is looked at."""

    def _ask(self, request: dict[str, Any]) -> Any:
        self.asked = request
        raise StatusError(503)


def timeout_of(ask: Callable[[], object], model: Given) -> object:
    with pytest.raises(StatusError):
        ask()
    return model.asked.get("timeout")


def test_a_litellm_model_gets_it_with_the_request() -> None:
    model = Given("openai/m")
    assert timeout_of(Heard(Timeout(model, 7.0)).ask, model) == 7.0
    assert timeout_of(Heard(Timeout(model, 7.0)).stream, model) == 7.0
    assert timeout_of(Heard(Timeout(Timeout(model, 3.0), 7.0)).ask, model) == 3.0
    assert timeout_of(Heard(Timeout(Timeout(model, 7.0), 3.0)).stream, model) == 3.0
    assert timeout_of(Heard(Retry(model, 0)).ask, model) is None


def test_a_time_limit_of_the_model_itself_holds_too() -> None:
    model = Given("openai/m", timeout=5.0)
    assert timeout_of(Heard(Timeout(model, 7.0)).ask, model) == 5.0
    assert timeout_of(Heard(Timeout(model, 3.0)).ask, model) == 3.0
    assert timeout_of(Heard(Retry(model, 0)).ask, model) == 5.0


def test_what_is_left_of_the_run_shortens_it() -> None:
    model = Given("openai/m")
    spending = Spending(Limits(total_timeout=6.0))
    left = timeout_of(Heard(Timeout(model, 7.0), spending=spending).ask, model)
    assert isinstance(left, float)
    assert 0 < left < 6.0
    assert timeout_of(Heard(Timeout(model, 0.5), spending=spending).ask, model) == 0.5


def test_a_call_at_the_very_end_of_the_run_has_a_time_above_zero() -> None:
    class Over(Spending):
        def check_time(self) -> None:
            """It was not over when this was asked."""

        def seconds_left(self) -> float:
            return -1e-6

    model = Given("openai/m")
    assert timeout_of(Heard(Timeout(model, 7.0), spending=Over(Limits())).ask, model) == SHORTEST


def test_which_models_can_be_given_a_time() -> None:
    assert takes_timeout(LiteLLMModelWithReport("openai/m", timeout=1.0))
    assert takes_timeout(smolagents.LiteLLMModel("openai/m"))
    assert not takes_timeout(smolagents.LiteLLMModel("openai/m", timeout=1.0))
    assert not takes_timeout(ScriptedModel([]))


def test_it_streams_when_the_model_does_and_can_be_copied() -> None:
    assert hasattr(Timeout(Hanging(), 1), "generate_stream")
    assert not hasattr(Timeout(ScriptedModel([]), 1), "generate_stream")
    assert copy.deepcopy(Timeout(ScriptedModel(["hi"]), 5)).generate(ASK).content == "hi"
    assert Timeout(ScriptedModel([]), 5).to_dict()["seconds"] == 5


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), True, "5"])
def test_a_time_that_is_none(seconds: Any) -> None:
    with pytest.raises(ConstraintError, match="seconds"):
        Timeout(ScriptedModel([]), seconds)


def test_the_thread_is_not_waited_for_at_the_end_of_the_program() -> None:
    model = Hanging()
    model.model_id = "left"
    with pytest.raises(ModelTimeoutError):
        Timeout(model, SHORT).generate(ASK)
    (thread,) = [one for one in threading.enumerate() if one.name == "call of left"]
    assert thread.daemon
    model.may.set()
    thread.join(LONG)
    assert not thread.is_alive()
