"""Values on their way into a message, and the text of a message on its way to the agent."""

from __future__ import annotations

import json
import math
from typing import Any

from a2a.types import Message, Part
from google.protobuf.json_format import MessageToDict

from agentltl.constraints.value import Json
from agentltl.record.plain import plain

_EXACT = 2**53
"""Numbers of a message are floating point; larger integers would become others."""
_DEEPEST = 20
"""A message bears 100 levels, of which a level of a value takes up to three."""


def clean(text: str) -> str:
    """The text as a message can carry it, in UTF-8: halves of a surrogate pair are put together, lone ones replaced.

    Every text that is put into a message comes through here.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text_part(text: str) -> Part:
    """A part that holds a text."""
    return Part(text=clean(text))


def struct_value(value: object) -> Json:
    """The value as JSON that a message can carry: numbers that it cannot are their text, and texts are clean.

    What is nested too deeply is its JSON, as a text.
    """
    return _fitting(plain(value), _DEEPEST)


def _fitting(value: Json, levels: int) -> Json:
    match value:
        case bool():
            return value
        case str():
            return clean(value)
        case int() if abs(value) > _EXACT:
            return str(value)
        case float() if not math.isfinite(value):
            return str(value)
        case dict() | list() if not levels:
            return clean(json.dumps(value, ensure_ascii=False))
        case dict():
            return {clean(key): _fitting(part, levels - 1) for key, part in value.items()}
        case list():
            return [_fitting(part, levels - 1) for part in value]
    return value


def data_part(value: object) -> Part:
    """A part that holds structured data."""
    part = Part(media_type="application/json")
    _fill(part.data, struct_value(value))
    return part


def _fill(into: Any, value: Json) -> None:
    match value:
        case None:
            into.null_value = 0
        case bool():
            into.bool_value = value
        case int() | float():
            into.number_value = value
        case str():
            into.string_value = value
        case dict():
            into.struct_value.Clear()
            into.struct_value.update(value)
        case list():
            into.list_value.Clear()
            into.list_value.extend(value)


def task_of(message: Message) -> str:
    """The task that a message gives: its texts, and its data as JSON, one below the other."""
    pieces = []
    for part in message.parts:
        match part.WhichOneof("content"):
            case "text":
                pieces.append(part.text)
            case "data":
                pieces.append(json.dumps(MessageToDict(part.data), ensure_ascii=False))
    return "\n".join(piece for piece in pieces if piece.strip())
