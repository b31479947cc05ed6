"""A result as a notebook shows it: the answer, and a small table of what the run took."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

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
    lines = [f"<tr><th>{name}</th><td>{escape(str(v))}</td></tr>" for name, v in rows.items() if v is not None]
    return f"<div><pre>{escape(str(result))}</pre><table>{''.join(lines)}</table></div>"
