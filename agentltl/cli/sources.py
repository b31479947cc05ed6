"""The inputs of a command: files, globs and standard input, each a reading of traces."""

from __future__ import annotations

import glob
import gzip
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from agentltl.constraints.readers.jsonl import GZIP, Reading, read_jsonl

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Source:
    """One input under the name that reports use; `problem` says why there is nothing to read."""

    name: str
    path: str | None = None
    problem: str | None = None

    def reading(self) -> Reading:
        """Its traces, read while they are asked for; a file that cannot be opened is a `TraceError` then."""
        return read_jsonl(_stdin() if self.path is None else self.path)


def sources(arguments: Sequence[str]) -> Iterator[Source]:
    """The inputs that the arguments of a command name, in order, each file once.

    A name that is no file and looks like a glob stands for the files that match it, sorted.
    """
    met: set[object] = set()
    for argument in arguments:
        for source in _named(argument):
            identity = source.name if source.path is None else Path(source.path).resolve()
            if identity not in met:
                met.add(identity)
                yield source


def _named(argument: str) -> Iterator[Source]:
    if argument == STDIN:
        closed = "standard input is closed\ngive it traces, one a line, or name a file"
        yield Source("standard input", None, closed if sys.stdin is None else None)
    elif not glob.has_magic(argument) or Path(argument).exists():
        yield Source(argument, argument)
    else:
        found = sorted(path for path in glob.iglob(argument, recursive=True) if not Path(path).is_dir())
        yield from (Source(path, path) for path in found)
        if not found:
            yield Source(
                argument, argument, f"no file matches `{argument}`\ncheck the pattern, and from where it starts"
            )


def _stdin() -> Iterable[bytes]:
    """The lines of standard input, unpacked if they are packed with gzip."""
    stream = sys.stdin.buffer
    packed = hasattr(stream, "peek") and stream.peek(2)[:2] == GZIP
    return cast("IO[bytes]", gzip.GzipFile(fileobj=stream) if packed else stream)
