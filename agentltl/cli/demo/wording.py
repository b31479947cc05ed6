"""Calls and results on few lines: what a reader needs to see, not every brace of the JSON."""

from __future__ import annotations

import json

from agentltl.cli.demo.story import Move
from agentltl.cli.terminal import plain
from agentltl.constraints.value import Json

LONG = 200
"""Characters of a result or an argument that are shown."""


def brief(text: str) -> str:
    """A text as one line, cut where it becomes long."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= LONG else line[: LONG - 3] + "..."


def call_text(move: Move) -> str:
    """The call as one would write it; of an answer, and of a reply without a call, the text."""
    if move.tool is None:
        return f"no tool call: {brief(move.text)}"
    arguments = move.arguments if isinstance(move.arguments, dict) else {"": move.arguments}
    if move.tool == "final_answer" and list(arguments) == ["answer"]:
        return f"answer: {brief(_value(arguments['answer']))}"
    inside = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"{plain(move.tool)}({brief(inside)})"


def result_text(text: str) -> str:
    """A result as words: the fields of a JSON object, the objects of a list one after another."""
    try:
        value = json.loads(text)
    except ValueError:
        return brief(text)
    if isinstance(value, dict):
        return brief(_fields(value))
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        return brief("; ".join(", ".join(_value(field) for field in entry.values()) for entry in value))
    return brief(text)


def _fields(entry: dict[str, Json]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in entry.items())


def _value(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
