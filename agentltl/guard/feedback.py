"""A decision in words for the model: which rule, what broke it, what to do instead. Short: it is paid by the token."""

from __future__ import annotations

from collections.abc import Sequence

from agentltl.guard.decision import Violation


def feedback(violations: Sequence[Violation], *, ran: bool) -> str:
    """The text for the model about the strongest violations of one call; empty when there is none.

    `ran` says that the call has run and its outcome broke the rules.
    """
    if not violations:
        return ""
    tool = violations[0].tool_name
    lines = [f"`{tool}` has run, and what came of it breaks a rule." if ran else f"Refused: `{tool}` did not run."]
    for violation in violations:
        says = f": {violation.description.rstrip('.')}." if violation.description else "."
        lines.append(f"Rule {violation.constraint_name}{says}")
        lines.append(f"Reason: {violation.detail}")
    todo = list(dict.fromkeys(v.repair.strip() for v in violations if v.repair.strip()))
    if todo:
        lines.append("Do instead: " + " ".join(t if t.endswith((".", "!", "?")) else t + "." for t in todo))
    return "\n".join(lines)
