"""What the user may write as `model`, and what is said about anything else."""

import subprocess
import sys

import pytest
from smolagents import Model

from agentltl.agents.models.build import build
from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.litellm_model import LiteLLMModelWithReport
from agentltl.agents.models.local import LocalModel
from agentltl.agents.models.scripted import ScriptedModel


def test_a_built_model_is_returned_as_it_is() -> None:
    model = ScriptedModel([])
    assert build(model) is model


@pytest.mark.parametrize(
    ("given", "name"), [("local", None), ("local:0.5b", "0.5b"), ("local:1.5b", "1.5b"), ("local:/m.gguf", "/m.gguf")]
)
def test_local_names(given: str, name: str | None) -> None:
    model = build(given)
    assert isinstance(model, LocalModel)
    assert model.name == name


def test_any_other_name_is_litellms() -> None:
    model = build("anthropic/claude-sonnet-4-5", temperature=0.5)
    assert type(model) is LiteLLMModelWithReport
    assert model.model_id == "anthropic/claude-sonnet-4-5"
    assert model.kwargs == {"temperature": 0.5}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nobody/knows", "`nobody/knows` names no provider that litellm knows"),
        ("", "`''` is no model"),
        (None, "`None` is no model"),
        (Model, "is no model"),
        ("local:", "`local:` names no file"),
    ],
)
def test_anything_else_is_an_error(given: object, said: str) -> None:
    with pytest.raises(ModelError) as failure:
        build(given)  # type: ignore[arg-type]
    first, *instead = str(failure.value).splitlines()
    assert said in first
    assert instead


def test_a_setting_that_would_be_ignored_is_an_error() -> None:
    with pytest.raises(ModelError, match="`temperature`, `api_key` cannot be given to a model that is already built"):
        build(ScriptedModel([]), temperature=0.5, api_key="key")
    with pytest.raises(ModelError, match="`api_base` cannot be given to the embedded model"):
        build("local", api_base="http://127.0.0.1")


def test_a_local_model_is_built_without_litellm_and_without_a_file() -> None:
    program = (
        "import sys; from agentltl.agents.models.build import build; build('local');"
        "print('litellm' in sys.modules, 'xllamacpp' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "False"]
