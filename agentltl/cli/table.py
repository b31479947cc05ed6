"""The report of `check` for people: a table of the constraints, the reasons, what could not be read, the totals."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentltl.cli.report import Report, Unread, Violation
from agentltl.cli.terminal import plain

FIRST = 3
"""How many traces a row names, and how many places of each."""
MOST_UNREAD = 20
"""How many inputs that could not be read are listed; the rest is counted."""


def show(report: Report, out: Console) -> None:
    """Print a report. The reasons are there if it was made with them."""
    if report.constraints:
        out.print(_table(report))
    _reasons(report, out)
    _unread(report.unread, out)
    _totals(report, out)


def _table(report: Report) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("constraint", overflow="fold")
    for title in ("weight", "traces", "violating", "violations"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("first places (call number)", overflow="fold")
    for constraint in report.constraints:
        broken = list(report.broken(constraint))
        number = sum(len(found) for _, found in broken)
        style = "red" if broken else "green" if report.meant(constraint) else "dim"
        table.add_row(
            Text(plain(constraint.name), style),
            f"{constraint.weight:g}",
            str(report.meant(constraint)),
            str(len(broken)),
            str(number),
            Text(_first(broken)),
        )
    return table


def _first(broken: Sequence[tuple[str, Sequence[Violation]]]) -> str:
    """`tau-123 #8, tau-082 #5 #10, ...`"""
    shown = []
    for name, found in broken[:FIRST]:
        places = " ".join(violation.place for violation in found[:FIRST])
        shown.append(plain(f"{name} {places}") + (" ..." if len(found) > FIRST else ""))
    return ", ".join(shown) + (", ..." if len(broken) > FIRST else "")


def _reasons(report: Report, out: Console) -> None:
    for constraint in report.constraints:
        broken = [(name, found) for name, found in report.broken(constraint) if found[0].why is not None]
        if not broken:
            continue
        out.print(Text(plain(constraint.name), "bold red"), Text(plain(constraint.description)))
        for name, found in broken:
            told = [violation for violation in found if violation.why is not None]
            for violation in told:
                place = " ".join(filter(None, (name, violation.place, violation.tool)))
                out.print(Text(f"  {plain(place)}:", "dim"), Text(plain(violation.why or "")))
            if len(told) < len(found):
                out.print(Text(f"  {plain(name)}: ... and {len(found) - len(told)} more", "dim"))
        if constraint.repair:
            out.print(Text(f"  instead: {plain(constraint.repair)}"))
        out.print()


def _unread(unread: Sequence[Unread], out: Console) -> None:
    for entry in unread[:MOST_UNREAD]:
        what = "not judged" if entry.constraint is not None else "not read"
        where = (entry.input, entry.place, entry.trace and f"trace {entry.trace}")
        out.print(Text(plain(f"{what}: {', '.join(filter(None, where))}"), "yellow"))
        for line in entry.problem.split("\n"):
            out.print(Text(f"  {plain(line)}"))
    if len(unread) > MOST_UNREAD:
        out.print(Text(f"... and {len(unread) - MOST_UNREAD} more; `--json` lists all", "yellow"))
    if unread:
        out.print()


def _totals(report: Report, out: Console) -> None:
    broken = sum(any(True for _ in report.broken(constraint)) for constraint in report.constraints)
    places = sum(len(found) for constraint in report.constraints for _, found in report.broken(constraint))
    violating = sum(any(judged.violations.values()) for judged in report.traces)
    parts = [
        f"{_many(len(report.traces), 'trace')}, {_many(report.calls, 'call')}",
        f"{_many(places, 'violation')} of {broken} of {_many(len(report.constraints), 'constraint')}"
        f" in {_many(violating, 'trace')}",
    ]
    if report.score is not None:
        parts.append(f"mean score {report.score:.3f}")
    if report.unread:
        parts.append(f"{len(report.unread)} not read or not judged")
    out.print(Text("; ".join(parts), "bold"))


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
