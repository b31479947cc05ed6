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
from agentltl.constraints.compare import Compare, Flag, Var, simply
from agentltl.constraints.formula import Formula, Quantified
from agentltl.constraints.path import OTHER, Env, Key, Path
from agentltl.constraints.proposition import Atom, Called
from agentltl.constraints.reading import Reading
from agentltl.constraints.scope import Rule, Scope
from agentltl.constraints.trace import Position
from agentltl.constraints.value import Json, key


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

    `atoms` are the propositions that could name one. `argument` is the one argument that gives the one variable its
    value, where nothing else is asked of the call but how it settled; then `letters` has, for each way to settle, the
    letter of all other values and that of the value.
    """

    atoms: tuple[Called, ...]
    argument: str | None
    letters: dict[int, tuple[Letter, Letter]] = field(default_factory=dict)


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
        if plan.argument is None:
            return self._general(position, plan)
        args = call.args
        value = args.get(plan.argument, OTHER) if isinstance(args, dict) else OTHER
        own = value if type(value) is str else None if value is OTHER else key(value)
        if own is None:
            return self._general(position, plan)
        outcome = call.outcome
        settled = 0 if outcome is None else outcome.way
        letters = plan.letters.get(settled)
        if letters is None:
            env = {self.prefix.variables[0]: value}
            letters = self.reading.letter(position, self._others), self.reading.letter(position, env)
            plan.letters[settled] = letters
        return letters[0], ((own, (value,), letters[1]),)

    def _general(self, position: Position, plan: Plan) -> tuple[Letter, list[tuple[Hashable, Row, Letter]]]:
        variables = self.prefix.variables
        found: dict[Hashable, Row] = {}
        for atom in plan.atoms:
            values: dict[str, dict[Hashable, Json]] = {variable: {} for variable in variables}
            for name, value in atom.values(position):
                if name in values and (own := key(value)) is not None:
                    values[name][own] = value
            for row in product(*(values[variable].items() for variable in variables)):
                keys = tuple(k for k, _ in row)
                found[keys[0] if len(keys) == 1 else keys] = tuple(v for _, v in row)
        letter = self.reading.letter
        rows = [(own, row, letter(position, dict(zip(variables, row, strict=True)))) for own, row in found.items()]
        return letter(position, self._others), rows

    def _plan(self, tool: str) -> Plan:
        atoms = tuple(atom for atom in self.prefix.atoms if atom.tools.match(tool))
        waiting = [atom for _, atom in self.reading.page(tool).open]
        arguments = {self._argument(atom) for atom in waiting}
        argument = arguments.pop() if len(arguments) == 1 else None
        if len(self._plans) >= MOST:
            self._plans.clear()
        plan = self._plans[tool] = Plan(atoms, argument)
        return plan

    def _argument(self, atom: Atom) -> str | None:
        """The one argument by which a proposition names the one variable, where it asks for nothing else but flags."""
        if not isinstance(atom, Called) or len(self.prefix.variables) > 1 or len(atom.args) != 1:
            return None
        asked = simply(atom.args[0])
        flags = all(isinstance(condition, Flag) for condition in atom.outcome)
        return asked[0] if asked is not None and flags and isinstance(asked[2], Var) else None


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
