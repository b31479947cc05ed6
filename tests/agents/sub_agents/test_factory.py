"""Things that are named by where they are made."""

import pytest

from agentltl.agents.sub_agents.factory import is_factory, made_by
from agentltl.errors import ConstraintError
from tests.agents.sub_agents import crew


def test_the_function_is_called() -> None:
    assert made_by("tests.agents.sub_agents.crew:tools", "the tools") == crew.TOOLS


@pytest.mark.parametrize("text", ["local:0.5b", "local:small", "ollama/llama3:8b", "gpt-4.1:beta", "openai/gpt-4o"])
def test_no_name_of_a_model_looks_like_one(text: str) -> None:
    assert not is_factory(text, dotted=True)
    assert is_factory("package.module:function", dotted=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no function", "`no function` names no function for the tools\nwrite it as `package.module:function`"),
        ("tests.nowhere:tools", r"`tests.nowhere:tools`, which makes the tools, cannot be imported \(No module named"),
        ("json:nothing", r"`json:nothing`, which makes the tools, cannot be imported \(module 'json' has no attribute"),
        ("json:__name__", "`json:__name__`, which makes the tools, is no function\nname a function"),
    ],
)
def test_what_cannot_be_made_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        made_by(text, "the tools")
