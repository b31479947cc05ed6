"""A run as a reader sees it: the model's moves in their order, each with what became of it, and the rows it changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentltl.cli.demo.harm import amount, refunded
from agentltl.cli.demo.run import Run
from agentltl.cli.demo.world import Snapshot
from agentltl.constraints.value import Json

Outcome = Literal["ran", "failed", "refused", "cancelled", "none"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call was refused by one rule. `stops`: the run was to end there."""

    rule: str
    reason: str
    stops: bool


@dataclass(frozen=True, slots=True)
class Move:
    """One call of the model, or a reply without one (`tool` is None).

    `text` is what came of it: a result, an error. `refusals` is why it did not run; `breaks` names the rules that it
    broke by running.
    """

    step: int
    tool: str | None
    arguments: Json
    outcome: Outcome
    text: str
    refusals: tuple[Refusal, ...] = ()
    breaks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """Something in the database that a run changed: its name, what it was, and what it is after each run."""

    name: str
    before: str
    after: tuple[str, ...]


def moves(run: Run) -> list[Move]:
    """What the model did, in the order in which it did it."""
    told: list[Move] = []
    starts: dict[str, Mapping[str, Json]] = {}
    ends: dict[str, Mapping[str, Json]] = {}
    reasons: list[Mapping[str, Json]] = []
    remarks: list[Move] = []
    for event in run.events:
        match event.kind:
            case "tool_call_start":
                starts[event.data["id"]] = event.data
            case "tool_call_end":
                ends[event.data["id"]] = event.data
            case "constraint_violation":
                reasons.append(event.data)
            case "step_end":
                said = {start["step"] for start in starts.values()}
                if event.data["step"] not in said:
                    text = event.data["error"] or event.data["reasoning"] or ""
                    remarks.append(Move(event.data["step"], None, None, "none", text))
    index = 0
    for id, start in starts.items():
        end = ends[id]
        breaks: tuple[str, ...] = ()
        if end["ran"]:
            breaks = tuple(name for name, places in run.broken.items() if index in places)
            index += 1
        told.append(_move(start, end, reasons, breaks))
    return sorted([*told, *remarks], key=lambda move: move.step)


def owed(run: Run) -> list[str]:
    """The rules that are broken only by how the run ended."""
    end = len(run.result["metrics"]["tool_calls"])
    return [name for name, places in run.broken.items() if end in places]


def _move(
    start: Mapping[str, Json], end: Mapping[str, Json], reasons: Sequence[Mapping[str, Json]], breaks: tuple[str, ...]
) -> Move:
    outcome: Outcome = "ran" if end["status"] == "ok" else "failed"
    text = end["error"] or end["tool_result"]
    refusals: tuple[Refusal, ...] = ()
    if end["status"] == "cancelled":
        outcome, text = "cancelled", ""
    elif end["status"] == "blocked":
        outcome, text = "refused", ""
        refusals = tuple(
            Refusal(reason["constraint_name"], reason["detail"], reason["severity"] == "HARD_STOP")
            for reason in _reasons(start, reasons)
        )
    return Move(start["step"], start["tool_name"], start["arguments"], outcome, _text(text), refusals, breaks)


def _reasons(start: Mapping[str, Json], reasons: Iterable[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """The violations of a call: those of its tool in its step, and of several such calls those with its arguments."""
    here = [r for r in reasons if (r["step_number"], r["tool_name"]) == (start["step"], start["tool_name"])]
    return [reason for reason in here if reason["tool_args"] == start["arguments"]] or here


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def changed(before: Snapshot, after: Sequence[Snapshot]) -> list[Line]:
    """The orders, the money and the messages that differ after any of the runs."""
    lines = []
    orders = before.tables["orders"]
    for key, order in orders.items():
        lines.append(
            Line(f"order {key} ({order['item']})", _status(before, key), tuple(_status(s, key) for s in after))
        )
    paid = dict.fromkeys(row["order_id"] for s in (before, *after) for row in s.tables["refunds"].values())
    for key in paid:
        name = f"refunds of {key}"
        if key in orders:
            name += f" ({amount(orders[key]['paid']):.2f} € paid)"
        lines.append(Line(name, f"{refunded(before, key):.2f} €", tuple(f"{refunded(s, key):.2f} €" for s in after)))
    told = dict.fromkeys(row["customer"] for s in (before, *after) for row in s.tables["messages"].values())
    for customer in told:
        lines.append(
            Line(f"messages to {customer}", _messages(before, customer), tuple(_messages(s, customer) for s in after))
        )
    return [line for line in lines if any(text != line.before for text in line.after)]


def _status(state: Snapshot, key: object) -> str:
    row = next((row for name, row in state.tables["orders"].items() if name == key), None)
    return "GONE" if row is None else str(row["status"])


def _messages(state: Snapshot, customer: object) -> str:
    return str(sum(row["customer"] == customer for row in state.tables["messages"].values()))
