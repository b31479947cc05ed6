"""`lint`: what is wrong with constraints before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike

from agentltl.constraints.constraint import Constraint, constraints_of
from agentltl.constraints.linting.against_tools import against_tools
from agentltl.constraints.linting.alone import always_true, never_fires, only_at_end, unsatisfiable
from agentltl.constraints.linting.finding import GRAVITIES, Finding, FindingKind
from agentltl.constraints.linting.names_used import look_alikes
from agentltl.constraints.linting.proofs import Proofs
from agentltl.constraints.linting.scopes import covers
from agentltl.constraints.linting.together import contradictions, implied, uncallable
from agentltl.constraints.linting.toolset import Tools, toolset
from agentltl.constraints.linting.variables import unguarded
from agentltl.constraints.names import tools_named
from agentltl.constraints.value import Json


def lint(
    constraints: Sequence[Constraint | Mapping[str, Json]] | str | PathLike[str], tools: Tools | None = None
) -> tuple[Finding, ...]:
    """What is wrong with constraints, the gravest first: they contradict each other, say nothing, or name what is not
    there.

    `constraints` are constraints, mappings, or a rule file; `tools` those that the rules are checked against:
    smolagents tools, JSON schemas with a name, or a mapping from names to schemas (None: names are not checked).
    What is found is proved, for traces whose arguments and results are JSON values; of what cannot be proved (facts,
    times, what single values of variables do to each other) nothing is said.
    Raises what loading the constraints raises, and `ConstraintError` for tools that are none.
    """
    rules = constraints_of(constraints)
    known = None if tools is None else toolset(tools)
    found = list(look_alikes(rules, known or ()))
    if known is not None:
        found += against_tools(rules, known)
    found += _meaning(rules, tuple(known or ()))
    return tuple(sorted(found, key=lambda finding: GRAVITIES.index(finding.severity)))


def _meaning(rules: Sequence[Constraint], tools: Sequence[str]) -> Iterator[Finding]:
    """What the rules say, alone and together."""
    proofs = Proofs([rule.formula for rule in rules], [rule.name for rule in rules])
    alone = [unsatisfiable(rule, i, proofs) or always_true(rule, i, proofs) for i, rule in enumerate(rules)]
    yield from (finding for finding in alone if finding is not None)
    sound = [i for i, finding in enumerate(alone) if finding is None]
    empty = [i for i, finding in enumerate(alone) if finding is not None and finding.kind is FindingKind.ALWAYS_TRUE]
    clashes = contradictions(rules, sound, proofs)
    yield from clashes.values()
    calm = [i for i in sound if not any(i in core for core in clashes)]
    redundant = implied(rules, calm, proofs)
    yield from redundant.values()
    yield from unguarded([rules[i] for i in sound], proofs)
    for i in sorted([*sound, *empty]):
        others = [k for k in calm if covers(rules[k], rules[i])] if i in calm else []
        for finding, always in never_fires(rules[i], others, proofs):
            if always or i not in redundant:
                yield finding
        late = only_at_end(rules[i], i, proofs) if i in sound else None
        yield from () if late is None else (late,)
    named = dict.fromkeys(name for rule in rules for name in sorted(tools_named(rule.formula)))
    yield from uncallable(rules, [*calm, *empty], list(dict.fromkeys([*named, *tools])), proofs)
