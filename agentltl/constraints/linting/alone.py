"""What a rule means on its own: that it can never hold, never fail, never fire, or fail at the end only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentltl.constraints.ahead import Ahead
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.joint import fails
from agentltl.constraints.linting.finding import Finding, FindingKind, names
from agentltl.constraints.linting.proofs import Goal, Impossible, Proofs, Shown, satisfies
from agentltl.constraints.linting.triggers import Trigger, triggers
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.verdict import Truth

_RECORDS_ONLY = frozenset({"TOLERATE"})


def unsatisfiable(constraint: Constraint, number: int, proofs: Proofs) -> Finding | None:
    """A rule that no trace satisfies."""
    if not isinstance(proofs.ask([number]), Impossible):
        return None
    message = f"no trace satisfies {names([constraint.name])}"
    hint = "two of its parts contradict each other: leave one out"
    return Finding(FindingKind.UNSATISFIABLE, (constraint.name,), message, hint, None, "error")


def always_true(constraint: Constraint, number: int, proofs: Proofs) -> Finding | None:
    """A rule that every trace satisfies."""
    if follows(number, (), proofs) is None:
        return None
    message = f"every trace satisfies {names([constraint.name])}"
    return Finding(
        FindingKind.ALWAYS_TRUE, (constraint.name,), message, "it checks nothing: correct it, or leave it out"
    )


def follows(number: int, others: Sequence[int], proofs: Proofs) -> tuple[int, ...] | None:
    """The other rules from which a rule follows, none of which can be left out; None where that is not proved."""
    instances = proofs.instances[number]
    if not instances.every:
        return None
    core: set[int] = set()
    for formula in instances.formulas:
        found = proofs.impossible(others, [Goal(formula, fails, free=True)])
        if found is None:
            return None
        core |= set(found.rules)
    for rule in sorted(core) if len(instances.formulas) > 1 else ():
        if len(core) > 1 and (fewer := follows(number, sorted(core - {rule}), proofs)) is not None:
            return fewer
    return tuple(sorted(core))


def never_fires(constraint: Constraint, others: Sequence[int], proofs: Proofs) -> Iterator[tuple[Finding, bool]]:
    """The left sides that can never be true, at all (then with True) or in no trace that satisfies the other rules."""
    for trigger in triggers(constraint.formula):
        if _rules_out(trigger, (), proofs) is not None:
            message = f"`{trigger.left}` in {names([constraint.name])} can never be true"
            hint = "what it asks of one call cannot be so at the same time: the rule asks for nothing"
            yield Finding(FindingKind.NEVER_FIRES, (constraint.name,), message, hint), True
            continue
        found = _rules_out(trigger, others, proofs)
        if found is not None:
            yield _ruled_out(constraint, trigger, found, proofs), False


def _ruled_out(constraint: Constraint, trigger: Trigger, found: Impossible, proofs: Proofs) -> Finding:
    whose = [proofs.names[i] for i in found.rules]
    message = f"`{trigger.left}` in {names([constraint.name])} is true in no run that satisfies {names(whose)}"
    hint = "the rule asks for nothing as long as these stand"
    about = tuple(dict.fromkeys((constraint.name, *whose)))
    (formula, *_) = proofs.of(trigger.fires).formulas
    alone = proofs.ask((), [Goal(formula)])
    witness = alone.trace if isinstance(alone, Shown) and satisfies(formula, alone.trace) else None
    return Finding(FindingKind.NEVER_FIRES, about, message, hint, witness)


def _rules_out(trigger: Trigger, rules: Sequence[int], proofs: Proofs) -> Impossible | None:
    """Whether the left side is true in no trace that satisfies the rules, for no value of its variables."""
    instances = proofs.of(trigger.fires)
    if not instances.every:
        return None
    core: set[int] = set()
    for formula in instances.formulas:
        found = proofs.impossible(rules, [Goal(formula)])
        if found is None:
            return None
        core |= set(found.rules)
    return Impossible(tuple(sorted(core)))


def only_at_end(constraint: Constraint, number: int, proofs: Proofs) -> Finding | None:
    """A rule that can fail, and that no call breaks, though its severity refuses calls."""
    instances = proofs.instances[number]
    if constraint.severity in _RECORDS_ONLY or instances.formulas != (constraint.formula,):
        return None
    shown = proofs.ask((), [Goal(constraint.formula, fails, free=True)])
    if not isinstance(shown, Shown) or satisfies(constraint.formula, shown.trace) is not False:
        return None
    if not isinstance(proofs.ask((), [Goal(constraint.formula, dead, free=True)]), Impossible):
        return None
    severity = "the default severity" if constraint.severity is None else f"`{constraint.severity}`"
    message = (
        f"no call can break {names([constraint.name])}: it is open until the run ends, so {severity} refuses nothing"
    )
    hint = "say what must not come before it, as `precedence` does; or leave it to the end, where it is owed"
    return Finding(FindingKind.ONLY_AT_END, (constraint.name,), message, hint, shown.trace, "note")


def dead(monitor: Monitor, ahead: Ahead) -> bool:
    """The aim that the rule is violated, whatever follows."""
    return monitor.verdict.truth is Truth.FALSE
