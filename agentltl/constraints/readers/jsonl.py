"""Files of traces: one JSON trace a line, or one JSON document.

A line that is no trace does not keep the others from being read.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import IO, NamedTuple, cast

from agentltl.constraints.readers.fields import quoted
from agentltl.constraints.readers.record import is_chat, trace_of
from agentltl.constraints.trace import Trace
from agentltl.constraints.value import Json
from agentltl.errors import TraceError

GZIP = b"\x1f\x8b"


def from_jsonl(source: object) -> list[Trace]:
    """All traces of a source (see `Reading`); a line that is no trace is a `TraceError` that names it."""
    reading = read_jsonl(source)
    traces = []
    for trace in reading:
        if reading.unread:
            break
        traces.append(trace)
    if reading.unread:
        place, problem = reading.unread[0]
        file = f"`{os.fspath(source)}`, " if isinstance(source, (str, os.PathLike)) else ""
        raise TraceError(f"{file}{place}: {problem}")
    return traces


def read_jsonl(source: object) -> Reading:
    """The traces of a source, one after another, past the lines that are no trace."""
    return Reading(source)


class Reading:
    """The traces of a source, read while they are asked for.

    The source is a path (what is packed with gzip is unpacked, `.json` is one document), an open file, or lines.
    A trace without an `id` has the number of its line (of its entry, in a document) as text. `unread` lists what was no
    trace as (place, problem), complete once the iteration has ended; a new iteration begins it anew. `broken` is the
    last of them where the source could not be read to its end.
    A file that cannot be opened is a `TraceError`.
    """

    def __init__(self, source: object) -> None:
        is_path = isinstance(source, (str, os.PathLike))
        if not is_path and (isinstance(source, (bytes, Mapping)) or not isinstance(source, Iterable)):
            raise TraceError(f"{quoted(source)} is no source of traces\npass a path, an open file, or a list of lines")
        self._source = cast("str | os.PathLike[str] | Iterable[object]", source)
        self.unread: list[tuple[str, str]] = []
        self.broken: tuple[tuple[str, str], ...] = ()

    def __iter__(self) -> Iterator[Trace]:
        for item in self.records():
            try:
                trace = trace_of(parse(item.value) if item.raw else item.value)
            except TraceError as error:
                self.unread.append((item.place, str(error)))
            else:
                yield trace if trace.id is not None else replace(trace, id=str(item.number))

    def records(self) -> Iterator[Record]:
        """What may be a trace, one after another, not yet looked at."""
        self.unread.clear()
        self.broken = ()
        read = 0
        try:
            for item in _file(self._source) if isinstance(self._source, (str, os.PathLike)) else _lines(self._source):
                read = item.number
                yield item
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            place = f"after line {read}" if read else "the file"
            self.broken = ((place, f"the file cannot be read on: {error}\nwrite or fetch it anew"),)
            self.unread += self.broken


class Record(NamedTuple):
    """What may be a trace, and where it stands; `raw` is not yet parsed."""

    place: str
    number: int
    value: Json
    raw: bool


def _file(path: str | os.PathLike[str]) -> Iterator[Record]:
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; only the opening is tried here
    except OSError as error:
        raise TraceError(f"`{os.fspath(path)}` cannot be opened: {error.strerror}\ncheck the path") from None
    name = PurePath(path)
    suffix = PurePath(name.stem).suffix if name.suffix.lower() == ".gz" else name.suffix
    with file:
        packed = file.peek(2)[:2] == GZIP
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file) if packed else file)
        yield from _document(stream.read()) if suffix.lower() == ".json" else _lines(stream)


def _lines(lines: Iterable[object]) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        raw = isinstance(line, (str, bytes, bytearray))
        if not raw or line.strip():  # type: ignore[attr-defined]
            yield Record(f"line {number}", number, line, raw)


def _document(content: bytes) -> Iterator[Record]:
    """The entries of a document; many files named `.json` hold a trace a line, and are read so."""
    try:
        value = parse(content)
    except TraceError:
        lines = content.splitlines()
        first = next((line for line in lines if line.strip()), b"")
        try:
            parse(first)
        except TraceError:
            yield Record("the file", 1, content, True)
            return
        yield from _lines(lines)
        return
    many = isinstance(value, list) and not (value and is_chat(value))
    for number, entry in enumerate(value if many else [value], 1):
        yield Record(f"entry {number}", number, entry, False)


def parse(raw: str | bytes | bytearray) -> Json:
    """The JSON value of a text, which may begin with a byte order mark."""
    try:
        return json.loads(raw.removeprefix("\ufeff") if isinstance(raw, str) else raw)
    except json.JSONDecodeError as error:
        where = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        raise TraceError(f"no JSON: {error.msg} at {where}\nwrite one JSON value a line") from None
    except UnicodeDecodeError:
        raise TraceError("no text in UTF-8\nwrite JSON in UTF-8, packed with gzip or not at all") from None
    except RecursionError:
        raise TraceError("a value is nested too deeply\nflatten it, or leave it out") from None
    except ValueError as error:
        raise TraceError(f"no JSON: {error}\nwrite one JSON value a line") from None
