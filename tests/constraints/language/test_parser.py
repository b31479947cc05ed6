"""The parser that ships is the parser of the grammar, and a part of a text stands where it is said to stand."""

import random
from collections.abc import Iterator

import lark
import pytest
from lark.exceptions import UnexpectedInput

from agentltl.constraints.language import parser as module
from agentltl.constraints.language.parser import SHIPPED, fits, grammar, make, parser, save
from agentltl.constraints.language.reader import Reader
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.text import parse
from agentltl.errors import FormulaError
from agentltl.testing import random_formula

STALE = "the parser that ships is not that of the grammar: run `python scripts/save_parser.py`"

OPERANDS = (
    "true",
    "first",
    "a",
    '"a b"',
    "a(x = 1)",
    "a()[ok]",
    "a[result.x[0] > 1][ok]",
    'a(x[k = "v"].y[*] in [1, {"b": []}], len(z) > 2)',
    "said(.x)",
    "seen(.x[all], b, @g)",
    'user =~ "x"',
    "task is text",
    'task in ["x"]',
    "count(a | b, 5) <= 3",
    "sum(a, x.y, 60s) < 2",
    "at(3, (a))",
    "$p",
    "$p(?x, 1, len(.y))",
    "before(a, b)",
    "in_order([a, b])",
    "called_n(a, >= 3)",
    'called_with(a, x = 1, y = ["z"])',
    'called_with_result(a, {"k": {}})',
)


@pytest.fixture
def anew() -> Iterator[None]:
    """The parser is asked for anew, and those after it get theirs."""
    parser.cache_clear()
    yield
    parser.cache_clear()


def seen_by(one: lark.Lark, text: str) -> object:
    """The tree, or where the text goes wrong and what could stand there."""
    try:
        return one.parse(text)
    except UnexpectedInput as error:
        accepts = error.interactive_parser.accepts()  # type: ignore[attr-defined]
        return type(error), error.pos_in_stream, accepts


def texts() -> list[str]:
    """Formulas of every kind, and what is left of them when a piece is cut out."""
    generator = random.Random(7)
    whole = [*OPERANDS, *(p.text for p in PATTERNS.values()), *(str(random_formula(generator)) for _ in range(60))]
    whole += [f"forall ?x, ?y. G ({one} -> F[5] !({one}))" for one in OPERANDS]
    cut = []
    for text in whole:
        for _ in range(3):
            start = generator.randrange(len(text))
            cut.append(text[:start] + text[start + generator.randint(1, 4) :])
    return whole + cut


def test_what_ships_was_made_of_this_grammar(anew: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "make", lambda text: pytest.fail(STALE))
    assert isinstance(parser(), lark.Lark)


def test_the_parser_that_ships_reads_what_the_grammar_says() -> None:
    made, all_texts = make(grammar()), texts()
    wrong = 0
    for text in all_texts:
        expected = seen_by(made, text)
        wrong += isinstance(expected, tuple)
        assert seen_by(parser(), text) == expected, text
    assert 0 < wrong < len(all_texts)


@pytest.mark.parametrize("what", ["another lark", "another grammar", "a lost byte", "no file"])
def test_where_what_ships_does_not_fit_the_parser_is_made(
    anew: None, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    made, resource, original = [], module._resource, module.make
    monkeypatch.setattr(module, "make", lambda text: made.append(text) or original(text))
    changed = {
        "another grammar": {"grammar.lark": resource("grammar.lark") + b"// more\n"},
        "a lost byte": {SHIPPED: resource(SHIPPED)[:-1]},
    }
    if what == "another lark":
        monkeypatch.setattr(lark, "__version__", "0.0")
    monkeypatch.setattr(module, "_resource", lambda name: changed.get(what, {}).get(name) or resource(name))
    if what == "no file":
        monkeypatch.setattr(module, "SHIPPED", "no such file")
    assert str(parse("G (a -> b)")) == "G (a -> b)"
    assert len(made) == 1


def test_what_is_saved_fits_its_own_grammar_alone() -> None:
    text = grammar()
    saved = save(text)
    assert fits(saved, text)
    assert not fits(saved, text + "\n")
    assert not fits(b"", text)


@pytest.mark.parametrize("operand", OPERANDS)
def test_a_part_stands_from_its_first_sign_to_its_last(operand: str) -> None:
    text = f"G ( ({operand}) # (\n -> X ({operand}) )"
    reader = Reader({"g": ["c"]})
    formula = reader.formula(parser().parse(text))
    found = sorted(place for inner in formula.walk() if (place := reader.where(inner)) and place[1] == len(operand))
    assert [text[start : start + width] for start, width in found] == [operand, operand]
    assert [start for start, _ in found] == [text.index(operand), text.rindex(operand)]
    assert reader.where(formula) is None


def test_the_place_of_an_argument_has_its_parentheses() -> None:
    with pytest.raises(FormulaError) as error:
        parse("before(a, ((b | c)) ) & d")
    assert (error.value.column, error.value.width) == (11, 9)


def test_a_mistake_of_meaning_is_told_after_one_of_form() -> None:
    with pytest.raises(FormulaError, match="operator is missing"):
        parse('before(a | b, "c") d')
