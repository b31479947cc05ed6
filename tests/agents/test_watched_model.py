import copy

import pytest

from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.watched_model import WatchedModel


def test_it_remembers_the_last_call_only() -> None:
    model = WatchedModel(ScriptedModel(["one", ValueError("two"), "three"]))
    first = model.generate([])
    assert (model.reply, model.error) == (first, None)
    with pytest.raises(ValueError, match="two"):
        model.generate([])
    assert model.reply is None
    assert str(model.error) == "two"
    model.generate([])
    assert model.reply is not None
    assert (model.reply.content, model.error) == ("three", None)


def test_everything_else_is_the_models_own() -> None:
    inner = ScriptedModel([], model_id="mine")
    model = WatchedModel(inner)
    assert model.model_id == "mine"
    assert model.parse_tool_calls == inner.parse_tool_calls
    with pytest.raises(AttributeError):
        _ = model.no_such_thing


@pytest.mark.parametrize("streaming", [True, False])
def test_it_streams_exactly_when_the_model_does(streaming: bool) -> None:
    assert hasattr(WatchedModel(ScriptedModel([], streaming=streaming)), "generate_stream") is streaming


def test_it_can_be_copied() -> None:
    model = WatchedModel(ScriptedModel(["one"]))
    other = copy.deepcopy(model)
    assert other.generate([]).content == model.generate([]).content == "one"
