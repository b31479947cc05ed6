"""Which formulas are rules that load."""

import random

import pytest

from agentltl.constraints.constructors import Eventually, ForAll, Globally, Predicate
from agentltl.constraints.formula import Apply, Formula, Quantified, Window
from agentltl.constraints.operators import SYMBOLS
from agentltl.constraints.pattern_constructors import Called
from agentltl.constraints.predicates import register_domain, register_predicate
from agentltl.constraints.rule import DEEPEST, check
from agentltl.constraints.semantics import holds
from agentltl.constraints.text import parse, read
from agentltl.errors import FormulaError
from agentltl.testing import FEATURES, random_formula, random_trace

register_predicate("rule_ok", lambda trace, *values: True)
register_domain("rule_ids", lambda trace, metrics: [1])
register_domain("rule_nowhere", lambda trace, metrics: ["pay", "ok", "zz", "~", 10**9, -(10**9) + 0.5, {"a": "zz"}])

BOUND = [
    "G (pay(id = ?x) -> O approve(id = ?x)[ok])",
    "G (pay(id = ?x) -> said(?x))",
    "G (pay(id = ?x) -> pay(amount > ?x))",
    "G (pay(id = ?x, amount > ?x) -> a)",
    "G (O pay(id = ?x) -> seen(?x))",
    "G (Y pay(id = ?x) -> seen(?x))",
    "G (pay(id = ?x) & a -> $rule_ok(?x))",
    "G (a & pay[id = ?x] -> user has ?x)",
    "G (pay(items[id = ?x]) -> said(?x))",
    "G (pay(items[*] = ?x) -> said(?x))",
    "G (pay(len(items) = ?x) -> check(n > ?x))",
    "G !(pay(id = ?x) & seen(?x))",
    "G (!pay(id = ?x) | said(?x))",
    "!pay(id = ?x) W approve(amount > ?x)",
    "!pay(id = ?x) W (pay(id = ?x) & said(?x))",
    "G (pay(id = ?x) -> !pay(id = ?x) S approve(amount > ?x))",
    "exists ?x. F (pay(id = ?x) & said(?x))",
    "exists ?x. F pay(id = ?x) & F said(?x)",
    "exists ?x. G (pay(id = ?x) -> said(?x))",
    "forall ?x. exists ?y. G (pay(id = ?x) -> a(n = ?y) & a(n > ?x) & a(n < ?y))",
    "G (count(pay(id = ?x)) <= 2)",
    "G (count(pay(id = ?x), 10s) >= 1 -> said(?x))",
    "G (sum(pay(id = ?x), amount) > 10 -> said(?x))",
    "at(3, pay(id = ?x)) -> said(?x)",
    "G (pay(id = ?x) -> at(0, say(n != ?x)))",
    "G (pay(id = ?x) -> said(.items[id = ?x].name))",
    "forall ?x in $rule_ids. said(?x)",
    "forall ?x in $rule_ids. G (pay(n > ?x) -> a)",
    "exists ?x. true",
    "F pay(id = ?x)",
    "a & (forall ?x. G (pay(id = ?x) -> said(?x))) & b",
    "forall ?x. G (pay(id = ?x) -> (exists ?x in $rule_ids. said(?x)))",
    "precedence(approve(id = ?x), pay(id = ?x))",
    "no_repeat(pay(id = ?t))",
]


@pytest.mark.parametrize("text", BOUND)
def test_a_variable_that_has_its_value_loads(text: str) -> None:
    check(parse(text))


UNBOUND = [
    ("said(?x)", "said(?x)"),
    ("G said(?x)", "said(?x)"),
    ("G !seen(?x)", "seen(?x)"),
    ("G !seen(.items[id = ?x].name)", "seen(.items[id = ?x].name)"),
    ("G (user = .items[id = ?x].name)", "user = .items[id = ?x].name"),
    ("G $rule_ok(1, .items[id = ?x])", "$rule_ok(1, .items[id = ?x])"),
    ("pay(amount > ?x)", "pay(amount > ?x)"),
    ("G (pay(id != ?x) -> a)", "pay(id != ?x)"),
    ("G (pay(id = ?x) | said(?x))", "said(?x)"),
    ("G (said(?x) -> a)", "said(?x)"),
    ("G (a -> said(?x)) & G (pay(id = ?x) -> a)", "said(?x)"),
    ("G (Z pay(id = ?x) -> said(?x))", "said(?x)"),
    ("G (H pay(id = ?x) & a -> F said(?x)) & N pay(id = ?x) -> said(?x)", "said(?x)"),
    ("G (pay(items[all] = ?x) -> said(?x))", "pay(items[all] = ?x)"),
    ("G (pay(items[id > ?x]) -> a)", "pay(items[id > ?x])"),
    ("G (pay(len(items[id = ?x]) > 0) -> a)", "pay(len(items[id = ?x]) > 0)"),
    ("G (count(pay(id = ?x)) >= 0 -> said(?x))", "said(?x)"),
    ("G (count(pay(n > ?x)) <= 2)", "pay(n > ?x)"),
    ("!pay(id = ?x) U approve(amount > ?x)", "approve(amount > ?x)"),
    ("pay(id = ?x) W approve(amount > ?x)", "approve(amount > ?x)"),
    ("exists ?x. F said(?x)", "said(?x)"),
    ("exists ?x. F pay(id = ?x) | F said(?x)", "said(?x)"),
    ("G (pay(id = ?x) -> a) & (exists ?x. said(?x))", "said(?x)"),
    ("G (pay(id = ?x) -> exists ?y. said(?y))", "said(?y)"),
    ("forall ?y in $rule_ids. said(?x)", "said(?x)"),
]


@pytest.mark.parametrize(("text", "culprit"), UNBOUND)
def test_a_variable_without_a_value_does_not_load(text: str, culprit: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    error = caught.value
    assert f"has no value in `{culprit}`" in error.problem
    assert "`=`" in (error.hint or "")
    assert error.column is not None
    assert text[error.column - 1 :].startswith(culprit)
    assert error.width == len(culprit)


def test_the_whole_message() -> None:
    with pytest.raises(FormulaError) as caught:
        parse("G (pay(id = ?x)\n   | said(?x))")
    assert str(caught.value) == (
        "line 2, column 6: `?x` has no value in `said(?x)`\n"
        "       | said(?x))\n"
        "         ^^^^^^^^\n"
        "a variable takes its values by `=`: put a call with `= ?x` on the left of `->`, under `!`,"
        " or on the left of `W`; under `exists`, in the same `&`"
    )


@pytest.mark.parametrize(
    ("text", "pattern", "hint"),
    [
        ("before(a(k = ?x), b(k = ?x))", "before", "did you mean `precedence`?"),
        ("G (c(k = ?x) -> called(a(k = ?x)))", "called", "`precedence` and `response`"),
        ("all_before([a(k = ?x), b], c)", "all_before", "did you mean `precedence`?"),
        ("called_n(a(k = ?x), >= 1)", "called_n", "`exists ?x. ...`"),
        ("existence(a(k = ?x), 1)", "existence", "`exists ?x. ...`"),
        ("G (b(k = ?x) -> now(a(k = ?x)))", "now", "`exists ?x. ...`"),
    ],
)
def test_a_pattern_that_demands_a_call_takes_no_free_variable(text: str, pattern: str, hint: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert caught.value.problem.startswith(f"`{pattern}` demands a call, for every value that `?x` could have")
    assert hint in (caught.value.hint or "")
    assert caught.value.column == text.index(pattern) + 1


@pytest.mark.parametrize(
    "text",
    [
        "exists ?x. before(a(k = ?x), b(k = ?x))",
        "exists ?x. called_with(a, k = ?x)",
        "forall ?x in $rule_ids. called_with(a, k = ?x)",
        "called_n(a(k = ?x), <= 1)",
        "absence(a(k = ?x), 2)",
        "never(a(k = ?x))",
        "response(a(k = ?x), b(k = ?x))",
    ],
)
def test_where_it_takes_one(text: str) -> None:
    parse(text)


def test_constructors_build_what_only_the_whole_rule_may_refuse() -> None:
    part = Predicate("rule_ok", 1) & read("said(?x)")
    check(read("G (pay(id = ?x) -> a)"))
    with pytest.raises(FormulaError) as caught:
        check(Globally(part))
    assert caught.value.line is None
    check(ForAll("x", Globally(read("pay(id = ?x)") >> part)))


def test_a_place_is_found_in_the_text_of_a_formula_that_was_built() -> None:
    with pytest.raises(FormulaError) as caught:
        check(read("G a & said(?x)"), "G a & said(?x)")
    assert caught.value.column == 12


@pytest.mark.parametrize(
    "text",
    ["count(F a) > 1", "sum(X a, n) > 1", "count(a U b, 5) > 1", "count(at(1, a)) > 1", "count(response(a, b)) > 0"],
)
def test_nothing_to_come_inside_count_and_sum(text: str) -> None:
    with pytest.raises(FormulaError, match="looks at calls to come"):
        parse(f"G {text}")


def test_the_path_of_a_sum_takes_no_variable() -> None:
    with pytest.raises(FormulaError, match=r"`\?x` cannot stand in the path of a sum"):
        parse("G (a(k = ?x) -> sum(a, items[k = ?x].n) > 1)")


@pytest.mark.parametrize("word", ["predicate", "domain"])
def test_what_is_not_registered_does_not_load(word: str) -> None:
    text = "G $rule_okay()" if word == "predicate" else "forall ?x in $rule_id. a"
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert f"there is no {word} `$rule_" in caught.value.problem
    assert "did you mean `$rule_" in (caught.value.hint or "")
    with pytest.raises(FormulaError, match=f"there is no {word}"):
        check(read(text))


def test_bounds_that_no_text_could_say_are_refused_too() -> None:
    a, seconds = read("a"), Window.of_time(read("O[5s] a").window.size, "s")  # type: ignore[attr-defined]
    with pytest.raises(FormulaError, match="looks ahead and takes a number of events"):
        check(Apply(SYMBOLS["F"], (a,), seconds))
    with pytest.raises(FormulaError, match="`X` takes no bound"):
        check(Apply(SYMBOLS["X"], (a,), Window.of_events(1)))
    check(Eventually(a, within=5) & Called("b"))


def test_how_deep_a_rule_may_be() -> None:
    formula: Formula = read("a")
    for _ in range(DEEPEST - 1):
        formula = ~formula
    check(formula)
    with pytest.raises(FormulaError, match=f"nested more than {DEEPEST} deep"):
        check(~formula)


def test_what_a_loaded_rule_says_of_all_other_values_is_true_of_each() -> None:
    """The infinitely many values that no call has are judged as one, which is right because no loaded rule tells them
    apart; rules that do not load would be judged wrongly."""
    wrong = {True: 0, False: 0}
    for seed in range(2500):
        rng = random.Random(seed)
        formula = random_formula(
            rng, rng.randint(2, 7), rule=False, variables=("x",), tools=("a", "b"), features=FEATURES - {"quantifiers"}
        )
        if formula.free:
            trace = random_trace(rng, 4, tools=("a", "b"))
            every = holds(Quantified("forall", "x", formula), trace)
            some = holds(Quantified("exists", "x", formula), trace)
            not_every = every and not holds(Quantified("forall", "x", formula, "rule_nowhere"), trace)
            some_after_all = not some and holds(Quantified("exists", "x", formula, "rule_nowhere"), trace)
            wrong[_loads(formula)] += not_every or some_after_all
    assert wrong[True] == 0
    assert wrong[False] > 0


def _loads(formula: Formula) -> bool:
    try:
        check(formula)
    except FormulaError:
        return False
    return True
