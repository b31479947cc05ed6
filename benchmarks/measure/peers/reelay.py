"""The process of reelay, monitors in C++ behind Python: one monitor a rule, `update` for each event."""

from __future__ import annotations

import importlib
from typing import Any

from measure.clock import seconds
from measure.peers.serve import expect, serve
from measure.workload import TOOLS

reelay: Any = importlib.import_module("reelay")


def _pattern(before: str, after: str, since: bool) -> str:
    """The rules of `measure.rules.past_rules`: an earlier call, once or since the last call of the later one."""
    earlier = f"pre((not {{{after}}}) since {{{before}}})" if since else f"once{{{before}}}"
    return f"historically({{{after}}} -> {earlier})"


def check(rules: list[tuple[str, str, bool]], times: int) -> float:
    """Seconds of one event for all rules, on prepared events that name each tool."""
    monitors = [reelay.discrete_timed_monitor(pattern=_pattern(*rule)) for rule in rules]
    events = [{name: name == tool for name in TOOLS} for tool in TOOLS]
    answers: list[dict[str, object]] = []

    def cycles() -> None:
        for _ in range(times):
            for event in events:
                for monitor in monitors:
                    answers.append(monitor.update(event))

    taken = seconds(cycles) / (times * len(events))
    expect(not any(answer.get("value") is False for answer in answers), "a rule is violated")
    return taken


if __name__ == "__main__":
    serve({"check": check})
