"""The patterns from Python: each function returns a formula equal to the one that its text form is parsed to.

Where a pattern takes a proposition, a text is the name of a tool, or a glob, as if it were quoted in a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from agentltl.constraints.compare import Compare, Literal_, Operand, Var
from agentltl.constraints.formula import Formula, Order, Proposition, _formula
from agentltl.constraints.language import lexicon
from agentltl.constraints.language.expand import Argument, expand
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.path import Index, Key, Path
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.proposition import Called as Call
from agentltl.constraints.proposition import Tools
from agentltl.constraints.value import Json, freeze
from agentltl.errors import FormulaError

What = Formula | str
"""A proposition, or the name of a tool."""

_Constructor = TypeVar("_Constructor", bound=Callable[..., Formula])


def Arg(*steps: str | int) -> Path:
    """The path of an argument, for the right side of a condition: `Arg("items", 0, "price")` is `.items[0].price`."""
    for step in steps:
        if isinstance(step, str):
            lexicon.check_text(step)
    return Path("args", tuple(Key(step) if isinstance(step, str) else Index(step) for step in steps))


def Now(a: What) -> Formula:
    """a is called at this position."""
    return _pattern("now", _what(a))


def Called(a: What) -> Formula:
    """a is called somewhere in the trace."""
    return _pattern("called", _what(a))


def CalledWith(a: What, conditions: Mapping[str, Json] | None = None, /, **arguments: Json) -> Formula:
    """a is called with these arguments: `CalledWith("pay", amount=100, to=Var("x"))`.

    Names of arguments that are no Python names go into a mapping: `CalledWith("pay", {"to-account": "A1"})`.
    """
    given = {**(conditions or {}), **arguments}
    for name in given:
        lexicon.check_text(name)
    return _pattern("called_with", _what(a), *(Compare(Arg(k), "=", to_operand(v)) for k, v in given.items()))


def CalledWithResult(a: What, value: Json) -> Formula:
    """A call of a gives this result, as JSON or as text; of an object: its result has these keys with these values."""
    return _pattern("called_with_result", _what(a), _literal(value))


def CalledNTimes(a: What, *limit: int | str, op: str = "=") -> Formula:
    """a is called so often in the whole trace: `CalledNTimes(a, 2)`, `CalledNTimes(a, ">=", 2)`, or with `op=">="`."""
    match limit:
        case (int() as number,):
            return _pattern("called_n", _what(a), (_order(op), number))
        case (str() as compare, int() as number) if op == "=":
            return _pattern("called_n", _what(a), (_order(compare), number))
        case _:
            raise FormulaError("how often is not said", hint='write CalledNTimes(a, 2) or CalledNTimes(a, ">=", 2)')


def Before(a: What, b: What) -> Formula:
    """b is called, and an a that succeeds comes before the first b."""
    return _pattern("before", _what(a), _what(b))


def After(a: What, b: What) -> Formula:
    """Both are called, the first b before the first a."""
    return _pattern("after", _what(a), _what(b))


def AllBefore(these: Sequence[What], b: What) -> Formula:
    """Each of the list is called and succeeds before the first b, and b is called."""
    return _pattern("all_before", _list(these), _what(b))


def BranchCalled(right: What, wrong: What) -> Formula:
    """right is called and wrong is not."""
    return _pattern("branch", _what(right), _what(wrong))


def InstanceBefore(a: What, n: int, b: What, m: int) -> Formula:
    """The n-th attempt at a comes before the m-th attempt at b, and both come; counted from 1."""
    return _pattern("instance_before", _what(a), n, _what(b), m)


def CalledInOrder(these: Sequence[What] | What, *more: What) -> Formula:
    """Successful calls come in this order: a list, or one argument each."""
    if isinstance(these, Formula | str):
        these = (these, *more)
    elif more:
        raise FormulaError("a list and more tools are given", hint="put all of them in the list")
    return _pattern("in_order", _list(these))


def WithinSteps(a: What, b: What, k: int) -> Formula:
    """Both are called; the first b at or after the first a comes within k events of it."""
    return _pattern("within", _what(a), _what(b), k)


def _one(name: str) -> Callable[[What], Formula]:
    def constructor(a: What) -> Formula:
        return _pattern(name, _what(a))

    return _named(constructor, name)


def _two(name: str) -> Callable[[What, What], Formula]:
    def constructor(a: What, b: What) -> Formula:
        return _pattern(name, _what(a), _what(b))

    return _named(constructor, name)


def _counted(name: str) -> Callable[[What, int], Formula]:
    def constructor(a: What, k: int) -> Formula:
        return _pattern(name, _what(a), k)

    return _named(constructor, name)


def _named(constructor: _Constructor, name: str) -> _Constructor:
    constructor.__name__ = constructor.__qualname__ = "".join(part.capitalize() for part in name.split("_"))
    constructor.__doc__ = f"{PATTERNS[name].sentence}."
    return constructor


Informed = _two("informed")
Precedence = _two("precedence")
Response = _two("response")
Succession = _two("succession")
RespondedExistence = _two("responded_existence")
Coexistence = _two("coexistence")
NotCoexistence = _two("not_coexistence")
AlternateResponse = _two("alternate_response")
ChainResponse = _two("chain_response")
AlternatePrecedence = _two("alternate_precedence")
ChainPrecedence = _two("chain_precedence")
NotSuccession = _two("not_succession")
NotChainSuccession = _two("not_chain_succession")
Choice = _two("choice")
ExclusiveChoice = _two("exclusive_choice")
Existence = _counted("existence")
Absence = _counted("absence")
Exactly = _counted("exactly")
AtMost = _counted("at_most")
Init = _one("init")
Last = _one("last")
AtMostOnce = _one("at_most_once")
Never = _one("never")
NoRepeat = _one("no_repeat")


def Between(a: What, open: What, close: What) -> Formula:
    """a only after an open that succeeds, with no close since."""
    return _pattern("between", _what(a), _what(open), _what(close))


def _pattern(name: str, *arguments: Argument) -> Formula:
    try:
        return expand(PATTERNS[name], arguments)
    except Fault as fault:
        raise fault.error() from None


def _what(value: What) -> Formula:
    if isinstance(value, str):
        lexicon.check_tool_name(value)
        return Proposition(Call(Tools.named(value)))
    return _formula(value)


def _list(these: Sequence[What]) -> tuple[Formula, ...]:
    if isinstance(these, str):
        raise FormulaError(f"a list of tools is expected, not the text `{these}`", hint=f"write [{these!r}]")
    return tuple(_what(a) for a in these)


def to_operand(value: Json) -> Operand:
    if isinstance(value, Var | Path):
        return value
    return _literal(value)


def _literal(value: Json) -> Literal_:
    frozen = freeze(value)
    lexicon.literal(frozen)  # refuses what a rule cannot say
    return Literal_(frozen)


def _order(op: str) -> Order:
    if op not in lexicon.ORDERS:
        raise FormulaError(f"`{op}` is no comparison of numbers", hint=f"use one of: {' '.join(lexicon.ORDERS)}")
    return lexicon.ORDERS[op]
