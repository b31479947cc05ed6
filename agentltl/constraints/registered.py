"""The registered functions that rules name, for whoever takes the rules to another process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agentltl.constraints import facts
from agentltl.constraints.formula import Formula, Proposition, Quantified
from agentltl.constraints.predicates import _DOMAINS, _PREDICATES, register_domain, register_predicate

Functions = Mapping[str, Mapping[str, Callable[..., Any]]]
"""Functions by name, under `predicates` and `domains`."""


def functions_of(formulas: Iterable[Formula]) -> Functions:
    """The predicates and domains that these formulas name."""
    predicates: dict[str, Callable[..., Any]] = {}
    domains: dict[str, Callable[..., Any]] = {}
    for formula in formulas:
        for inner in formula.walk():
            match inner:
                case Proposition(facts.Predicate(name)):
                    predicates[name] = _PREDICATES.functions[name]
                case Quantified(domain=str() as name):
                    domains[name] = _DOMAINS.functions[name]
    return {"predicates": predicates, "domains": domains}


def register(functions: Functions) -> None:
    """Register them. `ConstraintError` where another function has the name."""
    for name, function in functions["predicates"].items():
        register_predicate(name, function)
    for name, function in functions["domains"].items():
        register_domain(name, function)
