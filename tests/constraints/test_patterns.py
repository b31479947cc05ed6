"""Each pattern is the formula that its row says, means what its sentence says, and is written back as it was."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product

import pytest

from agentltl.constraints.formula import Written
from agentltl.constraints.language.expand import demanding, expand
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.semantics import holds
from agentltl.constraints.text import parse, read
from agentltl.constraints.trace import Call, Outcome, Trace
from agentltl.errors import FormulaError

ROWS = [
    ("called(a)", "O a | F a"),
    ("now(a)", "a"),
    ("called_n(a, >= 2)", "(!F true & false) | F (!X true & count(a) >= 2)"),
    ("called_n(a, <= 2)", "(!F true & true) | F (!X true & count(a) <= 2)"),
    ("before(a, b)", "!b U (b & Y O a[ok])"),
    ("informed(a, b)", "!b U (b & (same_step S (!same_step & Y O a[ok])))"),
    ("after(a, b)", "!a U (a & Y O b)"),
    ("all_before([a, b], c)", "(!c U (c & Y O a[ok])) & (!c U (c & Y O b[ok]))"),
    ("all_before([a], c)", "!c U (c & Y O a[ok])"),
    ("in_order([a])", "F a[ok]"),
    ("in_order([a, b, c])", "F (a[ok] & X F (b[ok] & X F c[ok]))"),
    ("within(a, b, 3)", "!a U (a & F[3] b)"),
    ("instance_before(a, 2, b, 3)", "F (a & count(a) = 2 & X F (b & count(b) = 3))"),
    ("branch(a, b)", "(O a | F a) & !(O b | F b)"),
    ('called_with(a, k = 1, m.n = "u")', 'O a(k = 1, m.n = "u") | F a(k = 1, m.n = "u")'),
    ('called_with_result(a, {"k": 1, "m": "u"})', 'O a[k = 1, m = "u"] | F a[k = 1, m = "u"]'),
    ('called_with_result(a, {"k": 1}, {"m": 2})', "O a[k = 1, m = 2] | F a[k = 1, m = 2]"),
    (
        'called_with_result(a, "u")',
        '(O a[result = "u"] | F a[result = "u"]) | (O a[outcome.text = "u"] | F a[outcome.text = "u"])',
    ),
    ("precedence(a, b)", "!b W (a[ok] & !b)"),
    ("response(a, b)", "G (a -> F b)"),
    ("succession(a, b)", "G (a -> F b) & (!b W (a[ok] & !b))"),
    ("responded_existence(a, b)", "F a -> F b"),
    ("coexistence(a, b)", "F a <-> F b"),
    ("not_coexistence(a, b)", "!(F a & F b)"),
    ("alternate_response(a, b)", "G (a -> X (!a U b))"),
    ("chain_response(a, b)", "G (a -> X b)"),
    ("alternate_precedence(a, b)", "(!b W (a[ok] & !b)) & G (b -> N (!b W (a[ok] & !b)))"),
    ("chain_precedence(a, b)", "G (b -> Y a[ok])"),
    ("not_succession(a, b)", "G (a -> N G !b)"),
    ("not_chain_succession(a, b)", "G (a -> N !b)"),
    ("existence(a, 2)", "(!F true & false) | F (!X true & count(a) >= 2)"),
    ("absence(a, 2)", "(!F true & true) | F (!X true & count(a) < 2)"),
    ("exactly(a, 2)", "(!F true & false) | F (!X true & count(a) = 2)"),
    ("init(a)", "a | !F true"),
    ("last(a)", "G (!X true -> a)"),
    ("choice(a, b)", "F a | F b"),
    ("exclusive_choice(a, b)", "(F a | F b) & !(F a & F b)"),
    ("at_most(a, 2)", "G (a -> count(a) <= 2)"),
    ("at_most_once(a)", "G (a -> count(a) <= 1)"),
    ("never(a)", "G !a"),
    ("no_repeat(a)", "forall ?t, ?v. G !(a(tool = ?t, args = ?v) & Y a(tool = ?t, args = ?v))"),
    ("between(a, b, c)", "G (a -> (!c S b[ok]))"),
]


@pytest.mark.parametrize(("pattern", "text"), ROWS)
def test_a_pattern_is_this_formula(pattern: str, text: str) -> None:
    assert parse(pattern) == parse(text)


@pytest.mark.parametrize("pattern", [row[0] for row in ROWS])
def test_a_pattern_is_written_back_as_it_was(pattern: str) -> None:
    formula = parse(pattern)
    assert str(formula) == pattern
    inside = parse(f"G (x -> {pattern}) & !{pattern}")
    assert str(inside) == f"G (x -> {pattern}) & !{pattern}"
    written_out = replace(formula, written=None)  # type: ignore[type-var]
    assert parse(str(written_out)) == formula


def test_every_pattern_is_looked_at() -> None:
    assert {row[0].split("(")[0] for row in ROWS} == set(PATTERNS)


@pytest.mark.parametrize("row", PATTERNS.values(), ids=str)
def test_every_row_has_its_words(row: object) -> None:
    assert row.text  # type: ignore[attr-defined]
    assert row.sentence  # type: ignore[attr-defined]
    assert not row.sentence.endswith(".")  # type: ignore[attr-defined]


def test_arguments_keep_what_they_ask() -> None:
    formula = parse('precedence(read(path = ?p)[bytes > 0], "write-file"(path = ?p))')
    assert formula == parse('!"write-file"(path = ?p) W (read(path = ?p)[bytes > 0, ok] & !"write-file"(path = ?p))')
    groups = {"w": ["x", "y*"]}
    assert parse("between(@w, open, close)", groups) == parse("G (@w -> (!close S open[ok]))", groups)
    assert parse("never(first)") == parse("G !first")
    assert parse('response(a, user =~ "x")') == parse('G (a -> F (user =~ "x"))')
    assert parse("called(true)") == parse("O true | F true")


def test_the_own_variables_of_a_pattern_are_its_own() -> None:
    formula = parse("no_repeat(a(k = ?t)) & G (b(k = ?t) -> O a(k = ?t))")
    own = "forall ?t1, ?v. G !(a(k = ?t, tool = ?t1, args = ?v) & Y a(k = ?t, tool = ?t1, args = ?v))"
    assert formula == parse(f"({own}) & G (b(k = ?t) -> O a(k = ?t))")
    assert formula.free == {"t"}
    assert parse(str(formula)) == formula


def test_what_a_pattern_remembers() -> None:
    assert parse("called_n(a, >= 2)").written == Written("called_n", (read("a"), (">=", 2)))  # type: ignore[attr-defined]
    assert parse("all_before([a, b], c)").written == Written(  # type: ignore[attr-defined]
        "all_before", ((read("a"), read("b")), read("c"))
    )
    inner = parse("succession(a(k = 1), b)").args[1]  # type: ignore[attr-defined]
    assert inner.written == Written("precedence", (read("a(k = 1)"), read("b")))


@pytest.mark.parametrize(
    ("text", "demands"),
    [
        ("called(a)", True),
        ("never(a)", False),
        ("called_n(a, >= 1)", True),
        ("called_n(a, >= 0)", False),
        ("called_n(a, < 1)", False),
        ("called_n(a, != 0)", True),
        ("existence(a, 1)", True),
        ("existence(a, 0)", False),
        ("absence(a, 1)", False),
        ("absence(a, 0)", True),
        ("exactly(a, 0)", False),
        ("exactly(a, 1)", True),
    ],
)
def test_which_uses_demand_an_occurrence(text: str, demands: bool) -> None:
    written = read(text).written  # type: ignore[attr-defined]
    assert demanding(written, PATTERNS[written.pattern].demands) is demands


def test_a_pattern_from_the_wrong_arguments_is_refused() -> None:
    from agentltl.constraints.language.faults import Fault

    for name, arguments in [
        ("never", (1,)),
        ("never", ()),
        ("at_most", (read("a"), -1)),
        ("at_most", (read("a"), 1.5)),
        ("at_most", (read("a"), True)),
        ("in_order", ((),)),
        ("in_order", ((1,),)),
        ("called_with", (read("a"), 3)),
        ("called_with", (read("a"),)),
        ("called_with", (read("first"), read("a"))),
    ]:
        with pytest.raises(Fault):
            expand(PATTERNS[name], arguments)  # type: ignore[arg-type]


def test_a_pattern_that_asks_how_a_call_went_needs_a_call() -> None:
    for text in (
        "precedence(true, b)",
        "between(a, first, c)",
        "no_repeat(same_step)",
        'called_with(user = "x", k = 1)',
    ):
        with pytest.raises(FormulaError, match="is no call"):
            parse(text)


# What each pattern says, in words over positions: `e` lists the events, "a" a call that succeeds, "A" one that fails.
Meaning = Callable[[str], bool]


def at(events: str, letters: str) -> list[int]:
    return [i for i, e in enumerate(events) if e in letters]


def first(events: str, letters: str) -> int:
    return min(at(events, letters), default=len(events))


A, B = "aA", "bB"
SENTENCES: dict[str, Meaning] = {
    "called(a)": lambda e: bool(at(e, A)),
    "now(a)": lambda e: e[:1] in ("a", "A"),
    "called_n(a, = 2)": lambda e: len(at(e, A)) == 2,
    "called_n(a, != 0)": lambda e: len(at(e, A)) != 0,
    "before(a, b)": lambda e: bool(at(e, B)) and first(e, "a") < first(e, B),
    "after(a, b)": lambda e: bool(at(e, A)) and first(e, B) < first(e, A),
    "all_before([a, b], c)": lambda e: "c" in e and max(first(e, "a"), first(e, "b")) < first(e, "c"),
    "in_order([a, b, a])": lambda e: any(e[i] == e[k] == "a" and e[j] == "b" for i, j, k in triples(e)),
    "within(a, b, 1)": lambda e: bool(at(e, A)) and any(first(e, A) <= i <= first(e, A) + 1 for i in at(e, B)),
    "instance_before(a, 2, b, 1)": lambda e: len(at(e, A)) > 1 and bool(at(e, B)) and at(e, A)[1] < at(e, B)[0],
    "branch(a, b)": lambda e: bool(at(e, A)) and not at(e, B),
    "precedence(a, b)": lambda e: not at(e, B) or first(e, "a") < first(e, B),
    "response(a, b)": lambda e: all(any(k > i for k in at(e, B)) for i in at(e, A)),
    "succession(a, b)": lambda e: SENTENCES["response(a, b)"](e) and SENTENCES["precedence(a, b)"](e),
    "responded_existence(a, b)": lambda e: not at(e, A) or bool(at(e, B)),
    "coexistence(a, b)": lambda e: bool(at(e, A)) == bool(at(e, B)),
    "not_coexistence(a, b)": lambda e: not (at(e, A) and at(e, B)),
    "alternate_response(a, b)": lambda e: all(
        any(k > i and not any(i < j < k for j in at(e, A)) for k in at(e, B)) for i in at(e, A)
    ),
    "chain_response(a, b)": lambda e: all(i + 1 in at(e, B) for i in at(e, A)),
    "alternate_precedence(a, b)": lambda e: all(
        "a" in e[max((k + 1 for k in at(e, B) if k < i), default=0) : i] for i in at(e, B)
    ),
    "chain_precedence(a, b)": lambda e: all(i - 1 in at(e, "a") for i in at(e, B)),
    "not_succession(a, b)": lambda e: not any(k > i for i in at(e, A) for k in at(e, B)),
    "not_chain_succession(a, b)": lambda e: not any(i + 1 in at(e, B) for i in at(e, A)),
    "existence(a, 2)": lambda e: len(at(e, A)) >= 2,
    "absence(a, 2)": lambda e: len(at(e, A)) < 2,
    "exactly(a, 0)": lambda e: len(at(e, A)) == 0,
    "init(a)": lambda e: e == "" or e[0] in A,
    "last(a)": lambda e: e == "" or e[-1] in A,
    "choice(a, b)": lambda e: bool(at(e, A + B)),
    "exclusive_choice(a, b)": lambda e: bool(at(e, A)) != bool(at(e, B)),
    "at_most(a, 2)": lambda e: len(at(e, A)) <= 2,
    "at_most_once(a)": lambda e: len(at(e, A)) <= 1,
    "never(a)": lambda e: not at(e, A),
    "no_repeat(*)": lambda e: all(x.lower() != y.lower() for x, y in pairwise(e)),
    "between(a, b, c)": lambda e: all("b" in e[:i] and e.rindex("b", 0, i) > e.rfind("c", 0, i) for i in at(e, A)),
}


def triples(events: str) -> list[tuple[int, int, int]]:
    n = range(len(events))
    return [(i, j, k) for i in n for j in n for k in n if i < j < k]


def trace(events: str) -> Trace:
    return Trace(tuple(Call(e.lower(), outcome=Outcome.of("x", error="no" if e.isupper() else None)) for e in events))


@pytest.mark.parametrize("text", SENTENCES)
def test_a_pattern_means_what_it_says(text: str) -> None:
    formula, meaning = parse(text), SENTENCES[text]
    for n in range(5):
        for events in map("".join, product("aAbBc", repeat=n)):
            assert holds(formula, trace(events)) == meaning(events), events


def test_informed_asks_for_an_earlier_message() -> None:
    formula = parse("informed(a, b)")

    def steps(*steps: tuple[str, int]) -> Trace:
        return Trace(tuple(Call(e, step=s, outcome=Outcome.of("x")) for e, s in steps))

    assert holds(formula, steps(("a", 1), ("b", 2)))
    assert holds(formula, steps(("a", 1), ("c", 2), ("b", 2)))
    assert not holds(formula, steps(("a", 1), ("b", 1)))
    assert not holds(formula, steps(("c", 1), ("a", 2), ("b", 2)))
    assert not holds(formula, steps(("a", 1)))


def test_with_arguments_and_results() -> None:
    def run(args: dict[str, object], result: object) -> Trace:
        return Trace((Call("a", args, outcome=Outcome.of(result)),))

    assert holds(parse("called_with(a, k = 1)"), run({"k": 1.0, "m": 2}, "x"))
    assert not holds(parse("called_with(a, k = 1)"), run({"k": "1"}, "x"))
    assert holds(parse('called_with_result(a, "done")'), run({}, "done"))
    assert holds(parse('called_with_result(a, "done")'), run({}, '"done"'))
    assert holds(parse("called_with_result(a, 3)"), run({}, "3"))
    assert holds(parse('called_with_result(a, {"k": 1})'), run({}, '{"k": 1, "m": 2}'))
    assert not holds(parse('called_with_result(a, {"k": 1})'), run({}, '{"k": 2}'))
