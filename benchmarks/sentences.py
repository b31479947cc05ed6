"""How long the sentence for a refused call takes, beside the judgement that refuses it.

Each rule is broken by the last call of a run. The rounds are interleaved, so a busy moment of the machine hits all
measurements alike; medians of one run.
"""

import statistics
import time
from collections.abc import Callable

from agentltl.constraints import parse
from agentltl.constraints.explain import explain_breach
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.trace import Call, Outcome, Trace

ROUNDS = 9
LENGTHS = (100, 1_000, 2_000)
RULES = (
    "G !pay",
    "before(approve, pay)",
    "G (pay -> seen(.to, look))",
    "G (pay(to = ?x) -> O approve(to = ?x))",
    "G (pay -> seen(.to, look)) & G (pay -> O approve)",
)


def run(length: int) -> Trace:
    """Many calls that look something up, and one that pays somebody of whom nothing was seen."""
    looks = (
        Call("look", {"order": i}, step=i, start=float(i), outcome=Outcome.of({"name": f"n{i}"}, end=i + 0.5))
        for i in range(length - 1)
    )
    return Trace((*looks, Call("pay", {"to": "mallory"}, step=length, start=float(length))), ())


def seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def case(rule: str, length: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """What judges the last call, and what says why it breaks the rule."""
    formula, trace = parse(rule), run(length)
    *before, last = trace.positions()
    monitor = Monitor.of(formula)
    for position in before:
        monitor = monitor.step(position)
    if monitor.step(last).broken is None:
        raise SystemExit(f"the last call does not break `{rule}`")
    return lambda: monitor.step(last), lambda: explain_breach(formula, trace, length - 1)


def main() -> None:
    cases = {(rule, length): case(rule, length) for rule in RULES for length in LENGTHS}
    times: dict[tuple[str, int], list[tuple[float, float]]] = {one: [] for one in cases}
    for _ in range(ROUNDS):
        for one, (judge, tell) in cases.items():
            times[one].append((seconds(judge), seconds(tell)))
    print(f"{'':52} {'calls':>5} {'judgement':>12} {'sentence':>11} {'ratio':>7}   median of {ROUNDS}")
    for (rule, length), pairs in times.items():
        judged, told = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"{rule:52} {length:5} {judged * 1e3:9.3f} ms {told * 1e3:8.2f} ms {told / judged:7.1f}")


if __name__ == "__main__":
    main()
