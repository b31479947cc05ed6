"""What all commands show on a terminal: consoles, progress on standard error, and texts that cannot steer it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 160
"""How wide a table is, in characters, when no terminal says how wide it may be."""


def console(piped_width: int | None = PIPED_WIDTH) -> Console:
    """The console for a command's result; a character that its encoding lacks is shown as an escape.

    `piped_width` is the width when the output goes elsewhere; None takes that of the terminal around it, if any.
    """
    from rich.console import Console

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return Console(width=None if sys.stdout.isatty() else piped_width, highlight=False)


def plain(text: str) -> str:
    """A text from outside as one line without control characters: `\\x1b` becomes visible."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def complain(message: str) -> None:
    """Show an error: what is wrong and what to do next."""
    print("\n".join(plain(line) for line in message.split("\n")), file=sys.stderr)


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """While work goes on, a line on standard error, if that is a terminal; it is gone when the work is done.

    The function that it gives is called with what has been done so far, as text.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what)
        yield lambda done: shown.update(task, description=f"{what}: {plain(done)}")
