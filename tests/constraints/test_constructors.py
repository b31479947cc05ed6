"""Each Python constructor gives the formula of its text form."""

import pytest

from agentltl.constraints import constructors as c
from agentltl.constraints import pattern_constructors as p
from agentltl.constraints.compare import Var
from agentltl.constraints.formula import Formula
from agentltl.constraints.operators import OPERATORS
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.text import parse, read
from agentltl.errors import ConstraintError, FormulaError

a, b = read("a"), read("b")


def constructor_near(trace: object, *values: object) -> bool:
    return True


def constructor_ids(trace: object, metrics: object) -> list[int]:
    return [1, 2]


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (p.Called("a"), "called(a)"),
        (p.Now("a"), "now(a)"),
        (p.CalledWith("a", k=1, m="u"), 'called_with(a, k = 1, m = "u")'),
        (p.CalledWith("a", {"odd-key": None}, tool=[1]), 'called_with(a, "odd-key" = null, args.tool = [1])'),
        (p.CalledWith("a", k={"x": [True]}), 'called_with(a, k = {"x": [true]})'),
        (p.CalledWith("a", to=p.Arg("from", 0)), "called_with(a, to = .from[0])"),
        (p.CalledWithResult("a", {"k": 1}), 'called_with_result(a, {"k": 1})'),
        (p.CalledWithResult("a", "done"), 'called_with_result(a, "done")'),
        (p.CalledNTimes("a", 2), "called_n(a, = 2)"),
        (p.CalledNTimes("a", ">=", 2), "called_n(a, >= 2)"),
        (p.CalledNTimes("a", 2, op="<"), "called_n(a, < 2)"),
        (p.Before("a", "b"), "before(a, b)"),
        (p.Before(read("a(k = 1)"), "b"), "before(a(k = 1), b)"),
        (p.After("a", "b"), "after(a, b)"),
        (p.AllBefore(["a", "c"], "b"), "all_before([a, c], b)"),
        (p.BranchCalled("a", "b"), "branch(a, b)"),
        (p.InstanceBefore("a", 1, "b", 2), "instance_before(a, 1, b, 2)"),
        (p.CalledInOrder(["a", "b"]), "in_order([a, b])"),
        (p.CalledInOrder("a", "b"), "in_order([a, b])"),
        (p.CalledInOrder("a"), "in_order([a])"),
        (p.WithinSteps("a", "b", 3), "within(a, b, 3)"),
        (p.Informed("a", "b"), "informed(a, b)"),
        (p.Precedence("a", "b"), "precedence(a, b)"),
        (p.Response("a", "b"), "response(a, b)"),
        (p.Succession("a", "b"), "succession(a, b)"),
        (p.RespondedExistence("a", "b"), "responded_existence(a, b)"),
        (p.Coexistence("a", "b"), "coexistence(a, b)"),
        (p.NotCoexistence("a", "b"), "not_coexistence(a, b)"),
        (p.AlternateResponse("a", "b"), "alternate_response(a, b)"),
        (p.ChainResponse("a", "b"), "chain_response(a, b)"),
        (p.AlternatePrecedence("a", "b"), "alternate_precedence(a, b)"),
        (p.ChainPrecedence("a", "b"), "chain_precedence(a, b)"),
        (p.NotSuccession("a", "b"), "not_succession(a, b)"),
        (p.NotChainSuccession("a", "b"), "not_chain_succession(a, b)"),
        (p.Existence("a", 2), "existence(a, 2)"),
        (p.Absence("a", 2), "absence(a, 2)"),
        (p.Exactly("a", 2), "exactly(a, 2)"),
        (p.Init("a"), "init(a)"),
        (p.Last("a"), "last(a)"),
        (p.Choice("a", "b"), "choice(a, b)"),
        (p.ExclusiveChoice("a", "b"), "exclusive_choice(a, b)"),
        (p.AtMost("a", 2), "at_most(a, 2)"),
        (p.AtMostOnce("a"), "at_most_once(a)"),
        (p.Never("a"), "never(a)"),
        (p.NoRepeat("*"), "no_repeat(*)"),
        (p.Between("a", "b", "c"), "between(a, b, c)"),
        (c.Globally(a), "G a"),
        (c.Globally(a, within=3), "G[3] a"),
        (c.Eventually(a), "F a"),
        (c.Eventually(a, within="5"), "F[5] a"),
        (c.Once(a, within="1.5s"), "O[1.5s] a"),
        (c.Historically(a, 0), "H[0] a"),
        (c.Next(a), "X a"),
        (c.WeakNext(a), "N a"),
        (c.Previous(a), "Y a"),
        (c.WeakPrevious(a), "Z a"),
        (c.Until(a, b), "a U b"),
        (c.WeakUntil(a, b), "a W b"),
        (c.Release(a, b), "a R b"),
        (c.StrongRelease(a, b), "a M b"),
        (c.Since(a, b), "a S b"),
        (c.WeakSince(a, b), "a B b"),
        (c.Triggered(a, b), "a T b"),
        (c.StrongTriggered(a, b), "a P b"),
        (c.Not(a), "!a"),
        (c.And(a, b, a), "a & b & a"),
        (c.And(a), "a"),
        (c.Or(a, b), "a | b"),
        (c.Implies(a, b), "a -> b"),
        (c.Iff(a, b), "a <-> b"),
        (a & b | ~a, "a & b | !a"),
        (a >> b, "a -> b"),
        (c.ForAll(Var("x"), None, read("F a(k = ?x)")), "forall ?x. F a(k = ?x)"),
        (c.ForAll("x", read("F a(k = ?x)")), "forall ?x. F a(k = ?x)"),
        (c.Exists("?x", read("F a(k = ?x)")), "exists ?x. F a(k = ?x)"),
        (c.ForAll("x", constructor_ids, read("F a(k = ?x)")), "forall ?x in $constructor_ids. F a(k = ?x)"),
        (c.Exists("x", "$constructor_ids", read("F a(k = ?x)")), "exists ?x in $constructor_ids. F a(k = ?x)"),
        (c.Predicate(constructor_near, 1, p.Arg("url")), "$constructor_near(1, .url)"),
        (c.Predicate("constructor_near"), "$constructor_near()"),
        (read("G a") & c.Predicate("constructor_near", "u"), 'G a & $constructor_near("u")'),
        (c.AtPosition(2, a), "at(2, a)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_constructor_gives_the_formula_of_its_text(formula: Formula, text: str) -> None:
    assert formula == parse(text)
    assert str(formula) == str(parse(text))


def test_every_operator_and_pattern_has_a_constructor() -> None:
    words = {"always": "Globally", "weak_since": "WeakSince", "at": "AtPosition"}
    for op in OPERATORS:
        if op.shape != "tally":
            name = words.get(op.word, "".join(part.capitalize() for part in op.word.split("_")))
            assert getattr(c, name).__doc__
    own = {
        "called_n": "CalledNTimes",
        "branch": "BranchCalled",
        "in_order": "CalledInOrder",
        "within": "WithinSteps",
    }
    for pattern in PATTERNS:
        name = own.get(pattern, "".join(part.capitalize() for part in pattern.split("_")))
        constructor = getattr(p, name)
        assert constructor.__name__ == name
        assert constructor.__doc__


NAMES = [
    "a.b",
    "pay-now",
    "mcp__a__b",
    "a b",
    "X",
    "F",
    "GetUser",
    "ToolSearch",
    "last",
    "before",
    "befor",
    "раy",
    "@w",
    "F*",
    "?x",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_text_is_the_name_of_a_tool_as_if_quoted(name: str) -> None:
    assert p.Before(name, "done") == parse(f'before("{name}", done)')
    assert parse(str(p.Before(name, "done"))) == p.Before(name, "done")
    assert p.Called(f"{name}*") == parse(f'called("{name}*")')


def test_variables_in_arguments() -> None:
    inside = c.Exists("x", c.Globally(c.Implies(p.Never("a"), p.CalledWith("b", k=Var("x")))))
    assert inside == parse("exists ?x. G (never(a) -> called_with(b, k = ?x))")


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: p.Called(""), "a tool name is empty"),
        (lambda: p.Called("a\nb"), "control character"),
        (lambda: p.CalledWith("a", k="x\ty"), "control character"),
        (lambda: p.CalledWith("a", {"k\n": 1}), "control character"),
        (lambda: p.CalledWith("a", k=float("nan")), "a rule cannot say nan"),
        (lambda: p.CalledWith("a", k=[float("inf")]), "a rule cannot say inf"),
        (lambda: p.CalledWith("a", k=-1e400), "a rule cannot say -inf"),
        (lambda: p.CalledWith("a", k={1, 2}), "a value of type set"),
        (lambda: p.CalledWith("a"), "`called_with` takes at least 2 arguments, not 1"),
        (lambda: p.CalledWithResult("a", float("nan")), "a rule cannot say nan"),
        (lambda: p.CalledNTimes("a"), "how often is not said"),
        (lambda: p.CalledNTimes("a", "about", 2), "`about` is no comparison of numbers"),
        (lambda: p.CalledNTimes("a", 2, op="about"), "`about` is no comparison of numbers"),
        (lambda: p.CalledNTimes("a", ">", 2, op="<"), "how often is not said"),
        (lambda: p.AllBefore("ab", "b"), "a list of tools is expected"),
        (lambda: p.AllBefore([], "b"), "this one is empty"),
        (lambda: p.CalledInOrder(["a"], "b"), "a list and more tools"),
        (lambda: p.WithinSteps("a", "b", -1), "a whole number, not negative"),
        (lambda: p.WithinSteps("a", "b", 1.5), "a whole number, not negative"),  # type: ignore[arg-type]
        (lambda: p.InstanceBefore("a", 0, "b", 1), "counted from 1"),
        (lambda: p.AtMost("a", True), "a whole number, not negative"),
        (lambda: p.Never(c.Globally(a)), "a proposition, and `G a` is more"),
        (lambda: p.Precedence(read("first"), "b"), "`first` is no call"),
        (lambda: c.Eventually(a, within=-1), "a bound cannot be negative"),
        (lambda: c.Eventually(a, within="5s"), "an operator that looks ahead"),
        (lambda: c.Once(a, within="soon"), "`soon` is no bound"),
        (lambda: c.Once(a, within=1.5), "`1.5` is no bound"),  # type: ignore[arg-type]
        (lambda: c.AtPosition(-1, a), "`-1` is no position"),
        (lambda: c.AtPosition(True, a), "`True` is no position"),
        (lambda: c.ForAll("a b", a), "`a b` cannot be the name of a variable"),
        (lambda: c.ForAll("x", "my ids", a), "`my ids` cannot be the name of a domain"),
        (lambda: c.Predicate("my-test"), "`my-test` cannot be the name of a predicate"),
        (lambda: c.Predicate(lambda trace: True), "a function without a name"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_cannot_be_written_cannot_be_built(build: object, said: str) -> None:
    with pytest.raises(FormulaError) as caught:
        build()  # type: ignore[operator]
    assert said in caught.value.problem
    assert caught.value.hint


@pytest.mark.parametrize(
    "build", [lambda: c.Globally("a"), lambda: c.And(a, "b"), lambda: c.ForAll("x", None, None), lambda: a & 1]
)
def test_an_operator_takes_formulas(build: object) -> None:
    with pytest.raises(TypeError, match="a formula is expected"):
        build()  # type: ignore[operator]


def test_another_function_under_a_taken_name_is_refused() -> None:
    def constructor_near(trace: object) -> bool:
        return False

    with pytest.raises(ConstraintError, match="another predicate of the name `constructor_near`"):
        c.Predicate(constructor_near)
