"""`agentltl check`: recorded traces judged by a rule file; a table for people or one JSON object for machines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from agentltl.cli.report import Report, Unread, judge
from agentltl.cli.sources import Source, sources
from agentltl.cli.terminal import complain, console, progress
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.rule_file import load_rules
from agentltl.constraints.trace import Trace
from agentltl.errors import ConstraintError, FormulaError, RuleFileError, TraceError

FINE, VIOLATED, WRONG, UNREAD = range(4)
"""The exit codes."""
REASONS = 20
"""How many breaches of one constraint by one trace are explained; a sentence costs more than a judgement."""


def check(rules: str, traces: Sequence[str], *, as_json: bool = False, explain: bool = False) -> int:
    """Judge the traces, print what was found, and give the exit code."""
    if as_json and explain:
        complain("`--explain` writes sentences for people, `--json` data for machines\nleave one of them out")
        return WRONG
    try:
        constraints = load_rules(rules).constraints
    except (RuleFileError, FormulaError, ConstraintError) as error:
        complain(str(error))
        return WRONG
    if not constraints:
        complain(
            f"the rule file `{rules}` has no constraints: there is nothing to judge by\nadd some under `constraints:`"
        )
        return WRONG
    report = found(constraints, traces, explain=explain)
    if as_json:
        print(json.dumps(report.to_json(), allow_nan=False))
    else:
        from agentltl.cli.table import show

        show(report, console())
    if report.unread:
        return UNREAD
    return VIOLATED if report.violated else FINE


def found(constraints: Sequence[Constraint], traces: Sequence[str], *, explain: bool = False) -> Report:
    """Judge every trace of the inputs that are named."""
    report = Report(constraints)
    with progress("judging") as done:
        for source in sources(traces):
            for trace in _read(source, report.unread):
                report.traces.append(judge(trace, constraints, source.name, reasons=REASONS if explain else 0))
                done(f"{len(report.traces)} traces, {source.name}")
    report.finish()
    return report


def _read(source: Source, unread: list[Unread]) -> Iterator[Trace]:
    """The traces of an input; what is none goes to `unread`."""
    if source.problem is not None:
        unread.append(Unread(source.name, source.problem))
        return
    reading, before, held = source.reading(), len(unread), False
    try:
        for trace in reading:
            held = True
            yield trace
    except TraceError as error:
        unread.append(Unread(source.name, str(error)))
    unread.extend(Unread(source.name, problem, place) for place, problem in reading.unread)
    if not held and len(unread) == before:
        unread.append(Unread(source.name, "it holds no trace\ncheck what writes it, or leave it out"))
