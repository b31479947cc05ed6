"""Which tools a rule names, and which calls are therefore no events for it."""

from __future__ import annotations

from agentltl.constraints.formula import Formula, Proposition
from agentltl.constraints.proposition import Called
from agentltl.constraints.trace import SPECIAL


def tools_named(formula: Formula) -> frozenset[str]:
    """The tool names that stand literally in the propositions of a formula, those of groups included."""
    return frozenset().union(
        *(
            inner.atom.tools.exact
            for inner in formula.walk()
            if isinstance(inner, Proposition) and isinstance(inner.atom, Called)
        )
    )


def hidden_from(formula: Formula) -> frozenset[str]:
    """`final_answer` and `approved` are events only for a rule that names them literally."""
    return SPECIAL - tools_named(formula)
