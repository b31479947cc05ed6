"""The workload as plain data, the same for all sides: a cycle of ten calls that satisfies every rule."""

from __future__ import annotations

import json

Call = tuple[str, dict[str, object]]
"""A tool and its arguments."""

CYCLE = 10
FILES = 20
"""How many files the run works on, in turn."""
DOCS = "https://docs.example.org/"
TOOLS = ("read", "search", "write", "lint", "typecheck", "test", "deploy", "open_ticket", "fetch", "close_ticket")


def call(index: int) -> Call:
    """The call at an index of the run, from 0."""
    turn, place = divmod(index, CYCLE)
    path = f"src/f{turn % FILES}.py"
    return TOOLS[place], _arguments(place, turn, path)


def values_call(index: int, values: int) -> Call:
    """The call at an index of a run that reads as many files as there are `values` first, then goes on as `call` does.

    The files that are read and written after that are among those.
    """
    if index < values:
        return "read", {"path": f"src/f{index}.py"}
    turn, place = divmod(index - values, CYCLE)
    return TOOLS[place], _arguments(place, turn, f"src/f{37 * turn % values}.py")


def _arguments(place: int, turn: int, path: str) -> dict[str, object]:
    arguments: tuple[dict[str, object], ...] = (
        {"path": path},
        {"query": "timeout", "scope": "repository"},
        {"path": path, "text": "x = 1"},
        {},
        {},
        {},
        {"env": "staging"},
        {"ticket": turn},
        {"url": f"{DOCS}page", "pages": 1},
        {"ticket": turn},
    )
    return arguments[place]


def metrics(length: int, first: int = 0) -> dict[str, list[dict[str, object]]]:
    """A run of some calls as the dict with `tool_calls` that both packages read."""
    calls = (call(first + i) for i in range(length))
    return {"tool_calls": [{"tool_name": tool, "tool_args": args, "tool_result": "ok"} for tool, args in calls]}


def lines(count: int, length: int) -> list[str]:
    """Runs as JSON lines, each a little different: they work on different files."""
    return [json.dumps(metrics(length, CYCLE * i)) for i in range(count)]
