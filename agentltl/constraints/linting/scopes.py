"""For which traces constraints are meant: which of them can meet on one trace, and which are there wherever another is.

A constraint with `where` is meant for traces whose fields have certain values.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import product

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.value import key

MOST = 200
"""How many combinations of fields are looked at."""

Fields = dict[str, frozenset[Hashable | None]]


def covers(one: Constraint, other: Constraint) -> bool:
    """Whether every trace that the other constraint is meant for is one that this one is meant for, too."""
    mine, others = _fields(one), _fields(other)
    return all(name in others and others[name] <= values for name, values in mine.items())


def together(constraints: Sequence[Constraint]) -> list[tuple[int, ...]]:
    """The largest sets of constraints, by number, that are meant for one trace; one of each set of the same.

    Where there are too many combinations of fields, only those meant for every trace are taken together.
    """
    fields = [_fields(c) for c in constraints]
    values = {name: sorted({v for f in fields for v in f.get(name, ())}, key=repr) for f in fields for name in f}
    size = 1
    for several in values.values():
        size *= len(several) + 1
    if size > MOST:
        return [tuple(i for i, f in enumerate(fields) if not f)]
    found: list[frozenset[int]] = []
    for row in product(*((*several, _OTHER) for several in values.values())):
        now = dict(zip(values, row, strict=True))
        found.append(frozenset(i for i, f in enumerate(fields) if all(now[n] in allowed for n, allowed in f.items())))
    distinct = dict.fromkeys(found)
    return [tuple(sorted(s)) for s in distinct if not any(s < larger for larger in distinct)]


_OTHER = object()


def _fields(constraint: Constraint) -> Fields:
    found = constraint.where or {}
    return {name: frozenset(map(key, v if isinstance(v, list) else [v])) for name, v in found.items()}
