"""`Breaker`: when a model is left alone, and when it is tried again."""

import copy
import pickle
import threading
from typing import Any

import pytest

from agentltl.agents.models import breaker
from agentltl.agents.models.breaker import Breaker
from agentltl.agents.models.errors import CircuitOpenError
from agentltl.agents.models.fallback import Fallback
from agentltl.agents.models.retry import Retry
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.models.timeout import Timeout
from agentltl.agents.models.wrapper import apart, leaves
from agentltl.errors import ConstraintError
from tests.agents.models.calling import ASK, Broken, StatusError

DOWN = StatusError(503)


class Clock:
    """A clock that a test sets."""

    time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(breaker, "now", made)
    return made


def fail(model: Breaker, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(StatusError):
            model.generate(ASK)


def test_it_opens_after_so_many_failures_in_a_row(clock: Clock) -> None:
    inner = ScriptedModel([DOWN, DOWN, "hi", DOWN, DOWN, DOWN], model_id="mine")
    model = Breaker(inner, cool_down=30)
    fail(model, 2)
    model.generate(ASK)
    fail(model, 3)
    clock.time += 10
    with pytest.raises(CircuitOpenError) as opened:
        model.generate(ASK)
    assert inner.left == 0
    assert opened.value.seconds == 20
    assert str(opened.value) == (
        "`mine` has failed 3 times in a row, the last time by StatusError, and is not asked for 20 s\n"
        "wait, or give `fallback_models`"
    )


def test_after_the_cool_down_one_call_decides(clock: Clock) -> None:
    model = Breaker(ScriptedModel([DOWN, DOWN, "hi", "again"]), failures=1, cool_down=30)
    fail(model)
    clock.time += 30
    fail(model)
    clock.time += 29
    with pytest.raises(CircuitOpenError):
        model.generate(ASK)
    clock.time += 1
    assert [model.generate(ASK).content for _ in range(2)] == ["hi", "again"]


def test_while_one_call_tries_it_no_other_does(clock: Clock) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(*_: Any) -> str:
        entered.set()
        assert leave.wait(20)
        return "hi"

    model = Breaker(ScriptedModel([DOWN, slow, "again"]), failures=1)
    fail(model)
    clock.time += 30
    trying = threading.Thread(target=model.generate, args=(ASK,))
    trying.start()
    assert entered.wait(20)
    with pytest.raises(CircuitOpenError) as opened:
        model.generate(ASK)
    assert opened.value.seconds == 0
    leave.set()
    trying.join()
    assert model.generate(ASK).content == "again"


def test_what_the_provider_refuses_is_no_failure_of_its_health(clock: Clock) -> None:
    model = Breaker(ScriptedModel([StatusError(400), StatusError(401), "hi"]), failures=1)
    fail(model, 2)
    assert model.generate(ASK).content == "hi"


def test_a_try_that_is_refused_lets_the_next_one_try(clock: Clock) -> None:
    model = Breaker(ScriptedModel([DOWN, StatusError(400), "hi"]), failures=1)
    fail(model)
    clock.time += 30
    fail(model)
    assert model.generate(ASK).content == "hi"


def test_retries_inside_are_one_failure(waits: list[float], clock: Clock) -> None:
    model = Breaker(Retry(ScriptedModel([DOWN] * 4 + ["hi"]), 1), failures=3)
    fail(model, 2)
    assert model.generate(ASK).content == "hi"


def test_streams_count_too(clock: Clock) -> None:
    model: Any = Breaker(Broken(DOWN), failures=1)
    with pytest.raises(StatusError):
        list(model.generate_stream(ASK))
    with pytest.raises(CircuitOpenError):
        list(model.generate_stream(ASK))
    assert not hasattr(Breaker(ScriptedModel([])), "generate_stream")


def test_a_stream_that_is_left_is_neither_a_failure_nor_a_success(clock: Clock) -> None:
    model: Any = Breaker(ScriptedModel([DOWN, "hello you", "hi"], streaming=True), failures=1)
    fail(model)
    clock.time += 30
    stream = model.generate_stream(ASK)
    next(stream)
    stream.close()
    assert model.generate(ASK).content == "hi"


def test_a_stream_that_nobody_reads_on_does_not_hold_up_the_next_try(clock: Clock) -> None:
    model: Any = Breaker(ScriptedModel([DOWN, "hello you", "hi", "ho"], streaming=True), failures=1)
    fail(model)
    clock.time += 30
    stream = model.generate_stream(ASK)
    next(stream)
    clock.time += 29
    with pytest.raises(CircuitOpenError):
        model.generate(ASK)
    clock.time += 1
    assert model.generate(ASK).content == "hi"
    stream.close()
    assert model.generate(ASK).content == "ho"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_begins_closed(copied: Any, clock: Clock) -> None:
    model = Breaker(ScriptedModel([DOWN, "hi"]), failures=1, cool_down=7)
    fail(model)
    again = copied(model)
    assert (again.failures, again.cool_down, again.generate(ASK).content) == (1, 7, "hi")
    with pytest.raises(CircuitOpenError):
        model.generate(ASK)


def test_apart_the_breakers_are_new_and_the_models_the_same(clock: Clock) -> None:
    first, second = ScriptedModel([DOWN, "hi"]), ScriptedModel([DOWN, "ho"])
    model = Timeout(Fallback([Breaker(Retry(first, 0), failures=1, cool_down=7), Breaker(second, failures=1)]), 9)
    with pytest.raises(StatusError):
        model.generate(ASK)
    with pytest.raises(CircuitOpenError):
        model.generate(ASK)
    again: Any = apart(model)
    assert again.generate(ASK).content == "hi"
    assert (again.seconds, again.model.models[0].cool_down, again.model.models[1].failures) == (9, 7, 1)
    assert [id(leaf) for leaf in leaves(again)] == [id(first), id(second)]
    assert again.model.models[0].model is model.model.models[0].model  # no breaker is below
    with pytest.raises(CircuitOpenError):
        model.generate(ASK)


def test_without_a_breaker_nothing_is_apart() -> None:
    for model in (ScriptedModel([]), Retry(ScriptedModel([])), Timeout(Fallback([Retry(ScriptedModel([]))]), 9)):
        assert apart(model) is model


def test_the_error_can_be_sent_to_another_process() -> None:
    again = pickle.loads(pickle.dumps(CircuitOpenError("open", 3.0)))
    assert (str(again), again.seconds) == ("open", 3.0)


@pytest.mark.parametrize("settings", [{"failures": 0}, {"failures": 1.5}, {"cool_down": 0}, {"cool_down": "1"}])
def test_settings_that_make_no_sense(settings: Any) -> None:
    with pytest.raises(ConstraintError, match=next(iter(settings))):
        Breaker(ScriptedModel([]), **settings)


def test_the_clock_goes_forward() -> None:
    assert breaker.now() <= breaker.now()
