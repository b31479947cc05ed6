"""From a syntax error of the parser to what a person would say: what is wrong, where, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable

from lark.exceptions import UnexpectedInput

from agentltl.constraints.comparison import KINDS
from agentltl.constraints.language import lexicon
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.language.scene import PAIRS, Scene, scene_at
from agentltl.constraints.operators import OPERATORS
from agentltl.constraints.patterns import PATTERNS

_RUN = re.compile(r"[^\s()\[\]{},\"&|!<>=~#]*")
_FOREIGN = {
    "==": "=", ":=": "=", "=<": "<=",
    "&&": "&", "||": "|", "=>": "->", "<=>": "<->", "<>": "!=", "¬": "!", "∧": "&", "∨": "|", "→": "->",
    "↔": "<->", "≠": "!=", "≤": "<=", "≥": ">=", "□": "G", "◇": "F", "∀": "forall", "∃": "exists",
}  # fmt: skip
_FOREIGN_WORDS = {"True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null"}
_BINARY = tuple(name for op in OPERATORS if op.arity == 2 for name in (op.word, op.symbol) if name.isalpha())
_UNARY = tuple(op.word for op in OPERATORS if op.arity == 1 and op.law is not None)
_COMPARISON_WORDS = {"matches": "=~", "like": "~", "contains": "has", "includes": "has", "equals": "=", "eq": "="}
_COMPARISONS = ("in", "has", "is", "not in", "not has", "is not")


def complaint(text: str, unexpected: UnexpectedInput) -> Fault:
    """The fault that a syntax error is."""
    token = getattr(unexpected, "token", None)
    place: int | None = getattr(unexpected, "pos_in_stream", None)
    ended = place is None or (token is not None and token.type == "$END")
    start = len(text.rstrip()) if ended or place is None else place
    accepts = unexpected.interactive_parser.accepts()  # type: ignore[no-untyped-call]
    scene = scene_at(text, start, frozenset(accepts))
    for look in (_quotes, _foreign, _mistaken, _brackets, _names, _words, _conditions, _rest):
        if (fault := look(scene)) is not None:
            return fault
    raise AssertionError("the last of them always finds words")


def _quotes(scene: Scene) -> Fault | None:
    if scene.here == '"':
        return scene.fault("this text has no end", 'a text stands in double quotes; a `"` inside is written `\\"`')
    if scene.here in ("'", "`", "“", "”", "‘", "’"):
        return scene.fault("texts and quoted names stand in double quotes", 'write "..."')
    if not scene.text.strip():
        return scene.fault("the formula is empty", "write a rule such as `G (save -> O check[ok])`")
    if not scene.before and scene.here == "":
        return scene.fault("there is only a comment", "write a rule such as `G (save -> O check[ok])`")
    return None


def _foreign(scene: Scene) -> Fault | None:
    """What other languages write."""
    for length in (3, 2, 1):
        for start in range(scene.start - length + 1, scene.start + 1):
            sign = scene.text[max(0, start) : start + length]
            if sign in _FOREIGN and start >= 0:
                meant = ">=" if sign == "=>" and scene.value else _FOREIGN[sign]
                return scene.fault(f"`{sign}` is none of the signs here", f"write `{meant}`", start, length)
    if scene.value and scene.here == "/":
        return scene.fault("patterns stand in double quotes", 'write `=~ "..."`; `~ "..."` is a glob with `*` and `?`')
    if scene.here in _FOREIGN_WORDS and (scene.value or scene.operand):
        return scene.fault(f"`{scene.here}` is no value", f"write `{_FOREIGN_WORDS[scene.here]}`")
    return None


def _mistaken(scene: Scene) -> Fault | None:
    """A misspelt operator or pattern before the place, or around it: `alwyas (a -> b)`."""
    if scene.after and scene.here and (scene.here[0].isalnum() or scene.here[0] in '_@$"*!'):
        last = scene.last
        if last is not None and last.is_word:
            operator = last.text.upper() if last.text in "xnfgyzoh" else lexicon.near(last.text, _UNARY, 0.65)
            own = lexicon.near(scene.here, (*_BINARY, *PATTERNS), 0.75)
            if operator is not None and own is None:
                return scene.fault(
                    f"`{last.text}` is no operator", f"did you mean `{operator}`?", last.start, len(last.text)
                )
    for bracket, word in reversed(scene.open):
        if bracket.text == "(" and word is not None and word.is_word and word.text not in lexicon.RESERVED:
            meant = None if word.text in lexicon.BEFORE_PARENTHESIS else lexicon.mistaken_for(word.text)
            if meant is not None and not scene.value:
                return scene.fault(
                    f"`{word.text}` is no pattern and no operator",
                    f'did you mean `{meant}`? a tool of that name is quoted: "{word.text}"',
                    word.start,
                    len(word.text),
                )
    return None


def _brackets(scene: Scene) -> Fault | None:
    if scene.here in PAIRS.values():
        if not scene.open:
            return scene.fault(f"`{scene.here}` closes nothing", "take it away, or open it before")
        opened = scene.open[-1][0]
        if PAIRS[opened.text] != scene.here:
            hint = f"`{opened.text}` at column {_column(scene.text, opened.start)} is still open"
            return scene.fault(f"`{scene.here}` does not close `{opened.text}`", hint)
    if scene.here == "" and scene.open:
        opened = scene.open[-1][0]
        closing = PAIRS[opened.text]
        if {"(": "RPAR", "[": "RSQB", "{": "RBRACE"}[opened.text] in scene.allowed:
            return scene.fault(f"`{opened.text}` is never closed", f"add `{closing}`", opened.start, 1)
    if scene.here == "[" and scene.after and scene.last is not None and scene.last.text == ")":
        return scene.fault("brackets ask how a call went, and stand after a call", "write `a[ok] | b[ok]`")
    return None


def _column(text: str, start: int) -> int:
    return start - (text.rfind("\n", 0, start) + 1) + 1


def _names(scene: Scene) -> Fault | None:
    """A tool name that needs quotes: `pay-now`, `shop.pay`, `2fa`."""
    last = scene.last
    joined = last is not None and last.start + len(last.text) == scene.start and (last.is_word or last.text == "*")
    rest = _RUN.match(scene.text, scene.start)
    if scene.after and joined and last is not None and rest is not None and rest.group()[:1] in tuple("-.:/@$+"):
        name = last.text + rest.group()
        hint = f"; or what went in stands in parentheses: {name.replace('.', '(', 1)} ...)" if "." in name else ""
        return scene.fault(f"`{name}` is no plain name", f'quote it: "{name}"{hint}', last.start, len(name))
    if scene.operand and scene.here[:1].isdigit() and rest is not None:
        name = rest.group()
        return scene.fault(f"`{name}` is no formula", f'a tool of that name is quoted: "{name}"', width=len(name))
    if scene.operand and scene.here == "?":
        return scene.fault("a variable is no formula", "it stands in a condition: `pay(to = ?x)`")
    if scene.operand and scene.here in ("@", "$"):
        what = "a group" if scene.here == "@" else "a predicate"
        return scene.fault(f"the name of {what} is missing", f"write `{scene.here}name`")
    return None


def _words(scene: Scene) -> Fault | None:
    """A word where none may stand."""
    here = scene.here
    if scene.after and here and (here[0].isalnum() or here[0] in '_@$"*!'):
        if lexicon.near(here, _UNARY, 0.99) or here in lexicon.LETTERS or here == "!":
            return scene.fault(
                f"`{here}` stands before one formula, not between two", "write `&`, `|` or `->` before it"
            )
        if scene.last is not None and scene.last.text in PATTERNS:
            pattern = scene.last.text
            return scene.fault(
                f"`{pattern}` is a pattern, and stands before parentheses", f"write `{PATTERNS[pattern]}`"
            )
        more = scene.text[scene.start + len(here) :].strip()[:1] not in ("", *PAIRS, *PAIRS.values())
        letter = here.upper() if here in "uwrmsbtp" and more else None
        meant = lexicon.near(here, _BINARY, 0.7) if len(here) > 1 else letter
        like = lexicon.near(here, PATTERNS, 0.75) if len(here) > 1 and meant is None else None
        if like is not None:
            return scene.fault(f"`{here}` is no operator", f"did you mean the pattern `{PATTERNS[like]}`?")
        if here[0].isalpha() and meant is not None:
            return scene.fault(f"`{here}` is no operator", f"did you mean `{meant}`?")
        return scene.fault(f"an operator is missing before `{here}`", "two formulas are joined by &, |, ->, U, ...")
    if scene.value and here and (here[0].isalpha() or here[0] == "_"):
        if here in ("NaN", "nan", "inf", "Infinity"):
            return scene.fault(f"a rule cannot say `{here}`", "numbers are written as in JSON, which has no such value")
        word = "in" if here in ("in", "has", "is") else None
        if word is not None:
            return scene.fault(f"a value is missing before `{here}`", "write `path = value`")
        return scene.fault(
            f"`{here}` is no value",
            f'a text is quoted: "{here}"; a path has a dot before it: .{here}; a variable is ?{here}',
        )
    if (scene.value and here == ".") or (scene.last is not None and scene.last.text == "." and here[:1].isdigit()):
        return scene.fault("a path is a dot and a name", "a number is written as in JSON: 0.5")
    return None


def _conditions(scene: Scene) -> Fault | None:
    """Inside parentheses, brackets and filters."""
    here = scene.here
    if not scene.condition or scene.operand:
        return None
    if "INDEX" in scene.allowed and here == "-":
        return scene.fault("elements are counted from 0", "write [0], [*] (some), [all], or a filter")
    if here in ("&", "and"):
        return scene.fault("inside parentheses and brackets a comma is `and`", "write `p(a = 1, b = 2)`")
    if here in ("|", "or", "->", "-"):
        return scene.fault(f"`{here}` does not stand between conditions", "write `p(a = 1) | p(b = 2)`")
    if here in ("!", "not"):
        return scene.fault("a condition is not negated as a whole", "write `!=`, `!~`, `not in`, ..., or `!p(...)`")
    if "KEY" in scene.allowed and here.isdigit() and scene.last is not None and scene.last.text == ",":
        return scene.fault(f"`{here}` is no path", "a number has no commas in it, and stands on the right")
    if scene.last is not None and scene.last.text == "len":
        return scene.fault("`len` stands before parentheses", "write `len(path) > 3`")
    if "COMPARE" in scene.allowed and here == ":":
        return scene.fault("`:` is no comparison", "write `=`")
    if "COMPARE" in scene.allowed and here and here[0].isalpha():
        meant = _COMPARISON_WORDS.get(here.lower()) or lexicon.near(here, _COMPARISONS, 0.6)
        hint = f"did you mean `{meant}`?" if meant else "comparisons are: = != < <= > >= ~ !~ =~ !=~ in has is"
        return scene.fault(f"`{here}` is no comparison", hint)
    return None


_EXPECTED: tuple[tuple[Callable[[Scene], bool], str, str], ...] = (
    (lambda s: "BOUND" in s.allowed, "a bound", "write `F[5]` or, looking back, `O[60s]`"),
    (lambda s: "WINDOW" in s.allowed and len(s.allowed) == 1, "a window", "write `count(a, 5)` or `count(a, 10s)`"),
    (lambda s: s.allowed == {"ORDER"}, "a comparison with a number", "write `count(a) <= 3`, `sum(a, path) <= 100`"),
    (lambda s: s.allowed == {"SIZE"}, "a number", "write a number such as `3`"),
    (lambda s: s.allowed == {"RPAR"}, "`)`", "close what is open"),
    (
        lambda s: s.allowed == {"COMPARE", "IS"},
        "a comparison",
        'write `user =~ "refund"`; a tool of that name is quoted',
    ),
    (lambda s: s.allowed == {"VARIABLE"}, "a variable", "write `forall ?x. ...`"),
    (lambda s: s.allowed == {"PREDICATE"}, "a domain", "write `forall ?x in $name. ...`"),
    (lambda s: {"DOT", "IN"} <= s.allowed, "a dot", "write `forall ?x. ...`"),
    (lambda s: s.allowed == {"LPAR"}, "`(`", "as in `said(.url)`, `count(a) <= 3`; a tool of that name is quoted"),
    (lambda s: s.allowed == {"RSQB"}, "`]`", "close what is open"),
    (lambda s: "RBRACE" in s.allowed, "a key in quotes", 'write `{"key": 1}`'),
    (lambda s: s.operand, "a formula", "write a tool name, or one in parentheses"),
    (lambda s: s.value and s.before[-1].text == "in", "a list", 'write `in ["a", "b"]`'),
    (lambda s: s.value, "a value", "write a JSON value, a variable `?x`, or a path `.key`"),
    (lambda s: s.allowed == {"KEY"}, "a kind of value", f"the kinds are: {', '.join(KINDS)}"),
    (
        lambda s: "KEY" in s.allowed,
        "a path",
        'a path is a key, or one in quotes: amount, "odd-key"; the value stands on the right',
    ),
    (lambda s: "NAME" in s.allowed, "a tool", "write its name, a glob, or a group"),
    (
        lambda s: s.here == ",",
        "an operator",
        "commas stand inside parentheses, brackets and lists; formulas are joined by `&`",
    ),
    (
        lambda s: s.after and s.here[:1] in tuple("=<>~"),
        "an operator",
        "a comparison stands in parentheses: `a(x = 1)`",
    ),
    (lambda s: s.after, "an operator", "two formulas are joined by &, |, ->, U, ..."),
    (lambda s: "COMPARE" in s.allowed, "a comparison or a comma", "write `p(amount > 100, to = ?x)`"),
    (lambda s: "COMMA" in s.allowed, "a comma", "separate by commas, and close what is open"),
    (lambda s: True, "something else", "see the rule language's page"),
)


def _rest(scene: Scene) -> Fault:
    _, what, hint = next(row for row in _EXPECTED if row[0](scene))
    if scene.operand and scene.last is not None and scene.last.text in lexicon.RESERVED:
        hint = f'`{scene.last.text}` is an operator; a tool of that name is quoted: "{scene.last.text}"'
    if scene.here == "":
        return scene.fault(f"the formula ends where {what} is expected", hint)
    return scene.fault(f"{what} is expected here, not `{scene.here}`", hint)
