"""The arguments of a call in Python under the names that the tool has for them, defaults included."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from smolagents.tools import Tool

_PLACES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
OPTION = "sanitize_inputs_outputs"
"""A keyword of smolagents' own, which no tool gets."""


def named(tool: object, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object]:
    """What a tool or a managed agent gets if it is called like this; positional arguments beyond its parameters stand
    under `*`."""
    inputs: Mapping[str, object] = getattr(tool, "inputs", {})
    given = {name: value for name, value in kwargs.items() if name != OPTION}
    match args:
        case (dict() as single,) if not given and isinstance(tool, Tool) and all(name in inputs for name in single):
            args, given = (), dict(single)  # smolagents takes a single object for the arguments by name
    parameters = _parameters(tool.forward) if isinstance(tool, Tool) else []
    places = [p.name for p in parameters if p.kind in _PLACES] or list(inputs)
    free = [name for name in places if name not in given]
    given |= dict(zip(free, args, strict=False))
    if len(args) > len(free):
        given["*"] = list(args[len(free) :])
    defaults = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
    return {**{name: value for name, value in defaults.items() if name not in given}, **given}


def _parameters(function: object) -> list[inspect.Parameter]:
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # Python does not know what the function takes
        return []
    # A tool that was made from a function is written with a `self` that its `forward` does not take.
    return [p for p in signature.parameters.values() if p.name != "self"]
