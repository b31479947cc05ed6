"""The random formulas that come with the package: everything there is turns up, and they are what was asked for."""

import random

from agentltl.constraints import facts
from agentltl.constraints.compare import Compare, Condition, Flag, Present
from agentltl.constraints.comparison import TESTS
from agentltl.constraints.formula import Apply, Const, Formula, Proposition, Quantified
from agentltl.constraints.operators import OPERATORS
from agentltl.constraints.path import Filter, Path
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.predicates import register_domain, register_predicate
from agentltl.constraints.proposition import Called
from agentltl.constraints.rule import check
from agentltl.testing import FEATURES, random_formula

register_predicate("testing_near", lambda trace, *values: True)
register_domain("testing_ids", lambda trace, metrics: [1])


def formulas(n: int, size: int = 8, **options: object) -> list[Formula]:
    return [random_formula(random.Random(seed), size, **options) for seed in range(n)]  # type: ignore[arg-type]


def test_a_seed_says_the_formula() -> None:
    assert formulas(20) == formulas(20)
    assert len(set(formulas(20))) > 15


def test_rules_load() -> None:
    for formula in formulas(500):
        check(formula)
    assert any(formula.free for formula in formulas(100))


def looked_at(condition: Condition) -> list[object]:
    match condition:
        case Compare(path, op, right):
            return [op, type(right).__name__, *inside(path), *(inside(right) if isinstance(right, Path) else [])]
        case Present(path):
            return ["present", *inside(path)]
        case Flag(name):
            return [name]


def inside(path: Path) -> list[object]:
    found: list[object] = [path.root, *(type(step).__name__ for step in path.steps), *(["len"] if path.length else [])]
    for step in path.steps:
        if isinstance(step, Filter):
            found += [x for c in step.conditions for x in looked_at(c)]
    return found


def contents(formula: Formula) -> set[object]:
    found: set[object] = set()
    for inner in formula.walk():
        if (written := getattr(inner, "written", None)) is not None:
            found.add(written.pattern)
        match inner:
            case Const(value):
                found.add(value)
            case Quantified(kind, _, _, domain):
                found |= {kind, f"{kind} in" if domain else kind}
            case Apply(op, _, window):
                found |= {op.symbol, (op.symbol, window is not None, window is not None and window.timed)}
            case Proposition(Called(_, args, outcome)):
                found |= {x for c in (*args, *outcome) for x in looked_at(c)}
            case Proposition(atom):
                found.add(type(atom))
    return found


def test_everything_there_is_turns_up() -> None:
    every = formulas(4000, rule=False, predicates=("testing_near",), domains=("testing_ids",))
    found = set().union(*map(contents, every))
    wanted: set[object] = {op.symbol for op in OPERATORS} | set(PATTERNS) | set(TESTS) | {True, False, "present"}
    wanted |= {"forall", "exists", "forall in", "exists in", "ok", "failed", "len", "Literal_", "Var", "Path"}
    wanted |= {"Key", "Index", "Some", "Every", "Filter"}
    wanted |= {"args", "tool", "result", "text", "error", "status", "duration", "it"}
    wanted |= {facts.Said, facts.Seen, facts.Words, facts.SameStep, facts.First, facts.Predicate}
    wanted |= {(symbol, True, False) for symbol in "FGOH"} | {(symbol, True, True) for symbol in "OH"}
    wanted |= {(symbol, True, timed) for symbol in ("count", "sum") for timed in (False, True)}
    assert wanted <= found, wanted - found


def test_what_was_not_asked_for_does_not_turn_up() -> None:
    plain = formulas(500, features=frozenset({"past"}))
    found = set().union(*map(contents, plain))
    assert found <= {op.symbol for op in OPERATORS if op.direction != "future"} | {
        True, False, *((op.symbol, False, False) for op in OPERATORS)
    }  # fmt: skip
    for feature, sign in [("counts", "count"), ("sums", "sum"), ("places", "at"), ("steps", facts.SameStep)]:
        found = set().union(*map(contents, formulas(500, features=FEATURES - {feature, "patterns"})))
        assert sign not in found
