"""Candidates: simple calls of one tool that its propositions tell apart, made from what their conditions ask for.

Nothing is promised: a path that cannot be built, or a text that cannot be guessed, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, product
from typing import cast

from agentltl.constraints import comparison
from agentltl.constraints.compare import Compare, Condition, Flag, Literal_, Var
from agentltl.constraints.path import Filter, Index, Key, Root, Step
from agentltl.constraints.proposition import Called
from agentltl.constraints.trace import ABSENT, Call, Outcome
from agentltl.constraints.value import FrozenDict, FrozenList, Json, as_number, freeze, key

MOST_ARGUMENTS = 100
"""How many combinations of arguments of one tool are tried."""
MOST_RESULTS = 20
"""How many results of one tool are tried."""
ANY: Json = "..."
"""A value that stands for all those which no rule asks for."""

FAILED = Outcome(error="an error")

_OF_KIND: dict[str, Json] = {
    "text": ANY, "number": 0, "bool": True, "null": None, "list": FrozenList(), "object": FrozenDict(),
}  # fmt: skip


def candidates(tool: str, atoms: Sequence[Called], values: Sequence[Json]) -> Iterator[Call]:
    """Settled calls of a tool, those with the fewest arguments and the plainest outcome first.

    `atoms` are the propositions that speak of the tool; `values` are tried for their variables, objects among them for
    whole arguments and results only.
    """
    arguments = _objects([c for atom in atoms for c in atom.args], "args", values, MOST_ARGUMENTS)
    ways = outcomes(atoms, values)
    for args in arguments:
        if isinstance(args, dict):
            for outcome in ways:
                yield Call(tool, args, outcome=outcome)


def outcomes(atoms: Sequence[Called], values: Sequence[Json]) -> list[Outcome]:
    """What could come of a call, as far as propositions tell it apart; plain success first."""
    conditions = [c for atom in atoms for c in atom.outcome]
    if not conditions:
        return [Outcome()]
    results = [Outcome(value=value) for value in _objects(conditions, "result", values, MOST_RESULTS)]
    failed = [result._replace(error=FAILED.error) for result in results]
    return [Outcome(), FAILED, *results, *_others(conditions), *failed]


def _others(conditions: Sequence[Condition]) -> Iterator[Outcome]:
    """Outcomes with the text, the status or the error that a condition asks for."""
    for condition in conditions:
        if isinstance(condition, Compare) and isinstance(condition.right, Literal_) and not condition.path.steps:
            for value in leaves([condition], ()):
                if isinstance(value, str):
                    match condition.path.root:
                        case "text":
                            yield Outcome(text=value)
                        case "status":
                            yield Outcome(status=value)
                        case "error":
                            yield Outcome(error=value)


def _objects(conditions: Iterable[Condition], root: Root, values: Sequence[Json], most: int) -> list[Json]:
    """Objects in which the paths that the conditions ask for lead to every kind of value, the smallest first."""
    by_path: dict[tuple[Step, ...], list[Condition]] = {}
    for condition in conditions:
        if not isinstance(condition, Flag) and condition.path.root == root:
            by_path.setdefault(condition.path.steps, []).append(condition)
    whole = [v for v in values if isinstance(v, dict)]
    inside = [v for v in values if not isinstance(v, dict)]
    choices = [[ABSENT, *_at(steps, own, inside if steps else whole)] for steps, own in by_path.items()]
    rows = sorted(islice(product(*choices), 10 * most), key=lambda row: sum(v is not ABSENT for v in row))
    found: dict[object, Json] = {}
    for row in rows:
        built: Json = ABSENT
        for steps, value in zip(by_path, row, strict=True):
            if value is not ABSENT:
                built = _put(built, steps, value)
        built = FrozenDict() if built is ABSENT else built
        found.setdefault(key(built), freeze(built))
        if len(found) >= most:
            break
    return list(found.values())


def _at(steps: tuple[Step, ...], conditions: list[Condition], values: Sequence[Json]) -> list[Json]:
    """The values tried at the end of a path: of some length, matching its filter, or those compared there."""
    lengths = [c for c in conditions if not isinstance(c, Flag) and c.path.length]
    own = [c for c in conditions if c not in lengths]
    found = leaves(own, values) if own else []
    for number in leaves(lengths, values) if lengths else ():
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= 20:
            found.append(FrozenList([ANY] * number))
    return found


def _put(whole: Json, steps: tuple[Step, ...], value: Json) -> Json:
    """The value with another one put at the end of a path; what stands in the way goes."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, Key):
        old = whole if isinstance(whole, dict) else {}
        return {**old, step.name: _put(old.get(step.name, ABSENT), rest, value)}
    items = list(whole) if isinstance(whole, list) else []
    place = step.index if isinstance(step, Index) else 0
    element = items[place] if place < len(items) else ABSENT
    if isinstance(step, Filter):
        for condition in step.conditions:
            if not isinstance(condition, Flag) and condition.path.root == "it":
                inner = [v for v in leaves([condition], ()) if v is not ABSENT]
                if inner:
                    element = _put(element, condition.path.steps, inner[0])
        if not rest and isinstance(value, list):  # a number of elements that match
            return [element if element is not ABSENT else ANY] * len(value)
    element = _put(element, rest, value) if rest or not isinstance(step, Filter) else element
    before = (items + [ANY] * place)[:place]
    return [*before, element if element is not ABSENT else value, *items[place + 1 :]]


def leaves(conditions: Sequence[Condition], values: Sequence[Json]) -> list[Json]:
    """Values that the conditions on one path tell apart: those that are asked for, and one that is not."""
    found: dict[object, Json] = {}
    bounds: list[int | float] = []
    for condition in conditions:
        if isinstance(condition, Compare) and isinstance(condition.right, Literal_):
            literal = condition.right.value
            number = as_number(literal)
            if condition.op in ("<", "<=", ">", ">=") and number is not None:
                bounds.append(number)
                continue
            tried = _suiting(condition.op, literal)
        elif isinstance(condition, Compare) and isinstance(condition.right, Var):
            tried = list(values)
        else:
            tried = []
        found.update({key(v): v for v in tried if key(v) is not None and key(v) not in found})
    found.update((key(v), v) for v in _numbers(sorted(set(bounds)), list(found.values())))
    found.setdefault(key(ANY), ANY)
    return list(found.values())


def _suiting(op: str, literal: Json) -> list[Json]:
    """Values that satisfy a comparison with a literal, and some that satisfy its negation."""
    match op.removeprefix("not ").removeprefix("is ").removeprefix("!"):
        case "in":
            return list(literal) if isinstance(literal, list) else []
        case "~":
            if not isinstance(literal, str):
                return []
            return [literal.replace("*", "").replace("?", "x"), literal.replace("*", "x").replace("?", "x")]
        case "=~":
            return _matching(literal) if isinstance(literal, str) else []
        case "has":
            return [FrozenList([literal]), FrozenList()]
        case "is" | "not":
            return [_OF_KIND[literal]] if literal in _OF_KIND else []
        case "<" | "<=" | ">" | ">=":
            return ["", literal, literal + "x"] if isinstance(literal, str) else []
    return [literal]


def _matching(pattern: str) -> list[Json]:
    """A text that the regular expression matches, if a simple guess is one."""
    bare = pattern.replace("(?i)", "").replace(r"\b", "").strip("^$")
    guesses = [bare, *bare.strip("()").split("|"), bare.replace("\\", ""), "", "x", "0", "a0"]
    return cast(list[Json], [g for g in guesses if comparison.matches(g, pattern)][:1])


def _numbers(bounds: list[int | float], taken: list[Json]) -> list[Json]:
    """Numbers on, between, below and above the bounds, plain ones."""
    if not bounds:
        return []
    between = [low + (high - low) / 2 for low, high in pairwise(bounds)]
    found = [*bounds, bounds[-1] + 1, bounds[0] - 1, *(int(b) if b == int(b) else b for b in between)]
    keys = {key(v) for v in taken}
    return [n for n in dict.fromkeys(found) if key(n) not in keys]
