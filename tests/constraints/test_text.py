"""The rule language: what each form means, that it is written back, and what is said about mistakes."""

import random
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentltl.constraints import facts
from agentltl.constraints.compare import Compare, Flag, Literal_, Present, Var
from agentltl.constraints.formula import Apply, Const, Limit, Place, Proposition, Quantified, Window
from agentltl.constraints.operators import OPERATORS, SYMBOLS
from agentltl.constraints.path import Every, Filter, Index, Key, Path, Some
from agentltl.constraints.predicates import register_domain, register_predicate
from agentltl.constraints.proposition import Called, Tools
from agentltl.constraints.text import parse, read, show
from agentltl.errors import FormulaError
from agentltl.testing import random_formula

register_predicate("text_near", lambda trace, *values: True)
register_domain("text_ids", lambda trace, metrics: [1, 2])

GROUPS = {
    "private": ["get_user", "get_order"],
    "login": ["login", "sso_*"],
    "pending": ["modify_*", "cancel_pending_order"],
    "writes": ["cancel_order", "modify_*", "return_order"],
    "items": ["exchange_items", "modify_items"],
    "all writes": ["@writes", "pay"],
}

PROPOSITIONS = [
    "send_money",
    "send_money(amount > 100, to = ?who)",
    'get_order(order_id = ?o)[ok, status ~ "pending*"]',
    "cancel_*(order_id = ?o)",
    '"mcp__shop__pay-now"(amount > 0)',
    "@writes(order_id = ?o)",
    "*",
    "*[failed]",
    "true",
    "false",
]

RULES = [
    "G (@private -> O @login[ok])",
    "G (@pending(order_id = ?o) & (!get_order_details(order_id = ?o)[ok]"
    " S get_order_details(order_id = ?o)[ok, status]) -> (!get_order_details(order_id = ?o)[ok]"
    ' S get_order_details(order_id = ?o)[ok, status ~ "pending*"]))',
    "G (@writes(order_id = ?o) -> !Y O cancel_pending_order(order_id = ?o)[ok])",
    "G (@items(item_ids is list, new_item_ids is list) -> @items(len(item_ids) = len(.new_item_ids)))",
    "G !same_step",
    "no_repeat(*)",
    "G (@writes(order_id = ?o) -> !Y (!get_order_details(order_id = ?o)[ok] S @writes(order_id = ?o)[failed]))",
    "G (*(tool = ?t)[failed] -> F *(tool = ?t)[ok])",
    "G (@writes -> count(@writes, 10s) <= 2)",
    'G (send_email(recipients[all] in ["a@corp.com", "b@corp.com"]) | !send_email)',
    "G (get_webpage -> said(.url) | seen(.url, read_channel_messages, read_inbox))",
    "G (send_money -> sum(send_money, amount) <= 1000)",
    "G (@writes(order_id = ?o) -> O get_order(order_id = ?o)[ok])",
    "G !pay(amount > 100)",
    "G (pay -> pay(amount <= 100))",
    'G !send(to ~ "*@evil.com")',
    "before(fetch, clean)",
    'before("fetch", "clean")',
    "precedence(read(path = ?p), write(path = ?p))",
    "F[5] a & G[3] b | O[2] a -> O[60s] b <-> H[10m] a",
    "forall ?x, ?y. G (a(i = ?x, j = ?y) -> exists ?z. F b(i = ?z))",
    "forall ?x in $text_ids. F a(i = ?x)",
    "G (a(i = ?x) -> $text_near(?x, .path))",
    "at(2, a)",
    'user =~ "refund" & task ~ "*" & first',
    "p[result[0].price > 3, result.ok, outcome.text has \"x\", outcome.duration < 2, outcome.status != null]",
    'p(a.b, a."odd-key", a[0], a[*], a[all] is text, a[kind = "card"], a[it > 3], len(a[it > 3]) >= 2)',
    'p(args.tool = 1, tool ~ "x*", agent = "main", a not in [1, 2], b not has "u", c is not null, d !~ "x", e !=~ "y")',
    'get[id = .args.id, outcome.error =~ "time ?out"]',
]  # fmt: skip


@pytest.mark.parametrize("text", [*PROPOSITIONS, *RULES])
def test_every_example_is_read_and_written_back(text: str) -> None:
    formula = parse(text, GROUPS)
    assert parse(str(formula), GROUPS) == formula


@pytest.mark.parametrize("text", [r for r in PROPOSITIONS + RULES if "-> (!" not in r and "fetch" not in r])
def test_what_is_written_well_is_written_back_as_it_was(text: str) -> None:
    assert str(parse(text, GROUPS)) == text


NINETY_SECONDS = Window.of_time(Fraction(90), "s")


def call(*args: object, outcome: tuple[object, ...] = ()) -> Proposition:
    return Proposition(Called(Tools.named("p"), args, outcome))  # type: ignore[arg-type]


def arg(*names: str) -> Path:
    return Path("args", tuple(map(Key, names)))


def result(*names: str) -> Path:
    return Path("result", tuple(map(Key, names)))


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("true", Const(True)),
        ("p", call()),
        ("p()", call()),
        ("p(x)", call(Present(arg("x")))),
        ("p(x = 1)(y = ?z)", call(Compare(arg("x"), "=", Literal_(1)), Compare(arg("y"), "=", Var("z")))),
        ("p[ok][x = 1]", call(outcome=(Flag("ok"), Compare(result("x"), "=", Literal_(1))))),
        ("p[ok](x)", call(Present(arg("x")), outcome=(Flag("ok"),))),
        ("p(args = {})", call(Compare(Path("args"), "=", Literal_({})))),
        ("p(args.tool = 1)", call(Compare(arg("tool"), "=", Literal_(1)))),
        ('p("tool" = 1)', call(Compare(arg("tool"), "=", Literal_(1)))),
        ('p(tool = "x")', call(Compare(Path("tool"), "=", Literal_("x")))),
        ('p(agent = "x")', call(Compare(Path("agent"), "=", Literal_("x")))),
        ("p(result = 1)", call(Compare(arg("result"), "=", Literal_(1)))),
        ("p[result]", call(outcome=(Present(Path("result")),))),
        ("p[result.ok]", call(outcome=(Present(result("ok")),))),
        ("p[args]", call(outcome=(Present(result("args")),))),
        ("p[outcome.text]", call(outcome=(Present(Path("text")),))),
        ("p[result.outcome]", call(outcome=(Present(result("outcome")),))),
        ("p[x = .y]", call(outcome=(Compare(result("x"), "=", result("y")),))),
        ("p[x = .args.y]", call(outcome=(Compare(result("x"), "=", arg("y")),))),
        ("p[x = .result.args]", call(outcome=(Compare(result("x"), "=", result("args")),))),
        ("p(x[0])", call(Present(Path("args", (Key("x"), Index(0)))))),
        ("p(x[*])", call(Present(Path("args", (Key("x"), Some()))))),
        ("p(x[all])", call(Present(Path("args", (Key("x"), Every()))))),
        ("p(x[it])", call(Present(Path("args", (Key("x"), Filter((Present(Path("it")),))))))),
        ("p(x[y])", call(Present(Path("args", (Key("x"), Filter((Present(Path("it", (Key("y"),))),))))))),
        ("p(x[it.all])", call(Present(Path("args", (Key("x"), Filter((Present(Path("it", (Key("all"),))),))))))),
        ("p(len(x) = 2)", call(Compare(Path("args", (Key("x"),), True), "=", Literal_(2)))),
        ("p(len = 2)", call(Compare(arg("len"), "=", Literal_(2)))),
        ("p(not.in.true)", call(Present(arg("not", "in", "true")))),
        ("p(x is not list)", call(Compare(arg("x"), "is not", Literal_("list")))),
        ("p(x not  in [1])", call(Compare(arg("x"), "not in", Literal_([1])))),
        ('p(x in .y)', call(Compare(arg("x"), "in", arg("y")))),
        ("said(.tool)", Proposition(facts.Said(Path("tool")))),
        ('seen(?x, a, "b c", *_d)', Proposition(facts.Seen(Var("x"), tuple(map(Tools.named, ("a", "b c", "*_d")))))),
        ('user != "u"', Proposition(facts.Words("user", "!=", Literal_("u")))),
        ("task is text", Proposition(facts.Words("task", "is", Literal_("text")))),
        ("same_step", Proposition(facts.SameStep())),
        ("first", Proposition(facts.First())),
        ("$text_near", Proposition(facts.Predicate("text_near"))),
        ("$text_near(1, .a)", Proposition(facts.Predicate("text_near", (Literal_(1), arg("a"))))),
        ("count(p) <= 3", Apply(SYMBOLS["count"], (call(),), None, Limit("<=", 3))),
        ("count(p, 5) = 2", Apply(SYMBOLS["count"], (call(),), Window.of_events(5), Limit("=", 2))),
        ("sum(p, x.y, 90s) > -1.5", Apply(SYMBOLS["sum"], (call(),), NINETY_SECONDS, Limit(">", -1.5, arg("x", "y")))),
        ("at(3, p)", Apply(SYMBOLS["at"], (call(),), None, Place(3))),
        ("O[1.5m] p", Apply(SYMBOLS["O"], (call(),), NINETY_SECONDS)),
        ("exists ?x in $text_ids. p", Quantified("exists", "x", call(), "text_ids")),
    ],
)  # fmt: skip
def test_each_form_is_this_formula(text: str, formula: object) -> None:
    assert read(text) == formula
    assert read(show(formula)) == formula  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("!a & b", "(!a) & b"),
        ("G a & b", "(G a) & b"),
        ("!G F a", "!(G (F a))"),
        ("a & b | c & d", "(a & b) | (c & d)"),
        ("a | b -> c | d", "(a | b) -> (c | d)"),
        ("a -> b -> c", "a -> (b -> c)"),
        ("a <-> b <-> c", "(a <-> b) <-> c"),
        ("a -> b <-> c", "(a -> b) <-> c"),
        ("a U b U c", "a U (b U c)"),
        ("a U b W c", "a U (b W c)"),
        ("a S b B c T d P e", "a S (b B (c T (d P e)))"),
        ("a & b U c & d", "a & (b U c) & d"),
        ("!a U !b", "(!a) U (!b)"),
        ("a U (b S c)", "a U ((b S c))"),
        ("a & forall ?x. b(i = ?x) & c", "a & (forall ?x. (b(i = ?x) & c))"),
        ("G forall ?x. b(i = ?x) | c", "G (forall ?x. (b(i = ?x) | c))"),
        ("a U exists ?x. b(i = ?x) -> c", "a U (exists ?x. (b(i = ?x) -> c))"),
        ("forall ?x, ?y. a(i = ?x, j = ?y)", "forall ?x. (forall ?y. a(i = ?x, j = ?y))"),
        ("!count(a) > 1 & b", "(!(count(a) > 1)) & b"),
        ('! user = "x" | b', '(!(user = "x")) | b'),
        ("a->b", "a -> b"),
        ("F[ 5 ]a", "F[5] a"),
        ("G(a->F(b))  # a comment", "G (a -> F b)"),
        ("a # not b\n & c", "a & c"),
        ('a(x = "#") & b', 'a(x = "#")&b'),
        ("before # comment\n (a, b)", "before(a, b)"),
        ("F *", "F (*)"),
        ("!*", "!(*)"),
        ("a -> (b)", "((a)) -> b"),
    ],
)
def test_how_operators_bind(text: str, same: str) -> None:
    assert parse(text) == parse(same)


@pytest.mark.parametrize("op", [op for op in OPERATORS if op.law is not None], ids=lambda op: op.word)
def test_every_operator_has_a_sign_and_a_word(op: object) -> None:
    symbol, word = op.symbol, op.word  # type: ignore[attr-defined]
    texts = [f"{name} a" if op.arity == 1 else f"a {name} b" for name in (symbol, word)]  # type: ignore[attr-defined]
    formula = parse(texts[0])
    assert formula == parse(texts[1])
    assert isinstance(formula, Apply)
    assert formula.op is op


def test_parentheses_are_written_only_where_they_are_needed() -> None:
    text = "(a U b) U c -> !(a & b) & G (c | d) <-> (exists ?x. d(i = ?x)) | (a S b) U exists ?x. d(i = ?x) | a"
    assert str(parse(text)) == text


def test_groups_are_written_by_name_and_compared_by_members() -> None:
    groups = {"w": ["a", "b*"], "v": ["b*", "@one"], "one": ["a"], "odd name": ["c"]}
    assert parse("G @w", groups) == parse("G @v", groups) != parse("G @one", groups)
    assert str(parse("G @v[ok]", groups)) == "G @v[ok]"
    odd = parse('@"odd name"', groups)
    assert str(odd) == '@"odd name"'
    assert parse(str(odd), groups) == odd


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r'"\d+"', r"\d+"),
        (r'"a\"b"', 'a"b'),
        (r'"a\\b"', r"a\b"),
        (r'"a\\\\b"', r"a\\b"),
        (r'"\\"', "\\"),
        (r'"C:\new\temp"', r"C:\new\temp"),
        (r'"\\\""', '\\"'),
        (r'"\u0041"', r"\u0041"),
        ('"é😀"', "é😀"),
        ('"# no comment"', "# no comment"),
        ("1.50", 1.5),
        ("-0.0", 0.0),
        ("1e3", 1000),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("[1, [true, null], {}]", [1, [True, None], {}]),
        ('{"a": {"b c": []}}', {"a": {"b c": []}}),
    ],
)
def test_literals(written: str, value: object) -> None:
    formula = read(f"p(x = {written})")
    assert formula == call(Compare(arg("x"), "=", Literal_(value)))
    assert read(str(formula)) == formula


@pytest.mark.parametrize("text", [r'p(x =~ "\d+\.\d")', r'p(x = "a\"b")', r'p(x = "\\")', r'p(x = "\\\\")'])
def test_texts_are_written_as_a_person_would(text: str) -> None:
    assert str(read(text)) == text


NAMES = [
    "a.b",
    "pay-now",
    "mcp__a__b",
    "mcp.a/b:c",
    "a b",
    "X",
    "F",
    "U",
    "GetUser",
    "ToolSearch",
    "last",
    "at",
    "before",
]
NAMES += [
    "befor",
    "alwyas",
    "раy",
    "pаy",
    "pay",
    "naïve",
    "支付",
    "F*",
    "F**",
    "G*x",
    "?a",
    "2fa",
    "not",
    "in",
    "len",
    "true",
]
NAMES += [
    "count",
    "user",
    "first",
    "has",
    "is",
    "said",
    "next",
    "_",
    "_x",
    "a\\",
    'a"b',
    "*",
    "**",
    "get_?",
    "@w",
    "$p",
    "#",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_can_be_written(name: str) -> None:
    for args in (
        (),
        (Present(arg("x")),),
        (Present(arg("x")), Present(arg("y"))),
        (Compare(arg("x"), "=", Literal_(1)),),
    ):
        for outcome in ((), (Flag("ok"),)):
            formula = Proposition(Called(Tools.named(name), args, outcome))
            assert read(str(formula)) == formula
            quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
            if not args and not outcome:
                assert read(quoted) == formula


@pytest.mark.parametrize(
    "name", ["mcp__a__b", "GetUser", "ToolSearch", "last", "at", "before", "naïve", "支付", "get_?", "_"]
)
def test_plain_names_need_no_quotes(name: str) -> None:
    assert read(name) == Proposition(Called(Tools.named(name)))
    assert str(read(name)) == name


@pytest.mark.parametrize(
    "text", ["respond(message)", "notify(user)", "send(to)", "search(query)", "history(n)", "lost(x, y)"]
)
def test_a_tool_that_is_somewhat_like_a_pattern_is_a_tool(text: str) -> None:
    assert str(parse(text)) == text


def test_names_that_look_alike_are_different() -> None:
    assert read("pay") != read("pаy")


ODD_NAMES = tuple(NAMES)
ODD_KEYS = (
    "k",
    "len",
    "in",
    "args",
    "tool",
    "agent",
    "it",
    "all",
    "ok",
    "result",
    "outcome",
    "odd-key",
    "a.b",
    "",
    "ключ",
    'q"',
)
ODD_VALUES = (
    0,
    -1,
    1.5,
    1e22,
    1e-7,
    "u",
    'a"b\\',
    r"\d+",
    "\\\\",
    '\\"',
    "# no",
    "",
    True,
    None,
    [1, "a"],
    {"a": {'b"': []}},
    10**30,
)


@given(st.integers(min_value=0), st.integers(1, 12), st.booleans())
def test_what_can_be_built_can_be_written(seed: int, size: int, odd: bool) -> None:
    names = {"tools": ODD_NAMES, "keys": ODD_KEYS, "values": ODD_VALUES} if odd else {}
    groups = {"w": ["a", "b*"], "odd name": ["p q"]}
    formula = random_formula(
        random.Random(seed), size, rule=False, groups=groups, predicates=("text_near",), domains=("text_ids",), **names
    )  # fmt: skip
    text = str(formula)
    again = read(text, groups)
    assert again == formula
    assert hash(again) == hash(formula)
    assert str(again) == text


@given(st.integers(min_value=0), st.integers(1, 10))
def test_random_rules_load(seed: int, size: int) -> None:
    formula = random_formula(random.Random(seed), size, predicates=("text_near",), domains=("text_ids",))
    assert parse(str(formula)) == formula


def _parses_or_says_why(text: str) -> None:
    error = None
    try:
        formula = parse(text)
    except FormulaError as caught:
        error = caught
    if error is None:
        assert parse(str(formula)) == formula
    else:
        assert error.problem
        assert error.hint
        assert "Token" not in str(error)


@given(st.text(alphabet="ab()[]{}\"'&|!?$@.,*<>=~-# FGUSO0159\n\\éin", max_size=30))
def test_any_text_is_a_formula_or_a_formula_error(text: str) -> None:
    _parses_or_says_why(text)


@given(st.integers(min_value=0), st.data())
def test_a_damaged_rule_is_a_formula_or_a_formula_error(seed: int, data: st.DataObject) -> None:
    text = str(random_formula(random.Random(seed), 5))
    at = data.draw(st.integers(0, len(text)))
    damaged = (
        text[:at]
        + data.draw(st.sampled_from(["", ")", "(", "]", " x ", '"', "&", ",", "?", "=", "."]))
        + text[at + 1 :]
    )
    _parses_or_says_why(damaged)


ERRORS = [
    # operators and patterns
    ("a befor b", 3, 5, "`befor` is no operator", "did you mean the pattern `before(a, b)`?"),
    ("a untill b", 3, 6, "`untill` is no operator", "did you mean `until`?"),
    ("a u b", 3, 1, "`u` is no operator", "did you mean `U`?"),
    ("eventualy a", 1, 9, "`eventualy` is no operator", "did you mean `eventually`?"),
    ("g a", 1, 1, "`g` is no operator", "did you mean `G`?"),
    ("alwyas (a -> b)", 1, 6, "`alwyas` is no pattern", "did you mean `always`? a tool of that name is quoted:"),
    ("befor(a, b)", 1, 5, "`befor` is no pattern", "did you mean `before`? a tool of that name is quoted: \"befor\""),
    ("Precedence(a, b)", 1, 10, "`Precedence` is no pattern", "did you mean `precedence`?"),
    ("a F b", 3, 1, "`F` stands before one formula", "`->`"),
    ("a && b", 3, 2, "`&&` is none of the signs here", "write `&`"),
    ("a => b", 3, 2, "`=>` is none of the signs here", "write `->`"),
    ("p(x == 3)", 5, 2, "`==` is none of the signs here", "write `=`"),
    ("a U b S c", 7, 1, "`U` and `S` look in opposite directions", "put one of them in parentheses"),
    ("a S b W c", 7, 1, "`S` and `W` look in opposite directions", "`a S (b W c)`"),
    ("before(a)", 1, 9, "`before` takes 2 arguments, not 1", "write `before(a, b)`"),
    ("before(a | b, c)", 8, 5, "`a` of `before(a, b)` is a proposition, and `a | b` is more", "write the formula out"),
    ("before(first, b)", 1, 16, "`first` is no call", "name a tool"),
    ("within(a, b, 1.5)", 14, 3, "`k` of `within(a, b, k)` is a whole number", "`3`"),
    ("instance_before(a, 0, b, 1)", 20, 1, "`n` of", "the first call is `1`"),
    ("called_n(a, 3)", 13, 1, "`op k` of `called_n(a, op k)` is a comparison with a number", "write `>= 3`"),
    ("in_order(a, b)", 10, 1, "is a list of propositions", "write `[a, b]`"),
    ("called_with_result(a, 3, 4)", 23, 1, "a result is one value", "keys of an object"),
    ("a = b", 3, 1, "an operator is expected here, not `=`", "a comparison stands in parentheses"),
    ("a, b", 2, 1, "an operator is expected here, not `,`", "joined by `&`"),
    ("p() q()", 5, 1, "an operator is missing before `q`", "joined by"),
    # names
    ("pay-now", 1, 7, "`pay-now` is no plain name", 'quote it: "pay-now"'),
    ("shop.pay(x = 1)", 1, 8, "`shop.pay` is no plain name", 'quote it: "shop.pay"'),
    ("2fa", 1, 3, "`2fa` is no formula", 'quoted: "2fa"'),
    ("G U", 3, 1, "`U` is a reserved word", 'quoted: "U"'),
    ("len(x)", 1, 3, "`len` is a reserved word", 'quoted: "len"'),
    ("F*", 1, 2, "`F*` can be read in two ways", '`F *`, the glob is quoted: "F*"'),
    ("seen(.x, first)", 10, 5, "`first` is a reserved word", 'quoted: "first"'),
    ("@write", 1, 6, "unknown group `@write`", "did you mean `@writes`?"),
    ("@nothing_like", 1, 13, "unknown group `@nothing_like`", "the groups are: @all writes, "),
    ('""', 1, 2, "a tool name is empty", "`*`"),
    # paths and conditions
    ("p[outcome.durration > 3]", 11, 9, "unknown path `outcome.durration`", "did you mean `outcome.duration`?"),
    ("p[outcome > 3]", 3, 7, "`outcome` alone is no path", "outcome.status"),
    ("p[ok = true]", 3, 2, "`ok` says how the call settled", "`result.ok`"),
    ("p[x = .failed]", 8, 6, "`.failed` has no value", "`.result.failed`"),
    ("p(x hass 3)", 5, 4, "`hass` is no comparison", "did you mean `has`?"),
    ("p(x is txt)", 8, 3, "`txt` is no kind of value", "did you mean `text`?"),
    ("p(x is)", 7, 1, "a kind of value is expected", "text, number, bool"),
    ("p(x & y)", 5, 1, "a comma is `and`", "`p(a = 1, b = 2)`"),
    ("p(x | y)", 5, 1, "`|` does not stand between conditions", "`p(a = 1) | p(b = 2)`"),
    ("p(x not 3)", 5, 3, "a condition is not negated", "`!=`"),
    ("p(x = foo)", 7, 3, "`foo` is no value", 'a text is quoted: "foo"; a path has a dot before it: .foo'),
    ("p(x = True)", 7, 4, "`True` is no value", "write `true`"),
    ("p(x = NaN)", 7, 3, "a rule cannot say `NaN`", "JSON"),
    ("p(x = 1e400)", 7, 5, "the number is too large", "infinity"),
    ("p(x = 01)", 7, 2, "`01` is no number", "JSON"),
    ("p(x = .5)", 8, 1, "a path is a dot and a name", "0.5"),
    ("p(x > 1,000)", 9, 3, "`000` is no path", "no commas"),
    ('p(x = {"a": 1, "a": 2})', 16, 3, 'the key "a" stands twice', "keep one"),
    ("p(x in 3)", 8, 1, "`in` compares with a list, not with 3", "write in ["),
    ("p(x ~ 3)", 7, 1, "`~` compares with a text, not with 3", 'write ~ "..."'),
    ("p(x > null)", 7, 4, "`>` compares with a number or a text", "write > 100"),
    ('p(x =~ "(a")', 8, 4, "this is no regular expression: missing ): (a", "RE2"),
    (r'p(x =~ "(?=a)")', 8, 7, "this is no regular expression", "look-around"),
    (r'p(x =~ "(a)\1")', 8, 7, "this is no regular expression", "back references"),
    ("p(x[-1] = 3)", 5, 1, "elements are counted from 0", "[0]"),
    ("p(3 < x)", 3, 1, "a path is expected here, not `3`", "the value stands on the right"),
    ("said(url)", 6, 3, "`url` is no value", ".url"),
    # bounds, counts, places, quantifiers
    ("F[-1] a", 3, 2, "a bound cannot be negative: `-1`", "the direction is in the operator"),
    ("F[2.5] a", 3, 3, "a number of events is whole: `2.5`", "unit"),
    ("F[5s] a", 3, 2, "`5s`: an operator that looks ahead takes a number of events", "`G (b -> O[60s] a)`"),
    ("O[5x] a", 3, 2, "`5x` is no bound", "ms, s, m, h"),
    ("X[3] a", 3, 1, "`X` takes no bound", "F, G, H, O"),
    ("count(a)", 9, 1, "the formula ends where a comparison with a number is expected", "`count(a) <= 3`"),
    ("count(a, 0) > 1", 10, 1, "a window of no events counts nothing", "`1`"),
    ("count(a, -1s) > 1", 10, 3, "a window cannot be negative", "direction"),
    ("count(X a) > 1", 1, 14, "`X` in `count` looks at calls to come", "past and present only"),
    ("at(-1, a)", 4, 2, "`-1` is no position", "from 0"),
    ("forall x. a", 8, 1, "a variable is expected here, not `x`", "`forall ?x. ...`"),
    ("forall ?x a", 11, 1, "a dot is expected here, not `a`", "`forall ?x. ...`"),
    ("exists ?x in ids. a", 14, 3, "a domain is expected here, not `ids`", "$name"),
    ("$text_nea(.x)", 1, 13, "there is no predicate `$text_nea`", "did you mean `$text_near`?"),
    ("G a & forall ?x in $ids. b(i = ?x)", 20, 4, "there is no domain `$ids`", "register_domain('ids', function)"),
    ("?x = 3", 1, 1, "a variable is no formula", "`pay(to = ?x)`"),
    ("before(X, b)", 9, 1, "a formula is expected here, not `,`", '`X` is an operator; a tool of that name is quoted'),
    ("user & a", 6, 1, "a comparison is expected here, not `&`", "a tool of that name is quoted"),
    ("said", 5, 1, "the formula ends where `(` is expected", "a tool of that name is quoted"),
    ("never a", 7, 1, "`never` is a pattern, and stands before parentheses", "write `never(a)`"),
    ("before(2fa, b)", 8, 3, "`2fa` is neither a number nor a plain name", 'quoted: "2fa"'),
    ("count a > 3", 7, 1, "`(` is expected here, not `a`", "`count(a) <= 3`"),
    ("p(x = {a: 1})", 8, 1, "a key in quotes is expected here", '`{"key": 1}`'),
    ("p(x[0 = 3)", 7, 1, "`]` is expected here, not `=`", "close"),
    ("p(x =< 3)", 5, 2, "`=<` is none of the signs here", "write `<=`"),
    ("p(x => 3)", 5, 2, "`=>` is none of the signs here", "write `>=`"),
    ("p(x: 3)", 4, 1, "`:` is no comparison", "write `=`"),
    ("p(x contains 3)", 5, 8, "`contains` is no comparison", "did you mean `has`?"),
    ("p(x in (1, 2))", 8, 1, "a list is expected here, not `(`", 'write `in ["a", "b"]`'),
    # brackets, texts, ends
    ("(a", 1, 1, "`(` is never closed", "add `)`"),
    ("F[5", 2, 1, "`[` is never closed", "add `]`"),
    ("a)", 2, 1, "`)` closes nothing", "take it away"),
    ("p(x = [1, 2)", 12, 1, "`)` does not close `[`", "`[` at column 7 is still open"),
    ("(a)[ok]", 4, 1, "brackets ask how a call went", "`a[ok] | b[ok]`"),
    ("'a'", 1, 1, "texts and quoted names stand in double quotes", '"..."'),
    ("p(x =~ /a/)", 8, 1, "patterns stand in double quotes", 'write `=~ "..."`'),
    ('p(x = "a)', 7, 1, "this text has no end", r"\""),
    ("a &", 4, 1, "the formula ends where a formula is expected", "tool name"),
    ("", 1, 1, "the formula is empty", "write a rule"),
    ("# only", 7, 1, "there is only a comment", "write a rule"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "width", "problem", "hint"), ERRORS, ids=[row[0] for row in ERRORS])
def test_what_is_said_about_a_mistake(text: str, column: int, width: int, problem: str, hint: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text, GROUPS)
    error = caught.value
    assert problem in error.problem
    assert hint in (error.hint or "")
    assert (error.line, error.column, error.width) == (1, column, width)
    shown = str(error).split("\n")
    assert shown[0] == f"line 1, column {column}: {error.problem}"
    assert shown[1] == "    " + text
    assert shown[2].index("^") == 4 + column - 1
    assert error.problem[0] in "`?0123456789" or error.problem[0].islower()
    assert not error.problem.endswith(".")


def test_the_place_of_a_mistake_in_a_rule_of_several_lines() -> None:
    with pytest.raises(FormulaError) as caught:
        parse("G (pay\n   -> O approv(x =))\n")
    assert str(caught.value) == (
        "line 2, column 19: a value is expected here, not `)`\n"
        "       -> O approv(x =))\n"
        "                      ^\n"
        "write a JSON value, a variable `?x`, or a path `.key`"
    )


@pytest.mark.parametrize(
    "text",
    ['p(x = "a\nb")', 'p(x = "a\tb")', '"a\x00"', 'p("k\x85" = 1)', 'p(x = {"\x7f": 1})', "a\x08 & b", "a \x85& b"],
)
def test_a_control_character_is_an_error_that_speaks_of_yaml(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert "has a control character" in caught.value.problem
    assert "in YAML, write the rule as a block" in (caught.value.hint or "")
    assert caught.value.column is not None


@pytest.mark.parametrize("groups", [{"g": ["@h"], "h": ["@g"]}, {"g": []}, {"g": "abc"}, {"g": ["a\n"]}, {"g": [""]}])
def test_a_group_that_makes_no_sense(groups: dict[str, list[str]]) -> None:
    with pytest.raises(FormulaError) as caught:
        parse("G !@g", groups)
    assert caught.value.column == 4


@pytest.mark.parametrize(
    "text", ["!" * 5000 + "a", "(" * 5000 + "a" + ")" * 5000, " & ".join(["a"] * 3000), "p(x = " + "[" * 5000]
)
def test_a_formula_that_is_too_deep_is_an_error(text: str) -> None:
    with pytest.raises(FormulaError):
        parse(text)


def test_a_formula_of_reasonable_depth_is_none() -> None:
    tools = ", ".join(f"t{i}" for i in range(40))
    formula = parse(f"in_order([{tools}])")
    assert parse(str(formula)) == formula
    assert parse("(" * 60 + "a" + ")" * 60) == parse("a")


def test_only_a_text_is_parsed() -> None:
    with pytest.raises(TypeError):
        parse(b"a")  # type: ignore[arg-type]


def test_nothing_heavy_is_imported_before_something_is_parsed() -> None:
    code = (
        "import sys, agentltl.constraints.text, agentltl.constraints.constructors, agentltl.testing\n"
        "print(sorted({'lark', 're2', 'yaml', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
