"""What rules mean together: contradictions, rules that follow from others, and tools that no run may call."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.formula import TRUE, Apply, Formula, Proposition
from agentltl.constraints.linting.alone import follows
from agentltl.constraints.linting.finding import Finding, FindingKind, Gravity, names
from agentltl.constraints.linting.proofs import Goal, Impossible, Proofs
from agentltl.constraints.linting.scopes import covers, together
from agentltl.constraints.operators import SYMBOLS
from agentltl.constraints.proposition import Called, Tools

_EVENTUALLY = SYMBOLS["F"]


def contradictions(
    constraints: Sequence[Constraint], sound: Collection[int], proofs: Proofs
) -> dict[tuple[int, ...], Finding]:
    """Sets of rules that no trace satisfies together, none of which can be left out. No rule is in two of them that are
    meant for one trace."""
    found: dict[tuple[int, ...], Finding] = {}
    for meeting in together(constraints):
        left = [i for i in meeting if i in sound]
        while isinstance(core := proofs.ask(left), Impossible):
            found.setdefault(core.rules, _contradiction([constraints[i].name for i in core.rules]))
            left = [i for i in left if i not in core.rules]
    return found


def _contradiction(whose: Sequence[str]) -> Finding:
    message = f"no trace satisfies {names(whose)} together"
    hint = "each alone can be satisfied: weaken one of them, or leave it out"
    return Finding(FindingKind.CONTRADICTORY, tuple(whose), message, hint, None, "error")


def implied(constraints: Sequence[Constraint], sound: Collection[int], proofs: Proofs) -> dict[int, Finding]:
    """Rules, by number, that follow from others which stay: all of them can be left out. Of two that say the same it is
    the later one."""
    stay, dropped = list(sound), []
    for i in sorted(sound, reverse=True):
        if follows(i, _beside(i, stay, constraints), proofs):
            stay.remove(i)
            dropped.append(i)
    found = {}
    for i in reversed(dropped):
        if core := follows(i, _beside(i, stay, constraints), proofs):
            found[i] = _implied(i, core, constraints, proofs)
    return found


def _beside(i: int, others: Collection[int], constraints: Sequence[Constraint]) -> list[int]:
    """Those of the others that are there wherever a rule is."""
    return [k for k in others if k != i and covers(constraints[k], constraints[i])]


def _implied(i: int, core: Sequence[int], constraints: Sequence[Constraint], proofs: Proofs) -> Finding:
    own, whose = constraints[i].name, [constraints[k].name for k in core]
    if len(core) > 1:
        hint = "a finished run must satisfy no more because of it; it may refuse a call earlier than they do"
    else:
        hint = "leave it out, unless its own sentence or severity is wanted"
    back = len(core) == 1 and covers(constraints[i], constraints[core[0]]) and follows(core[0], [i], proofs)
    message = f"{names([own])} {'says the same as' if back else 'follows from'} {names(whose)}"
    return Finding(FindingKind.IMPLIED, (own, *whose), message, hint, None, "note")


def uncallable(
    constraints: Sequence[Constraint], sound: Collection[int], tools: Sequence[str], proofs: Proofs
) -> Iterator[Finding]:
    """Tools that no run which satisfies the rules calls, or that no such run calls anything."""
    told: set[tuple[str, tuple[int, ...]]] = set()
    for meeting in together(constraints):
        rules = [i for i in meeting if i in sound]
        if len(rules) < len(meeting):
            continue  # without a run that satisfies them all there is nothing to say of single tools
        silent = proofs.impossible(rules, [Goal(_comes(TRUE))])
        if silent is not None:
            whose = tuple(constraints[i].name for i in silent.rules)
            message = f"no run that satisfies {names(whose)} makes any call"
            hint = "the rules hold of a run without calls alone"
            if ("", silent.rules) not in told:
                yield Finding(FindingKind.UNCALLABLE, whose, message, hint, None, "warning")
            told.add(("", silent.rules))
            continue
        for tool in tools:
            found = proofs.impossible(rules, [Goal(_comes(Proposition(Called(Tools.named(tool)))))])
            if found is not None and (tool, found.rules) not in told:
                told.add((tool, found.rules))
                yield _uncallable(tool, [constraints[i].name for i in found.rules])


def _uncallable(tool: str, whose: Sequence[str]) -> Finding:
    message = f"no run that satisfies {names(whose)} calls `{tool}`"
    alone = len(whose) == 1
    hint = "if that is meant, do not offer the tool" if alone else "each alone allows it: if it is needed, weaken one"
    severity: Gravity = "note" if alone else "warning"
    return Finding(FindingKind.UNCALLABLE, tuple(whose), message, hint, None, severity)


def _comes(formula: Formula) -> Formula:
    return Apply(_EVENTUALLY, (formula,))
