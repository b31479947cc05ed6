"""How a fan-out is to go, checked."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, cast

from agentltl.agents.sub_agents.budget import Budget
from agentltl.agents.sub_agents.progress import OnProgress, require_progress
from agentltl.errors import ConstraintError

RUNS_AGAIN = 2
"""How often a requirement is run again that was lost with its worker."""


@dataclass(frozen=True, slots=True)
class Options:
    """The keywords of `run_per_requirement`. Raises `ConstraintError` for what makes no sense."""

    max_workers: int = 1
    executor: Executor | None = None
    on_progress: OnProgress | Literal["bar"] | None = None
    inherit: Literal["state"] | None = None
    max_cost_usd: float | None = None
    on_worker_loss: Literal["retry", "report"] = "retry"

    def __post_init__(self) -> None:
        require_number("max_workers", self.max_workers)
        _require_one_of("inherit", self.inherit, ("state", None))
        _require_one_of("on_worker_loss", self.on_worker_loss, ("retry", "report"))
        require_progress(self.on_progress)
        Budget(self.max_cost_usd)
        if self.executor is not None and not isinstance(cast(object, self.executor), Executor):
            raise ConstraintError(
                f"`executor` is `{type(self.executor).__name__}`\n"
                "give one of `concurrent.futures`; of a Dask client, `client.get_executor()`"
            )

    @property
    def in_threads(self) -> bool:
        """Whether the workers share this process's objects; those of interpreters of their own do not."""
        executor = self.executor
        if executor is None:
            return True
        return isinstance(executor, ThreadPoolExecutor) and type(executor).__name__ != "InterpreterPoolExecutor"

    @property
    def at_once(self) -> int | None:
        """How many sub-agents are handed out at once, None for all. A pool of processes, which one of them can break,
        gets no more than it works on: what it has not begun is not lost with it."""
        pool = self.executor
        processes = cast(Any, pool)._max_workers if isinstance(pool, ProcessPoolExecutor) else None
        if pool is None or self.max_workers > 1 or self.max_cost_usd is not None:
            return self.max_workers if processes is None else min(self.max_workers, processes)
        return processes

    @property
    def runs_again(self) -> int:
        """How often a requirement is run again that was lost with its worker. Under a budget it never is: nobody knows
        what it has spent."""
        return RUNS_AGAIN if self.on_worker_loss == "retry" and self.max_cost_usd is None else 0


def require_number(name: str, value: object) -> None:
    """Raise `ConstraintError` for what is no whole number from 1 up."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConstraintError(f"`{name}` is `{value!r}`\ngive a whole number from 1 up")


def _require_one_of(name: str, value: object, choices: Sequence[object]) -> None:
    if value not in choices:
        raise ConstraintError(f"`{name}` is `{value!r}`\nuse one of: {', '.join(repr(choice) for choice in choices)}")
