"""The table of patterns: a name, its parameters and the text it stands for, in the rule language itself.

A pattern is expanded when it is parsed (`expand.py`) and prints as it was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["proposition", "propositions", "number", "limit", "conditions", "values"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. `propositions` is a list in brackets, `limit` a comparison with a number (`>= 3`), `conditions` and
    `values` are one or more."""

    name: str
    kind: Kind

    def __str__(self) -> str:
        shape = {"propositions": "[{}, ...]", "conditions": "key = value, ...", "values": "value, ..."}
        return shape.get(self.kind, "{}").format(self.name)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern. `demands` says that it demands an occurrence: as a rule over every value it could never hold."""

    name: str
    parameters: tuple[Parameter, ...]
    text: str
    sentence: str
    demands: bool = False

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"


def _rows() -> tuple[Pattern, ...]:
    kinds: dict[str, Kind] = {"k": "number", "n": "number", "m": "number", "op k": "limit"}
    kinds |= {"list": "propositions", "conditions": "conditions", "values": "values"}

    def row(name: str, parameters: str, text: str, sentence: str) -> Pattern:
        names = parameters.split(", ")
        shown = {"list": "a"}
        parts = tuple(Parameter(shown.get(n, n), kinds.get(n, "proposition")) for n in names)
        return Pattern(name, parts, text, sentence)

    def some(name: str, parameters: str, text: str, sentence: str) -> Pattern:
        plain = row(name, parameters, text, sentence)
        return Pattern(plain.name, plain.parameters, plain.text, plain.sentence, True)

    return (
        some("called", "a", "O a | F a", "a is called somewhere in the trace"),
        some("now", "a", "a", "a is called at this position"),
        some(
            "called_n",
            "a, op k",
            "(!F true & 0 op k) | F (!X true & count(a) op k)",
            "the number of calls of a, in the whole trace, compares so",
        ),
        some("before", "a, b", "!b U (b & Y O a[ok])", "b is called, and an a that succeeds comes before the first b"),
        some(
            "informed",
            "a, b",
            "!b U (b & (same_step S (!same_step & Y O a[ok])))",
            "before, and that a belongs to an earlier message, so b could know its result",
        ),
        some("after", "a, b", "!a U (a & Y O b)", "both are called, the first b before the first a"),
        some(
            "all_before",
            "list, b",
            "before(a, b) & ...",
            "each of the list is called and succeeds before the first b, and b is called",
        ),
        some("in_order", "list", "F (a[ok] & X F (b[ok] & ...))", "successful calls of the list come in this order"),
        some(
            "within",
            "a, b, k",
            "!a U (a & F[k] b)",
            "both are called; the first b at or after the first a comes within k events of it",
        ),
        some(
            "instance_before",
            "a, n, b, m",
            "F (a & count(a) = n & X F (b & count(b) = m))",
            "the n-th attempt at a comes before the m-th attempt at b, and both come",
        ),
        some("branch", "right, wrong", "called(right) & !called(wrong)", "right is called and wrong is not"),
        some("called_with", "a, conditions", "called(a(key = value, ...))", "a is called with these arguments"),
        some(
            "called_with_result",
            "a, values",
            "called(a[key = value, ...]), or called(a[result = value]) | called(a[outcome.text = value])",
            "a call of a gives a result with these keys (for an object), or this result, as JSON or as text",
        ),
        row("precedence", "a, b", "!b W (a[ok] & !b)", "no b before an a that succeeds; fine if b never comes"),
        row("response", "a, b", "G (a -> F b)", "after each a comes a b"),
        row(
            "succession",
            "a, b",
            "response(a, b) & precedence(a, b)",
            "after each a comes a b, and no b before an a that succeeds",
        ),
        row("responded_existence", "a, b", "F a -> F b", "if a is called, so is b, before or after"),
        row("coexistence", "a, b", "F a <-> F b", "both are called or neither"),
        row("not_coexistence", "a, b", "!(F a & F b)", "not both are called"),
        row("alternate_response", "a, b", "G (a -> X (!a U b))", "after each a comes a b before the next a"),
        row("chain_response", "a, b", "G (a -> X b)", "the call after each a is a b"),
        row(
            "alternate_precedence",
            "a, b",
            "precedence(a, b) & G (b -> N precedence(a, b))",
            "before each b comes an a that succeeds, after the b before",
        ),
        row("chain_precedence", "a, b", "G (b -> Y a[ok])", "the call before each b is an a that succeeds"),
        row("not_succession", "a, b", "G (a -> N G !b)", "after an a comes no b"),
        row("not_chain_succession", "a, b", "G (a -> N !b)", "the call after an a is no b"),
        some("existence", "a, k", "called_n(a, >= k)", "a is called at least k times"),
        some("absence", "a, k", "called_n(a, < k)", "a is called fewer than k times"),
        some("exactly", "a, k", "called_n(a, = k)", "a is called exactly k times"),
        some("init", "a", "a | !F true", "the first call, if there is one, is an a"),
        some("last", "a", "G (!X true -> a)", "the last call, if there is one, is an a"),
        some("choice", "a, b", "F a | F b", "a or b is called"),
        some("exclusive_choice", "a, b", "(F a | F b) & !(F a & F b)", "one of a and b is called, and not the other"),
        row("at_most", "a, k", "G (a -> count(a) <= k)", "a is called at most k times"),
        row("at_most_once", "a", "G (a -> count(a) <= 1)", "a is called at most once"),
        row("never", "a", "G !a", "a is never called"),
        row(
            "no_repeat",
            "a",
            "G !(a(tool = ?t, args = ?v) & Y a(tool = ?t, args = ?v))",
            "not the same tool with equal arguments twice in a row",
        ),
        row(
            "between",
            "a, open, close",
            "G (a -> (!close S open[ok]))",
            "a only after an open that succeeds, with no close since",
        ),
    )


PATTERNS: dict[str, Pattern] = {row.name: row for row in _rows()}
