"""Recorded traces replayed through a guard that does not enforce, call by call, as `check` judges them whole."""

from __future__ import annotations

from pathlib import Path

from agentltl import Guard, Trace
from agentltl.constraints.check import violations
from agentltl.constraints.rule_file import load_rules
from agentltl.constraints.trace import ABSENT

EXAMPLE = Path(__file__).parents[2] / "examples" / "tau_bench"
RULES = load_rules(EXAMPLE / "rules.yaml").constraints


def replayed(trace: Trace) -> dict[str, list[int]]:
    """The places at which a guard says that each rule is broken; the length of the trace means at its end."""
    fields = {"id": trace.id, **trace.fields}
    meant = [rule for rule in RULES if rule.applies(trace)]
    guard = Guard(meant, enforce=False, fields=fields)
    found: dict[str, list[int]] = {rule.name: [] for rule in RULES}
    for message in trace.messages or ():
        if message.before == 0:
            guard.said(message.text)
    for index, call in enumerate(trace.finished().calls):
        for message in trace.messages or ():
            if message.before == index > 0:
                guard.said(message.text)
        started = guard.propose(call.tool, call.args, id=call.id, step=call.step, agent=call.agent, start=call.start)
        assert started.allowed
        came = call.outcome
        assert came is not None
        result = came.text if came.text is not None else None if came.value is ABSENT else came.value
        settled = guard.settle(started, result, came.error, came.status, came.end)
        assert settled.allowed
        for violation in (*started.violations, *settled.violations):
            found[violation.constraint_name].append(index)
    for name in guard.owed().names:
        found[name].append(len(trace))
    return found


def test_a_guard_says_call_by_call_what_check_says_of_the_whole_trace() -> None:
    traces = Trace.from_jsonl(EXAMPLE / "tau-bench-sample.jsonl.gz")
    breaches = 0
    for trace in traces:
        expected = {rule.name: violations(rule, trace) for rule in RULES}
        assert replayed(trace) == expected, trace.id
        breaches += sum(map(len, expected.values()))
    assert breaches == 226
