"""Where the demo's model comes from: the recordings in the package, the embedded model, or any litellm model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec

from smolagents.models import Model

from agentltl.agents.models.build import build
from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.local import LocalModel
from agentltl.agents.models.weights import DEFAULT, PINNED
from agentltl.cli.demo.recording import cassette, replayed
from agentltl.cli.demo.tasks import Task
from agentltl.errors import MissingExtraError


@dataclass(frozen=True, slots=True)
class Source:
    """`model` gives the model for a task with rules (True) or without, for as long as the run lasts.

    `name` is what the model is called, `recorded` whether its answers were given before, and `advice` what to do when
    a run fails.
    """

    name: str
    recorded: bool
    advice: str
    model: Callable[[Task, bool], AbstractContextManager[Model]]


def recordings(tasks: Iterable[Task]) -> Source:
    """The recordings of the embedded model; nothing is sent anywhere.

    Raises `MissingExtraError` without the extra `demo`, `ModelError` when a recording is not there.
    """
    if find_spec("vcr") is None:
        raise MissingExtraError("replaying a recording", "demo")
    for task in tasks:
        for guarded in (False, True):
            if not (path := cassette(task.name, guarded=guarded)).is_file():
                raise ModelError(f"the recording `{path.name}` is not there\nrun the model itself with `--live`")
    return Source(
        name=PINNED[DEFAULT].model_name,
        recorded=True,
        advice="the recording does not fit this version\nrun the model itself with `--live`, "
        "or record it again with `make cassettes`",
        model=lambda task, guarded: replayed(cassette(task.name, guarded=guarded)),
    )


def running(name: str) -> Source:
    """A model that runs: `"local"`, one of its variants, or a litellm name. The embedded one is loaded here.

    Raises `ModelError` when there is no such model or no file of it, `MissingExtraError` without the extra `local`.
    """
    model = build(name)
    advice = "look at the model's name, its key in the environment, and the network"
    if isinstance(model, LocalModel):
        try:
            _ = model.server
        except RuntimeError as error:
            raise ModelError(f"the model file of `{name}` cannot be loaded: {error}\ngive another GGUF file") from error
        advice = "give the embedded model's file as `local:/path/to/file.gguf`, or try `--model local:0.5b`"
    return Source(
        name=str(model.model_id), recorded=False, advice=advice, model=lambda task, guarded: nullcontext(model)
    )
