"""The arguments of a call in Python under the names that the tool has for them, defaults included."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import NamedTuple

from smolagents.tools import Tool

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
OPTION = "sanitize_inputs_outputs"
"""A keyword of smolagents' own, which no tool gets."""


class _Known(NamedTuple):
    """What a function takes, and the arguments that have a default; `set` are the defaults as the function had them,
    since they can be set anew. `takes_all`: it takes arguments of any name."""

    set: tuple[object, object]
    signature: inspect.Signature
    defaults: dict[str, object]
    takes_all: bool


_MOST = 1_000
"""Of how many functions the signature is remembered; to look one up costs more than to judge a call."""
_known: dict[tuple[int, bool], tuple[FunctionType | CodeType, _Known]] = {}
"""By the identity of a function or its code, since code takes longer to hash than to judge a call."""


def named(tool: object, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object] | None:
    """What a tool or a managed agent gets if it is called like this; None if it is certain that Python rejects the call
    before the tool's own code begins.

    Names are those of the tool's `forward`. Where that takes whatever comes, as the tool of an MCP server does,
    positional arguments stand under the names of `tool.inputs`, in their order, and those beyond under `*`, and
    defaults are those of `tool.inputs`.
    """
    kwargs = {name: value for name, value in kwargs.items() if name != OPTION or not isinstance(tool, Tool)}
    inputs: Mapping[str, object] = getattr(tool, "inputs", {})
    match args:
        case (dict() as single,) if not kwargs and isinstance(tool, Tool) and all(name in inputs for name in single):
            args, kwargs = (), single  # smolagents takes a single object for the arguments by name
    function = _called(tool)
    known = _known_of(function)
    signature = known.signature
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        if _speaks_for_itself(tool, function):
            return None
        places = [name for name, p in signature.parameters.items() if p.kind in _POSITIONAL]
        return _by_place({}, args, kwargs, places or list(inputs))
    bound.apply_defaults()
    found, rest, more = {}, (), {}
    for name, value in bound.arguments.items():
        match signature.parameters[name].kind:
            case inspect.Parameter.VAR_POSITIONAL:
                rest = value
            case inspect.Parameter.VAR_KEYWORD:
                more = value
            case _ if name != OPTION:
                found[name] = value
    placed = _by_place(found, rest, more, list(inputs))
    return {**_written(inputs), **placed} if known.takes_all else placed


def left_out(tool: object, given: Mapping[str, object]) -> dict[str, object]:
    """The tool's defaults for the arguments that a call by name does not give."""
    known = _known_of(_called(tool))
    defaults = known.defaults
    if known.takes_all:
        inputs: Mapping[str, object] = getattr(tool, "inputs", {})
        if not inputs.keys() <= given.keys():
            defaults = {**_written(inputs), **defaults}
    return {name: value for name, value in defaults.items() if name not in given} if defaults else {}


def _written(inputs: Mapping[str, object]) -> dict[str, object]:
    """The defaults that the schemas of arguments name: whoever carries out the call knows no others."""
    schemas = ((name, schema) for name, schema in inputs.items() if isinstance(schema, Mapping))
    return {name: schema["default"] for name, schema in schemas if "default" in schema}


def _called(tool: object) -> object:
    """The function that gets the arguments."""
    if isinstance(tool, Tool):
        for kind in type(tool).__mro__:
            # Telemetry wraps `Tool.__call__`, and what is got from the wrapper is a new object each time.
            if "__call__" in kind.__dict__:
                own = kind.__dict__["__call__"] is Tool.__dict__["__call__"]
                return tool.forward if own else tool.__call__
    return tool.__call__  # type: ignore[operator]


def _by_place(
    found: dict[str, object], args: tuple[object, ...], kwargs: Mapping[str, object], places: list[str]
) -> dict[str, object]:
    """Arguments without a name of their own get those names that are left, in their order."""
    found = {**found, **kwargs}
    free = [name for name in places if name not in found]
    found |= dict(zip(free, args, strict=False))
    return found | {"*": list(args[len(free) :])} if len(args) > len(free) else found


def _known_of(function: object) -> _Known:
    bare = getattr(function, "__func__", function)
    if not isinstance(bare, FunctionType):
        return _looked_up(function, (None, None))
    # Functions that are made again and again from one place in the code are alike, but for what is written on one.
    own = bare if bare.__dict__ else bare.__code__
    key, now = (id(own), bare is not function), (bare.__defaults__, bare.__kwdefaults__)
    kept, known = _known.get(key, (None, None))
    if known is None or kept is not own or known.set[0] is not now[0] or known.set[1] is not now[1]:
        if len(_known) >= _MOST:
            _known.clear()
        known = _looked_up(function, now)
        _known[key] = own, known
    return known


def _looked_up(function: object, now: tuple[object, object]) -> _Known:
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # Python does not know what the function takes
        signature = inspect.signature(lambda *args, **kwargs: None)
    # A tool that was made from a function is written with a `self` that its `forward` does not take.
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    defaults = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty and p.name != OPTION}
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    return _Known(now, signature.replace(parameters=parameters), defaults, takes_all)


def _speaks_for_itself(tool: object, function: object) -> bool:
    """Whether the function has no wrapper around it, so that its signature is what Python checks."""
    bare = getattr(function, "__func__", function)
    if type(tool).__name__ == "SimpleTool":  # what smolagents' decorator makes passes everything on
        bare = getattr(bare, "__wrapped__", bare)
    return isinstance(bare, FunctionType) and not hasattr(bare, "__wrapped__") and not hasattr(bare, "__signature__")
