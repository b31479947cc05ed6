"""One run as text: each call with its verdict, and for a refused one the rule, the reason and what to do instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from agentltl.cli.demo.run import Run
from agentltl.cli.demo.story import Move, moves, owed
from agentltl.cli.demo.wording import brief, call_text, result_text
from agentltl.cli.terminal import plain
from agentltl.constraints.constraint import Constraint


def moves_text(run: Run, rules: Mapping[str, Constraint]) -> RenderableType:
    """All moves of a run, each with what became of it, and how the run ended. `rules` are the constraints by name."""
    parts: list[RenderableType] = []
    step = 0
    for move in moves(run):
        number = f"{move.step}" if move.step != step else ""
        step = move.step
        parts.append(hung(number, Text(call_text(move), "bold" if move.tool else ""), 3))
        parts.extend(_came_of(move, rules, guarded=run.guarded))
    if run.result.ending == "max_steps":
        parts.append(Text("no step is left; the model is asked for an answer", "yellow"))
        parts.append(hung("", Text(brief(run.result["answer"] or "")), 3))
    parts.extend(Text(f"at the end, broken: {name}", "yellow") for name in owed(run))
    return Group(*parts)


def _came_of(move: Move, rules: Mapping[str, Constraint], *, guarded: bool) -> list[RenderableType]:
    """What became of a call, each line under its call."""
    lines: list[RenderableType] = []
    match move.outcome:
        case "ran" if move.tool == "final_answer":
            pass
        case "ran":
            ran = Text("allowed", "green") if guarded else Text("ran", "yellow" if move.breaks else "")
            lines.append(ran.append(f"  {result_text(move.text)}", "default"))
        case "failed":
            lines.append(Text.assemble(("failed", "yellow"), f"  {brief(move.text)}"))
        case "cancelled":
            lines.append(Text("did not run", "yellow"))
        case "refused":
            lines.extend(_refused(move, rules))
        case "none":
            pass
    if move.breaks:
        lines.append(Text(f"BREAKS {', '.join(move.breaks)}", "bold red"))
    return [Padding(line, (0, 0, 0, 3)) for line in lines]


def _refused(move: Move, rules: Mapping[str, Constraint]) -> Iterator[RenderableType]:
    """The rules that refused a call: which, why, and what to do instead."""
    word = "REFUSED"
    for refusal in move.refusals:
        rule = rules[refusal.rule]
        yield hung(word, Text.assemble((rule.name, "bold"), f": {plain(rule.description)}"), 9, "bold red")
        yield hung("reason", Text(plain(refusal.reason)), 9)
        if rule.repair:
            yield hung("instead", Text(plain(rule.repair), "green"), 9)
        if refusal.stops:
            yield Text("the run stops here", "yellow")
        word = "and"


def hung(what: str, text: Text, width: int, style: str = "dim") -> Table:
    """A text beside a short word; its further lines stand under its first."""
    table = Table.grid()
    table.add_column(width=width, no_wrap=True, style=style)
    table.add_column(overflow="fold")
    table.add_row(what, text)
    return table
