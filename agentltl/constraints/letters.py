"""The letters of a rule: calls such that every possible event is judged by the rule like one of them.

They exist for rules whose propositions compare single arguments and keys of the result with literals.
One event has one tool name and an argument one value, so what cannot be true together is in no letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, product

from agentltl.constraints.compare import Compare, Condition, Flag, Literal_, Present
from agentltl.constraints.formula import Apply, Formula, Limit, Proposition
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.operators import AT, SUM
from agentltl.constraints.path import Key, Path
from agentltl.constraints.proposition import Called
from agentltl.constraints.scope import Rule
from agentltl.constraints.trace import ABSENT, NEVER, Call, Outcome, Position
from agentltl.constraints.value import FrozenDict, FrozenList, Json, as_number, key

MOST = 400
"""How many combinations of values a tool may have; a rule with more has no letters."""
EQUALITIES = frozenset({"=", "!=", "in", "not in"})
ORDERINGS = frozenset({"<", "<=", ">", ">="})
FRESH: Json = FrozenDict({"": FrozenList([""])})
"""A value that no literal is equal to, and that cannot be ordered."""


def letters(rule: Rule) -> tuple[Call, ...] | None:
    """The letters of a rule, settled calls; None for a rule outside the class, or with too many of them."""
    atoms = _atoms(rule.normal)
    if atoms is None:
        return None
    names = frozenset().union(*(atom.tools.exact for atom in atoms))
    other = next(name for name in ("other", "another", "yet another", *map(str, range(99))) if name not in names)
    found: dict[tuple[Judgement, ...], Call] = {}
    for tool in (*sorted(names), other):
        calls = _calls(tool, [atom for atom in atoms if atom.tools.match(tool)])
        if calls is None:
            return None
        for call in calls:
            position = Position(call, 0, (call,), None, rule.hidden)
            found.setdefault(tuple(atom.judge(position, {}) for atom in atoms), call)
    return tuple(found.values())


def _atoms(formula: Formula) -> list[Called] | None:
    """The call patterns of a rule; None where the rule holds anything of which letters do not tell all."""
    atoms: dict[Called, None] = {}
    for inner in formula.walk():
        match inner:
            case Proposition(Called() as atom) if _plain(atom):
                atoms.setdefault(atom)
            case Proposition():
                return None
            case Apply(op, _, window, detail):
                fraction = isinstance(detail, Limit) and not float(detail.number).is_integer()
                if op in (SUM, AT) or fraction or (window is not None and op.direction == "past"):
                    return None
            case _ if inner.children:
                return None
    return list(atoms)


def _plain(atom: Called) -> bool:
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
    outcomes = [NEVER]
    for value in (*results, FrozenList(), ABSENT):
        outcomes += [Outcome(value=value), Outcome(value=value, error="an error")]
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
    for own in by_key.values():
        values = _values(own)
        if values is None:
            return None
        choices.append([ABSENT, *values])
    size = 1
    for choice in choices:
        size *= len(choice)
        if size > MOST:
            return None
    return [
        FrozenDict({k: v for k, v in zip(by_key, row, strict=True) if v is not ABSENT}) for row in product(*choices)
    ]


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
