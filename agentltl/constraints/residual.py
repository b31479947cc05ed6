"""What is still owed: a set of clauses, each a set of obligations of which one must be discharged.

This is conjunctive normal form kept minimal, so equal residuals are equal values.
No clause is `TRUE`, an empty clause is `FALSE`.
An obligation is a formula owed from the next event on, what rests on a call that still runs, or a quantifier's
residuals for each value (`Parts`); or it rests on a value that nothing has named yet.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Apply, Const, Formula, Quantified
from agentltl.constraints.normal import at_the_edge
from agentltl.constraints.operators import AND, OR
from agentltl.constraints.value import Json
from agentltl.errors import ConstraintError


@dataclass(frozen=True, slots=True)
class Owed:
    """The formula must hold at the next event; `edge` is what it is worth if there is none."""

    formula: Formula
    edge: bool

    def at_end(self) -> int:
        return j.T if self.edge else j.F


@dataclass(frozen=True, slots=True)
class Running:
    """It rests on the outcome of a call that still runs."""

    def at_end(self) -> int:
        return j.U


@dataclass(frozen=True, slots=True)
class Part:
    """The residual for one value of a quantifier's variable."""

    value: Json = field(compare=False)
    residual: Residual


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A quantifier under way: a residual for each value known, and one for all others."""

    node: Quantified
    known: Mapping[Hashable, Part]
    other: Residual
    _identity: tuple[object, ...] = field(init=False, repr=False)
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        identity = (self.node, frozenset((k, p.residual) for k, p in self.known.items()), self.other)
        object.__setattr__(self, "_identity", identity)
        object.__setattr__(self, "_hash", hash(identity))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Parts) and self._hash == other._hash and self._identity == other._identity
        )

    def at_end(self) -> int:
        ends = (self.other.at_end(), *(part.residual.at_end() for part in self.known.values()))
        return min(ends) if self.node.kind == "forall" else max(ends)


@dataclass(frozen=True, slots=True)
class Unnamed:
    """It rests on which value it will be: none so far, but one that a later event names could do."""

    def at_end(self) -> int:
        return j.F


Obligation = Owed | Running | Unnamed | Parts
Clause = frozenset[Obligation]


@dataclass(frozen=True, slots=True)
class Residual:
    """Clauses, each of which must be discharged by one of its obligations."""

    clauses: frozenset[Clause]

    def __and__(self, other: Residual) -> Residual:
        if self is FALSE or other is FALSE:
            return FALSE
        if self is TRUE or self is other:
            return other
        if other is TRUE:
            return self
        return _residual(self.clauses | other.clauses)

    def __or__(self, other: Residual) -> Residual:
        if self is TRUE or other is TRUE:
            return TRUE
        if self is FALSE or self is other:
            return other
        if other is FALSE:
            return self
        if len(self.clauses) * len(other.clauses) > MOST_CLAUSES:
            raise ConstraintError(
                "the rule is too large to be monitored: what it owes has too many alternatives\n"
                "split it into several constraints, or say it with fewer `<->` and `|` around temporal operators"
            )
        return _residual(frozenset(_clause(a | b) for a in self.clauses for b in other.clauses))

    def __deepcopy__(self, memo: object) -> Residual:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _residual, (self.clauses,)

    def at_end(self) -> int:
        """What it is worth if the trace ends here: `T`, `F`, or `U` where that rests on running calls."""
        return min((max(o.at_end() for o in clause) if clause else j.F for clause in self.clauses), default=j.T)


MOST_CLAUSES = 10_000
"""How many clauses a disjunction may be multiplied out into."""
TRUE = Residual(frozenset())
FALSE = Residual(frozenset({frozenset()}))
RUNNING = Residual(frozenset({frozenset({Running()})}))
UNNAMED = Residual(frozenset({frozenset({Unnamed()})}))


def constant(truth: int) -> Residual:
    """The residual of something judged `T`, `F` or `U`."""
    return (FALSE, RUNNING, TRUE)[truth]


def owed(formula: Formula, edge: bool | None = None) -> Residual:
    """A formula in normal form owed from the next event on, its conjunctions and disjunctions opened.

    `edge` is what it is worth if there is no event (None: what the formula is worth on the empty trace).
    """
    match formula:
        case Apply(op, (a, b)) if op is AND:
            return owed(a, edge) & owed(b, edge)
        case Apply(op, (a, b)) if op is OR:
            return owed(a, edge) | owed(b, edge)
        case Quantified(_, _, body, None):
            return quantified(formula, {}, owed(body, edge))
    worth = at_the_edge(formula) if edge is None else edge
    if isinstance(formula, Const) and formula.value is worth:
        return TRUE if worth else FALSE
    return Residual(frozenset({frozenset({Owed(formula, worth)})}))


def _residual(clauses: frozenset[Clause]) -> Residual:
    """Clauses made minimal: the parts of one `forall` in several clauses of their own are one, and a clause that a
    smaller one implies goes."""
    clauses = _tightest(_merged(clauses))
    if not clauses:
        return TRUE
    if frozenset() in clauses:
        return FALSE
    if len(clauses) > 1:
        clauses = frozenset(c for c in clauses if not any(d < c for d in clauses))
    return Residual(clauses)


def _tightest(clauses: frozenset[Clause]) -> frozenset[Clause]:
    """Of the same thing owed alone within several bounds, the tightest: for `G[k]` the largest k, for `F[k]` the
    smallest."""
    found: dict[tuple[object, ...], tuple[int, Clause]] = {}
    spare: list[Clause] = []
    for clause in clauses:
        if len(clause) != 1:
            continue
        (obligation,) = clause
        bound = _bound(obligation)
        if bound is None:
            continue
        kind, k, strong = bound
        known = found.get(kind)
        if known is None:
            found[kind] = k, clause
        elif (k > known[0]) is strong:
            spare.append(known[1])
            found[kind] = k, clause
        else:
            spare.append(clause)
    return clauses - frozenset(spare) if spare else clauses


def _bound(obligation: Obligation) -> tuple[tuple[object, ...], int, bool] | None:
    """What is owed within a bound, the bound, and whether a larger one asks for more."""
    if not isinstance(obligation, Owed) or not isinstance(obligation.formula, Apply):
        return None
    formula = obligation.formula
    if formula.window is None or formula.op.direction != "future":
        return None
    return (formula.op, formula.args, obligation.edge), formula.window.events, bool(formula.op.edge)


def _merged(clauses: frozenset[Clause]) -> frozenset[Clause]:
    alone: dict[Quantified, list[Parts]] = {}
    for clause in clauses:
        if len(clause) == 1:
            (obligation,) = clause
            if isinstance(obligation, Parts) and obligation.node.kind == "forall":
                alone.setdefault(obligation.node, []).append(obligation)
    for several in alone.values():
        if len(several) > 1:
            clauses = (clauses - {frozenset({p}) for p in several}) | _joined(several).clauses
    return clauses


def _clause(obligations: Iterable[Obligation]) -> Clause:
    """A clause in which the parts of one `exists` are one."""
    clause = frozenset(obligations)
    alone: dict[Quantified, list[Parts]] = {}
    for obligation in clause:
        if isinstance(obligation, Parts) and obligation.node.kind == "exists":
            alone.setdefault(obligation.node, []).append(obligation)
    for several in alone.values():
        if len(several) > 1:
            (merged,) = _joined(several).clauses  # one clause: neither side is true
            clause = (clause - set(several)) | merged
    return clause


def _joined(several: list[Parts]) -> Residual:
    """One quantifier over the conjunction (forall) or disjunction (exists) of the bodies."""
    node = several[0].node
    values = {k: part.value for parts in several for k, part in parts.known.items()}
    other = several[0].other
    known = {k: _of(several[0], k) for k in values}
    for parts in several[1:]:
        other = _join(node, other, parts.other)
        known = {k: _join(node, r, _of(parts, k)) for k, r in known.items()}
    return quantified(node, {k: Part(values[k], r) for k, r in known.items()}, other)


def _of(parts: Parts, value: Hashable) -> Residual:
    part = parts.known.get(value)
    return parts.other if part is None else part.residual


def _join(node: Quantified, a: Residual, b: Residual) -> Residual:
    return a & b if node.kind == "forall" else a | b


def quantified(node: Quantified, known: Mapping[Hashable, Part], other: Residual) -> Residual:
    """The residual of a quantifier from those of its values; a value whose residual is that of all others goes."""
    decided, neutral = (FALSE, TRUE) if node.kind == "forall" else (TRUE, FALSE)
    if other is decided or any(part.residual is decided for part in known.values()):
        return decided
    kept = {k: part for k, part in known.items() if part.residual != other}
    if not kept and other in (neutral, RUNNING):
        return other
    return Residual(frozenset({frozenset({Parts(node, kept, other)})}))


def whole(node: Quantified, residual: Residual) -> tuple[Mapping[Hashable, Part], Residual]:
    """What `quantified` was made from, when the residual is all that it gave."""
    if len(residual.clauses) == 1:
        (clause,) = residual.clauses
        if len(clause) == 1:
            (obligation,) = clause
            if isinstance(obligation, Parts) and obligation.node == node:
                return obligation.known, obligation.other
    return {}, residual
