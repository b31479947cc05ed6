"""A rule made ready for monitoring: its normal form, and for each quantifier what must be remembered of the past.

A scope is the rule itself or the body of one of its quantifiers; the nodes of the past inside a scope get a register
each, and each quantifier directly inside keeps such registers for every value of its variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from agentltl.constraints.formula import Apply, Formula, Proposition, Quantified
from agentltl.constraints.names import hidden_from
from agentltl.constraints.normal import close, normal
from agentltl.constraints.operators import AND, AT, NOT, OR, Operator
from agentltl.constraints.proposition import Atom, Called


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """`past`: nodes with a register, inner ones first; `quantifiers`: those directly inside.

    `atoms` are the propositions in which the scope's variable occurs free; the scope is `plain` when each compares it
    by `=` and `!=` only, so that values which an event does not name are alike.
    It is `late` when one that compares it in another way also speaks of events that do not name the value: what those
    are worth for a value is known only once the value has been named.
    It is `brought` when a registered domain stands inside: what that brings is looked up in the whole past, under the
    very values around it, so none of them is forgotten.
    `remembers` says whether anything inside has a register.
    """

    past: tuple[Apply, ...]
    quantifiers: dict[Quantified, Scope]
    atoms: tuple[Atom, ...] = ()
    plain: bool = True
    late: bool = False
    brought: bool = False

    @property
    def remembers(self) -> bool:
        return bool(self.past) or any(scope.remembers for scope in self.quantifiers.values())


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule: the closed formula, its normal form, its scope, and the tools whose calls are no events for it.

    `windowed`: it looks at the times of calls. `late`: the quantifiers whose scope is late, wherever they stand.
    """

    formula: Formula
    normal: Formula
    scope: Scope
    hidden: frozenset[str]
    windowed: bool
    late: dict[Quantified, Scope]

    def __deepcopy__(self, memo: object) -> Rule:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return rule, (self.formula,)


@lru_cache(maxsize=4096)
def rule(formula: Formula) -> Rule:
    """Make a formula ready. Its free variables are bound by `forall` around the whole."""
    closed = close(formula)
    body = normal(closed)
    windowed = any(isinstance(f, Apply) and f.window is not None and f.window.timed for f in body.walk())
    scope = _scope(body)
    return Rule(closed, body, scope, hidden_from(closed), windowed, _all_late(scope))


def _all_late(scope: Scope) -> dict[Quantified, Scope]:
    late = {node: inner for node, inner in scope.quantifiers.items() if inner.late}
    for inner in scope.quantifiers.values():
        late |= _all_late(inner)
    return late


def _scope(body: Formula) -> Scope:
    past: dict[Apply, None] = {}
    quantifiers: dict[Quantified, Scope] = {}

    def visit(formula: Formula) -> None:
        if isinstance(formula, Quantified):
            if formula not in quantifiers:
                quantifiers[formula] = _quantifier(formula)
            return
        for child in formula.children:
            visit(child)
        if isinstance(formula, Apply):
            if formula.op.shape == "tally":
                visit(opposite(formula))
            if formula.op is AT or formula.op.direction == "past":
                past.setdefault(formula)

    visit(body)
    return Scope(tuple(past), quantifiers)


@lru_cache(maxsize=4096)
def opposite(tally: Apply) -> Formula:
    """The normal form of the negation of what a `count` or `sum` counts: whether an event certainly does not count."""
    return normal(tally.args[0], negated=True)


def compared(formula: Formula) -> frozenset[str]:
    """The variables that a formula compares other than by `=` and `!=`."""
    return frozenset().union(*(f.atom.compared & f.free for f in formula.walk() if isinstance(f, Proposition)))


def _quantifier(node: Quantified) -> Scope:
    inner = _scope(node.body)
    atoms = tuple(
        dict.fromkeys(f.atom for f in node.body.walk() if isinstance(f, Proposition) and node.variable in f.free)
    )
    compares = any(node.variable in atom.compared for atom in atoms)
    brought = any(isinstance(f, Quantified) and f.domain is not None for f in node.body.walk())
    plain = node.domain is None and not compares and not brought
    late = node.domain is None and compares and _late(node.body, node, False)
    return Scope(inner.past, inner.quantifiers, atoms, plain, late, brought)


def _late(body: Formula, node: Quantified, guarded: bool) -> bool:
    """Whether a proposition compares the variable other than by `=` and `!=` at an event that need not name the value.

    `guarded`: at this event a proposition beside it decides the matter for every value that the event does not name.
    """
    match body:
        case Proposition(atom):
            return not guarded and node.variable in atom.compared and not _names(AND, body, node)
        case Quantified(_, inner, within):
            return inner != node.variable and _late(within, node, guarded)
        case Apply(op, args):
            if op in (AND, OR):
                sides = _sides(op, body)
                names = [_names(op, side, node) for side in sides]
                return any(
                    _late(side, node, guarded or any(names[:i]) or any(names[i + 1 :])) for i, side in enumerate(sides)
                )
            return any(_late(a, node, guarded and op is NOT) for a in args)
    return False


def _sides(op: Operator, formula: Formula) -> list[Formula]:
    """What `&` or `|` joins, the same operator inside it opened."""
    if isinstance(formula, Apply) and formula.op is op:
        return [side for a in formula.args for side in _sides(op, a)]
    return [formula]


def _names(op: Operator, side: Formula, node: Quantified) -> bool:
    """Whether this side of `&` is false, of `|` is true, for a value that the event does not name."""
    return _unnamed(side, node) is (op is OR)


def _unnamed(formula: Formula, node: Quantified) -> bool | None:
    """What a formula is worth for a value that the event does not name, where that is certain.

    While a call runs, it is not known yet which values its outcome names; that matters to `exists` alone, because for
    `forall` there are values that it does not name.
    """
    match formula:
        case Proposition(atom) if node.variable in atom.binds:
            named = atom.args if isinstance(atom, Called) else ()
            certain = node.kind == "forall" or any(node.variable in condition.binds for condition in named)
            return False if certain else None
        case Apply(op, (inner,)) if op is NOT:
            return True if _unnamed(inner, node) is False else None
        case Apply(op, args) if op in (AND, OR):
            sides = [_unnamed(a, node) for a in args]
            decided = op is OR
            return decided if decided in sides else (not decided if set(sides) == {not decided} else None)
    return None


__all__ = ["Rule", "Scope", "compared", "opposite", "rule"]
