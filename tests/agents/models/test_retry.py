"""`Retry`: what is asked again, how often, after which waits; and each attempt is told once."""

import copy
import logging
import pickle
from typing import Any

import pytest
from smolagents.models import ChatMessageStreamDelta, Model

from agentltl.agents.limits import Limits, Spending
from agentltl.agents.models import retry
from agentltl.agents.models.errors import EmptyReplyError
from agentltl.agents.models.fallback import Fallback
from agentltl.agents.models.retry import Retry, pause
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.models.watch import Watch, watched_by
from agentltl.errors import ConstraintError
from tests.agents.models.calling import ASK, Broken, Heard, StatusError

DOWN = StatusError(503)


def test_what_can_pass_is_asked_again(waits: list[float]) -> None:
    heard = Heard(Retry(ScriptedModel([DOWN, TimeoutError(), "hi"])))
    assert heard.ask() == "hi"
    assert heard.told() == ["scripted StatusError", "scripted TimeoutError", "scripted ok"]
    assert len(waits) == 2
    assert 0.5 <= waits[0] <= 1.0 < waits[1] <= 1.5 + 1e-9


def test_what_cannot_pass_is_raised_at_once(waits: list[float]) -> None:
    heard = Heard(Retry(ScriptedModel([StatusError(401), "hi"])))
    with pytest.raises(StatusError, match="401"):
        heard.ask()
    assert (heard.told(), waits) == (["scripted StatusError"], [])


def test_an_interrupt_is_no_failure(waits: list[float]) -> None:
    heard = Heard(Retry(ScriptedModel([KeyboardInterrupt(), "hi"])))
    with pytest.raises(KeyboardInterrupt):
        heard.ask()
    assert (heard.told(), waits) == (["scripted KeyboardInterrupt"], [])


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_the_last_error_is_raised_after_so_many_retries(retries: int, waits: list[float]) -> None:
    errors = [StatusError(500 + 2 * number) for number in range(3)]
    heard = Heard(Retry(ScriptedModel([*errors, "hi"]), retries))
    with pytest.raises(StatusError) as raised:
        heard.ask()
    assert raised.value is errors[retries]
    assert (len(heard), len(waits)) == (retries + 1, retries)


def test_the_provider_says_how_long_to_wait(waits: list[float]) -> None:
    model = Retry(ScriptedModel([StatusError(429, retry_after="7"), StatusError(429, retry_after="0"), "hi"]))
    assert Heard(model).ask() == "hi"
    assert waits == [7.0, 0.0]


def test_a_wait_that_is_too_long_is_not_begun(waits: list[float]) -> None:
    heard = Heard(Retry(ScriptedModel([StatusError(429, retry_after="61"), "hi"])))
    with pytest.raises(StatusError):
        heard.ask()
    assert waits == []
    assert Heard(Retry(ScriptedModel([StatusError(429, retry_after="61"), "hi"]), longest_wait=61)).ask() == "hi"


def test_waits_grow_up_to_the_longest(waits: list[float]) -> None:
    Heard(Retry(ScriptedModel([DOWN] * 9 + ["hi"]), 9, first_wait=1.0, longest_wait=6.0)).ask()
    assert waits[0] < waits[1] < waits[2]
    assert waits[-5:] == [6.0] * 5


def test_a_run_that_would_be_over_by_then_is_not_waited_for(waits: list[float]) -> None:
    spending = Spending(Limits(total_timeout=30))
    with pytest.raises(StatusError):
        Heard(Retry(ScriptedModel([StatusError(429, retry_after="31"), "hi"])), spending=spending).ask()
    assert waits == []


def test_a_stream_that_has_not_begun_is_asked_again(waits: list[float]) -> None:
    heard = Heard(Retry(ScriptedModel([DOWN, "hello you"], streaming=True)))
    assert heard.stream() == "hello you"
    assert heard.told() == ["scripted StatusError", "scripted ok"]
    assert len(waits) == 1


def test_a_stream_that_has_begun_is_not(waits: list[float]) -> None:
    model = Broken(ConnectionError())
    heard = Heard(Retry(model))
    with pytest.raises(ConnectionError):
        heard.stream()
    assert (heard.told(), model.asked, waits) == (["broken ConnectionError"], 1, [])


def test_an_empty_stream_is_no_answer_and_asked_again(waits: list[float]) -> None:
    class Empty(Broken):
        def generate_stream(self, messages: Any, **_: Any) -> Any:
            self.asked += 1
            yield from [ChatMessageStreamDelta(content="hi")] * (self.asked > 2)

    heard = Heard(Retry(Empty(ValueError()), 1))
    with pytest.raises(EmptyReplyError, match="answered without a piece\ntry again"):
        heard.stream()
    assert heard.told() == ["broken EmptyReplyError"] * 2
    assert Heard(Retry(Empty(ValueError()), 2)).stream() == "hi"


def test_it_is_the_model_in_everything_else() -> None:
    model = ScriptedModel([], model_id="mine")
    wrapped = Retry(model)
    assert (wrapped.model_id, wrapped.replies, wrapped.model) == ("mine", model.replies, model)
    assert not hasattr(wrapped, "generate_stream")
    assert hasattr(Retry(Retry(ScriptedModel([], streaming=True))), "generate_stream")
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = wrapped.no_such_thing
    assert repr(Retry(Broken(DOWN))).startswith("Retry(")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_it_can_be_copied(copied: Any) -> None:
    again = copied(Retry(ScriptedModel(["hi"]), 5, first_wait=2.0))
    assert (again.retries, again.first_wait, again.generate(ASK).content) == (5, 2.0, "hi")


@pytest.mark.parametrize(
    "settings", [{"retries": -1}, {"retries": 1.5}, {"retries": True}, {"first_wait": 0}, {"longest_wait": -1}]
)
def test_settings_that_make_no_sense(settings: Any) -> None:
    with pytest.raises(ConstraintError, match=next(iter(settings))):
        Retry(ScriptedModel([]), **settings)


def test_a_model_of_somebody_else_around_ours_is_not_told_beside_it(waits: list[float]) -> None:
    class Logging(Model):
        def __init__(self, inner: Model) -> None:
            super().__init__(model_id="logging")
            self.inner = inner

        def generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            return self.inner.generate(messages, *args, **kwargs)

    heard = Heard(Fallback([Logging(Retry(ScriptedModel([DOWN, "hi"])))]))
    assert heard.ask() == "hi"
    assert heard.told() == ["scripted StatusError", "scripted ok"]
    assert Heard(heard.model).told() == []


def test_the_log_says_that_it_is_asked_again(waits: list[float], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "agentltl"):
        Heard(Retry(ScriptedModel([StatusError(429, retry_after="7"), "hi"]))).ask()
    assert caplog.messages == [
        "the model `scripted` has failed (StatusError) and is asked again in 7.0 s, retry 1 of 3"
    ]


def test_a_wait_ends_when_the_call_is_not_wanted_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(BaseException):
        pass

    def gone() -> None:
        raise Gone

    slept: list[float] = []
    monkeypatch.setattr(retry.time, "sleep", slept.append)
    with pytest.raises(Gone), watched_by(Watch(lambda _: None, wanted=gone)):
        pause(3600)
    assert slept == [retry.LOOK]
    monkeypatch.undo()
    pause(0.001)
