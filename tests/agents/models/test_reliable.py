"""The wrappers as an agent puts them together."""

from typing import Any

import pytest

from agentltl.agents.models.breaker import Breaker
from agentltl.agents.models.fallback import Fallback
from agentltl.agents.models.reliable import reliable
from agentltl.agents.models.retry import Retry
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.models.timeout import Timeout
from agentltl.errors import ConstraintError
from tests.agents.models.calling import Heard, StatusError

DOWN = StatusError(503)


def shape(model: Any) -> Any:
    """The classes of the wrappers, and the models in them by name."""
    if isinstance(model, Fallback):
        return ["Fallback", *(shape(inner) for inner in model.models)]
    if isinstance(model, Breaker | Retry | Timeout):
        return [type(model).__name__, shape(model.model)]
    return model.model_id


def model(name: str, *replies: Any) -> ScriptedModel:
    return ScriptedModel(replies, model_id=name)


def test_each_model_has_retries_and_a_breaker() -> None:
    assert shape(reliable(model("a"))) == ["Breaker", ["Retry", "a"]]
    assert shape(reliable(model("a"), fallback_models=[model("b")], timeout=5)) == [
        "Timeout",
        ["Fallback", ["Breaker", ["Retry", "a"]], ["Breaker", ["Retry", "b"]]],
    ]


def test_a_wrapper_is_taken_as_it_is() -> None:
    mine = Retry(model("a"), 1)
    assert reliable(mine) is mine
    made = reliable(Fallback([model("a"), model("b")]), fallback_models=[model("c")])
    assert shape(made) == ["Fallback", ["Fallback", "a", "b"], ["Breaker", ["Retry", "c"]]]


def test_retries_then_the_next_model(waits: list[float]) -> None:
    heard = Heard(reliable(model("a", DOWN, DOWN), fallback_models=[model("b", DOWN, "hi")], retries=1))
    assert heard.ask() == "hi"
    assert heard.told() == ["a StatusError", "a StatusError", "a -> b", "b StatusError", "b ok"]


def test_a_model_that_goes_on_failing_is_not_asked_any_more(waits: list[float]) -> None:
    first = model("a", *[DOWN] * 9)
    heard = Heard(reliable(first, fallback_models=[model("b", *["hi"] * 5)], retries=0))
    for _ in range(5):
        assert heard.ask() == "hi"
    assert len(first.requests) == 3


@pytest.mark.parametrize("settings", [{"timeout": 0}, {"retries": -1}])
def test_settings_that_make_no_sense(settings: Any) -> None:
    with pytest.raises(ConstraintError, match=f"`{next(iter(settings))}"):
        reliable(model("a"), **settings)
