"""The detail sentences: those of the reference, those of the patterns, and the fewest facts for all else."""

import random

import pytest

from agentltl.constraints.check import breaches, newly_false
from agentltl.constraints.explain import explain, explain_breach
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.sentences.pattern_sentences import SENTENCES
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Call, Message, Outcome, Trace
from agentltl.constraints.value import Json
from agentltl.testing import random_formula, random_trace


def trace(
    *calls: str | tuple[str, dict[str, Json]] | tuple[str, dict[str, Json], str], said: str | None = None
) -> Trace:
    """Calls by name, with arguments and result; `name!` is a call that failed, `name?` one that still runs."""
    made = []
    for step, entry in enumerate(calls):
        name, args, result = (*((entry,) if isinstance(entry, str) else entry), {}, "fine")[:3]
        name = str(name)
        outcome = None if name.endswith("?") else Outcome.of(result, error="no" if name.endswith("!") else None)
        made.append(Call(name.rstrip("!?"), args, outcome=outcome, step=step))
    return Trace(tuple(made), None if said is None else (Message(said),))


@pytest.mark.parametrize(
    ("rule", "calls", "sentence"),
    [
        ("before(fetch, save)", ("fetch", "x", "save"), '"fetch" (call #1) before "save" (call #3).'),
        ("before(fetch, clean)", ("clean",), '"fetch" was never called (cannot precede "clean").'),
        ("before(fetch, clean)", (), '"fetch" was never called (cannot precede "clean").'),
        ("before(fetch, clean)", ("fetch",), '"clean" was never called.'),
        ("before(fetch, clean)", ("clean", "fetch"), '"fetch" (call #2) came after "clean" (call #1).'),
        ("before(fetch, clean)", ("fetch!", "clean"), '"fetch" (call #1) failed (cannot precede "clean" (call #2)).'),
        (
            "before(fetch, clean)",
            ("fetch?", "clean"),
            '"fetch" (call #1) never settled (cannot precede "clean" (call #2)).',
        ),
        ("before(fetch, clean)", ("fetch!", "fetch", "clean"), '"fetch" (call #2) before "clean" (call #3).'),
        ("before(a, b)", ("a", "final_answer", "b"), '"a" (call #1) before "b" (call #2).'),
        ("before(a, final_answer)", ("x", "final_answer"), '"a" was never called (cannot precede "final_answer").'),
        ("before(a, final_answer)", ("a", "final_answer"), '"a" (call #1) before "final_answer" (after call #1).'),
        ("before(a(k = 1), b)", (("a", {"k": 1}), "b"), '`a(k = 1)` (call #1) before "b" (call #2).'),
        ("precedence(a, b)", ("x",), '"b" was never called.'),
        ("precedence(a, b)", ("b", "a", "b"), '"a" (call #2) came after "b" (call #1).'),
        ("all_before([a, c], b)", ("a", "b", "c"), '"c" (call #3) came after "b" (call #2).'),
        (
            "all_before([a, c], b)",
            ("a", "c", "b"),
            '"a" (call #1) before "b" (call #3). "c" (call #2) before "b" (call #3).',
        ),
        (
            "all_before([a, c], b)",
            ("b",),
            '"a" was never called (cannot precede "b"). "c" was never called (cannot precede "b").',
        ),
        ("after(a, b)", ("b", "a"), '"a" (call #2) after "b" (call #1).'),
        ("after(a, b)", ("a", "b"), '"a" (call #1) came before "b" (call #2).'),
        ("after(a, b)", ("b",), '"a" was never called (cannot follow "b").'),
        ("after(a, b)", ("a",), '"b" was never called (cannot precede "a").'),
        ("called(a)", ("x", "a"), '"a" was called (call #2).'),
        ("called(a)", ("x",), '"a" was never called.'),
        ("called_with(a, k = 1)", ("x", ("a", {"k": 2})), '"a" (call #2) has `k` 2, not 1.'),
        ("called_with(a, k = 1)", ("x", ("a", {"k": 1})), '"a" (call #2) has `k` 1.'),
        ('called_with_result(a, {"s": 1})', (("a", {}, '{"s": 2}'),), '"a" (call #1) returned `s` 2, not 1.'),
        ("called_n(a, >= 2)", ("a", "x"), '"a" was called once (call #1) (the rule asks for at least 2).'),
        ("exactly(a, 1)", ("a", "x", "a"), '"a" was called 2 times (calls #1, #3) (the rule asks for exactly 1).'),
        ("at_most(a, 1)", ("a", "x", "a", "a"), '"a" was called 2 times (calls #1, #3) (the rule asks for at most 1).'),
        ("in_order([a, b, c])", ("a", "c", "b"), '"c" was not called after "b" (call #3).'),
        ("in_order([a, b])", ("a", "x", "b"), '"a" (call #1), then "b" (call #3).'),
        (
            "within(a, b, 2)",
            ("a", "x", "x", "b"),
            '"b" was not called within 2 calls of "a" (call #1): it came 3 calls later (call #4).',
        ),
        ("within(a, b, 2)", ("a", "x", "b"), '"b" (call #3) within 2 calls of "a" (call #1).'),
        ("instance_before(a, 2, b, 1)", ("a", "b", "a"), '"a" number 2 (call #3) not before "b" number 1 (call #2).'),
        ("instance_before(a, 2, b, 1)", ("a", "a", "b"), '"a" number 2 (call #2) before "b" number 1 (call #3).'),
        ("branch(r, w)", ("r",), '"r" was called (call #1) and "w" was not.'),
        ("branch(r, w)", ("r", "w"), '"w" was called (call #2), which is the wrong branch.'),
        ("branch(r, w)", ("x",), '"r" was never called.'),
        ("init(a)", ("x", "a"), 'The first call is "x", not "a".'),
        ("init(a)", ("a", "x"), 'The first call is "a".'),
        ("last(a)", ("a", "x"), 'The last call is "x", not "a".'),
        ("last(a)", (), "No tool was called."),
        ("no_repeat(*)", (("a", {"k": 1}), ("a", {"k": 1})), '"a" (call #2) repeats call #1 with the same arguments.'),
        ("no_repeat(*)", (("a", {"k": 1}), ("a", {"k": 2})), "No call repeats the one before it."),
        ("response(a, b)", ("x", "a", "x"), '"a" was called (call #2) and "b" was not called after it.'),
        ("not_coexistence(a, b)", ("a", "b"), '"b" was called (call #2) and "a" was called (call #1).'),
        ("chain_response(a, b)", ("a", "x"), '"a" was called (call #1), and call #2 is "x", not "b".'),
        ("chain_response(a, b)", ("x", "a"), '"a" was called (call #2) and "b" was not called after it.'),
        ("choice(a, b)", ("x",), '"a" or "b" was never called.'),
        ("never(a)", ("x",), '"a" was never called.'),
        ("never(a)", ("x", "a"), '"a" was called (call #2).'),
    ],
)
def test_patterns(rule: str, calls: tuple[str, ...], sentence: str) -> None:
    assert explain(parse(rule), trace(*calls), finished=True) == sentence


def pay(amount: Json) -> tuple[str, dict[str, Json]]:
    return "pay", {"amount": amount}


@pytest.mark.parametrize(
    ("rule", "calls", "sentence"),
    [
        ("G !pay(amount > 100)", ("x", pay(500)), '"pay" (call #2) has `amount` 500 (> 100).'),
        (
            "G !pay(amount > 100)",
            (pay("AMOUNT"),),
            '"pay" (call #1) has `amount` "AMOUNT", which cannot be compared with 100.',
        ),
        (
            "G (pay -> pay(amount <= 100))",
            (pay(500),),
            '"pay" (call #1) has `amount` 500, not <= 100.',
        ),
        ("G (pay -> pay(amount <= 100))", ("pay",), '"pay" (call #1) has no `amount`.'),
        (
            "G (pay -> Y (!pay S look[ok]))",
            ("look", "pay", "pay"),
            '"pay" was called (calls #2, #3), and "look" did not succeed between call #2 and call #3.',
        ),
        (
            'G (send -> send(to ~ "*@a"))',
            (("send", {"to": "x@b"}),),
            '"send" (call #1) has `to` "x@b", which does not match "*@a".',
        ),
        (
            'G !send(to ~ "*@evil")',
            (("send", {"to": ["x@evil"]}),),
            '"send" (call #1) has `to` ["x@evil"], which is no text.',
        ),
        (
            'G (send -> send(to[all] in ["a"]))',
            (("send", {"to": ["a", "b"]}),),
            '"send" (call #1) has `to[all]` "b", which is not in ["a"].',
        ),
        (
            'G (send -> send(to[all] in ["a"]))',
            (("send", {"to": "b"}),),
            '"send" (call #1) has `to` "b", which is no list.',
        ),
        (
            "G (a -> a(len(x) = len(.y)))",
            (("a", {"x": [1], "y": []}),),
            '"a" (call #1) has `len(x)` 1, not `len(y)`, which is 0.',
        ),
        ("G (a -> a(x is text))", (("a", {"x": 1}),), '"a" (call #1) has `x` 1, no text.'),
        (
            'G (a -> a[status = "ok"])',
            (("a", {}, '{"status": "bad"}'),),
            '"a" (call #1) returned `status` "bad", not "ok".',
        ),
        (
            "G (write -> O read[ok])",
            ("x", "read!", "write"),
            '"write" was called (call #3) and "read" (call #2) failed.',
        ),
        (
            "G (write -> O read)",
            ("x", "write"),
            '"write" was called (call #2) and "read" was not called before it.',
        ),
        (
            "G (write(o = ?o) -> O read(o = ?o)[ok])",
            (("read", {"o": 1}), ("write", {"o": 1}), ("write", {"o": 2})),
            '"write" (call #3) names `o` 2, and "read" with that `o` had not succeeded before it.',
        ),
        (
            "G (*(tool = ?t)[failed] -> F *(tool = ?t)[ok])",
            ("a!", "b"),
            '"a" (call #1) failed and it did not succeed later.',
        ),
        (
            "G (a -> count(a) <= 2)",
            ("a", "a", "x", "a"),
            '"a" was called 3 times (calls #1, #2, #4) (the rule asks for at most 2).',
        ),
        (
            "G (pay -> sum(pay, amount) <= 10)",
            (pay(5), pay(6)),
            'The sum of `amount` over "pay" (calls #1, #2) is 11 (the rule asks for at most 10).',
        ),
        ("G (pay -> sum(pay, amount) <= 10)", (pay(5), pay("x")), '`amount` of call #2 is "x", which is no number.'),
        ("G (b -> H (a | b))", ("a", "x", "b"), '"b" was called (call #3), and call #2 is "x", not "a" or "b".'),
        (
            "at_most_once(a(tool = ?t, k = ?k))",
            (("a", {"k": 1}), ("a", {"k": 2}), ("a", {"k": 1})),
            '"a" with `k` 1 was called 2 times (calls #1, #3) (the rule asks for at most 1).',
        ),
        ("G !same_step", ("a",), "No call breaks the rule."),
        ("F a & G !b", ("a", "b"), '"b" was called (call #2).'),
        ("F a & F b", ("a", "b"), '"a" was called (call #1). "b" was called (call #2).'),
        ("false", ("a",), "No trace at all satisfies the rule."),
        ("at(2, a)", ("a",), "What the rule demands did not happen before the end."),
        ("F a", (), "No tool was called."),
        ("G (a -> F b)", ("a", "b"), "No call breaks the rule."),
        ("true", (), "No call breaks the rule."),
    ],
)
def test_the_fewest_facts(rule: str, calls: tuple[str, ...], sentence: str) -> None:
    assert explain(parse(rule), trace(*calls), finished=True) == sentence


def test_what_the_user_said_and_what_was_seen() -> None:
    rule = parse("G (get -> said(.url) | seen(.url, read))")
    fine = trace(("get", {"url": "x.com"}), ("read", {}, "see y.com"), ("get", {"url": "y.com"}), said="look at x.com")
    assert explain(rule, fine, finished=True) == "No call breaks the rule."
    bad = trace(("get", {"url": "z.com"}), said="look at x.com")
    assert explain(rule, bad, finished=True) == (
        '"get" (call #1) has `url` "z.com", which does not occur in what the user has said '
        'or in an earlier result of "read".'
    )
    asked = parse('G (pay -> user =~ "yes")')
    assert explain(asked, trace("pay", said="no"), finished=True) == (
        '"pay" was called (call #1), and the latest message of the user before it is "no", which does not match "yes".'
    )


def test_each_breach_has_its_own_sentence() -> None:
    rule, seen = parse("G (write -> O read)"), trace("write", "x", "write", "read", "write")
    assert list(breaches(rule, seen)) == [0, 2]
    assert explain_breach(rule, seen, 0) == '"write" was called (call #1) and "read" was not called before it.'
    assert explain_breach(rule, seen, 2) == '"write" was called (call #3) and "read" was not called before it.'
    limit, many = parse("G !pay(amount > 100)"), trace(pay(500), pay("AMOUNT"), pay(float("nan")))
    assert [explain_breach(limit, many, k) for k in breaches(limit, many)] == [
        '"pay" (call #1) has `amount` 500 (> 100).',
        '"pay" (call #2) has `amount` "AMOUNT", which cannot be compared with 100.',
        '"pay" (call #3) has `amount` NaN, which cannot be compared with 100.',
    ]


def test_a_proposed_call_is_told_of_from_what_was_known_then() -> None:
    rule = parse("before(fetch, clean)")
    assert explain_breach(rule, trace("clean?", "fetch"), 0) == '"fetch" was never called (cannot precede "clean").'
    assert explain_breach(rule, trace("fetch!", "clean?"), 1) == (
        '"fetch" (call #1) failed (cannot precede "clean" (call #2)).'
    )
    running = '"fetch" (call #1) still runs (cannot precede "clean" (call #2)).'
    assert explain_breach(rule, trace("fetch?", "clean?"), 1) == running


ORDER = {"id": "W1"}
READ_FIRST = "G (refund(id = ?o) -> Y O get(id = ?o)[ok])"
LATEST = (
    "G (ship(id = ?o) & Y (!get(id = ?o)[ok] S get(id = ?o)[ok, s])"
    ' -> Y (!get(id = ?o)[ok] S get(id = ?o)[ok, s = "paid"]))'
)


@pytest.mark.parametrize(
    ("rule", "calls", "sentence"),
    [
        (
            READ_FIRST,
            (("refund?", ORDER),),
            '"refund" (call #1) names `id` "W1", and "get" with that `id` had not succeeded before it.',
        ),
        (
            READ_FIRST,
            (("get", {"id": "W2"}), ("refund?", ORDER)),
            '"refund" (call #2) names `id` "W1", and "get" with that `id` had not succeeded before it.',
        ),
        (
            READ_FIRST,
            (("get!", ORDER), ("refund?", ORDER)),
            '"refund" (call #2) names `id` "W1", and "get" (call #1) with that `id` failed.',
        ),
        ("G (a -> Y b)", ("a?",), 'Call #1 is "a", and "b" was not called before it.'),
        ("G (a -> Y (x S b))", ("a?",), 'Call #1 is "a", and "b" was not called before it.'),
        ("G (a -> Y H x)", ("a?",), 'Call #1 is "a", and no call comes before it.'),
        ("G (a -> Y (b & c))", ("a?",), 'Call #1 is "a", and no call comes before it.'),
        ("G (a -> Y (b | O c))", ("a?",), 'Call #1 is "a", and "b" or "c" was not called before it.'),
        ("G (a -> O b)", ("a?",), 'Call #1 is "a", and "b" was not called before it.'),
        ("G !a", ("x", "a?"), 'Call #2 is "a".'),
        ("G !a", ("x", "a"), '"a" was called (call #2).'),
        ("G !final_answer", ("x", "final_answer?"), '"final_answer" comes after call #1.'),
        ("G !a(k > 1)", (("a?", {"k": 2}),), '"a" (call #1) has `k` 2 (> 1).'),
        (
            "at_most(a, 1)",
            ("a", "a?"),
            '"a" was called once (call #1), and call #2 is one more (the rule asks for at most 1).',
        ),
        ("at_most(a, 0)", ("a?",), 'Call #1 is "a" (the rule asks for at most 0).'),
        (
            "at_most_once(a(k = ?k))",
            (("a", {"k": 1}), ("a?", {"k": 1})),
            '"a" with `k` 1 was called once (call #1), and call #2 is one more (the rule asks for at most 1).',
        ),
        ("branch(r, w)", ("w?",), 'Call #1 is "w", which is the wrong branch.'),
        (
            LATEST,
            (("get", ORDER, '{"s": "open"}'), ("ship?", ORDER)),
            '"ship" (call #2) names `id` "W1", and "get" (call #1) with that `id` returned `s` "open", not "paid".',
        ),
        (
            LATEST,
            (("get", ORDER, '{"s": "open"}'), "x", ("ship?", ORDER)),
            '"ship" (call #3) names `id` "W1", "get" (call #1) with that `id` returned `s` "open", not "paid", '
            "and it was not called again.",
        ),
        (
            LATEST,
            (("get", ORDER, '{"s": "open"}'), ("get", {"id": "W2"}), ("ship?", ORDER)),
            '"ship" (call #3) names `id` "W1", "get" (call #1) with that `id` returned `s` "open", not "paid", '
            "and it was not called again with that `id`.",
        ),
        (
            "G (ship(id = ?o) -> !Y (!get(id = ?o)[ok] S pay(id = ?o)[failed]))",
            (("pay!", ORDER), "x", ("ship?", ORDER)),
            '"ship" (call #3) names `id` "W1", "pay" (call #1) with that `id` failed, '
            'and "get" with that `id` did not succeed between call #1 and call #3.',
        ),
    ],
)
def test_a_call_that_may_be_refused_is_not_told_as_one_that_ran(
    rule: str, calls: tuple[str, ...], sentence: str
) -> None:
    assert explain_breach(parse(rule), trace(*calls), len(calls) - 1) == sentence


def test_a_rule_that_holds_is_told_by_what_never_came_or_by_what_came() -> None:
    once = parse("G (refund(id = ?o) -> !Y O refund(id = ?o))")
    assert explain(once, trace("get", ("refund", ORDER)), finished=True) == "No call breaks the rule."
    assert explain(once, trace("get", "get"), finished=True) == '"refund" was never called.'
    assert explain(parse("F refund[ok]"), trace("x", "refund?"), finished=True) == '"refund" (call #2) never settled.'
    assert explain(parse("F a(k = ?x)"), trace("a"), finished=True) == 'No matching "a" was called.'
    again = trace(("refund", ORDER), ("refund?", ORDER))
    assert explain_breach(once, again, 1) == (
        '"refund" (call #2) names `id` "W1", and "refund" (call #1) was called with that `id`.'
    )


def test_a_value_is_named_once_unless_two_could_be_meant() -> None:
    rule = parse("G (move(id = ?a, to = ?b) -> O get(id = ?a) & O get(id = ?b))")
    two = trace(("get", {"id": 1}), ("move", {"id": 1, "to": 2}))
    assert explain_breach(rule, two, 1) == (
        '"move" (call #2) names `id` 1 and `to` 2, and "get" with `id` 2 was not called before it.'
    )


def test_a_condition_that_the_deciding_one_shows_is_left_out() -> None:
    rule = parse("G (a(x is list, y is list, z) -> a(len(x) = len(.y), z > 1))")
    assert explain_breach(rule, trace(("a", {"x": [1], "y": [], "z": 5})), 0) == (
        '"a" (call #1) has `z` and `len(x)` 1, not `len(y)`, which is 0.'
    )


def test_what_is_owed_at_the_end_is_not_mixed_with_what_was_broken_before() -> None:
    rule, seen = parse("G (a -> X b)"), trace("a", "x", "a")
    assert list(breaches(rule, seen)) == [1, 3]
    assert explain_breach(rule, seen, 3) == '"a" was called (call #3) and "b" was not called after it.'
    both, mixed = parse("called(a) & G !b"), trace("x", "b")
    assert explain_breach(both, mixed, 1) == '"b" was called (call #2).'
    assert explain_breach(both, mixed, 2) == '"a" was never called.'
    assert explain(both, mixed, finished=True) == '"a" was never called. "b" was called (call #2).'


def test_an_outcome_that_breaks_a_rule_after_later_calls_have_started() -> None:
    rule = parse("G (a[failed] -> N !b)")
    assert explain_breach(rule, trace("a!", "b?"), 0) == '"a" (call #1) failed and "b" was called (call #2).'


@pytest.mark.parametrize(
    ("rule", "calls", "sentence"),
    [
        ("before(a, b)", ("a",), '"b" has not been called yet.'),
        ("called(a)", (), '"a" has not been called yet.'),
        ("called(a)", ("x",), '"a" has not been called yet.'),
        ("response(a, b)", ("x", "a", "x"), '"a" was called (call #2) and "b" was not called after it yet.'),
        ("called_n(a, >= 2)", ("a",), '"a" was called once (call #1) so far (the rule asks for at least 2).'),
        ("within(a, b, 2)", ("a",), '"b" has not been called yet within 2 calls of "a" (call #1).'),
        ("never(a)", ("x", "a"), '"a" was called (call #2).'),
        ("G !a", ("a", "x", "a"), '"a" was called (call #1).'),
        ("F a & F b", ("a",), '"a" was called (call #1). "b" has not been called yet.'),
        ("F a", (), "No tool has been called yet."),
        ("at(2, a)", ("a",), "What the rule demands has not happened yet."),
        ("false", ("a",), "No trace at all satisfies the rule."),
    ],
)
def test_while_the_run_is_under_way(rule: str, calls: tuple[str, ...], sentence: str) -> None:
    assert explain(parse(rule), trace(*calls), finished=False) == sentence


def test_long_values_are_cut_and_many_facts_counted() -> None:
    sentence = explain(parse('G !a(k ~ "x*")'), trace(("a", {"k": "x" * 500})), finished=True)
    assert len(sentence) < 200
    assert '…"' in sentence
    many = parse("F b1 | F b2 | F b3 | F b4 | F b5 | F b6")
    assert explain(many, trace("a"), finished=True) == (
        '"b1" or "b2" or "b3" or "b4" or "b5" or "b6" was never called.'
    )


def test_the_sentences_are_for_patterns_that_there_are() -> None:
    assert set(SENTENCES) <= set(PATTERNS)


def test_a_pattern_over_facts_is_told_by_its_facts() -> None:
    assert explain(
        parse("before(same_step, b)") if False else parse("response(first, b)"), trace("a"), finished=True
    ) == ('Call #1 is the first and "b" was never called.')


@pytest.mark.parametrize("seed", range(4))
def test_there_is_a_sentence_for_everything(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(250):
        formula, seen = random_formula(rng, rng.randint(1, 7)), random_trace(rng, rng.randint(0, 6))
        told = [explain(formula, seen, finished=finished) for finished in (True, False)]
        told += [explain_breach(formula, seen, k) for k in {*breaches(formula, seen), *newly_false(formula, seen)}]
        for sentence in told:
            assert sentence.endswith("."), (str(formula), sentence)
            assert not sentence[0].islower(), (str(formula), sentence)
            assert " object at 0x" not in sentence, (str(formula), sentence)
