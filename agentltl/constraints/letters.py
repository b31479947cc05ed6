"""The letters of propositions: calls such that every possible event is judged like one of them.

They exist for propositions that compare single arguments and keys of the result with literals, or with variables that
have a value.
One event has one tool name and an argument one value, so what cannot be true together is in no letter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product

from agentltl.constraints.compare import Compare, Condition, Flag, Literal_, Present, Var
from agentltl.constraints.judgement import NO
from agentltl.constraints.path import Env, Frame, Key, Path
from agentltl.constraints.proposition import Atom, Called
from agentltl.constraints.trace import ABSENT, NEVER, SPECIAL, Call, Outcome, Position
from agentltl.constraints.value import FrozenDict, FrozenList, Json, Opaque, as_number, key

MOST = 400
"""How many combinations of values a tool may have; a rule with more has no letters."""
EQUALITIES = frozenset({"=", "!=", "in", "not in"})
ORDERINGS = frozenset({"<", "<=", ">", ">="})
NOTHING: Env = {}
FRESH: Json = FrozenDict({"": FrozenList([""])})
"""A value that no literal is equal to, and that cannot be ordered."""
OPAQUE: Json = Opaque("a value that is no JSON value")


def letters_of(atoms: Sequence[Atom], env: Env = NOTHING) -> tuple[Call, ...] | None:
    """Settled calls such that every event is judged by these propositions like one of them, under values for their
    variables; None for propositions outside the class, or with too many letters.

    Calls of `final_answer`, which are events for some rules only, stand for themselves.
    """
    grounded = [atom for atom in map(partial(_grounded, env=env), atoms) if atom is not None and plain(atom)]
    if len(grounded) < len(atoms):
        return None
    names = frozenset().union(*(atom.tools.exact for atom in grounded))
    other = next(name for name in ("other", "another", "yet another", *map(str, range(99))) if name not in names)
    found: dict[Hashable, Call] = {}
    for tool in (*sorted(names), other):
        matching = {i: atom for i, atom in enumerate(grounded) if atom.tools.match(tool)}
        calls = _calls(tool, list(matching.values()))
        if calls is None:
            return None
        for call in calls:
            position = Position(call, 0, (call,), None)
            judged = [(i, worth) for i, a in matching.items() if (worth := a.judge(position, NOTHING)) != NO]
            found.setdefault((frozenset(judged), tool in SPECIAL), call)
    return tuple(found.values())


def _grounded(atom: Atom, env: Env) -> Called | None:
    """A call pattern with values for its variables; None for a fact, and where a variable stands inside a path."""
    if not isinstance(atom, Called):
        return None
    if not atom.variables:
        return atom
    args = tuple(_filled(c, env) for c in atom.args)
    outcome = tuple(_filled(c, env) for c in atom.outcome)
    filled = Called(atom.tools, args, outcome)
    return None if filled.variables else filled


def _filled(condition: Condition, env: Env) -> Condition:
    if isinstance(condition, Compare) and isinstance(condition.right, Var) and condition.right.name in env:
        return replace(condition, right=Literal_(env[condition.right.name]))
    return condition


def literals(atoms: Iterable[Atom]) -> dict[Hashable, Json]:
    """The literals that call patterns compare with, those in lists included, each under its key."""
    found: dict[Hashable, Json] = {}
    for atom in atoms:
        for condition in (*atom.args, *atom.outcome) if isinstance(atom, Called) else ():
            if isinstance(condition, Compare) and isinstance(condition.right, Literal_):
                value = condition.right.value
                for one in (value, *(value if isinstance(value, list) else ())):
                    if (own := key(one)) is not None:
                        found[own] = one
    return found


def alike(atoms: Iterable[Atom], variables: int) -> bool:
    """Whether all values that no literal names are alike to these propositions, whatever row of values they stand in.

    They are not where values are told apart by order or kind, and, with several variables, where one path is compared
    with two of them, or where a literal could be in a row.
    """
    compares = [
        c for atom in atoms if isinstance(atom, Called) for c in (*atom.args, *atom.outcome) if isinstance(c, Compare)
    ]
    bound: dict[Path, set[str]] = {}
    for compare in compares:
        if isinstance(compare.right, Var):
            bound.setdefault(compare.path, set()).add(compare.right.name)
    if any(c.path in bound and c.op not in EQUALITIES for c in compares):
        return False
    literal = any(c.path in bound and isinstance(c.right, Literal_) for c in compares)
    return variables == 1 or not (literal or any(len(names) > 1 for names in bound.values()))


def plain(atom: Called) -> bool:
    """Whether letters tell all there is to a call pattern."""
    tools = atom.tools
    named = not any(glob != "*" for glob in tools.globs) and "approved" not in tools.exact
    return named and all(_simple(c, "args") for c in atom.args) and all(_simple(c, "result") for c in atom.outcome)


def _simple(condition: Condition, root: str) -> bool:
    """A flag of the outcome, or a condition on one key, which is compared with literals."""
    if isinstance(condition, Flag):
        return root == "result"
    path = condition.path
    if path.root != root or path.length or len(path.steps) != 1 or not isinstance(path.steps[0], Key):
        return False
    if isinstance(condition, Present):
        return True
    if not isinstance(condition.right, Literal_):
        return False
    if condition.op in EQUALITIES:
        return True
    return condition.op in ORDERINGS and isinstance(condition.right.value, str | int | float)


def _calls(tool: str, atoms: list[Called]) -> Iterable[Call] | None:
    """Calls of one tool, one for each way in which its patterns can be judged."""
    arguments = _objects(c for atom in atoms for c in atom.args)
    results = _objects(c for atom in atoms for c in atom.outcome if not isinstance(c, Flag))
    if arguments is None or results is None:
        return None
    values = (*results, FrozenList(), ABSENT)
    outcomes = [Outcome(value=value) for value in values]
    outcomes += [Outcome(value=value, error="an error") for value in values]
    outcomes.append(NEVER)  # what can be asked of an agent comes first: it stands for what is judged alike
    if len(arguments) * len(outcomes) > MOST:
        return None
    # Arguments that are no object at all are undecidable under every key.
    return (Call(tool, args, outcome=outcome) for args, outcome in product((*arguments, FrozenList()), outcomes))


def _objects(conditions: Iterable[Condition]) -> list[Json] | None:
    """Objects whose keys take every kind of value that the conditions tell apart."""
    by_key: dict[str, list[Condition]] = {}
    for condition in conditions:
        path: Path = condition.path  # type: ignore[union-attr]
        by_key.setdefault(path.steps[0].name, []).append(condition)  # type: ignore[union-attr]
    choices = []
    for name, own in by_key.items():
        values = _values(own)
        if values is None:
            return None
        choices.append(_told_apart(name, own, (ABSENT, *values, OPAQUE)))
    size = 1
    for choice in choices:
        size *= len(choice)
        if size > MOST:
            return None
    return [
        FrozenDict({k: v for k, v in zip(by_key, row, strict=True) if v is not ABSENT}) for row in product(*choices)
    ]


def _told_apart(name: str, conditions: list[Condition], values: Iterable[Json]) -> list[Json]:
    """The first value for each way in which the conditions on a key are judged."""
    found: dict[Hashable, Json] = {}
    for value in values:
        holder = FrozenDict() if value is ABSENT else FrozenDict({name: value})
        frame = Frame(Call("", holder, outcome=Outcome(value=holder)))
        found.setdefault(tuple(condition.judge(frame, NOTHING) for condition in conditions), value)
    return list(found.values())


def _values(conditions: list[Condition]) -> list[Json] | None:
    """One value for each way in which the conditions on a key can be judged where the key is there."""
    compares = [c for c in conditions if isinstance(c, Compare)]
    literals: dict[object, Json] = {}
    for compare in compares:
        assert isinstance(compare.right, Literal_)
        value = compare.right.value
        several = isinstance(value, list) and compare.op in ("in", "not in")
        literals.update((key(v), v) for v in (value if several else [value]))
    bounds = [c.right.value for c in compares if c.op in ORDERINGS and isinstance(c.right, Literal_)]
    texts = sorted({b for b in bounds if isinstance(b, str)})
    if texts:  # numeric texts lie in both orders, so only one of them may be asked for
        clear = len(texts) == len(set(bounds)) and all(as_number(t) is None for t in texts)
        return [*literals.values(), *_between_texts(texts), FRESH] if clear else None
    numbers = _between_numbers(sorted({*bounds}), literals)
    return None if numbers is None else [*literals.values(), *numbers, "~", FRESH]


def _between_texts(bounds: list[str]) -> Iterator[str]:
    """A text before, between, on and after the bounds, where there is one."""
    yield ""
    for bound in bounds:
        yield bound
        yield bound + "\0"


def _between_numbers(bounds: list[int | float], literals: dict[object, Json]) -> list[Json] | None:
    """Numbers below, between, on and above the bounds, and texts that read as them, none of them a literal."""
    if not bounds:
        return []
    points: list[int | float] = [bounds[0] - 1, *bounds, bounds[-1] + 1]
    for low, high in pairwise(bounds):
        middle = low + (high - low) / 2
        if not low < middle < high:
            return None
        points.append(middle)
    found: list[Json] = []
    for point in points:
        while point not in bounds and key(point) in literals:
            lower = max((b for b in bounds if b < point), default=point - 2)
            if not lower < (nearer := lower + (point - lower) / 2) < point:
                return None
            point = nearer
        text = next((t for t in (f"{point!r}", f" {point!r}", f"  {point!r}") if key(t) not in literals), None)
        if text is None or as_number(text) != point:
            return None
        found += [point, text]
    return found
