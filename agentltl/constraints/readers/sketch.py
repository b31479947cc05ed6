"""A record of metrics read only as far as most rules ask: the tool of each call, and how it settled.

A call is read in full, by `metrics`, when it is looked at. A record of another form has no sketch, and what is wrong
with one is left to `metrics` to say. A value that no rule asks for is not copied, so it may be nested too deeply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat

from agentltl.constraints.readers.arguments import outcome
from agentltl.constraints.readers.decode import faster, has_long_number
from agentltl.constraints.readers.fields import identity
from agentltl.constraints.readers.jsonl import parse
from agentltl.constraints.readers.metrics import NO_STEPS, call_of, messages_of
from agentltl.constraints.readers.record import trace_of
from agentltl.constraints.trace import Call, Message, Outcome, Position, Trace
from agentltl.constraints.value import Json
from agentltl.errors import TraceError

Raw = str | bytes | bytearray
NAMES = ("tool_name", "name")
ARGUMENTS = ("arguments", "tool_args", "args_raw")
RESULTS = ("tool_result", "result")
CHECKED = frozenset({"id", "tool_id", "step", "turn", "agent", "start_time", "start", "end_time", "end", "error"})
"""Fields that may be wrong, or change how a call settled: a record with one of them is read in full."""
OK = outcome({}, "")


@dataclass(frozen=True, slots=True)
class Shape:
    """How entries with the same keys are read. `easy`: their name and their result say all."""

    name: str
    arguments: str | None
    result: str
    easy: bool


@lru_cache(maxsize=4096)
def _shape(keys: tuple[str, ...]) -> Shape:
    name, args, result = ([key for key in group if key in keys] for group in (NAMES, ARGUMENTS, RESULTS))
    easy = len(name) == len(result) == 1 and len(args) < 2 and CHECKED.isdisjoint(keys)
    return Shape(name[0], args[0] if args else None, result[0], True) if easy else Shape("", None, "", False)


class Sketch:
    """One record whose calls all are plainly ok. `raw` is the text from which it was decoded in haste.

    `tools` are those of the calls, `args` their arguments as recorded, or None where there are none.
    """

    def __init__(
        self,
        record: Mapping[str, Json],
        metrics: Mapping[str, Json],
        tools: list[str],
        args: list[Json] | None,
        raw: Raw | None,
    ) -> None:
        self.record, self.metrics, self.tools, self.args, self.raw = record, metrics, tools, args, raw
        self.id: str | None = None
        if "id" in record or "id" in metrics:
            self.id = identity(record, "id") or identity(metrics, "id")
        said = metrics.get("user_messages")
        self.messages: tuple[Message, ...] | None = None if said is None else messages_of(said)

    @classmethod
    def of(cls, record: object, raw: Raw | None = None) -> Sketch | None:
        """The sketch of a record; None for one of another form."""
        if type(record) is not dict:
            return None
        inner = record.get("metrics")
        metrics = inner if type(inner) is dict and "tool_calls" in inner else record
        if (metrics is record and (inner is not None or "role" in record)) or metrics.get("steps"):
            return None
        entries = metrics.get("tool_calls")
        columns = _columns(entries) if type(entries) is list else None
        if columns is None:
            return None
        try:
            return cls(record, metrics, *columns, raw)
        except TraceError:
            return None

    def events(self) -> Iterable[tuple[str, Json, Outcome]]:
        """The tool of each call, its arguments as recorded and what stands for its outcome."""
        return zip(self.tools, repeat(None) if self.args is None else self.args, repeat(OK))

    @cached_property
    def exact(self) -> Mapping[str, Json]:
        """The record with its numbers as they were written."""
        if self.raw is not None and has_long_number(self.raw):
            value: Mapping[str, Json] = parse(self.raw)
            return value
        return self.record

    @cached_property
    def trace(self) -> Trace:
        """The record read in full."""
        return trace_of(self.exact)

    @cached_property
    def head(self) -> Trace:
        """The trace without its calls."""
        calls: dict[str, Json] = {"tool_calls": []}
        if self.metrics is self.record:
            return trace_of({**self.exact, **calls})
        return trace_of({**self.exact, "metrics": {**self.exact["metrics"], **calls}})

    def near(self, index: int) -> Position:
        """The position of a call, for rules that look at nothing but the call."""
        return Position(self._call(index), index, (), None)

    def far(self, index: int) -> Position:
        """The position of a call."""
        calls = self.trace.finished().calls
        return Position(calls[index], index, calls, self.trace.messages)

    def _call(self, index: int) -> Call:
        metrics = self.exact if self.metrics is self.record else self.exact["metrics"]
        return call_of(metrics["tool_calls"][index], NO_STEPS)


def _columns(entries: list[Json]) -> tuple[list[str], list[Json] | None] | None:
    """The tools and the arguments, where all entries have the same keys, a name and a result, and nothing to check."""
    if not entries:
        return [], None
    if type(entries[0]) is not dict:
        return None
    keys = tuple(entries[0])
    shape = _shape(keys)
    if not shape.easy:
        return None
    try:
        if sum(map(len, entries)) != len(keys) * len(entries):
            return None
        columns = {key: [entry[key] for entry in entries] for key in keys}
        tools, results = columns[shape.name], columns[shape.result]
        "".join(tools)  # refuses what is no text
    except (KeyError, TypeError):
        return None
    if not all(tools) or not _some(results):
        return None
    return tools, None if shape.arguments is None else columns[shape.arguments]


def _some(results: list[Json]) -> bool:
    """Whether no result is null."""
    try:
        "".join(results)  # the fastest way to see that all are texts
    except TypeError:
        return None not in results
    return True


def decoded(raw: Raw) -> tuple[Json, bool]:
    """The value of a JSON text, and whether it was decoded in haste: then it has to be parsed again unless it has a
    sketch."""
    loads = faster()
    if loads is not None:
        try:
            return loads(raw), True
        except ValueError:
            pass
    return parse(raw), False
