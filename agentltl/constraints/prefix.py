"""Rules that begin with quantifiers and hold none inside: which values an event names, together for all variables.

The values are alike where the rule compares a variable by `=` and `!=` alone. With several variables each proposition
must name all of them or none, so a row of values is found in one proposition and any other row is not named.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from agentltl.constraints.automaton import Letter
from agentltl.constraints.automaton import atoms as propositions
from agentltl.constraints.compare import Compare, Flag, Var
from agentltl.constraints.formula import Formula, Quantified
from agentltl.constraints.path import OTHER, Env, Key, Path
from agentltl.constraints.proposition import Atom, Called
from agentltl.constraints.reading import Reading
from agentltl.constraints.scope import Rule, Scope
from agentltl.constraints.trace import ABSENT, Call, Position
from agentltl.constraints.value import FrozenDict, Json, key


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """Quantifiers of one kind around a body without any. `atoms` are the propositions that name the variables."""

    kind: Literal["forall", "exists"]
    variables: tuple[str, ...]
    body: Formula
    scope: Scope
    atoms: tuple[Called, ...]


Row = tuple[Json, ...]
"""One value for each variable."""
MOST = 4096
"""How many tools are remembered."""


@dataclass(slots=True, eq=False)
class Plan:
    """How the rows that a tool's calls name are found.

    `atoms` are the propositions that could name one. Where nothing else is asked of a call but how it settled, `places`
    says where each variable gets its value, and `argument` is the one argument that says it all; then `letters` has,
    for each way to settle, the letter of all other rows and that of the row.
    """

    atoms: tuple[Called, ...]
    places: tuple[Path, ...] | None
    argument: str | None
    letters: dict[int, tuple[Letter, Letter]] = field(default_factory=dict)

    def value(self, call: Call) -> str | None:
        """The text that a call names by its one argument; None where it is not that simple."""
        if self.argument is None or type(args := call.args) is not FrozenDict:
            return None
        value = args.get(self.argument)
        return value if type(value) is str else None

    def row(self, call: Call) -> Row | None:
        """The values that a call gives the variables; None if one is missing."""
        values = []
        for path in self.places or ():
            value = call.args if path.root == "args" else call.approves or call.tool
            if path.steps:
                value = value.get(path.steps[0].name, ABSENT) if isinstance(value, dict) else ABSENT  # type: ignore[union-attr]
                if value is ABSENT:
                    return None
            values.append(value)
        return tuple(values)


class RowReading:
    """What an event says: its letter for all values that it does not name, and each row that it names with its own."""

    def __init__(self, prefix: Prefix, reading: Reading) -> None:
        self.prefix, self.reading = prefix, reading
        self._others: Env = dict.fromkeys(prefix.variables, OTHER)
        self._plans: dict[str, Plan] = {}

    def read(self, position: Position) -> tuple[Letter, Sequence[tuple[Hashable, Row, Letter]]]:
        """The letter of all other values; for each row that is named its key, the values and their letter."""
        call = position.call
        plan = self._plans.get(call.tool) or self._plan(call.tool)
        if (value := plan.value(call)) is not None:
            row: Row | None = (value,)
            own: Hashable | None = value
        else:
            row = None if plan.places is None else plan.row(call)
            own = None if row is None else row_key(row)
        if row is None or own is None:
            return self._general(position, plan)
        way = 0 if call.outcome is None else call.outcome.way
        letters = plan.letters.get(way)
        if letters is None:
            env = dict(zip(self.prefix.variables, row, strict=True))
            letters = self.reading.letter(position, self._others), self.reading.letter(position, env)
            plan.letters[way] = letters
        return letters[0], ((own, row, letters[1]),)

    def argument(self, tool: str) -> str | None:
        """The one argument of a tool's calls that names the value, where nothing else is asked of them but how they
        settled."""
        return (self._plans.get(tool) or self._plan(tool)).argument

    def started(self, call: Call) -> tuple[str, Letter, Letter] | None:
        """What a call that has just started says, if it names one text and that alone: the text, the letter of all
        other values and its own. None where that is not so, or not known yet."""
        plan = self._plans.get(call.tool)
        if plan is None or (letters := plan.letters.get(0)) is None or (value := plan.value(call)) is None:
            return None
        return value, *letters

    def _general(self, position: Position, plan: Plan) -> tuple[Letter, list[tuple[Hashable, Row, Letter]]]:
        variables = self.prefix.variables
        found: dict[Hashable, Row] = {}
        for atom in plan.atoms:
            values: dict[str, dict[Hashable, Json]] = {variable: {} for variable in variables}
            for name, value in atom.values(position):
                if name in values and (own := key(value)) is not None:
                    values[name][own] = value
            for row in product(*(values[variable].values() for variable in variables)):
                found[row_key(row)] = row
        letter = self.reading.letter
        rows = [(own, row, letter(position, dict(zip(variables, row, strict=True)))) for own, row in found.items()]
        return letter(position, self._others), rows

    def _plan(self, tool: str) -> Plan:
        atoms = tuple(atom for atom in self.prefix.atoms if atom.tools.match(tool))
        waiting = [atom for _, atom in self.reading.page(tool).open]
        places = {self._places(atom) for atom in waiting}
        if len(self._plans) >= MOST:
            self._plans.clear()
        place = places.pop() if len(places) == 1 else None
        plan = self._plans[tool] = Plan(atoms, place, None if place is None else _argument(place))
        return plan

    def _places(self, atom: Atom) -> tuple[Path, ...] | None:
        """Where a proposition finds the values of all variables, where it asks for nothing else but flags."""
        if not isinstance(atom, Called) or not all(isinstance(condition, Flag) for condition in atom.outcome):
            return None
        found: dict[str, Path] = {}
        for condition in atom.args:
            if not isinstance(condition, Compare) or not isinstance(condition.right, Var) or condition.op != "=":
                return None
            path = condition.path
            if condition.right.name in found or path.length or not (path.root in ("args", "tool") and _near(path)):
                return None
            found[condition.right.name] = path
        if found.keys() != set(self.prefix.variables):
            return None
        return tuple(found[name] for name in self.prefix.variables)


def _argument(places: tuple[Path, ...]) -> str | None:
    if len(places) != 1 or not places[0].steps:
        return None
    (step,) = places[0].steps
    return step.name if isinstance(step, Key) else None


def _near(path: Path) -> bool:
    return not path.steps or (path.root == "args" and len(path.steps) == 1 and isinstance(path.steps[0], Key))


def row_key(row: Row) -> Hashable | None:
    """The key of a row; None for one that holds a value which equals nothing."""
    if len(row) == 1:
        value = row[0]
        return value if type(value) is str else key(value)
    keys = tuple([value if type(value) is str else key(value) for value in row])
    return None if None in keys else keys


def prefix(rule: Rule) -> Prefix | None:
    """The prefix of a rule; None for a rule without one, or of a form of which an event does not tell all."""
    formula, scope = rule.normal, rule.scope
    kind = formula.kind if isinstance(formula, Quantified) else None
    variables: list[str] = []
    if kind is None or rule.scope.past or len(rule.scope.quantifiers) != 1:
        return None
    while isinstance(formula, Quantified):
        scope = scope.quantifiers[formula]
        if formula.kind != kind or not scope.plain or formula.variable in variables or len(scope.quantifiers) > 1:
            return None
        variables.append(formula.variable)
        formula = formula.body
        if isinstance(formula, Quantified) and scope.past:
            return None
    if scope.quantifiers or any(isinstance(f, Quantified) for f in formula.walk()):
        return None
    atoms = tuple(atom for atom in propositions(formula, scope) if atom.variables)
    if not all(isinstance(atom, Called) for atom in atoms):
        return None
    if len(variables) > 1 and not all(_whole(atom, variables) for atom in atoms):
        return None
    return Prefix(kind, tuple(variables), formula, scope, tuple(a for a in atoms if isinstance(a, Called)))


def _whole(atom: Atom, variables: list[str]) -> bool:
    """Whether a proposition is false unless it names every one of the variables."""
    if not isinstance(atom, Called) or not set(variables) <= atom.binds:
        return False
    using = [condition for condition in (*atom.args, *atom.outcome) if condition.variables]
    if not all(isinstance(c, Compare) and c.op == "=" and isinstance(c.right, Var) for c in using):
        return False
    # While a call runs, what only its outcome names is not known, so a row is named by the arguments or by the outcome.
    if not (all(c in atom.args for c in using) or all(c in atom.outcome for c in using)):
        return False
    # Where one value cannot be found, the others of the row are not told apart: so none can, or all at once.
    paths = [c.path for c in using if isinstance(c, Compare)]
    whole = all(not path.steps and not path.length for path in paths)
    return whole or (len({path.root for path in paths}) == 1 and all(map(_member, paths)))


def _member(path: Path) -> bool:
    return not path.length and len(path.steps) == 1 and isinstance(path.steps[0], Key)
