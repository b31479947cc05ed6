"""A constraint: a rule with a name, a weight, and what to say and do when it is broken.

Its mapping form has the keys of a rule file, so a list of plain dicts, a rule file and a list of constraints are the
same thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from os import PathLike
from typing import Self

from agentltl.constraints.constraint_values import (
    KEYS,
    check_text,
    checked_attempts,
    checked_formula,
    checked_mode,
    checked_severity,
    checked_weight,
    checked_where,
    named_kind,
    unknown_key,
)
from agentltl.constraints.facts import Seen
from agentltl.constraints.formula import Formula, Proposition
from agentltl.constraints.proposition import Called, Groups
from agentltl.constraints.trace import Trace
from agentltl.constraints.value import Json, freeze, key, thaw
from agentltl.errors import ConstraintError


@dataclass(frozen=True, slots=True)
class Constraint:
    """A named rule.

    `formula` is a formula or its text. `weight` counts in the compliance score. `description` is for people, `repair`
    tells the model what to do instead. `severity` is the name of a severity (None: the guard's default). `where`
    limits the constraint to traces whose fields have these values; a list means one of them.
    `applies_to_final_answer`: what it still owes is asked for before an answer is accepted. `enforce=False`: it is
    judged and recorded and refuses nothing. `max_soft_attempts` and `soft_block_mode` (`cumulative`, `consecutive`,
    `hybrid`) come before the guard's for this constraint.
    A value that makes no sense is a `ConstraintError`, a text that is no formula a `FormulaError`.
    """

    name: str
    formula: Formula
    weight: float = 1.0
    description: str = ""
    repair: str = ""
    severity: str | None = None
    applies_to_final_answer: bool = False
    enforce: bool = True
    where: Mapping[str, Json] | None = field(default=None, hash=False)
    max_soft_attempts: int | None = None
    soft_block_mode: str | None = None

    def __init__(
        self,
        name: str,
        formula: Formula | str,
        weight: float = 1.0,
        description: str = "",
        repair: str = "",
        severity: str | Enum | None = None,
        applies_to_final_answer: bool = False,
        enforce: bool = True,
        where: Mapping[str, Json] | None = None,
        max_soft_attempts: int | None = None,
        soft_block_mode: str | None = None,
        *,
        groups: Groups | None = None,
    ) -> None:
        check_text("the name of a constraint", name)
        if not name.strip():
            raise ConstraintError("a constraint has an empty name\ngive it a name of its own")
        whose = f"constraint `{name}`"
        for what, value in (("description", description), ("repair", repair)):
            check_text(f"`{what}` of {whose}", value)
        put = object.__setattr__
        put(self, "name", name)
        put(self, "weight", checked_weight(weight, whose))
        put(self, "description", description)
        put(self, "repair", repair)
        put(self, "severity", checked_severity(severity))
        put(self, "where", checked_where(where, whose))
        for what, flag in (("applies_to_final_answer", applies_to_final_answer), ("enforce", enforce)):
            if not isinstance(flag, bool):
                raise ConstraintError(f"`{what}` of {whose} is {named_kind(flag)}\ngive true or false")
            put(self, what, flag)
        put(self, "max_soft_attempts", checked_attempts(max_soft_attempts, whose))
        put(self, "soft_block_mode", checked_mode(soft_block_mode, whose))
        put(self, "formula", checked_formula(formula, groups, whose))

    @classmethod
    def of(cls, value: Constraint | Mapping[str, Json], groups: Groups | None = None) -> Self:
        """The constraint that a mapping with the keys of a rule file describes; a constraint is itself.

        A mapping may bring its own `groups`. A key that is none, or none yet, is a `ConstraintError`.
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise ConstraintError(
                f"a constraint is expected, not {named_kind(value)}\n"
                "give a constraint, or a mapping with `name` and `rule`"
            )
        given = dict(value)
        own = given.pop("groups", None)
        for name in given:
            if name not in KEYS:
                raise ConstraintError(unknown_key(str(name)))
        for needed in ("name", "rule"):
            if needed not in given:
                whose = f"constraint `{given['name']}`" if "name" in given else "a constraint"
                raise ConstraintError(f"{whose} has no `{needed}`\nadd `{needed}` to it")
        rule = given.pop("rule")
        return cls(formula=rule, groups={**(groups or {}), **(own or {})} or None, **given)

    @property
    def groups(self) -> dict[str, list[str]]:
        """The groups that the rule names, each with its members."""
        named: dict[str, list[str]] = {}
        for inner in self.formula.walk():
            atom = inner.atom if isinstance(inner, Proposition) else None
            tools = (atom.tools,) if isinstance(atom, Called) else atom.tools if isinstance(atom, Seen) else ()
            named |= {t.group: sorted(t.members) for t in tools if t.group is not None}
        return named

    def to_mapping(self) -> dict[str, Json]:
        """Plain JSON data with the keys of a rule file, from which `of` makes an equal constraint.

        What has its default value is left out. A rule that names groups brings them under `groups`.
        """
        data: dict[str, Json] = {"name": self.name, "rule": str(self.formula)}
        if self.severity is not None:
            data["severity"] = self.severity
        if self.weight != 1.0:
            data["weight"] = self.weight
        if self.description:
            data["description"] = self.description
        if self.repair:
            data["repair"] = self.repair
        if self.where is not None:
            data["where"] = thaw(self.where)
        if self.applies_to_final_answer:
            data["applies_to_final_answer"] = True
        if not self.enforce:
            data["enforce"] = False
        if self.max_soft_attempts is not None:
            data["max_soft_attempts"] = self.max_soft_attempts
        if self.soft_block_mode is not None:
            data["soft_block_mode"] = self.soft_block_mode
        if groups := self.groups:
            data["groups"] = groups
        return data

    def applies(self, trace: Trace) -> bool:
        """Whether the constraint is meant for this trace: its fields (and its `id`) have the values of `where`."""
        if self.where is None:
            return True
        fields = {"id": trace.id, **trace.fields}
        for name, wanted in self.where.items():
            if name not in fields:
                return False
            found, choices = key(freeze(fields[name])), wanted if isinstance(wanted, list) else [wanted]
            if found is None or found not in [key(choice) for choice in choices]:
                return False
        return True


def constraints_of(
    source: Sequence[Constraint | Mapping[str, Json]] | Constraint | str | PathLike[str],
) -> tuple[Constraint, ...]:
    """The constraints of a sequence of constraints or mappings, or of a rule file. Their names must be unique."""
    if isinstance(source, str | PathLike):
        from agentltl.constraints.rule_file import load_rules

        return load_rules(source).constraints
    if isinstance(source, Constraint | Mapping) or not isinstance(source, Iterable):
        raise ConstraintError(
            f"a list of constraints is expected, not {named_kind(source)}\n"
            "put the constraint into a list, or name a rule file"
        )
    constraints = tuple(Constraint.of(item) for item in source)
    seen: set[str] = set()
    for constraint in constraints:
        if constraint.name in seen:
            raise ConstraintError(f"two constraints are named `{constraint.name}`\ngive each a name of its own")
        seen.add(constraint.name)
    return constraints
