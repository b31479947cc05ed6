"""The names in rules, looked at as they are drawn."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from agentltl.constraints.compare import Compare, Condition, Flag, Var
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.facts import Predicate, Said, Seen, Words
from agentltl.constraints.formula import Formula, Proposition, Quantified
from agentltl.constraints.linting.finding import Finding, FindingKind, names
from agentltl.constraints.linting.look_alikes import alike, drawn, odd
from agentltl.constraints.path import Filter, Key, Path
from agentltl.constraints.proposition import Called, Tools

Kind = Literal["constraint", "tool", "group", "argument", "variable"]


@dataclass(frozen=True, slots=True)
class Name:
    """A name, what it is the name of, and for an argument the tool (or group) of which."""

    kind: Kind
    text: str
    of: str = ""


def look_alikes(constraints: Sequence[Constraint], known: Collection[str] = ()) -> Iterator[Finding]:
    """Names with odd characters, and pairs of names that can be taken for each other.

    Arguments are compared with those of the same tool, variables with those of the same rule; two names in `known`
    (of tools that there are) are both meant.
    """
    used: dict[Name, list[str]] = {}
    for constraint in constraints:
        for name in dict.fromkeys((Name("constraint", constraint.name), *names_in(constraint.formula))):
            where = constraint.name if name.kind == "variable" else name.of
            used.setdefault(Name(name.kind, name.text, where), []).append(constraint.name)
    shown: dict[tuple[str, str], list[str]] = {}
    for name, whose in used.items():
        shown.setdefault((name.kind, name.text), []).extend(whose)
    for (kind, text), whose in shown.items():
        if (found := odd(text)) is not None:
            message = f"the {kind} `{text}` {found[0]}"
            hint = f"write it as `{found[1]}`, if that is what is meant"
            yield Finding(FindingKind.LOOK_ALIKE, tuple(dict.fromkeys(whose)), message, hint)
    yield from _pairs(used, known)


def _pairs(used: dict[Name, list[str]], known: Collection[str]) -> Iterator[Finding]:
    places: dict[tuple[str, str, str], list[Name]] = {}
    for name in used:
        places.setdefault((name.kind, name.of, drawn(name.text)), []).append(name)
    told: set[tuple[str, str, str]] = set()
    for alikes in places.values():
        for one, other in combinations(alikes, 2):
            differs = alike(one.text, other.text)
            pair = (one.kind, *sorted((one.text, other.text)))
            if differs is None or pair in told or (one.text in known and other.text in known):
                continue
            told.add(pair)  # type: ignore[arg-type]
            whose = tuple(dict.fromkeys((*used[other], *used[one])))
            message = f"the {one.kind}s {names((one.text, other.text))} differ only in {differs}"
            yield Finding(FindingKind.LOOK_ALIKE, whose, message, "write both the same way, if one thing is meant")


def names_in(formula: Formula) -> Iterator[Name]:
    """The names that a formula uses."""
    for inner in formula.walk():
        match inner:
            case Quantified(_, variable):
                yield Name("variable", variable)
            case Proposition(Called(tools, args, outcome)):
                yield from _tools(tools)
                for of in tools.members:
                    for condition in args:
                        yield from _arguments(condition, of)
                for condition in (*args, *outcome):
                    yield from (Name("variable", variable) for variable in sorted(condition.variables))
            case Proposition(Said(what) | Words(_, _, what)):
                yield from _operand(what)
            case Proposition(Seen(what, several)):
                yield from _operand(what)
                for tools in several:
                    yield from _tools(tools)
            case Proposition(Predicate(_, operands)):
                for operand in operands:
                    yield from _operand(operand)


def _tools(tools: Tools) -> Iterator[Name]:
    if tools.group is not None:
        yield Name("group", tools.group)
    yield from (Name("tool", member) for member in sorted(tools.members) if member.strip("*?"))


def _operand(operand: object) -> Iterator[Name]:
    if isinstance(operand, Var):
        yield Name("variable", operand.name)


def _arguments(condition: Condition, of: str) -> Iterator[Name]:
    """The keys that a condition names, under the arguments and inside their elements."""
    if isinstance(condition, Flag):
        return
    yield from _keys(condition.path, of)
    if isinstance(condition, Compare) and isinstance(condition.right, Path):
        yield from _keys(condition.right, of)


def _keys(path: Path, of: str) -> Iterator[Name]:
    place = of
    for step in path.steps if path.root in ("args", "it") else ():
        if isinstance(step, Key):
            yield Name("argument", step.name, place)
            place += f".{step.name}"
        elif isinstance(step, Filter):
            for inner in step.conditions:
                yield from _arguments(inner, place)
