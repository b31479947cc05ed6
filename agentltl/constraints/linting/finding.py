"""A finding: one thing that lint says about one or several constraints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from agentltl.constraints.trace import ABSENT, Call, Trace
from agentltl.constraints.value import Json, show, thaw


class FindingKind(StrEnum):
    """What a finding is about."""

    UNSATISFIABLE = "unsatisfiable"
    """no trace satisfies the rule"""
    CONTRADICTORY = "contradictory"
    """each of these rules can be satisfied, but not all of them together"""
    ALWAYS_TRUE = "always_true"
    """every trace satisfies the rule"""
    IMPLIED = "implied"
    """every trace that satisfies some other rules satisfies this one"""
    NEVER_FIRES = "never_fires"
    """the left side of an implication can never be true"""
    UNCALLABLE = "uncallable"
    """no run that satisfies the rules calls the tool"""
    ONLY_AT_END = "only_at_end"
    """the rule can be broken at the end of a run only, so no call is ever refused for it"""
    UNGUARDED_VARIABLE = "unguarded_variable"
    """a variable that compares nothing, or for every value of which something must happen"""
    UNKNOWN_TOOL = "unknown_tool"
    """no tool has this name"""
    UNKNOWN_ARGUMENT = "unknown_argument"
    """the tool has no such argument"""
    IMPOSSIBLE_VALUE = "impossible_value"
    """a comparison that is true of no arguments which fit the schema of the tool"""
    LOOK_ALIKE = "look_alike"
    """characters that look like others, or two names that can be taken for each other"""


Gravity = Literal["error", "warning", "note"]
GRAVITIES: tuple[Gravity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    `constraints` are the names of those it is about, the one to look at first in front; `message` says what is so and
    `hint` what to do; `witness` is a shortest trace that shows it, where there is one. `severity` is `error` (the rules
    do not do what they say), `warning` (they probably do not) or `note` (good to know).
    """

    kind: FindingKind
    constraints: tuple[str, ...]
    message: str
    hint: str = ""
    witness: Trace | None = None
    severity: Gravity = "warning"

    def __str__(self) -> str:
        lines = [f"{self.severity}: {self.message}"]
        if self.witness is not None:
            lines.append(f"  witness: {trace_text(self.witness)}")
        return "\n".join([*lines, f"  {self.hint}"] if self.hint else lines)

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON data: the fields by name, the witness as `Trace.from_metrics` reads it (or null)."""
        return {
            "kind": str(self.kind),
            "constraints": list(self.constraints),
            "message": self.message,
            "hint": self.hint,
            "witness": None if self.witness is None else {"tool_calls": [_plain(call) for call in self.witness.calls]},
            "severity": self.severity,
        }


def trace_text(trace: Trace) -> str:
    """The calls of a trace in one line."""
    return ", ".join(map(call_text, trace.calls)) or "no call at all"


def call_text(call: Call) -> str:
    """A call as code writes it, with what came of it."""
    if isinstance(call.args, dict):
        inside = ", ".join(f"{name}={show(value)}" for name, value in call.args.items())
    else:
        inside = show(call.args)
    outcome, text = call.outcome, f"{call.tool}({inside})"
    if outcome is None or not outcome.settled:
        return f"{text} never settles"
    if outcome.failed:
        return f"{text} fails"
    return text if outcome.value is ABSENT else f"{text} gives {show(outcome.value)}"


def _plain(call: Call) -> dict[str, Json]:
    outcome, data = call.outcome, {"tool_name": call.tool, "arguments": thaw(call.args)}
    if outcome is None or not outcome.settled:
        return {**data, "tool_result": None, "error": None}
    data["tool_result"] = outcome.text if outcome.value is ABSENT else thaw(outcome.value)
    return {**data, "error": outcome.error} if outcome.failed else data


def names(of: Iterable[str]) -> str:
    """Names in a sentence: `a`, `b` and `c`."""
    shown = [f"`{name}`" for name in of]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
