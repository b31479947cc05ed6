"""Saving and loading a guarded agent: its constraints as plain data, and classes that smolagents does not know.

In a saved agent constraints are mappings with the keys of a rule file and severities are names, so `agent.json` holds
them and `app.py` can write them as keywords of the constructor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import smolagents
from smolagents import agents

from agentltl.agents.models.redaction import without_secrets
from agentltl.guard.settings import Settings

GUARD_SETTINGS = tuple(field.name for field in fields(Settings))
"""The keywords of an agent that are settings of its guard."""
MASKS = ("mask_tools", "mask_reasons")
SETTINGS = ("constraints", "constraint_severities", "default_severity", "approve", *MASKS, *GUARD_SETTINGS)


def register(agent_class: type) -> None:
    """Let smolagents load saved agents of this class, as managed agents too."""
    registry: dict[str, type] | None = getattr(agents, "AGENT_REGISTRY", None)
    if registry is not None:
        registry[agent_class.__name__] = agent_class
    else:  # smolagents without a registry looks the name up in its module
        setattr(agents, agent_class.__name__, agent_class)


def take_settings(saved: Mapping[str, Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """The settings of this agent, a keyword before what was saved. They are taken out of the keywords, because
    smolagents passes those on to every managed agent."""
    return {name: keywords.pop(name, saved.get(name)) for name in SETTINGS if name in keywords or name in saved}


def without_keys(agent: dict[str, Any]) -> dict[str, Any]:
    """A saved agent without the keys in what its model and those of its managed agents give of themselves."""
    model = {**agent["model"], "data": without_secrets(agent["model"]["data"])}
    return {**agent, "model": model, "managed_agents": [without_keys(member) for member in agent["managed_agents"]]}


def write_imports(folder: str | Path, *classes: type) -> None:
    """Make the saved `app.py` import these classes from where they are, if that is not smolagents."""
    app = Path(folder) / "app.py"
    head, start, line, rest = _split_import(app.read_text(encoding="utf-8"))
    elsewhere = [c for c in dict.fromkeys(classes) if getattr(smolagents, c.__name__, None) is not c]
    if not start or not elsewhere:
        return
    names = [name for name in line.split(", ") if name not in {c.__name__ for c in elsewhere}]
    imports = [start + ", ".join(names), *(f"from {c.__module__} import {c.__name__}" for c in elsewhere)]
    app.write_text(head + "\n".join(imports) + rest, encoding="utf-8")


def _split_import(text: str) -> tuple[str, str, str, str]:
    head, start, tail = text.partition("from smolagents import ")
    line, end, rest = tail.partition("\n")
    return head, start, line, end + rest
