"""The values that a constraint can have: each is checked, and an error says what to write instead."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from enum import Enum

from agentltl.constraints.formula import Formula
from agentltl.constraints.proposition import Groups
from agentltl.constraints.value import FrozenDict, freeze, kind
from agentltl.errors import ConstraintError, FormulaError

KEYS = (
    "name", "rule", "severity", "weight", "description", "repair", "where", "applies_to_final_answer", "enforce",
    "max_soft_attempts", "soft_block_mode",
)  # fmt: skip
"""The keys of a constraint in a rule file."""

LATER_KEYS = ("allows", "refuses")
"""Keys that are planned and not there yet: they are refused, not ignored."""

SEVERITIES = ("HARD_STOP", "PERSISTENT_BLOCK", "ASK", "SOFT_BLOCK", "BLOCK_AND_WARN", "TOLERATE")
SOFT_BLOCK_MODES = ("cumulative", "consecutive", "hybrid")

_ALSO = {"formula": "rule", "id": "name", "title": "name", "message": "description", "hint": "repair"}


def checked_weight(weight: object, whose: str) -> float:
    """The weight as a float; a `ConstraintError` unless it is a finite number that is not negative."""
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise ConstraintError(f"the weight of {whose} is {named_kind(weight)}\ngive a number from 0 up")
    try:
        number = float(weight)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise ConstraintError(f"the weight of {whose} is `{weight}`\ngive a finite number from 0 up")
    return number


def checked_severity(severity: object) -> str | None:
    """The name of a severity (of the guard's enumeration, or its name), or None."""
    name = severity.name if isinstance(severity, Enum) else severity
    if name is None or (isinstance(name, str) and name in SEVERITIES):
        return name
    raise ConstraintError(unknown_severity(str(name)))


def checked_attempts(attempts: object, whose: str) -> int | None:
    """The number of soft refusals, or None; a `ConstraintError` unless it is a whole number from 0 up."""
    if attempts is None or (isinstance(attempts, int) and not isinstance(attempts, bool) and attempts >= 0):
        return attempts
    raise ConstraintError(f"`max_soft_attempts` of {whose} is {named_kind(attempts)}\ngive a whole number from 0 up")


def checked_mode(mode: str | None, whose: str) -> str | None:
    """The way soft refusals are counted, or None; a `ConstraintError` for a word that is none."""
    if mode is None or mode in SOFT_BLOCK_MODES:
        return mode
    near = get_close_matches(str(mode).lower(), SOFT_BLOCK_MODES, 1, 0.5)
    then = f"did you mean `{near[0]}`?" if near else f"use one of: {', '.join(SOFT_BLOCK_MODES)}"
    raise ConstraintError(f"`soft_block_mode` of {whose} is {named_kind(mode)}\n{then}")


def unknown_severity(name: str) -> str:
    """What is wrong with the name of a severity, and what to write instead."""
    near = get_close_matches(name.upper().replace("-", "_").replace(" ", "_"), SEVERITIES, 1, 0.5)
    then = f"did you mean `{near[0]}`?" if near else f"use one of: {', '.join(SEVERITIES)}"
    return f"unknown severity `{name}`\n{then}"


def unknown_key(name: str, known: Sequence[str] = KEYS) -> str:
    """What is wrong with a key of a constraint (or of a rule file), and what to write instead."""
    if known is KEYS and name in LATER_KEYS:
        return f"key `{name}` is not there yet\nleave it out"
    also = _ALSO.get(name)
    near = [also] if also in known else get_close_matches(name.lower(), known, 1, 0.6)
    then = f"did you mean `{near[0]}`?" if near else f"use one of: {', '.join(known)}"
    return f"unknown key `{name}`\n{then}"


def checked_formula(formula: object, groups: Groups | None, whose: str) -> Formula:
    """The formula, or that of a text; a `ConstraintError` for what is neither, a `FormulaError` for no rule."""
    from agentltl.constraints.text import parse

    if isinstance(formula, str):
        try:
            return parse(formula, groups)
        except FormulaError as error:
            error.add_note(f"in the rule of {whose}")  # a traceback shows it; the text of the error is the rule's own
            raise
    if not isinstance(formula, Formula):
        raise ConstraintError(f"the rule of {whose} is {named_kind(formula)}\ngive a formula or its text")
    from agentltl.constraints.rule import check

    check(formula)
    return formula


def checked_where(where: object, whose: str) -> FrozenDict | None:
    """The fields and values, frozen, or None; a `ConstraintError` for what no field could have."""
    if where is None:
        return None
    if not isinstance(where, Mapping) or not all(isinstance(name, str) for name in where):
        raise ConstraintError(
            f"`where` of {whose} is {named_kind(where)}\nwrite fields and values: `where: {{suite: retail}}`"
        )
    for name, value in where.items():
        for choice in value if isinstance(value, list | tuple) else [value]:
            if kind(freeze(choice)) not in ("text", "number", "bool", "null"):
                raise ConstraintError(
                    f"`where` of {whose} wants `{name}` to be {named_kind(choice)}\n"
                    "give a text, a number, true, false or null, or a list of them"
                )
    frozen = freeze(where)
    assert isinstance(frozen, FrozenDict)
    return frozen


def check_text(what: str, value: object) -> None:
    """A `ConstraintError` unless the value is a text."""
    if not isinstance(value, str):
        raise ConstraintError(f"{what} is {named_kind(value)}\ngive a text")


def named_kind(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return f"`{str(value).lower()}`"
        case str() | int() | float():
            return f"`{value}`"
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case Formula():
            return "a formula"
        case _:
            return f"a {type(value).__name__}"
