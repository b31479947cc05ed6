"""The demo on a terminal: both runs of a task side by side where there is room, then what became of the database.

Nothing is said by colour alone: a pipe, a pager and a terminal without colours show the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import ROUNDED, SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from agentltl.cli.demo.run import Run
from agentltl.cli.demo.show import hung, moves_text
from agentltl.cli.demo.story import changed, moves
from agentltl.cli.demo.wording import brief
from agentltl.cli.terminal import plain
from agentltl.constraints.constraint import Constraint

WIDE = 112
"""From this many characters on, two runs stand side by side."""
WIDEST = 160
"""Longer lines are hard to read."""
TITLES = ("without rules", "with rules")


class Screen:
    """Writes the demo to a console.

    `constraints` are the rules of the guarded runs; of a run that is `recorded` it would mislead to say how long it
    took.
    """

    def __init__(self, out: Console, constraints: Sequence[Constraint], *, recorded: bool) -> None:
        self._recorded = recorded
        out.width = min(out.width, WIDEST)
        self._out = out
        self._rules = {constraint.name: constraint for constraint in constraints}

    def opening(self, model: str, tasks: int) -> None:
        """What this is, in three lines."""
        each = "Each task runs" if tasks > 1 else "The task runs"
        how = "recorded; nothing is sent" if self._recorded else "running now"
        self._out.print(
            Text.assemble(
                ("A language model works at the order desk of a shop, with a real database.\n", "bold"),
                f"{each} twice: freely, then with {len(self._rules)} rules that judge each call first.\n",
                (f"model: {plain(model)}, {how}", "dim"),
            )
        )

    def task(self, without: Run, guarded: Run) -> None:
        """One task: the request, what the model did, what became of the database, and the score."""
        task = without.task
        self._out.print()
        self._out.rule(Text(f"task {task.name}", "bold"), align="left", style="dim")
        self._out.print(hung("user", Text(plain(task.request)), 6, "bold cyan"))
        self._out.print(hung("", Text(task.about, "dim"), 6))
        columns = [moves_text(run, self._rules) for run in (without, guarded)]
        if self._out.width >= WIDE:
            self._out.print(_boxed(dict(zip(TITLES, columns, strict=True))))
        else:
            for title, column in zip(TITLES, columns, strict=True):
                self._out.print(_boxed({title: column}))
        self._out.print(_outcome(without, guarded, timed=not self._recorded))
        self._out.print(hung("harm", _harms((without, guarded)), 6, "bold"))

    def scores(self, pairs: Sequence[tuple[Run, Run]]) -> None:
        """For each rule the tasks in which it was broken, and the mean score."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        table.add_column("rule", overflow="fold")
        table.add_column("weight", justify="right", no_wrap=True)
        for title in TITLES:
            table.add_column(title, overflow="fold")
        if self._out.width >= WIDE:
            table.add_column("what it says", overflow="fold")
        for name, rule in self._rules.items():
            cells = []
            for side in zip(*pairs, strict=True):
                broken = [run.task.name for run in side if name in _failed(run)]
                where = f"broken in {', '.join(broken)}" if len(pairs) > 1 else "broken"
                cells.append(Text(where, "red") if broken else Text("kept", "green"))
            more = [Text(plain(rule.description))] if self._out.width >= WIDE else []
            table.add_row(Text(plain(name)), f"{rule.weight:g}", *cells, *more)
        table.add_section()
        harmed = [[run.task.name for run in side if run.harms] for side in zip(*pairs, strict=True)]
        table.add_row(
            Text("harm done", "bold"),
            "",
            *(Text(", ".join(names), "bold red") if names else Text("none", "green") for names in harmed),
        )
        means = [sum(_score(run) for run in side) / len(side) for side in zip(*pairs, strict=True)]
        title = "mean score" if len(pairs) > 1 else "score"
        table.add_row(Text(title, "bold"), "", *(Text(f"{mean:.2f}", "bold") for mean in means))
        self._out.print()
        self._out.rule(Text("the rules", "bold"), align="left", style="dim")
        self._out.print(table)

    def closing(self, commands: Mapping[str, str], notes: Sequence[str]) -> None:
        """What to try next."""
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for command, what in commands.items():
            table.add_row(Text(command, "bold"), Text(what))
        self._out.print()
        self._out.print(Text("next", "bold"))
        self._out.print(Padding(table, (0, 0, 0, 2)))
        for note in notes:
            self._out.print(Text(plain(note)), soft_wrap=True)


def _boxed(columns: Mapping[str, RenderableType]) -> Table:
    table = Table(box=ROUNDED, expand=True, border_style="dim")
    for ratio, title in enumerate(columns, 1):  # a guarded run has more to tell
        table.add_column(title, ratio=ratio, overflow="fold", header_style="bold")
    table.add_row(*columns.values())
    return table


def _outcome(without: Run, guarded: Run, *, timed: bool) -> Table:
    """The database before and after, the metrics and the score of both runs."""
    runs = (without, guarded)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, expand=True)
    table.add_column("database", overflow="fold", ratio=4)
    table.add_column("before", overflow="fold", width=9, no_wrap=True)
    for title in TITLES:
        table.add_column(title, overflow="fold", ratio=3)
    lines = changed(without.before, [run.after for run in runs])
    for line in lines:
        cells = [
            Text(brief(text), "" if text == line.before else "bold red" if run.harms else "bold")
            for run, text in zip(runs, line.after, strict=True)
        ]
        table.add_row(Text(brief(line.name)), Text(brief(line.before)), *cells)
    if not lines:
        table.add_row("as it was", "", "", "")
    table.add_section()
    table.add_row("calls", "", *(_calls(run) for run in runs))
    table.add_row("steps, tokens", "", *(_spent(run) for run in runs))
    if timed:
        table.add_row("seconds", "", *(f"{(run.result.duration_ms or 0) / 1000:.1f}" for run in runs))
    table.add_row("score", "", *(Text(f"{_score(run):.2f} {run.compliance['compliance_label']}") for run in runs))
    return table


def _harms(runs: Sequence[Run]) -> Text:
    """What harm each run did, in words."""
    lines = []
    for title, run in zip(TITLES, runs, strict=True):
        done = Text("; ".join(map(plain, run.harms)), "bold red") if run.harms else Text("none", "bold green")
        lines.append(Text.assemble(f"{title}: ", done))
    return Text("\n").join(lines)


def _calls(run: Run) -> str:
    made = [move for move in moves(run) if move.tool is not None]
    refused = sum(move.outcome == "refused" for move in made)
    ran = sum(move.outcome in ("ran", "failed") for move in made)
    return f"{ran} ran" + (f", {refused} refused" if run.guarded else "")


def _spent(run: Run) -> str:
    metrics = run.result["metrics"]
    return f"{metrics['num_steps']}, {metrics['total_tokens']:,}"


def _score(run: Run) -> float:
    score: float = run.compliance["compliance_score"]
    return score


def _failed(run: Run) -> set[str]:
    """The names of the rules that a run did not keep."""
    return {record["name"] for record in run.compliance["constraints"] if not record["passed"]}
