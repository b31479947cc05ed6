"""The loop of a peer's process: one request a line, one answer a line, both JSON.

`{"work": name, ...settings}` is answered by `{"seconds": ...}`, or by `{"error": ...}`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping

Work = Callable[..., float]
"""Does some work as its settings say, and gives the seconds that one unit of it took."""


def serve(works: Mapping[str, Work]) -> None:
    """Answer until the input ends. What the peer itself prints goes to the error stream."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        settings = json.loads(line)
        try:
            answer: dict[str, object] = {"seconds": works[settings.pop("work")](**settings)}
        except Exception as error:  # the process that asked shows it
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def expect(holds: bool, what: str) -> None:
    """A figure of work that went wrong is worth nothing."""
    if not holds:
        raise RuntimeError(what)
