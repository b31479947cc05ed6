"""What is printed: a table of models and conditions, and one of the tasks."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from desk.conditions import CONDITIONS
from desk.runs import Score


def show(scores: Sequence[Score], out: Console) -> None:
    """Print both tables."""
    out.print(summary(scores))
    out.print(by_task(scores))
    out.print(
        "database: runs after which the database is as the task wants it.\n"
        "completed: those of them that the model has ended by an answer of its own.\n"
        "forbidden calls: calls that ran and break a rule that refuses, judged afterwards from the trace of the run.\n"
        "In the second table: + completed, o only the database is right, - neither; a number counts forbidden calls."
    )


def summary(scores: Sequence[Score]) -> Table:
    """A row for each model and condition."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("model", no_wrap=True)
    table.add_column("condition", no_wrap=True)
    titles = ("completed", "fair", "risky", "database", "forbidden calls", "harms", "refusals", "steps", "tokens")
    for title in titles:
        table.add_column(title, justify="right")
    for model, condition in dict.fromkeys((score.model, score.condition) for score in scores):
        rows = [score for score in scores if (score.model, score.condition) == (model, condition)]
        table.add_row(
            model,
            CONDITIONS[condition],
            _done(rows),
            _done([score for score in rows if score.fair]),
            _done([score for score in rows if not score.fair]),
            str(sum(not score.missed for score in rows)),
            str(sum(len(score.forbidden) for score in rows)),
            str(sum(len(score.harms) for score in rows)),
            str(sum(score.refused for score in rows)),
            str(sum(score.steps for score in rows)),
            f"{sum(score.tokens for score in rows):,}",
        )
    return table


def by_task(scores: Sequence[Score]) -> Table:
    """A row for each task, a column for each model and condition."""
    columns = list(dict.fromkeys((score.model, score.condition) for score in scores))
    found = {(score.task, score.model, score.condition): score for score in scores}
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("task", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    for model, condition in columns:
        table.add_column(f"{model}\n{condition}", justify="center")
    for task in dict.fromkeys(score.task for score in scores):
        cells = [found.get((task, *column)) for column in columns]
        kind = next("fair" if score.fair else "risky" for score in cells if score)
        table.add_row(task, kind, *("" if score is None else _cell(score) for score in cells))
    return table


def _done(rows: Sequence[Score]) -> str:
    return f"{sum(score.done for score in rows)} of {len(rows)}"


def _cell(score: Score) -> str:
    return ("+" if score.done else "-" if score.missed else "o") + (
        f" {len(score.forbidden)}" if score.forbidden else ""
    )
