"""The calls worth trying for several rules together.

For rules that have letters these are joint letters: every event whatsoever is judged like one of them.
For others their propositions are grounded with values of interest, and what is tried is a best effort.
A glob stands for itself as the name of a tool that matches it, and `*` for a tool that no rule names.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product

from agentltl.constraints.automaton import atoms
from agentltl.constraints.candidates import ANY, candidates, leaves
from agentltl.constraints.compare import Compare, Literal_
from agentltl.constraints.formula import Apply, Proposition, Quantified
from agentltl.constraints.judgement import NO
from agentltl.constraints.letters import letters_of, plain
from agentltl.constraints.operators import SUM
from agentltl.constraints.path import OTHER, Env
from agentltl.constraints.proposition import Called, Tools
from agentltl.constraints.scope import Rule
from agentltl.constraints.trace import SPECIAL, Call, Position
from agentltl.constraints.value import Json, key

MOST_GROUNDINGS = 64
"""How many choices of values for the variables of one proposition tell calls apart."""

MOST_VALUES = 12
"""From how many values on the rules' own literals are not tried for variables."""


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Settled calls, the simplest first. `complete`: every event whatsoever is judged by all the rules like one of
    them."""

    calls: tuple[Call, ...]
    complete: bool


def alphabet(rules: Sequence[Rule], values: Sequence[Json] = (), tools: Sequence[str] = ()) -> Alphabet:
    """The calls worth trying for these rules together.

    `values` are the values of interest for variables (one fresh value stands for all others); `tools` are names that
    exist, tried for globs and offered where any tool does.
    """
    distinct = {k: v for v in values if (k := key(v)) is not None}
    return _alphabet(tuple(rules), _Values(tuple(distinct.values())), tuple(dict.fromkeys(tools)))


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """Values that can be looked up, equal as JSON is."""

    values: tuple[Json, ...]

    def __hash__(self) -> int:
        return hash(tuple(map(key, self.values)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Values) and tuple(map(key, self.values)) == tuple(map(key, other.values))


@lru_cache(maxsize=512)
def _alphabet(rules: tuple[Rule, ...], values: _Values, tools: tuple[str, ...]) -> Alphabet:
    patterns = list(dict.fromkeys(atom for rule in rules for atom in atoms_of(rule)))
    lettered = [letter_atoms(rule) for rule in rules]
    letters = letters_of(list(dict.fromkeys(atom for own in lettered if own is not None for atom in own)))
    complete = letters is not None and None not in lettered
    tried = _tried(patterns, values.values)
    asked = [_Asked(i, atom, tuple(sorted(atom.variables)), atom.compared) for i, atom in enumerate(patterns)]
    found: dict[Hashable, Call] = {}
    for tool in _names(patterns, tools):
        matching = [a for a in asked if a.atom.tools.match(tool)]
        for call in candidates(tool, [a.atom for a in matching], tried):
            found.setdefault(_judged(call, matching, tried), call)
    for call in letters or ():
        matching = [a for a in asked if a.atom.tools.match(call.tool)]
        found.setdefault(_judged(call, matching, tried), call)
    return Alphabet(tuple(found.values()), complete)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A proposition, its number, its variables, and those that it compares other than by `=`."""

    number: int
    atom: Called
    variables: tuple[str, ...]
    compared: frozenset[str]


def letter_atoms(rule: Rule) -> tuple[Called, ...] | None:
    """The propositions of a rule of which letters tell all; None for any other rule."""
    for formula in rule.normal.walk():
        if isinstance(formula, Quantified) or (isinstance(formula, Apply) and formula.op is SUM):
            return None
    found = tuple(a for a in atoms(rule.normal, rule.scope) if isinstance(a, Called) and plain(a))
    return found if len(found) == len(atoms(rule.normal, rule.scope)) and not rule.windowed else None


@lru_cache(maxsize=4096)
def atoms_of(rule: Rule) -> tuple[Called, ...]:
    """The call patterns of a rule."""
    found = (f.atom for f in rule.normal.walk() if isinstance(f, Proposition))
    return tuple(dict.fromkeys(atom for atom in found if isinstance(atom, Called)))


def _tried(atoms: Sequence[Called], values: Sequence[Json]) -> tuple[Json, ...]:
    """What variables are tried with: values of interest, those that rules name, and one for all others."""
    if not any(atom.variables for atom in atoms):
        return (ANY,)
    found = {key(v): v for v in values}
    for condition in (c for atom in atoms for c in (*atom.args, *atom.outcome)):
        if len(found) < MOST_VALUES and isinstance(condition, Compare) and condition.op in ("=", "in", "!=", "not in"):
            found.update((k, v) for v in leaves([condition], ()) if (k := key(v)) is not None)
    found.setdefault(ANY, ANY)
    return tuple(found.values())


def _names(atoms: Sequence[Called], tools: Sequence[str]) -> list[str]:
    """Names of tools: those named, those that exist, and each glob that none of them matches; `*` first."""
    named = dict.fromkeys(name for atom in atoms for name in sorted(atom.tools.exact))
    named |= dict.fromkeys(
        c.right.value
        for atom in atoms
        for c in atom.args
        if isinstance(c, Compare)
        and (c.path.root, c.path.steps) == ("tool", ())
        and isinstance(c.right, Literal_)
        and isinstance(c.right.value, str)
        and atom.tools.match(c.right.value)
    )
    named |= dict.fromkeys(tools)
    globs = dict.fromkeys(glob for atom in atoms for glob in atom.tools.globs if glob != "*")
    left = [glob for glob in globs if not any(Tools.named(glob).match(name) for name in named)]
    return ["*", *named, *left]


def _judged(call: Call, matching: Sequence[_Asked], values: Sequence[Json]) -> Hashable:
    """How the propositions judge a call, grounded with the values tried for their variables and with all others.

    A variable that is only compared by `=` matters at the values that the call has there.
    """
    position = Position(call, 0, (call,), None, frozenset())
    judged = []
    for asked in matching:
        for env in _groundings(asked, position, values):
            if (worth := asked.atom.judge(position, env)) != NO:
                judged.append((asked.number, tuple(None if v is OTHER else key(v) for v in env.values()), worth))
    return frozenset(judged), call.tool in SPECIAL


def _groundings(asked: _Asked, position: Position, values: Sequence[Json]) -> Iterator[Env]:
    if not asked.variables:
        yield {}
        return
    has = {(name, key(value)) for name, value in asked.atom.values(position)}
    choices: list[list[Json]] = []
    for name in asked.variables:
        every = name in asked.compared
        choices.append([*(v for v in values if every or (name, key(v)) in has), OTHER])
    for row in islice(product(*choices), MOST_GROUNDINGS):
        yield dict(zip(asked.variables, row, strict=True))
