"""What is sent to a worker in another process, and what it sends back."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentltl.record.events import Event
from agentltl.record.result import Result


@dataclass(frozen=True, slots=True)
class Parcel:
    """A sub-agent to be run: the `blueprint` of the agents of its fan-out, and its `prompt`.

    `submission` is this try's own; with `once` a worker that is told of it a second time does not run it.
    `events`: the events are wanted, too. What may be secret is not in the text form, which executors log.
    """

    fan_out: str
    submission: str
    blueprint: bytes = field(repr=False)
    prompt: str = field(repr=False)
    events: bool = False
    once: bool = False

    def __dask_tokenize__(self) -> str:
        """Dask calls a task by what it is made of, and runs none twice of one name."""
        return self.submission


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of it: a `result`, or an error and the name of its class; `lost`: another worker had it before."""

    result: Result | None = None
    events: tuple[Event, ...] = ()
    error: str = ""
    error_class: str = ""
    lost: bool = False
