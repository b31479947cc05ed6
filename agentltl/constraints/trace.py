"""A trace: the tool calls of a run in the order in which they started, each with what came of it.

A call is an event when it starts and its outcome arrives later; a position is one event as a rule sees it, together
with all that was known when it started.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from agentltl.constraints.value import STARTS, FrozenDict, Json, as_text, freeze, hold, read_text


class _Absent:
    """One object, also after a copy or in another process."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "absent"

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()
"""The parsed result of an outcome whose text is no JSON."""
NO_ARGUMENTS: Json = FrozenDict()
_new = tuple.__new__

SPECIAL = frozenset({"final_answer", "approved"})
"""Tools whose calls are events only for a rule that names them."""


class _Outcome(NamedTuple):
    text: str | None
    value: Json
    error: str | None
    status: str | None
    end: float | None
    settled: bool


class Outcome(_Outcome):
    """What came of a call.

    `text` is the result as text, `value` the JSON it parses to (`ABSENT` if it does not), `error` the text of an error
    (None or empty: none), `end` the time in seconds at which it settled; `settled=False` is a call of a finished trace
    that never settled: neither ok nor failed.
    """

    __slots__ = ()

    def __new__(
        cls,
        text: str | None = None,
        value: Json = ABSENT,
        error: str | None = None,
        status: str | None = None,
        end: float | None = None,
        settled: bool = True,
    ) -> Self:
        return _new(cls, (text, value, error, status, end, settled))

    @classmethod
    def of(
        cls, result: object = None, error: str | None = None, status: str | None = None, end: float | None = None
    ) -> Self:
        """From a raw result: a text is parsed if it is JSON, any other value is itself and its `str` the text."""
        if isinstance(result, str):
            said = result if type(result) is str else str(result)
            value = read_text(said, ABSENT) if said[:1] in STARTS else ABSENT
            return _new(cls, (said, value, error or None, status, end, True))
        text = None if result is None else as_text(result)
        return cls(text, hold(result) if result is not None else ABSENT, error or None, status, end)

    @property
    def way(self) -> int:
        """How it settled, for tables: 1 never, 2 failed, 3 ok."""
        return (2 if self.error else 3) if self.settled else 1

    @property
    def failed(self) -> bool:
        return self.settled and bool(self.error)

    @property
    def ok(self) -> bool:
        return self.settled and not self.error


NEVER = Outcome(settled=False)
"""The outcome of a call of a finished trace that never settled."""


class _Call(NamedTuple):
    tool: str
    args: Json
    id: str | None
    step: int | None
    agent: str | None
    start: float | None
    outcome: Outcome | None
    approves: str | None


class Call(_Call):
    """One tool call. `start` is in seconds; `step` is shared by the calls of one model message; `outcome` is None while
    it runs. For the event `approved`, `approves` is the tool whose call was approved and `args` its arguments."""

    __slots__ = ()

    def __new__(
        cls,
        tool: str,
        args: Json = NO_ARGUMENTS,
        id: str | None = None,
        step: int | None = None,
        agent: str | None = None,
        start: float | None = None,
        outcome: Outcome | None = None,
        approves: str | None = None,
    ) -> Self:
        if type(args) is not FrozenDict:
            args = freeze(args)
        return _new(cls, (tool, args, id, step, agent, start, outcome, approves))

    def settle(self, outcome: Outcome | None) -> Call:
        """The same call with its outcome."""
        tool, args, id_, step, agent, start, _, approves = self
        return _new(Call, (tool, args, id_, step, agent, start, outcome, approves))


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user. It is known to the calls from index `before` on."""

    text: str
    before: int = 0


class Position(NamedTuple):
    """One position of a trace.

    `calls` are the calls of the trace (at least those before `index`), `messages` those of the user (None: the form
    does not record them), `hidden` the tools whose calls are no events for the rule that looks.
    """

    call: Call
    index: int  # type: ignore[assignment]  # the place in the trace; nobody searches a position as a tuple
    calls: Sequence[Call]
    messages: Sequence[Message] | None
    hidden: frozenset[str] = SPECIAL

    @property
    def previous(self) -> Call | None:
        """The event before this one."""
        return next(self.earlier(), None)

    def earlier(self) -> Iterator[Call]:
        """The events before this one, the latest first."""
        for i in range(self.index - 1, -1, -1):
            if self.calls[i].tool not in self.hidden:
                yield self.calls[i]

    @property
    def said(self) -> Sequence[Message] | None:
        """What the user has said so far."""
        if self.messages is None:
            return None
        return self.messages[: bisect_right(self.messages, self.index, key=lambda m: m.before)]


@dataclass(frozen=True, slots=True)
class Trace:
    """The calls of a run in the order in which they started, and the user's messages (None: not recorded).

    `id` and `fields` name it and say more about it (`where:` of a constraint looks at `fields`).
    """

    calls: tuple[Call, ...] = ()
    messages: tuple[Message, ...] | None = None
    id: str | None = None
    fields: Mapping[str, Json] = field(default_factory=FrozenDict)

    @property
    def events(self) -> list[str]:
        """The names of the tools, in order."""
        return [call.tool for call in self.calls]

    def __len__(self) -> int:
        return len(self.calls)

    def finished(self) -> Trace:
        """The same trace, ended: what still runs never settled."""
        if all(call.outcome is not None for call in self.calls):
            return self
        return replace(self, calls=tuple(c if c.outcome is not None else c.settle(NEVER) for c in self.calls))

    def positions(self, hidden: frozenset[str] = SPECIAL) -> Iterator[Position]:
        """The positions that a rule sees to which the tools in `hidden` are no events."""
        for index, call in enumerate(self.calls):
            if call.tool not in hidden:
                yield Position(call, index, self.calls, self.messages, hidden)

    @classmethod
    def from_metrics(cls, metrics: Mapping[str, Json]) -> Trace:
        """From the metrics dict of a run; see `agentltl.constraints.readers`."""
        from agentltl.constraints.readers.metrics import from_metrics

        return from_metrics(metrics)

    @classmethod
    def from_messages(cls, messages: Iterable[Mapping[str, Json]] | Mapping[str, Json]) -> Trace:
        """From the messages of a chat in the forms of OpenAI or Anthropic, or a mapping with them under `messages`."""
        from agentltl.constraints.readers.messages import from_messages

        return from_messages(messages)

    @classmethod
    def from_smolagents(cls, agent: object) -> Trace:
        """From a smolagents agent, its memory, or a list of its steps."""
        from agentltl.constraints.readers.memory import from_smolagents

        return from_smolagents(agent)

    @classmethod
    def from_jsonl(cls, source: object) -> list[Trace]:
        """From a file (path or lines) with one JSON trace a line; `.gz` is unpacked."""
        from agentltl.constraints.readers.jsonl import from_jsonl

        return from_jsonl(source)
