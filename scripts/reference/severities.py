"""The page of severities: the table, and what a guard really answers under each."""

from __future__ import annotations

import logging

from agentltl.guard.guard import Guard
from agentltl.guard.severity import ConstraintSeverity
from reference.markdown import NOTE, fenced, member_docs, table

INTRO = """# Severities

The severity of a constraint says what happens when a call breaks it.
`constraint_severities={name: ...}` comes before a constraint's own severity.
A constraint without one has the `default_severity`, which is `HARD_STOP` unless you say otherwise.
When a call breaks several constraints, the strongest severity decides; the table has the strongest first.
"""

RULE = {
    "name": "read-first",
    "rule": "G (cancel(order = ?o) -> O read(order = ?o)[ok])",
    "description": "An order is read before it is cancelled",
    "repair": "Call read for this order first.",
}


def page() -> str:
    """The text of the page."""
    docs = member_docs(ConstraintSeverity)
    ordered = sorted(ConstraintSeverity, key=lambda severity: severity.value.rank)
    rows = [
        (f"`{s.name}`", "does not run" if s.value.refuses else "runs", f"`{s.value.action}`", docs[s.name])
        for s in ordered
    ]
    parts = [NOTE, INTRO, "\n", table(("severity", "the call", "`decision.action`", "meaning"), rows)]
    parts += [_entry(severity) for severity in ordered]
    return "".join(parts)


def _entry(severity: ConstraintSeverity) -> str:
    """A guard's answer to a call that breaks a rule of this severity, and to the next call."""
    log = logging.getLogger("agentltl")
    before, log.disabled = log.disabled, True
    try:
        guard = Guard([RULE], default_severity=severity)
        first = guard.propose("cancel", {"order": "W1"})
        then = guard.propose("read", {"order": "W1"})
    finally:
        log.disabled = before
    lines = [f'cancel(order = "W1"): {first.action}', *("  " + line for line in first.feedback.split("\n") if line)]
    lines.append(f'read(order = "W1"): {then.action}')
    status = guard.status()
    lines.append(f"the run: {status['status']}, {len(guard.violations)} violation, {len(guard.trace)} calls ran")
    text = "\n".join(lines).replace("1 calls", "1 call")
    return f"\n## `{severity.name}`\n\nUnder the rule `{RULE['rule']}`:\n\n" + fenced(text, "text")
