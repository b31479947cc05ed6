"""What a tool takes and gives, read from a function: its signature, its type hints and its docstring."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from agentltl.agents.tool_text import described
from agentltl.agents.tool_types import Schema, said_of, schema_of, without_none
from agentltl.errors import ConstraintError

_FIXED = {
    inspect.Parameter.POSITIONAL_ONLY: "takes `{0}` by position alone",
    inspect.Parameter.VAR_POSITIONAL: "takes `*{0}`",
    inspect.Parameter.VAR_KEYWORD: "takes `**{0}`",
}
_RESERVED = ("self", "sanitize_inputs_outputs")
"""Names that smolagents keeps for itself."""


@dataclass(frozen=True, slots=True)
class Described:
    """A function as a model is told of it."""

    name: str
    description: str
    inputs: dict[str, Schema]
    output_type: str
    signature: inspect.Signature


def read(function: Callable[..., Any]) -> Described:
    """What there is to say of a function; `ConstraintError` where a model cannot be told how to call it."""
    name = function.__name__
    where = f"`{name}` ({function.__module__}) cannot be a tool: it"
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ConstraintError(f"{where} has no name that a model can call\ndefine it with `def`")
    if inspect.isasyncgenfunction(inspect.unwrap(function)):
        raise ConstraintError(f"{where} is an async generator\ncollect what it yields and return it")
    if not (docstring := inspect.getdoc(function)):
        raise ConstraintError(f"{where} has no docstring\nsay in one what it does: the model reads it")
    signature = inspect.signature(function)
    hints = _hints(function, where)
    text, said = described(docstring, signature.parameters)
    if not text:
        raise ConstraintError(f"{where} has a docstring about its arguments alone\nsay what it does, above them")
    inputs: dict[str, Schema] = {}
    for parameter in signature.parameters.values():
        hint = hints.get(parameter.name, inspect.Parameter.empty)
        schema = _input(parameter, hint, where)
        words = said.get(parameter.name) or said_of(hint) or parameter.name.replace("_", " ").strip()
        inputs[parameter.name] = {**schema, "description": words}
    return Described(name, text, inputs, _output(hints.get("return", Any)), signature)


def _hints(function: Callable[..., Any], where: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception as error:
        raise ConstraintError(
            f"{where} has type hints that cannot be read: {error}\nimport what they name where the function is defined"
        ) from error


def _input(parameter: inspect.Parameter, hint: object, where: str) -> Schema:
    """The schema of an argument. One with a default may be left out, which smolagents calls nullable; one without that
    takes None has to be given."""
    name = parameter.name
    if parameter.kind in _FIXED:
        what = _FIXED[parameter.kind].format(name)
        raise ConstraintError(f"{where} {what}, and models name each argument\ngive it one parameter for each")
    if name in _RESERVED:
        raise ConstraintError(f"{where} has a parameter `{name}`, a name that smolagents needs\ncall it something else")
    if hint is inspect.Parameter.empty:
        raise ConstraintError(f"{where} has no type hint for `{name}`\ngive it one: `{name}: str`")
    try:
        schema = schema_of(hint)
    except TypeError as error:
        raise ConstraintError(
            f"{where} has a type hint for `{name}` that a model cannot be told: {error}\n"
            "take text, numbers, lists, dicts or Literal, and make the object in the function"
        ) from error
    if parameter.default is inspect.Parameter.empty:
        return schema
    return {**without_none(schema), "nullable": True}


def _output(hint: object) -> str:
    try:
        kind = schema_of(hint)["type"]
    except TypeError:
        return "any"
    return kind if isinstance(kind, str) else "any"
