"""Variables that compare nothing, and variables for every value of which a rule demands that something happens.

A rule speaks of every value there is, so of values, too, that no call names. For these a proposition that gives the
variable its value is false. Where the rule depends on that, it asks of every call more than it seems to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentltl.constraints.compare import Compare, Condition, Operand, Var
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.facts import Predicate, Said, Seen, Words
from agentltl.constraints.formula import TRUE, Apply, Formula, Proposition, Quantified
from agentltl.constraints.joint import fails
from agentltl.constraints.linting.finding import Finding, FindingKind, names
from agentltl.constraints.linting.folded import folded
from agentltl.constraints.linting.instances import opened, unnamed, with_values
from agentltl.constraints.linting.proofs import Goal, Proofs, Shown, satisfies
from agentltl.constraints.normal import close, normal
from agentltl.constraints.operators import AND, NOT, SYMBOLS
from agentltl.constraints.path import Filter, Path
from agentltl.constraints.proposition import Called

_ALWAYS = SYMBOLS["G"]


def unguarded(constraints: Sequence[Constraint], proofs: Proofs) -> Iterator[Finding]:
    """The variables of each rule that guard nothing."""
    for constraint in constraints:
        formula = close(constraint.formula)
        demanding = set()
        for variable in opened(formula)[0]:
            if (finding := _demanding(constraint, variable, proofs)) is not None:
                demanding.add(variable)
                yield finding
        for variable, body in _bound(formula):
            if variable not in demanding and sum(name == variable for name in _uses(body)) == 1:
                message = f"`?{variable}` stands once in {names([constraint.name])} and is compared with nothing"
                hint = "use it a second time, or write the bare path to ask that there is a value"
                yield Finding(FindingKind.UNGUARDED_VARIABLE, (constraint.name,), message, hint, None, "note")


def _demanding(constraint: Constraint, variable: str, proofs: Proofs) -> Finding | None:
    """What a rule demands for every value of a variable, if it demands anything."""
    variables, body = opened(constraint.formula)
    fresh = proofs.values.fresh
    if len(fresh) < len(variables):
        return None
    others = dict(zip((v for v in variables if v != variable), fresh, strict=False))
    for part in _parts(body):
        if variable not in part.free:
            continue
        asked, single = unnamed(part, [variable]), with_values(part, others)
        goals = [Goal(_lenient(normal(single), variable)), Goal(unnamed(single, [variable]), fails, free=True)]
        found = proofs.ask((), goals)
        if isinstance(found, Shown) and satisfies(constraint.formula, found.trace) is False:
            message = (
                f"{names([constraint.name])} speaks of every value of `?{variable}`,"
                f" and for those that no call names it demands `{folded(asked)}`"
            )
            hint = (
                f"put a call with `= ?{variable}` on the left of `->`,"
                f" or write `exists ?{variable}. ...` if one value is enough"
            )
            return Finding(FindingKind.UNGUARDED_VARIABLE, (constraint.name,), message, hint, found.trace)
    return None


def _parts(formula: Formula) -> Iterator[Formula]:
    """The conjuncts of a rule, those under `G` included."""
    match formula:
        case Apply(op, (left, right)) if op is AND:
            yield from _parts(left)
            yield from _parts(right)
        case Apply(op, (body,), None) if op is _ALWAYS:
            yield from (Apply(op, (part,)) for part in _parts(body))
        case _:
            yield formula


def _lenient(formula: Formula, variable: str) -> Formula:
    """A normal form in which whatever is asked of the variable is granted."""
    match formula:
        case Proposition():
            return TRUE if variable in formula.free else formula
        case Apply(op, args, window, detail):
            if op is NOT or op.shape == "tally":
                return TRUE if variable in formula.free else formula
            return Apply(op, tuple(_lenient(a, variable) for a in args), window, detail)
        case Quantified(kind, inner, body, domain):
            return Quantified(kind, inner, _lenient(body, variable), domain) if inner != variable else formula
    return formula


def _bound(formula: Formula) -> Iterator[tuple[str, Formula]]:
    for inner in formula.walk():
        if isinstance(inner, Quantified) and inner.domain is None:
            yield inner.variable, inner.body


def _uses(formula: Formula) -> Iterator[str]:
    """The variables of a formula, once for each place in which one stands."""
    for inner in formula.walk():
        if isinstance(inner, Proposition):
            match inner.atom:
                case Called(_, args, outcome):
                    yield from _in_conditions((*args, *outcome))
                case Said(what) | Seen(what) | Words(right=what):
                    yield from _in_operand(what)
                case Predicate(_, operands):
                    for operand in operands:
                        yield from _in_operand(operand)


def _in_conditions(conditions: Sequence[Condition]) -> Iterator[str]:
    for condition in conditions:
        if path := getattr(condition, "path", None):
            yield from _in_operand(path)
        if isinstance(condition, Compare):
            yield from _in_operand(condition.right)


def _in_operand(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Var):
        yield operand.name
    if isinstance(operand, Path):
        for step in operand.steps:
            if isinstance(step, Filter):
                yield from _in_conditions(step.conditions)
