"""A result as a notebook shows it: the answer, a small table of what the run took, its calls and what they broke."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from agentltl.constraints.value import Json

if TYPE_CHECKING:
    from agentltl.record.result import Result


def html_of(result: Result) -> str:
    """HTML in which everything that came from a model or a tool is escaped."""
    cost, took = result.total_cost, result.duration_ms
    rows = {
        "ending": result.ending,
        "error": result.error_message,
        "model": result.chosen_model_id,
        "steps": result["metrics"].get("num_steps"),
        "tool calls": result.tool_calls_count,
        "model calls": result.attempts_count,
        "tokens": result.total_tokens,
        "cost": None if cost is None else f"${cost:.6f}",
        "duration": None if took is None else f"{took / 1000:.2f} s",
        "compliance": result.compliance,
    }
    shown = "".join(_row(name, value) for name, value in rows.items() if value is not None)
    calls = [f"{call['name']}({_given(call['arguments'])})" for call in result.tool_calls]
    broken = [f"{v['constraint_name']}: {v['detail']}" for v in (result.constraint_status or {}).get("violations", [])]
    lists = _list("calls that ran", calls) + _list("violations", broken)
    return f"<div><pre>{escape(str(result))}</pre><table>{shown}</table>{lists}</div>"


def _row(name: str, value: object) -> str:
    style = "text-align: left; vertical-align: top; white-space: pre-wrap"
    return f'<tr><th style="{style}">{name}</th><td style="{style}">{escape(str(value))}</td></tr>'


def _given(arguments: Mapping[str, Json]) -> str:
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())


def _list(title: str, items: list[str]) -> str:
    """A list that can be opened; nothing for an empty one."""
    if not items:
        return ""
    lines = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<details><summary>{title}: {len(items)}</summary><ol>{lines}</ol></details>"
