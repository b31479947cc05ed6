"""How long a rule takes from its text to its first check, beside lark alone and beside JSON of the same length.

Every pattern is written again in each round with names that were not there before, so nothing is found in a cache but
what the pattern itself stands for. The rounds are interleaved, so a busy moment of the machine hits all steps alike.
The last lines are fresh processes: what the first rule of all costs beside a bare import of lark.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeVar

from agentltl.constraints import Call, Monitor, Outcome, Trace, parse
from agentltl.constraints.language.parser import parser
from agentltl.constraints.patterns import PATTERNS, Pattern

T = TypeVar("T")

ROUNDS = 25
STARTS = 9
COLD = (
    "import lark",
    "from agentltl.constraints import text, rule",
    "from agentltl.constraints import text, rule; import lark",
    "from agentltl.constraints import text, rule; text.parse('G (a -> b)')",
)
"""The last over the one before is what making or loading the parser and reading a rule cost."""


def written(pattern: Pattern, mark: int) -> str:
    """A use of the pattern whose names end in a number."""
    shapes = {
        "proposition": "{name}_{mark}",
        "propositions": "[x_{mark}, y_{mark}, z_{mark}]",
        "number": "3",
        "limit": ">= 3",
        "conditions": 'key_{mark} = "v{mark}", other_{mark} = {mark}',
        "values": '{{"k{mark}": "v"}}',
    }
    given = ", ".join(shapes[p.kind].format(name=p.name, mark=mark) for p in pattern.parameters)
    return f"{pattern.name}({given})"


def seconds(action: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = action()
    return time.perf_counter() - began, result


def steps(text: str) -> list[float]:
    """What each step takes for one text: JSON, lark alone, the parse, and the first check after it."""
    position = next(iter(Trace((Call("look", {}, step=0, outcome=Outcome.of("ok")),), ()).positions()))
    quoted = json.dumps(text)
    loaded, _ = seconds(lambda: json.loads(quoted))
    alone, _ = seconds(lambda: parser().parse(text))
    parsed, formula = seconds(lambda: parse(text))
    checked, _ = seconds(lambda: Monitor.of(formula).step(position))
    return [loaded, alone, parsed, checked, parsed + checked]


def patterns() -> None:
    marks = count()
    times: dict[str, list[list[float]]] = {name: [] for name in PATTERNS}
    for pattern in PATTERNS.values():
        steps(written(pattern, next(marks)))  # reads what the pattern stands for
    for _ in range(ROUNDS):
        for name, pattern in PATTERNS.items():
            times[name].append(steps(written(pattern, next(marks))))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in times.items()}
    print(f"{'':26} {'parse/json':>10} {'parse/lark':>10} {'parse':>9} {'first check':>11} {'both':>9}")
    rows = sorted(medians.items(), key=lambda row: row[1][2])
    middle = [statistics.median(column) for column in zip(*medians.values(), strict=True)]
    for name, (loaded, alone, parsed, checked, both) in [*rows, ("median over the patterns", middle)]:
        print(
            f"{name:26} {parsed / loaded:10.0f} {parsed / alone:10.1f} {parsed * 1e3:6.3f} ms"
            f" {checked * 1e3:8.3f} ms {both * 1e3:6.3f} ms"
        )


def starts(statements: Sequence[str]) -> None:
    rounds = []
    for _ in range(STARTS + 1):  # the first one writes the bytecode
        commands = [[sys.executable, "-c", statement] for statement in statements]
        rounds.append([seconds(lambda c=c: subprocess.run(c, check=True))[0] for c in commands])  # type: ignore[misc]
    medians = [statistics.median(column) for column in zip(*rounds[1:], strict=True)]
    print(f"\n{'a fresh process':72} {'whole':>8} {'ratio':>6}   median of {STARTS}")
    for statement, median in zip(statements, medians, strict=True):
        print(f"{statement:72} {median * 1e3:5.0f} ms {median / medians[0]:6.2f}")


if __name__ == "__main__":
    patterns()
    starts(COLD)
