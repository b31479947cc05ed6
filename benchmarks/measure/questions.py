"""The rows about questions to a guard or to rules: what is allowed, the first check, what lint finds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from functools import partial
from itertools import count

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.patterns import PATTERNS, Pattern
from agentltl.constraints.text import parse
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard
from measure.bench import Bench, rows
from measure.clock import seconds
from measure.ours import check_all, constraints, find, method
from measure.rules import twenty_five
from measure.table import NoRow, Row, most, ratios
from measure.workload import Call

FRESH = count()
"""Names that no rule has had, so that nothing remembered helps."""


def allowed(bench: Bench) -> Iterator[Row | NoRow]:
    """The tools that could be called now, in units of one check."""
    work = "allowed() with 20 tools and 25 rules, in checks"

    def measure() -> list[Row]:
        guard = Guard(constraints(twenty_five()))
        ask = method(guard, "allowed")
        tools = [f"tool_{letter}" for letter in "abcdefghijklmnopqrst"]
        run: list[Call] = [(tool, {"mode": "plain"}) for tool in tools]
        check_all(guard, run)
        ours, checks = [], []
        for _ in range(bench.rounds):
            asking = checking = 0.0
            for step in run:
                began = time.perf_counter()
                check_all(guard, [step])
                between = time.perf_counter()
                ask()
                asking += time.perf_counter() - between
                checking += between - began
            ours.append(asking / len(run))
            checks.append(checking / len(run))
        return [Row(work, ratios(ours, checks), most(20), "x", ours, checks)]

    yield from rows(work, most(20), "x", measure)


def first_use(bench: Bench) -> Iterator[Row | NoRow]:
    """From the text of a rule to its first decision, for each pattern."""
    work = "first use of a rule, parse to first check"

    def measure() -> list[Row]:
        parse("G a")  # the grammar is loaded once a process
        medians = {
            pattern.name: statistics.median(_first(pattern) for _ in range(bench.rounds))
            for pattern in PATTERNS.values()
        }
        slowest = max(medians, key=lambda name: medians[name])
        values = [1e3 * median for median in medians.values()]
        note = f"median over {len(values)} patterns; the slowest is `{slowest}`"
        return [Row(work, values, most(1), " ms", list(medians.values()), (), note)]

    yield from rows(work, most(1), " ms", measure)


def _first(pattern: Pattern) -> float:
    """The seconds from text to the first decision, with names that are new; the call is one that the rule allows."""
    tool = next(tool for tool in ("a", "b", "c") if _decide(*_fresh(pattern, tool)).allowed)
    text, call = _fresh(pattern, tool)
    return seconds(lambda: _decide(text, call))


def _decide(text: str, tool: str) -> Decision:
    return Guard([Constraint("rule", text)]).propose(tool, {}, step=1)


def _fresh(pattern: Pattern, tool: str) -> tuple[str, str]:
    """The pattern over new names, and the new name of a tool."""
    fresh = next(FRESH)
    written = {
        "proposition": "{name}_{fresh}",
        "propositions": "[{name}_{fresh}, {name}2_{fresh}]",
        "number": "2",
        "limit": ">= 2",
        "conditions": 'path = "x"',
        "values": '"x"',
    }
    parts = [written[p.kind].format(name=p.name, fresh=fresh) for p in pattern.parameters]
    return f"{pattern.name}({', '.join(parts)})", f"{tool}_{fresh}"


def linting(bench: Bench) -> Iterator[Row | NoRow]:
    """All findings about 25 rules that have none in common with those before."""
    work = "lint of 25 rules over 20 tools"

    def measure() -> list[Row]:
        lint = find("agentltl.constraints", "lint")
        taken = []
        for _ in range(bench.rounds):
            rules = constraints(twenty_five(f"tool{next(FRESH)}"))
            taken.append(seconds(partial(lint, rules)))
        return [Row(work, taken, most(1), " s", taken)]

    yield from rows(work, most(1), " s", measure)
