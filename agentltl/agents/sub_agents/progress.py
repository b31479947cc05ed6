"""How far a fan-out has come, as a bar in the terminal."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from agentltl.errors import ConstraintError
from agentltl.record.sub_results import SubResult

OnProgress = Callable[[int, int, SubResult], object]
"""Called with how many requirements are done, how many there are, and the result that has just come."""

logger = logging.getLogger("agentltl")


@contextmanager
def progress(wanted: OnProgress | Literal["bar"] | None, total: int) -> Iterator[OnProgress]:
    """What is told of each result. `"bar"` is a bar on standard error, if that is a terminal; a function that raises
    is logged and does not disturb the others."""
    if wanted is None:
        yield lambda done, total, result: None
    elif wanted == "bar":
        with _bar(total) as advance:
            yield advance
    else:
        yield _careful(wanted)


def require_progress(wanted: object) -> None:
    """Raise `ConstraintError` for what is nothing to be told of results."""
    if wanted is not None and wanted != "bar" and not callable(wanted):
        raise ConstraintError(f'`on_progress` is `{wanted!r}`\ngive a function, "bar", or None')


def _careful(told: OnProgress) -> OnProgress:
    def tell(done: int, total: int, result: SubResult) -> None:
        try:
            told(done, total, result)
        except Exception:
            logger.exception("`on_progress` failed on the requirement `%s`", result["requirement_id"])

    return tell


@contextmanager
def _bar(total: int) -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        bar, errors = shown.add_task("", total=total), 0

        def advance(done: int, total: int, result: SubResult) -> None:
            nonlocal errors
            errors += result.is_error
            text = f"{errors} failed" if errors else ""
            shown.update(bar, completed=done, description=text)

        yield advance
