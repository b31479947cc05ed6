"""A decision in words for the model: which rule, what broke it, what to do instead. Short: it is paid by the token."""

from __future__ import annotations

from collections.abc import Sequence

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.trace import Call
from agentltl.guard.decision import Decision, Violation
from agentltl.guard.planned import PlannedCall
from agentltl.guard.planning import Plan

NO_PLAN = Plan(None)
INSIST = "If you are sure, make the identical call in your next message: it will run."
INSIST_AND_ASK = "If you are sure, make the identical call in your next message: a person is asked about it then."


def feedback(
    violations: Sequence[Violation],
    *,
    ran: bool,
    plan: Plan = NO_PLAN,
    made: Sequence[Call] = (),
    answer: str = "It runs only if a person approves it.",
    insisting: str = INSIST,
) -> str:
    """The text for the model about the strongest violations of one call; empty when there is none.

    `ran` says that the call has run and its outcome broke the rules; `plan` is what would make a refused call allowed,
    `made` are the calls so far, `answer` is what the people who can allow it have said, and `insisting` what comes of
    the identical call in the next message where the rules give way to it.
    Where the rules say what to do instead, they have the last word: a small model follows the last line. So nothing is
    said of a plan that hopes for another result of a call that was made, nor that there is no plan.
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
    insists = not ran and bool(insisting) and any(violation.severity.value.insists for violation in violations)
    if insists:
        lines.append(insisting)
    if not ran and any(violation.severity.value.action == "ask" for violation in violations):
        lines.append(answer)
    calls = plan.calls or ()
    if steps := in_words(calls):
        if not (todo and hopes(calls, made)):
            lines.append(f"First call {', then '.join(steps)}; then make this call again.")
    elif plan.proved and not todo and not insists:
        lines.append("No calls make this one allowed: go on without it.")
    return "\n".join(lines)


def asking(owed: Sequence[tuple[Constraint, str, bool]], plan: Plan, *, repeat: bool) -> str:
    """The text for a model that is sent back from its answer: each constraint with the sentence that says what it owes,
    and whether it gives way to the same answer. `repeat`: the answer was a call."""
    lines = ["Your answer is not accepted yet: something is still owed."]
    for constraint, sentence, _ in owed:
        says = f": {constraint.description.rstrip('.')}." if constraint.description else "."
        lines += [f"Rule {constraint.name}{says}", f"Owed: {sentence}"]
    todo = list(dict.fromkeys(c.repair.strip() for c, _, _ in owed if c.repair.strip()))
    if todo:
        lines.append("Do first: " + " ".join(t if t.endswith((".", "!", "?")) else t + "." for t in todo))
    if repeat and all(gives_way for _, _, gives_way in owed):
        lines.append("If you are sure, give the identical answer in your next message: it will be accepted.")
    if steps := in_words(plan.calls or ()):
        lines.append(f"First call {', then '.join(steps)}; then give your answer.")
    return "\n".join(lines)


def stopping(violations: Sequence[Violation]) -> str:
    """The text for a run that has stopped at its end, because of what is still owed."""
    lines = ["The run has ended without an answer: something is still owed."]
    for violation in violations:
        says = f": {violation.description.rstrip('.')}." if violation.description else "."
        lines += [f"Rule {violation.constraint_name}{says}", f"Owed: {violation.detail}"]
    return "\n".join(lines)


def in_words(plan: Sequence[PlannedCall]) -> list[str]:
    """The calls of a plan as an agent can be told them; none for a plan that asks for what it cannot promise."""
    said = []
    for call in plan:
        if call.outcome == "failed" or "*" in call.tool or "?" in call.tool or call.also:
            return []
        said.append(f"`{PlannedCall(call.tool, call.args)}`")
    return said


def hopes(plan: Sequence[PlannedCall], made: Sequence[Call]) -> bool:
    """Whether a plan makes a call again that has succeeded, with another result than it had."""
    return any(
        planned.rests_on_result
        and call.tool == planned.tool
        and call.outcome is not None
        and call.outcome.settled
        and not call.outcome.failed
        and isinstance(call.args, dict)
        and planned.args.items() <= call.args.items()
        for planned in plan
        for call in made
    )


def denied(decision: Decision, reason: str) -> str:
    """The text for the model about a call that a person has denied. It has no plan: the answer was no."""
    said = f"A person has denied it: {reason.strip()}" if reason.strip() else "A person has denied it."
    return _answered(decision, said)


def waiting(decision: Decision) -> str:
    """The text about a call that waits for a person's answer."""
    return _answered(decision, "A person has been asked and has not answered yet.")


def unplanned(decision: Decision) -> Decision:
    """The decision without the calls to make first, which another guard would refuse."""
    told = (line for line in decision.feedback.split("\n") if not line.startswith("First call "))
    return decision._replace(feedback="\n".join(told), plan=())


def together(decision: Decision, others: Sequence[Decision]) -> str:
    """The text for the model about a call that several guards refuse, so that one answer repairs all."""
    told = decision.feedback.split("\n")
    for other in others:
        told += [line for line in other.feedback.split("\n") if line not in told]
    return "\n".join(told)


def _answered(decision: Decision, said: str) -> str:
    broken = [v for v in decision.violations if v.refuses]
    told = feedback(broken, ran=False, answer="", insisting="")
    return "\n".join(line for line in (*told.split("\n"), said) if line)
