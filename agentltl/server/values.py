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


def struct_value(value: object) -> Json:
    """The value as JSON that a message can carry: numbers that it cannot are their text."""
    return _fitting(plain(value))


def _fitting(value: Json) -> Json:
    match value:
        case bool():
            return value
        case int() if abs(value) > _EXACT:
            return str(value)
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {key: _fitting(part) for key, part in value.items()}
        case list():
            return [_fitting(part) for part in value]
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
