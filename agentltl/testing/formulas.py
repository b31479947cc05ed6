"""Random formulas, for tests of rules and of whatever judges them.

They are drawn from a `random.Random`, so a seed says the whole test.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Literal, TypeVar, cast

from agentltl.constraints import facts
from agentltl.constraints.compare import Compare, Condition, Flag, Literal_, Operand, Present, Var
from agentltl.constraints.comparison import KINDS, TESTS
from agentltl.constraints.formula import Apply, Const, Formula, Limit, Place, Proposition, Quantified, Window
from agentltl.constraints.language.expand import Argument, expand
from agentltl.constraints.language.lexicon import ORDERS
from agentltl.constraints.operators import AT, BOUNDED, COUNT, OPERATORS, SUM
from agentltl.constraints.path import Every, Filter, Index, Key, Path, Root, Some, Step
from agentltl.constraints.patterns import PATTERNS, Parameter
from agentltl.constraints.proposition import Called, Tools
from agentltl.constraints.rule import check
from agentltl.constraints.value import Json, freeze
from agentltl.errors import FormulaError

FEATURES = frozenset(
    {"future", "past", "bounds", "times", "counts", "sums", "places", "quantifiers", "patterns"}
    | {"conditions", "outcomes", "filters", "comparisons", "duration", "said", "seen", "words", "steps", "first"}
)
"""What `random_formula` draws from: `times` are windows in seconds, `words` are `user` and `task`, `steps` is
`same_step`, `comparisons` are all besides `=`, `duration` is `outcome.duration`."""

Place_ = Literal["call", "outcome", "element"]
_Choice = TypeVar("_Choice")


def random_formula(
    rng: random.Random,
    size: int = 6,
    *,
    rule: bool = True,
    features: frozenset[str] = FEATURES,
    tools: Sequence[str] = ("a", "b", "c"),
    groups: Mapping[str, Sequence[str]] | None = None,
    keys: Sequence[str] = ("k", "m"),
    values: Sequence[Json] = (0, 1, 2, "u", "v", True, None),
    variables: Sequence[str] = ("x", "y"),
    predicates: Sequence[str] = (),
    domains: Sequence[str] = (),
) -> Formula:
    """A formula of about `size` operators and propositions.

    `rule` says that it must load as a rule, so that its variables get their values; else it is any formula that can be
    written. `groups` have plain names and globs as members; `predicates` and `domains` are names that are registered.
    """
    for _ in range(20):
        maker = _Maker(rng, features, tools, groups or {}, keys, values, variables, predicates, domains)
        formula = maker.formula(size)
        if not rule or _loads(formula):
            return formula
    return _Maker(rng, features - {"quantifiers"}, tools, groups or {}, keys, values, (), predicates, ()).formula(size)


def _loads(formula: Formula) -> bool:
    try:
        check(formula)
    except FormulaError:
        return False
    return True


class _Maker:
    def __init__(
        self,
        rng: random.Random,
        features: frozenset[str],
        tools: Sequence[str],
        groups: Mapping[str, Sequence[str]],
        keys: Sequence[str],
        values: Sequence[Json],
        variables: Sequence[str],
        predicates: Sequence[str],
        domains: Sequence[str],
    ) -> None:
        self.rng, self.features, self.tools, self.groups = rng, features, tools, groups
        self.keys, self.values, self.variables = keys, values, variables
        self.predicates, self.domains = predicates, domains

    def has(self, feature: str) -> bool:
        return feature in self.features

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, choices: Sequence[_Choice]) -> _Choice:
        return choices[self.rng.randrange(len(choices))]

    def formula(self, size: int, now: bool = False) -> Formula:
        """A formula; `now` says that it must not look ahead, nor at a numbered position."""
        if size <= 1:
            return self.proposition()
        kinds: list[Callable[[int, bool], Formula]] = [self.operator] * 8
        kinds += [self.count] * self.has("counts") + [self.sum] * self.has("sums")
        kinds += [self.quantifier] * self.has("quantifiers") * bool(self.variables)
        if not now:
            kinds += [self.pattern] * self.has("patterns") + [self.place] * self.has("places")
        return self.pick(kinds)(size, now)

    def operator(self, size: int, now: bool) -> Formula:
        rows = [
            op
            for op in OPERATORS
            if op.law is not None
            and (op.direction == "" or self.has(op.direction))
            and not (now and op.direction == "future")
            and (op.arity == 1 or size > 2)
        ]
        op = self.pick(rows)
        if op.arity == 1:
            window = None
            if op.symbol in BOUNDED and self.has("bounds") and self.chance(0.3):
                window = self.window(op.direction == "past", 0)
            return Apply(op, (self.formula(size - 1, now),), window)
        left = self.rng.randint(1, size - 2)
        return Apply(op, (self.formula(left, now), self.formula(size - 1 - left, now)))

    def window(self, past: bool, least: int) -> Window:
        if past and self.has("times") and self.chance(0.4):
            unit = cast("Literal['ms', 's', 'm', 'h']", self.pick(("ms", "s", "s", "m", "h")))
            return Window.of_time(Fraction(self.pick(("0", "1", "1.5", "2", "10", "0.25"))), unit)
        return Window.of_events(self.rng.randint(least, 3))

    def count(self, size: int, now: bool) -> Formula:
        window = self.window(True, 1) if self.has("bounds") and self.chance(0.4) else None
        limit = Limit(self.pick(list(ORDERS.values())), self.rng.randint(0, 3))
        return Apply(COUNT, (self.formula(size - 1, True),), window, limit)

    def sum(self, size: int, now: bool) -> Formula:
        window = self.window(True, 1) if self.has("bounds") and self.chance(0.4) else None
        free, self.variables = self.variables, ()  # the path of a sum takes no variable
        limit = Limit(self.pick(list(ORDERS.values())), self.pick((-1, 0, 1, 1.5, 3)), self.path("call", 1))
        self.variables = free
        return Apply(SUM, (self.formula(size - 1, True),), window, limit)

    def place(self, size: int, now: bool) -> Formula:
        return Apply(AT, (self.formula(size - 1, now),), None, Place(self.rng.randint(0, 3)))

    def quantifier(self, size: int, now: bool) -> Formula:
        kind = cast("Literal['forall', 'exists']", self.pick(("forall", "exists")))
        domain = self.pick(self.domains) if self.domains and self.chance(0.3) else None
        return Quantified(kind, self.pick(self.variables), self.formula(size - 1, now), domain)

    def pattern(self, size: int, now: bool) -> Formula:
        row = self.pick(list(PATTERNS.values()))
        free = self.variables
        if row.demands and self.chance(0.8):
            self.variables = ()
        arguments: list[Argument] = []
        for parameter in row.parameters:
            arguments += self.arguments(parameter)
        self.variables = free
        return expand(row, tuple(arguments))

    def arguments(self, parameter: Parameter) -> list[Argument]:
        match parameter.kind:
            case "proposition":
                return [self.call()]
            case "propositions":
                return [tuple(self.call() for _ in range(self.rng.randint(1, 3)))]
            case "number":
                return [self.rng.randint(1, 3)]
            case "limit":
                return [(self.pick(list(ORDERS.values())), self.rng.randint(0, 3))]
            case "conditions":
                return [self.condition("call", 1) for _ in range(self.rng.randint(1, 2))]
            case _:
                if self.chance(0.5):
                    return [Literal_(freeze(self.pick(self.values)))]
                return [Literal_(freeze({self.pick(self.keys): self.pick(self.values)}))]

    def proposition(self) -> Formula:
        kinds: list[Callable[[], Formula]] = [self.call] * 12
        kinds += [lambda: Const(self.chance(0.5))]
        kinds += [lambda: Proposition(facts.Said(self.operand()))] * self.has("said")
        kinds += [lambda: Proposition(facts.Seen(self.operand(), self.some_tools()))] * self.has("seen")
        kinds += [self.words] * self.has("words")
        kinds += [lambda: Proposition(facts.SameStep())] * self.has("steps")
        kinds += [lambda: Proposition(facts.First())] * self.has("first")
        if self.predicates:
            kinds.append(self.predicate)
        return self.pick(kinds)()

    def predicate(self) -> Formula:
        operands = tuple(self.operand() for _ in range(self.rng.randint(0, 2)))
        return Proposition(facts.Predicate(self.pick(self.predicates), operands))

    def words(self) -> Formula:
        which = cast("Literal['user', 'task']", self.pick(("user", "task")))
        op, right = self.compared("call", 1)
        return Proposition(facts.Words(which, op, right))

    def some_tools(self) -> tuple[Tools, ...]:
        return tuple(self.tool() for _ in range(self.rng.randint(0, 2)))

    def tool(self) -> Tools:
        if self.groups and self.chance(0.2):
            name = self.pick(list(self.groups))
            return Tools(frozenset(self.groups[name]), name)
        return Tools.named("*" if self.chance(0.1) else self.pick(self.tools))

    def call(self) -> Formula:
        args: tuple[Condition, ...] = ()
        outcome: tuple[Condition, ...] = ()
        if self.has("conditions") and self.chance(0.5):
            args = tuple(self.condition("call", 2) for _ in range(self.rng.randint(1, 2)))
        if self.has("outcomes") and self.chance(0.25):
            outcome = tuple(self.condition("outcome", 2) for _ in range(self.rng.randint(1, 2)))
        return Proposition(Called(self.tool(), args, outcome))

    def condition(self, place: Place_, depth: int) -> Condition:
        if place == "outcome" and self.chance(0.5):
            return Flag("ok" if self.chance(0.5) else "failed")
        path = self.path(place, depth)
        if self.chance(0.15):
            return Present(path)
        return Compare(path, *self.compared(place, depth))

    def compared(self, place: Place_, depth: int) -> tuple[str, Operand]:
        op = self.pick(list(TESTS)) if self.has("comparisons") and self.chance(0.5) else "="
        texts = [v for v in self.values if isinstance(v, str)] or ["u"]
        match op.removeprefix("not ").removeprefix("is ").removeprefix("!"):
            case "is" | "not":
                return op, Literal_(self.pick(KINDS))
            case "~":
                return op, Literal_(self.pick((*texts, "*", "u*", "?")))
            case "=~":
                return op, Literal_(self.pick(("u", "^v", "u|v", "[0-9]+", r"\d")))
            case "in":
                items = [self.pick(self.values) for _ in range(self.rng.randint(0, 3))]
                return op, Literal_(freeze(items))
        if self.variables and self.chance(0.5 if op == "=" else 0.1):
            return op, Var(self.pick(self.variables))
        if self.chance(0.15):
            return op, self.path(place, depth, relative=True)
        if op in ("<", "<=", ">", ">="):
            return op, Literal_(self.pick([v for v in self.values if type(v) in (int, float, str)] or [1]))
        return op, Literal_(freeze(self.pick(self.values)))

    def operand(self) -> Operand:
        if self.variables and self.chance(0.4):
            return Var(self.pick(self.variables))
        return self.path("call", 1, True) if self.chance(0.5) else Literal_(freeze(self.pick(self.values)))

    def path(self, place: Place_, depth: int, relative: bool = False) -> Path:
        roots: list[Root] = {"call": ["args"], "outcome": ["result"], "element": ["it"]}[place] * 6  # type: ignore[assignment]
        if place == "call":
            roots += ["tool"]
        elif place == "outcome":
            roots += ["text", "status", "error"]
            roots += ["duration"] * self.has("duration")
        if relative and place != "call":
            roots += ["args"]
        root = self.pick(roots)
        if root not in ("args", "result", "it"):
            return Path(root)
        steps: list[Step] = [Key(self.pick(self.keys))] if self.chance(0.9) else []
        if self.has("filters") and depth > 0 and self.chance(0.3):
            steps.append(self.step(depth - 1))
        if self.chance(0.2):
            steps.append(Key(self.pick(self.keys)))
        return Path(root, tuple(steps), self.chance(0.1) and self.has("filters"))

    def step(self, depth: int) -> Step:
        match self.rng.randrange(4):
            case 0:
                return Index(self.rng.randint(0, 2))
            case 1:
                return Some()
            case 2:
                return Every()
            case _:
                return Filter(tuple(self.condition("element", depth) for _ in range(self.rng.randint(1, 2))))
